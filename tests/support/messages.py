"""Every message of the library, read from its source: the sentences of errors and of notes."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

import attrs

ROOT = Path(__file__).parents[2]
#: Values with which the places of a message are filled: quoted ones by a name with a blank, the others by a word.
QUOTED, PLAIN = "'blood pressure'", "pulse"

_ARGUMENT = re.compile(r"\b[a-z_]{2,}=|\0=")
_SNAKE = re.compile(r"(?<![\w.'\[\"-])[a-z]+(?:_[a-z]+)+\b")
_CALL = re.compile(r"(?<![\w])[a-zA-Z_.]*[a-z]\(")


@attrs.frozen
class Message:
    """A sentence of the library with every place filled."""

    place: str
    text: str


@cache
def speaking_python() -> tuple[Message, ...]:
    """Return every sentence of the library that names an argument, a call or a word with an underscore, unmarked."""
    return tuple(message for file in _files() for message in _messages(file))


def marked_names() -> list[str]:
    """Return the names of all arguments that sentences mark."""
    marks = (one.args[0] for file in _files() for one in _marks(_nodes(file)))
    return sorted({one.value for one in marks if isinstance(one, ast.Constant) and isinstance(one.value, str)})


def unmarked_arguments(names: Collection[str]) -> list[str]:
    """Return the sentences that begin with "depth is" or the like without a mark."""
    begins = re.compile(rf"(?:the (?:number of )?)?(?:{'|'.join(sorted(names))}) (?:is|are) (?=[\0\d'\[])")
    texts = ((file, _parts(text)) for file in _files() for text in _refusals(_nodes(file)))
    return [
        f"{file.relative_to(ROOT).as_posix()}: {filled}" for file, (literal, filled) in texts if begins.match(literal)
    ]


def _refusals(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Return the texts that errors are made of, assigned just before or demanded."""
    for node in nodes:
        lines = [getattr(node, name, None) for name in ("body", "orelse")]
        for one, after in (pair for block in lines if isinstance(block, list) for pair in pairwise(block)):
            if isinstance(one, ast.Assign) and isinstance(after, ast.Raise) and isinstance(after.exc, ast.Call):
                yield one.value
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "demand":
            yield node.args[1]


def _files() -> list[Path]:
    files = [*(ROOT / "apsl_rules").rglob("*.py"), *(ROOT / "backends" / "apsl_backends").rglob("*.py")]
    rooms = ("cli", "server")
    return [file for file in sorted(files) if file.relative_to(ROOT).parts[1] not in rooms]


@cache
def _nodes(file: Path) -> list[ast.AST]:
    """Return all nodes of the tree of a file, which take longer to walk than to look at."""
    return list(ast.walk(ast.parse(file.read_text("utf-8"))))


def _messages(file: Path) -> Iterator[Message]:
    nodes = _nodes(file)
    silent = {id(one) for one in _docstrings(nodes)}
    strings = (node for node in nodes if isinstance(node, ast.JoinedStr))
    for outer in (*strings, *_marks(nodes)):
        silent |= {id(inner) for inner in ast.walk(outer) if inner is not outer}
    for node in nodes:
        if id(node) in silent:
            continue
        literal, filled = _parts(node)
        names_one = _ARGUMENT.search(literal) or (" " in literal and (_SNAKE.search(literal) or _CALL.search(literal)))
        if names_one and "\n" not in literal:
            yield Message(file.relative_to(ROOT).as_posix(), filled)


def _marks(nodes: Sequence[ast.AST]) -> Iterator[ast.Call]:
    """Return the calls that mark an argument."""
    for one in nodes:
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id in ("argument", "named"):
            yield one


def _docstrings(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for one in node.body:
                if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant):
                    yield one.value


def _parts(node: ast.AST) -> tuple[str, str]:
    """Return the letters of a text without what is filled in, and the text filled with examples."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value, node.value
    if not isinstance(node, ast.JoinedStr):
        return "", ""
    literal, filled = "", ""
    for one in node.values:
        if isinstance(one, ast.Constant):
            literal += str(one.value)
            filled += str(one.value)
        elif isinstance(one, ast.FormattedValue):
            is_quoted = one.conversion == ord("r") or "spelt(" in ast.unparse(one)
            literal += "\0"
            filled += QUOTED if is_quoted else PLAIN
    return literal, filled
