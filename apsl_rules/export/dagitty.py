"""Graphs in the language of dagitty (``dag { x -> y }``), for its web page and its R package.

An arrow is ``->``, a line ``--`` and a conflict ``<->``. A graph with lines is a ``pdag``. One with hidden causes is a
``pag``: there ``<->`` has two arrowheads, and an end with a circle is ``@``.
"""

from __future__ import annotations

from apsl_rules.errors import GraphFormatError
from apsl_rules.export._dot_language import Join, parse
from apsl_rules.export._spelling import escape_signs, read_label, spell_label, unescape_signs
from apsl_rules.names import Node
from apsl_rules.parts import MarkedGraph, edge_with_ends, graph_of
from apsl_rules.rules import End, Mark

_UNSAFE = r'"\\'
_SIGNS = {Mark.ARROW: "->", Mark.LINE: "--", Mark.CONFLICT: "<->"}
_MARKS = {sign: mark for mark, sign in _SIGNS.items()}
_ENDS = {Mark.ARROW: "->", Mark.PARTIAL: "@->", Mark.BIDIRECTED: "<->", Mark.LINE: "@-@", Mark.CONFLICT: "@-@"}
_READ_ENDS = {
    "->": (End.TAIL, End.ARROW),
    "<-": (End.ARROW, End.TAIL),
    "<->": (End.ARROW, End.ARROW),
    "@->": (End.CIRCLE, End.ARROW),
    "<-@": (End.ARROW, End.CIRCLE),
    "@-@": (End.CIRCLE, End.CIRCLE),
}


def to_dagitty(source: object) -> str:
    """Write a graph for dagitty.

    >>> from apsl_rules.graphs import known_dag
    >>> print(to_dagitty(known_dag({"smoke": [], "lung cancer": ["smoke"]})))
    dag {
    smoke
    "lung cancer"
    smoke -> "lung cancer"
    }
    <BLANKLINE>
    """
    graph = graph_of(source)
    signs = _ENDS if graph.hidden else _SIGNS
    edges = [f"{_name(edge.source)} {signs[edge.mark]} {_name(edge.target)}" for edge in graph.edges]
    kind = "pag" if graph.hidden else "pdag" if graph.lines else "dag"
    return "\n".join([f"{kind} {{", *map(_name, graph.nodes), *edges, "}", ""])


def from_dagitty(text: str) -> MarkedGraph:
    """Read a dagitty text; positions and roles of variables are skipped.

    In a dag or pdag ``x <-> y``, dagitty's sign for an unmeasured common cause, becomes a conflict: an edge without a
    direction that holds. A graph with one is no known graph. A mag or pag is a graph with hidden causes.
    """
    drawing = parse(text, kinds=("dag", "pdag", "mag", "pag", "digraph", "graph"), what="dagitty", options=False)
    if drawing.kind in {"mag", "pag"}:
        edges = (_edge_with_ends(join, drawing.kind) for join in drawing.joins)
        return MarkedGraph.of_edges(map(_node, drawing.nodes), edges, hidden=True)
    return MarkedGraph.of_edges(map(_node, drawing.nodes), map(_edge, drawing.joins))


def _edge_with_ends(join: Join, kind: str) -> tuple[Node, Node, Mark]:
    if join.sign not in _READ_ENDS:
        message = (
            f"the edge of {join.left!r} and {join.right!r} has the sign {join.sign!r}; signs that can be read in a "
            f"{kind} are {', '.join(_READ_ENDS)}"
        )
        raise GraphFormatError(message)
    return edge_with_ends(_node(join.left), _node(join.right), *_READ_ENDS[join.sign])


def _edge(join: Join) -> tuple[Node, Node, Mark]:
    if join.sign == "<-":
        return _node(join.right), _node(join.left), Mark.ARROW
    if join.sign not in _MARKS:
        message = (
            f"the edge of {join.left!r} and {join.right!r} has the sign {join.sign!r}; "
            f"signs that can be read are {', '.join(_MARKS)} and <-"
        )
        raise GraphFormatError(message)
    return _node(join.left), _node(join.right), _MARKS[join.sign]


def _node(name: str) -> Node:
    return read_label(unescape_signs(name))


def _name(node: Node) -> str:
    name = escape_signs(spell_label(node), _UNSAFE)
    plain = name.isascii() and name.replace("_", "").isalnum()
    return name if plain else f'"{name}"'
