"""Every message of the library, read from its source: the sentences of errors and of notes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
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
    """A sentence of the library, as its file has it and with every place filled."""

    place: str
    text: str


@cache
def spoken_messages() -> tuple[Message, ...]:
    """Return every sentence of the library that names an argument, a call or a word with an underscore."""
    files = [*(ROOT / "apsl_rules").rglob("*.py"), *(ROOT / "backends" / "apsl_backends").rglob("*.py")]
    rooms = ("cli", "server")
    outside = [file for file in sorted(files) if file.relative_to(ROOT).parts[1] not in rooms]
    return tuple(message for file in outside for message in _messages(file))


def _messages(file: Path) -> Iterator[Message]:
    tree = ast.parse(file.read_text("utf-8"))
    silent = {id(one) for one in _docstrings(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            silent |= {id(inner) for inner in ast.walk(node) if inner is not node}
    for node in ast.walk(tree):
        if id(node) in silent:
            continue
        literal, filled = _parts(node)
        names_one = _ARGUMENT.search(literal) or (" " in literal and (_SNAKE.search(literal) or _CALL.search(literal)))
        if names_one and "\n" not in literal:
            yield Message(file.relative_to(ROOT).as_posix(), filled)


def _docstrings(tree: ast.Module) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
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
