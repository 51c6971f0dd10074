"""Graphs for causal-learn: a GeneralGraph with a mark at each end; a conflict is ``<->``, as causal-learn has it.

In a graph with hidden causes ``<->`` has two arrowheads, and a conflict has circles.
"""

from __future__ import annotations

from typing import Any

from apsl_rules.errors import GraphFormatError
from apsl_rules.export._peers import peer
from apsl_rules.export._spelling import read_label, spell_label
from apsl_rules.names import Node
from apsl_rules.parts import ENDS, MarkedGraph, edge_with_ends, graph_of
from apsl_rules.rules import End, Mark

_PACKAGE = "causal-learn"


def to_causallearn(source: object) -> Any:
    """Return a GeneralGraph; labels that are not text are named ``json:...``."""
    graph = graph_of(source)
    tail, head, circle = _endpoints()
    edge_of = peer("causallearn.graph.Edge", _PACKAGE).Edge
    node_of = peer("causallearn.graph.GraphNode", _PACKAGE).GraphNode
    nodes = {node: node_of(spell_label(node)) for node in graph.nodes}
    made = peer("causallearn.graph.GeneralGraph", _PACKAGE).GeneralGraph(list(nodes.values()))
    ends = {Mark.ARROW: (tail, head), Mark.LINE: (tail, tail), Mark.CONFLICT: (head, head)}
    if graph.hidden:
        shapes = {End.TAIL: tail, End.ARROW: head, End.CIRCLE: circle}
        ends = {mark: (shapes[one], shapes[other]) for mark, (one, other) in ENDS.items()}
    for edge in graph.edges:
        made.add_edge(edge_of(nodes[edge.source], nodes[edge.target], *ends[edge.mark]))
    return made


def from_causallearn(source: Any, *, hidden: bool | None = None) -> MarkedGraph:
    """Read a GeneralGraph, or the CausalGraph that a search of causal-learn gives.

    ``hidden`` says whether it is a PAG, in which ``<->`` is a hidden common cause and no conflict. Without it, one with
    circles is.
    """
    graph = getattr(source, "G", source)
    if not callable(getattr(graph, "get_graph_edges", None)):
        message = f"{type(source).__name__} is no graph of causal-learn; give a GeneralGraph or a CausalGraph"
        raise GraphFormatError(message)
    tail, head, circle = _endpoints()
    drawn = list(graph.get_graph_edges())
    if hidden is None:
        hidden = any(circle in (edge.get_endpoint1(), edge.get_endpoint2()) for edge in drawn)
    shapes = {tail.name: End.TAIL, head.name: End.ARROW, circle.name: End.CIRCLE}
    edges: list[tuple[Node, Node, Mark]] = []
    for edge in drawn:
        x, y = read_label(edge.get_node1().get_name()), read_label(edge.get_node2().get_name())
        ends = edge.get_endpoint1(), edge.get_endpoint2()
        if hidden:
            edges.append(edge_with_ends(x, y, shapes[ends[0].name], shapes[ends[1].name]))
        elif ends == (tail, head):
            edges.append((x, y, Mark.ARROW))
        elif ends == (head, tail):
            edges.append((y, x, Mark.ARROW))
        elif ends in ((tail, tail), (head, head)):
            edges.append((x, y, Mark.LINE if ends[0] == tail else Mark.CONFLICT))
        else:
            message = (
                f"the edge {edge} has a circle, which leaves more open than a line; give hidden=True to read a PAG"
            )
            raise GraphFormatError(message)
    return MarkedGraph.of_edges([read_label(node.get_name()) for node in graph.get_nodes()], edges, hidden=hidden)


def _endpoints() -> tuple[Any, Any, Any]:
    endpoint = peer("causallearn.graph.Endpoint", _PACKAGE).Endpoint
    return endpoint.TAIL, endpoint.ARROW, endpoint.CIRCLE
