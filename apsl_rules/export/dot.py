"""The DOT language of Graphviz: write graphs, and read them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NoReturn

import attrs

from apsl_rules.errors import GraphFormatError
from apsl_rules.export.spelling import escape_signs, read_label, spell_label, unescape_signs
from apsl_rules.names import Node, shown
from apsl_rules.parts import ENDS, Edge, MarkedGraph, edge_with_ends, graph_of
from apsl_rules.rules import End, Mark

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
    """What a text says: the kind of graph, its nodes in the order met, its edges, and the attributes of nodes alone."""

    kind: str
    nodes: tuple[str, ...]
    joins: tuple[Join, ...]
    attributes: Mapping[str, Mapping[str, str]]


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
        self._about: dict[str, dict[str, str]] = {}

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
        return Drawing(kind.text.casefold(), tuple(self._nodes), tuple(self._joins), self._about)

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
        for node in groups[0] if not signs else ():
            self._about.setdefault(node, {}).update(attributes)
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


_UNSAFE = r'"\\'
_DRAWN = {Mark.ARROW: "", Mark.LINE: "dir=none", Mark.CONFLICT: "dir=both, style=dashed, color=red"}
_FIGURES = ("probability", "direction", "suggested")


_SHAPED = {"arrowtail", "arrowhead"}
_SHAPES = {End.ARROW: "normal", End.TAIL: "none", End.CIRCLE: "odot"}
_ENDS = {shape: end for end, shape in _SHAPES.items()}


def to_dot(source: object) -> str:
    """Write a graph in the DOT language; a name that DOT cannot carry gets a label that reads as it should.

    >>> from apsl_rules.graphs import Dag
    >>> print(to_dot(Dag({"a b": [], 3: ["a b"]})))
    digraph {
      "a b";
      "json:3" [label="3"];
      "a b" -> "json:3";
    }
    <BLANKLINE>
    """
    graph = graph_of(source)
    nodes = [f"  {_quote(node)}{_label(node)};" for node in graph.nodes]
    edges = [
        f"  {_quote(edge.source)} -> {_quote(edge.target)}{_drawn(edge, hidden=graph.hidden)};" for edge in graph.edges
    ]
    return "\n".join(["digraph {", *nodes, *edges, "}", ""])


def from_dot(text: str) -> MarkedGraph:
    """Read a DOT text: ``dir`` says what an edge of a digraph is, edges of a graph are lines.

    An edge with both ``arrowtail`` and ``arrowhead`` is one of a graph with hidden causes.
    """
    drawing = parse(text, kinds=("digraph", "graph"), what="DOT", options=True)
    edges = [_edge(join) for join in drawing.joins]
    nodes = [read_label(unescape_signs(name)) for name in drawing.nodes]
    hidden = any(join.attributes.keys() >= _SHAPED for join in drawing.joins)
    return MarkedGraph.of_edges(nodes, [(_node(x), _node(y), mark) for x, y, mark in edges], hidden=hidden)


def _drawn(edge: Edge, *, hidden: bool) -> str:
    shape = _DRAWN.get(edge.mark, "")
    if hidden:
        at_source, at_target = (_SHAPES[end] for end in ENDS[edge.mark])
        dashed = ", style=dashed, color=red" if edge.mark is Mark.CONFLICT else ""
        shape = f"dir=both, arrowtail={at_source}, arrowhead={at_target}{dashed}"
    known = {name: getattr(edge, name) for name in _FIGURES}
    figures = [f"{name}={share:.4f}" for name, share in known.items() if share is not None]
    said = ", ".join(filter(None, [shape, *figures]))
    return f" [{said}]" if said else ""


def _edge(join: Join) -> tuple[str, str, Mark]:
    if join.sign not in {"->", "--"}:
        message = f"the edge of {join.left!r} and {join.right!r} has the sign {join.sign!r}; DOT has '->' and '--'"
        raise GraphFormatError(message)
    if join.attributes.keys() >= _SHAPED:
        return _edge_with_ends(join)
    direction = join.attributes.get("dir", "forward" if join.sign == "->" else "none")
    if direction == "back":
        return join.right, join.left, Mark.ARROW
    marks = {"forward": Mark.ARROW, "none": Mark.LINE, "both": Mark.CONFLICT}
    if direction not in marks:
        message = f"the edge of {join.left!r} and {join.right!r} has dir={direction!r}; give {', '.join(marks)} or back"
        raise GraphFormatError(message)
    return join.left, join.right, marks[direction]


def _edge_with_ends(join: Join) -> tuple[str, str, Mark]:
    shapes = join.attributes["arrowtail"], join.attributes["arrowhead"]
    for shape in shapes:
        if shape not in _ENDS:
            message = f"an end of the edge of {join.left!r} and {join.right!r} is {shape!r}; give {', '.join(_ENDS)}"
            raise GraphFormatError(message)
    if join.attributes.get("style") == "dashed":
        return join.left, join.right, Mark.CONFLICT
    x, y, mark = edge_with_ends(join.left, join.right, _ENDS[shapes[0]], _ENDS[shapes[1]])
    return str(x), str(y), mark


def _node(name: str) -> Node:
    return read_label(unescape_signs(name))


def _quote(node: Node) -> str:
    return f'"{escape_signs(spell_label(node), _UNSAFE)}"'


def _label(node: Node) -> str:
    text = shown(node)
    if f'"{text}"' == _quote(node) and "&" not in text:
        return ""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
    return f' [label="{escaped}"]'
