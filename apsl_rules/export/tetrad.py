"""Graphs as the text that Tetrad saves and loads.

An arrow is ``-->``, a line ``---`` and a conflict ``<->``. In a graph with hidden causes ``<->`` has two arrowheads,
and an end with a circle is ``o``: ``o->`` and ``o-o``.
"""

from __future__ import annotations

import re
from typing import NoReturn

from apsl_rules.errors import GraphFormatError
from apsl_rules.export._spelling import escape_signs, read_label, spell_label, unescape_signs
from apsl_rules.names import Node
from apsl_rules.parts import ENDS, Edge, MarkedGraph, edge_with_ends, graph_of
from apsl_rules.rules import End, Mark

_UNSAFE = r"\s,;()\[\]"
_SIGNS = {Mark.ARROW: "-->", Mark.LINE: "---", Mark.CONFLICT: "<->"}
_MARKS = {sign: mark for mark, sign in _SIGNS.items()}
_LEFT = {End.ARROW: "<", End.TAIL: "-", End.CIRCLE: "o"}
_RIGHT = {End.ARROW: ">", End.TAIL: "-", End.CIRCLE: "o"}
_WITH_ENDS = {f"{left}-{right}": (one, other) for one, left in _LEFT.items() for other, right in _RIGHT.items()}
_EDGE = re.compile(r"\d+\.\s*(\S+)\s+(\S+)\s+(\S+)")


def to_tetrad(source: object) -> str:
    """Write a graph as Tetrad's text.

    >>> from apsl_rules.graphs import known_dag
    >>> print(to_tetrad(known_dag({"a": [], "b c": ["a"]})))
    Graph Nodes:
    a;b%20c
    <BLANKLINE>
    Graph Edges:
    1. a --> b%20c
    <BLANKLINE>
    """
    graph = graph_of(source)
    edges = [
        f"{number}. {_name(edge.source)} {_sign(edge, hidden=graph.hidden)} {_name(edge.target)}"
        for number, edge in enumerate(graph.edges, start=1)
    ]
    return "\n".join(["Graph Nodes:", ";".join(map(_name, graph.nodes)), "", "Graph Edges:", *edges, ""])


def _sign(edge: Edge, *, hidden: bool) -> str:
    if not hidden:
        return _SIGNS[edge.mark]
    at_source, at_target = ENDS[edge.mark]
    return f"{_LEFT[at_source]}-{_RIGHT[at_target]}"


def from_tetrad(text: str, *, hidden: bool | None = None) -> MarkedGraph:
    """Read Tetrad's text; latent variables ``(x)`` count as nodes, and notes behind an edge are skipped.

    ``hidden`` says whether it is a PAG, in which ``<->`` is a hidden common cause and no conflict. Without it, one with
    circles is.
    """
    if hidden is None:
        hidden = any(
            found[2].startswith("o") or found[2].endswith("o") for found in map(_EDGE.match, text.split("\n")) if found
        )
    nodes: list[Node] = []
    edges: list[tuple[Node, Node, Mark]] = []
    section = ""
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.strip()
        if line.endswith(":"):
            section = line
        elif not line:
            section = section if section == "Graph Nodes:" and not nodes else ""
        elif section == "Graph Nodes:":
            nodes += [_node(name.strip("()[]")) for name in re.split("[,;]", line) if name]
        elif section == "Graph Edges:":
            edges.append(_edge(line, number, hidden=hidden))
    if not nodes:
        _refuse("this text has no line after 'Graph Nodes:'; give a graph as Tetrad saves it")
    return MarkedGraph.of_edges(nodes, edges, hidden=hidden)


def _edge(line: str, number: int, *, hidden: bool) -> tuple[Node, Node, Mark]:
    found = _EDGE.match(line)
    if found is None:
        _refuse(f"line {number} of the Tetrad text is no edge such as '1. A --> B': {line!r}")
    x, sign, y = found.groups()
    if hidden and sign in _WITH_ENDS:
        return edge_with_ends(_node(x), _node(y), *_WITH_ENDS[sign])
    if sign == "<--":
        return _node(y), _node(x), Mark.ARROW
    if sign not in _MARKS:
        _refuse(f"line {number} of the Tetrad text has the edge {sign!r}; give one of -->, <--, ---, <->")
    return _node(x), _node(y), _MARKS[sign]


def _name(node: Node) -> str:
    return escape_signs(spell_label(node), _UNSAFE)


def _node(name: str) -> Node:
    return read_label(unescape_signs(name))


def _refuse(message: str) -> NoReturn:
    raise GraphFormatError(message)
