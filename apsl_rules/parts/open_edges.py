"""Undirected edges and conflicts where arrows alone have a meaning: in some formats, and in distributions."""

from __future__ import annotations

from apsl_rules._arguments import chosen
from apsl_rules.errors import GraphError
from apsl_rules.graphs import Dag
from apsl_rules.names import count_of, in_order
from apsl_rules.parts.marked_graph import MarkedGraph
from apsl_rules.parts.shortcuts import OpenEdges


def arrows_only(graph: MarkedGraph, open_edges: OpenEdges, what: str) -> Dag:
    """Return a graph whose edges are all arrows: refuse undirected edges and conflicts, or direct them."""
    chosen("open_edges", open_edges, ("refuse", "direct"))
    graph.refuse_hidden()
    if open_edges == "direct":
        return graph.directed()
    for pairs, mark in ((graph.lines, "undirected edge"), (graph.conflicts, "conflict")):
        if pairs:
            x, y = min(map(in_order, pairs), key=str)
            message = (
                f"{what} knows arrows only, and this graph has {count_of(len(pairs), mark)}, such as {x!r} and {y!r}; "
                "give open_edges='direct' to let names decide their direction"
            )
            raise GraphError(message)
    return graph.dag()
