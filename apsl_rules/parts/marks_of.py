"""The marks of whatever has some: parts, learned graphs, known graphs, networks, graphs of networkx."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import attrs

from apsl_rules.errors import GraphError
from apsl_rules.graphs import AncestralGraph, Dag, Pdag, is_networkx
from apsl_rules.graphs.networks import Network
from apsl_rules.names import Node, in_order
from apsl_rules.parts.learned_graph import LearnedGraph
from apsl_rules.parts.marked_graph import Arrow, MarkedGraph, edge_with_ends, undirected_edge
from apsl_rules.parts.part import Part
from apsl_rules.parts.shortcuts import graph_from_networkx
from apsl_rules.rules import End, Mark


def graph_of(source: object) -> MarkedGraph:
    """Return the marks of a part, a learned graph, a CPDAG, a known graph, a network or a networkx graph.

    Of a part those inside the asked depth are taken, with the nodes that they join.

    >>> from apsl_rules.graphs import known_dag
    >>> [(edge.source, edge.target, edge.mark) for edge in graph_of(known_dag({"a": [], "b": ["a"]})).edges]
    [('a', 'b', <Mark.ARROW: 'arrow'>)]
    """
    if isinstance(source, MarkedGraph):
        return source
    if isinstance(source, Part):
        drawn = source.lines | source.bidirected | {frozenset(pair) for pair in (*source.arrows, *source.partial)}
        return MarkedGraph(
            source.members,
            source.arrows,
            source.lines,
            source.edges - drawn,
            source.suggested,
            source.partial,
            source.bidirected,
            source.allows_hidden,
            **_probabilities(source, map(tuple, source.edges)),
        )
    if isinstance(source, LearnedGraph):
        return _of_parts(source)
    if is_networkx(source):
        return graph_from_networkx(source)
    known = _of_known(source.dag if isinstance(source, Network) else source)
    if known is not None:
        return known
    message = (
        f"a {type(source).__name__} has no marks to write; give a part, a learned graph, a known graph "
        "(known_dag(...)), a network, a networkx graph or a MarkedGraph"
    )
    raise GraphError(message)


def _of_parts(learned: LearnedGraph) -> MarkedGraph:
    """Join what several runs know of the asked pairs; where two of them draw a pair differently, it is a conflict."""
    joined = []
    suggested: dict[Arrow, float] = {}
    for pair, edges_drawn in learned.drawn.items():
        if not learned.is_asked(pair):
            continue
        edge = next(iter(edges_drawn)) if len(edges_drawn) == 1 else undirected_edge(pair, Mark.CONFLICT)
        way = (edge.source, edge.target)
        if edge.mark is Mark.ARROW and way in learned.suggested:
            suggested[way] = learned.suggested[way]
            edge = attrs.evolve(edge, mark=Mark.LINE)
        joined.append((*way, edge.mark))
    graph = MarkedGraph.of_edges(learned.nodes, joined, hidden=learned.allows_hidden)
    return attrs.evolve(graph, suggested=suggested, **_probabilities(learned, (edge[:2] for edge in joined)))


def _probabilities(source: Part | LearnedGraph, pairs: Iterable[Sequence[Node]]) -> dict[str, Any]:
    """Return the probabilities of edges, and of the directions that are proved, as fields of a graph."""
    ways = [(x, y) for x, y in pairs]
    edges = {frozenset((x, y)): source.edge_probability(x, y) for x, y in ways}
    both = [way for x, y in ways for way in ((x, y), (y, x))]
    directions = {way: source.direction_probability(*way) for way in both}
    return {
        "probabilities": {pair: share for pair, share in edges.items() if share is not None},
        "directions": {way: share for way, share in directions.items() if share is not None},
    }


def _of_known(source: object) -> MarkedGraph | None:
    """Return the marks of a known graph, or of what independences determine of one."""
    if isinstance(source, Pdag):
        return MarkedGraph(source.nodes, source.arrows, source.lines)
    if isinstance(source, Dag):
        return MarkedGraph(source.nodes, source.edges)
    return _of_ends(source) if isinstance(source, AncestralGraph) else None


def _of_ends(graph: AncestralGraph) -> MarkedGraph:
    """Return the marks of a MAG or a PAG."""
    edges = []
    for x, y in map(in_order, graph.skeleton):
        ends = End(graph.ends[x, y]), End(graph.ends[y, x])
        edges.append(edge_with_ends(x, y, *ends))
    return MarkedGraph.of_edges(graph.nodes, edges, hidden=True)
