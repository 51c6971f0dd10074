"""Graphs for networkx: arcs with a ``mark``, and with probabilities where they are known."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from apsl_rules.errors import GraphFormatError, InvalidArgumentError
from apsl_rules.export._peers import peer
from apsl_rules.graphs import is_networkx
from apsl_rules.names import Node
from apsl_rules.parts import ENDS, MarkedGraph, graph_of, mark_named
from apsl_rules.rules import Mark

_DIRECTED = (Mark.ARROW, Mark.PARTIAL)


def to_networkx(source: object) -> Any:
    """Return a DiGraph whose arcs have the attribute ``mark``; a line or conflict is a pair of arcs.

    Where scores were asked, both arcs of an edge have the ``probability`` that it exists, and an arc along a direction
    that is proved has the probability of that ``direction``, given that the edge exists. Of a line with a suggested
    direction, the arc along it has the probability of that direction as ``suggested``, too.
    In a graph with hidden causes, which has the graph attribute ``hidden``, each arc also has the marks at its ends:
    ``source_end`` and ``target_end``.
    """
    graph = graph_of(source)
    refuse_none(graph)
    made = peer("networkx", "networkx").DiGraph(**({"hidden": True} if graph.hidden else {}))
    made.add_nodes_from(graph.nodes)
    for x, y, mark in arcs(graph):
        ends = dict(zip(("source_end", "target_end"), map(str, ENDS[mark]), strict=True)) if graph.hidden else {}
        made.add_edge(x, y, mark=str(mark), **arc_figures(graph, x, y), **ends)
    return made


def from_networkx(source: Any) -> MarkedGraph:
    """Read a networkx graph; where arcs have no ``mark``, a pair of opposite ones is a line, as is an undirected edge.

    Edges of a multigraph count once if they agree.
    """
    if not is_networkx(source):
        message = f"{type(source).__name__} is no networkx graph; give a Graph or a DiGraph"
        raise GraphFormatError(message)
    found = ((x, y, data.get("mark")) for x, y, data in source.edges(data=True))
    hidden = bool(source.graph.get("hidden"))
    return of_arcs(source.nodes, found, directed=source.is_directed(), hidden=hidden)


def refuse_none(graph: MarkedGraph) -> None:
    """Refuse a graph with the node None, which no networkx graph can have."""
    if None in graph.nodes:
        message = "networkx has no node None; give this node another label"
        raise InvalidArgumentError(message)


def arcs(graph: MarkedGraph) -> list[tuple[Node, Node, Mark]]:
    """Return one arc for each arrow, partial or not, and two opposite ones for each other edge."""
    found = []
    for edge in graph.edges:
        found.append((edge.source, edge.target, edge.mark))
        if edge.mark not in _DIRECTED:
            found.append((edge.target, edge.source, edge.mark))
    return found


def arc_figures(graph: MarkedGraph, x: Node, y: Node) -> dict[str, float]:
    """Return what is known of an arc: the probability of its edge, of its direction, and of one that is suggested."""
    known = {
        "probability": graph.probabilities.get(frozenset((x, y))),
        "direction": graph.directions.get((x, y)),
        "suggested": graph.suggested.get((x, y)),
    }
    return {name: share for name, share in known.items() if share is not None}


def of_arcs(
    nodes: Iterable[Node], found: Iterable[tuple[Node, Node, Any]], *, directed: bool, hidden: bool = False
) -> MarkedGraph:
    """Make a graph of arcs with the name of a mark, or None where they have none."""
    named = {(x, y): None if mark is None else mark_named(mark, x, y) for x, y, mark in found}
    edges: dict[tuple[object, Mark], tuple[Node, Node, Mark]] = {}
    for (x, y), given in named.items():
        both = not directed or (y, x) in named
        mark = given or (Mark.LINE if both else Mark.ARROW)
        if mark in _DIRECTED and not directed:
            message = f"the undirected edge of {x!r} and {y!r} is marked as an arrow; give a directed graph"
            raise GraphFormatError(message)
        same = (x, y) if mark in _DIRECTED else frozenset((x, y))
        edges.setdefault((same, mark), (x, y, mark))
    return MarkedGraph.of_edges(nodes, edges.values(), hidden=hidden)
