"""The language of Graphviz and dagitty, read into nodes and edges.

Both write ``kind { statements }``. A statement names nodes, or joins nodes and groups ``{a b}`` by signs such as
``->``; attributes stand in brackets. What only concerns the drawing is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NoReturn

import attrs

from apsl_rules.errors import GraphFormatError

_TOKEN = re.compile(
    r"""(?: \s++ | //[^\n]*+ | /\*.*?\*/ | ^\#[^\n]*+ )*+
    (?: (?P<sign> <-> | -> | <- | @->|<-@|--@|@--|@-@ | -- | [{}\[\];,=:+] )
      | " (?P<double> (?: [^"\\] | \\. )*+ ) "
      | ' (?P<single> (?: [^'\\] | \\. )*+ ) '
      | (?P<word> -?(?:\.[0-9]+|[0-9]+\.[0-9]*)(?![\w.]) | -?[\w.\x80-\U0010ffff]+ )
      | (?P<other> . )
    )""",
    re.DOTALL | re.VERBOSE | re.MULTILINE,
)
_ESCAPES = re.compile(r"\\(\"|'|\r?\n)")
_OPTIONS = ("node", "edge", "graph")


@attrs.frozen
class Join:
    """Two nodes, the sign between them, and the attributes of the edge."""

    left: str
    sign: str
    right: str
    attributes: Mapping[str, str]


@attrs.frozen
class Drawing:
    """What a text says: the kind of graph, its nodes in the order met, and its edges."""

    kind: str
    nodes: tuple[str, ...]
    joins: tuple[Join, ...]


def parse(text: str, *, kinds: tuple[str, ...], what: str, options: bool) -> Drawing:
    """Read a text; ``options`` says whether node, edge and graph are the keywords of default attributes."""
    return _Reader(text, what, options=options).drawing(kinds)


@attrs.frozen
class _Token:
    kind: str
    text: str
    start: int

    def is_sign(self, *signs: str) -> bool:
        return self.kind == "sign" and self.text in signs

    @property
    def is_name(self) -> bool:
        return self.kind in {"word", "quoted"}

    def is_word(self, *words: str) -> bool:
        return self.kind == "word" and self.text.casefold() in words


class _Reader:
    """Reads one text."""

    def __init__(self, text: str, what: str, *, options: bool) -> None:
        self._text = text
        self._what = what
        self._options = options
        self._tokens = self._all_tokens()
        self._place = 0
        self._nodes: dict[str, None] = {}
        self._joins: list[Join] = []

    def drawing(self, kinds: tuple[str, ...]) -> Drawing:
        if self._next.is_word("strict"):
            self._take()
        kind = self._take()
        if not kind.is_word(*kinds):
            self._fail(kind, f"expected one of {', '.join(kinds)}")
        if self._next.is_name:
            self._take()
        self._expect("{")
        self._statements({})
        end = self._take()
        if end.kind != "end":
            self._fail(end, "expected the end of the text")
        return Drawing(kind.text.casefold(), tuple(self._nodes), tuple(self._joins))

    def _statements(self, defaults: dict[str, str]) -> list[str]:
        """Read statements up to a closing brace; return the nodes that they name."""
        named: list[str] = []
        while not self._next.is_sign("}"):
            if self._next.is_sign(";", ","):
                self._take()
            elif self._options and self._next.is_word(*_OPTIONS) and self._peek(1).is_sign("["):
                about = self._take().text.casefold()
                given = self._attributes()
                defaults |= given if about == "edge" else {}
            elif self._next.is_name and self._peek(1).is_sign("="):
                self._take()
                self._take()
                self._name("a value")
            else:
                named += self._read_chain(defaults)
        self._take()
        return named

    def _read_chain(self, defaults: dict[str, str]) -> list[str]:
        """Read nodes or groups joined by signs."""
        groups = [self._group(defaults)]
        signs = []
        while self._next.kind == "sign" and ("-" in self._next.text):
            signs.append(self._take().text)
            groups.append(self._group(defaults))
        attributes = defaults | self._attributes()
        for left, sign, right in zip(groups, signs, groups[1:], strict=False):
            self._joins += [Join(x, sign, y, attributes) for x in left for y in right]
        return list(dict.fromkeys(node for group in groups for node in group))

    def _group(self, defaults: dict[str, str]) -> list[str]:
        if self._options and self._next.is_word("subgraph"):
            self._take()
            if self._next.is_name:
                self._take()
        if self._next.is_sign("{"):
            self._take()
            return list(dict.fromkeys(self._statements(dict(defaults))))
        node = self._name("a node")
        while self._options and self._next.is_sign(":"):
            self._take()
            self._name("a port")
        self._nodes.setdefault(node)
        return [node]

    def _attributes(self) -> dict[str, str]:
        found: dict[str, str] = {}
        while self._next.is_sign("["):
            self._take()
            while not self._next.is_sign("]"):
                if self._next.is_sign(";", ","):
                    self._take()
                    continue
                key = self._name("an attribute")
                found[key] = ""
                if self._next.is_sign("="):
                    self._take()
                    found[key] = self._name("a value")
            self._take()
        return found

    def _name(self, expected: str) -> str:
        token = self._take()
        if not token.is_name:
            self._fail(token, f"expected {expected}")
        text = token.text
        while self._next.is_sign("+"):
            self._take()
            text += self._name("more text")
        return text

    def _expect(self, sign: str) -> None:
        token = self._take()
        if not token.is_sign(sign):
            self._fail(token, f"expected {sign!r}")

    # --- tokens ----------------------------------------------------------------------------------------------------

    @property
    def _next(self) -> _Token:
        return self._tokens[self._place]

    def _peek(self, ahead: int) -> _Token:
        return self._tokens[min(self._place + ahead, len(self._tokens) - 1)]

    def _take(self) -> _Token:
        token = self._next
        if token.kind != "end":
            self._place += 1
        return token

    def _all_tokens(self) -> list[_Token]:
        tokens = []
        place = 0
        while (found := _TOKEN.match(self._text, place)) is not None:
            kind = str(found.lastgroup)
            token = _Token(kind, found[kind], found.start(kind))
            if kind == "other":
                self._fail(token, "expected a name or a sign; quote names with signs in them")
            if kind in {"double", "single"}:
                token = _Token("quoted", _ESCAPES.sub(_unescape, token.text), token.start - 1)
            tokens.append(token)
            place = found.end()
        return [*tokens, _Token("end", "", len(self._text))]

    def _fail(self, token: _Token, why: str) -> NoReturn:
        line = self._text.count("\n", 0, token.start) + 1
        found = "the end" if token.kind == "end" else repr(token.text)
        message = f"this {self._what} text cannot be read at line {line}: {why}, found {found}"
        raise GraphFormatError(message)


def _unescape(found: re.Match[str]) -> str:
    return "" if found[1].endswith("\n") else found[1]
