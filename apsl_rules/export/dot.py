"""Graphs in the DOT language of Graphviz.

An arrow is an edge, a line an edge with ``dir=none``, a conflict a dashed one with ``dir=both``. A line with a
suggested direction names its ends along it, and has the probability of that direction as ``suggested``. Where scores
were asked, an edge has its ``probability``, and that of its ``direction`` if it has one.

In a graph with hidden causes each end has a shape of its own: ``normal``, ``none``, or ``odot`` for a circle.
"""

from __future__ import annotations

from apsl_rules.errors import GraphFormatError
from apsl_rules.export._dot_language import Join, parse
from apsl_rules.export._spelling import escape_signs, read_label, spell_label, unescape_signs
from apsl_rules.names import Node, shown
from apsl_rules.parts import ENDS, Edge, MarkedGraph, edge_with_ends, graph_of
from apsl_rules.rules import End, Mark

_UNSAFE = r'"\\'
_DRAWN = {Mark.ARROW: "", Mark.LINE: "dir=none", Mark.CONFLICT: "dir=both, style=dashed, color=red"}
_FIGURES = ("probability", "direction", "suggested")


_SHAPED = {"arrowtail", "arrowhead"}
_SHAPES = {End.ARROW: "normal", End.TAIL: "none", End.CIRCLE: "odot"}
_ENDS = {shape: end for end, shape in _SHAPES.items()}


def to_dot(source: object) -> str:
    """Write a graph in the DOT language; a name that DOT cannot carry gets a label that reads as it should.

    >>> from apsl_rules.graphs import known_dag
    >>> print(to_dot(known_dag({"a b": [], 3: ["a b"]})))
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
