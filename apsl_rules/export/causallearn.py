"""Graphs for causal-learn: a GeneralGraph with tails and arrowheads; a conflict is ``<->``, as causal-learn has it."""

from __future__ import annotations

from typing import Any

from apsl_rules.errors import GraphFormatError
from apsl_rules.export._peers import peer
from apsl_rules.export._spelling import read_label, spell_label
from apsl_rules.names import Node
from apsl_rules.parts import MarkedGraph, graph_of
from apsl_rules.rules import Mark

_PACKAGE = "causal-learn"


def to_causallearn(source: object) -> Any:
    """Return a GeneralGraph; labels that are not text are named ``json:...``."""
    graph = graph_of(source)
    tail, head = _endpoints()
    edge_of = peer("causallearn.graph.Edge", _PACKAGE).Edge
    node_of = peer("causallearn.graph.GraphNode", _PACKAGE).GraphNode
    nodes = {node: node_of(spell_label(node)) for node in graph.nodes}
    made = peer("causallearn.graph.GeneralGraph", _PACKAGE).GeneralGraph(list(nodes.values()))
    ends = {Mark.ARROW: (tail, head), Mark.LINE: (tail, tail), Mark.CONFLICT: (head, head)}
    for edge in graph.edges:
        made.add_edge(edge_of(nodes[edge.source], nodes[edge.target], *ends[edge.mark]))
    return made


def from_causallearn(source: Any) -> MarkedGraph:
    """Read a GeneralGraph, or the CausalGraph that a search of causal-learn gives; circles are refused."""
    graph = getattr(source, "G", source)
    if not callable(getattr(graph, "get_graph_edges", None)):
        message = f"{type(source).__name__} is no graph of causal-learn; give a GeneralGraph or a CausalGraph"
        raise GraphFormatError(message)
    tail, head = _endpoints()
    edges: list[tuple[Node, Node, Mark]] = []
    for edge in graph.get_graph_edges():
        x, y = read_label(edge.get_node1().get_name()), read_label(edge.get_node2().get_name())
        ends = edge.get_endpoint1(), edge.get_endpoint2()
        if ends == (tail, head):
            edges.append((x, y, Mark.ARROW))
        elif ends == (head, tail):
            edges.append((y, x, Mark.ARROW))
        elif ends in ((tail, tail), (head, head)):
            edges.append((x, y, Mark.LINE if ends[0] == tail else Mark.CONFLICT))
        else:
            message = f"the edge {edge} has a circle, which leaves more open than a line; only tails and heads are read"
            raise GraphFormatError(message)
    return MarkedGraph.of_edges([read_label(node.get_name()) for node in graph.get_nodes()], edges)


def _endpoints() -> tuple[Any, Any]:
    endpoint = peer("causallearn.graph.Endpoint", _PACKAGE).Endpoint
    return endpoint.TAIL, endpoint.ARROW
