"""Graphs in the language of dagitty (``dag { x -> y }``), for its web page and its R package.

An arrow is ``->``, a line ``--`` and a conflict ``<->``. A graph with lines is a ``pdag``.
"""

from __future__ import annotations

from apsl_rules.errors import GraphFormatError
from apsl_rules.export._dot_language import Join, parse
from apsl_rules.export._spelling import escape_signs, read_label, spell_label, unescape_signs
from apsl_rules.names import Node
from apsl_rules.parts import MarkedGraph, graph_of
from apsl_rules.rules import Mark

_UNSAFE = r'"\\'
_SIGNS = {Mark.ARROW: "->", Mark.LINE: "--", Mark.CONFLICT: "<->"}
_MARKS = {sign: mark for mark, sign in _SIGNS.items()}


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
    edges = [f"{_name(edge.source)} {_SIGNS[edge.mark]} {_name(edge.target)}" for edge in graph.edges]
    kind = "pdag" if graph.lines else "dag"
    return "\n".join([f"{kind} {{", *map(_name, graph.nodes), *edges, "}", ""])


def from_dagitty(text: str) -> MarkedGraph:
    """Read a dagitty text of the kinds dag and pdag; positions and roles of variables are skipped.

    ``x <-> y``, dagitty's sign for an unmeasured common cause, becomes a conflict: an edge without a
    direction that holds. A graph with one is no known graph.
    """
    drawing = parse(text, kinds=("dag", "pdag", "mag", "pag", "digraph", "graph"), what="dagitty", options=False)
    if drawing.kind in {"mag", "pag"}:
        message = f"this dagitty text is a {drawing.kind}, whose marks have another meaning; give a dag or a pdag"
        raise GraphFormatError(message)
    return MarkedGraph.of_edges(map(_node, drawing.nodes), map(_edge, drawing.joins))


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
