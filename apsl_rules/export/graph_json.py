"""Graphs as JSON: nodes and marked edges, without proofs (``part.save`` keeps those).

Version 1::

    {"format": "apsl_rules graph", "version": 1, "nodes": ["a", 3, {"tuple": ["b", 1]}],
     "edges": [{"source": "a", "target": 3, "mark": "arrow"}]}

A node is text, a number, a truth value, null, or a tuple of these. Marks are arrow (from source to target), line and
conflict; with ``"hidden": true`` also partial (an arrowhead at the target, a circle at the source) and bidirected. A
line with a suggested direction names its ends along it, and has the probability of that direction as ``suggested``.
Where scores were asked, an edge has its ``probability``, and that of its ``direction`` if it has one.
"""

from __future__ import annotations

import json
from typing import Any

from apsl_rules._documents import DocumentError, json_data, label, node_of
from apsl_rules.errors import GraphFormatError, PartFileError
from apsl_rules.names import Node
from apsl_rules.parts import Edge, MarkedGraph, graph_of, mark_named
from apsl_rules.rules import Mark

FORMAT = "apsl_rules graph"
VERSION = 1


def to_graph_json(source: object) -> str:
    """Write a graph as JSON text."""
    graph = graph_of(source)
    nodes = [label(node) for node in graph.nodes]
    edges = [_edge_data(edge) for edge in graph.edges]
    hidden = ', "hidden": true' if graph.hidden else ""
    head = f'"format": {json.dumps(FORMAT)}, "version": {VERSION}{hidden}'
    listed = ",".join(f"\n  {json.dumps(edge)}" for edge in edges)
    return f'{{{head},\n "nodes": {json.dumps(nodes)},\n "edges": [{listed}]}}\n'


def _edge_data(edge: Edge) -> dict[str, Any]:
    data = {"source": label(edge.source), "target": label(edge.target), "mark": str(edge.mark)}
    known = {name: getattr(edge, name) for name in ("probability", "direction", "suggested")}
    return data | {name: share for name, share in known.items() if share is not None}


def from_graph_json(text: str) -> MarkedGraph:
    """Read a graph from JSON text."""
    try:
        data = json_data(text)
    except DocumentError as error:
        message = f"this is no graph in JSON: {error}"
        raise GraphFormatError(message) from error
    if not isinstance(data, dict) or data.get("format") != FORMAT or data.get("version") != VERSION:
        message = f'this JSON is no graph of ours; it needs "format": "{FORMAT}" and "version": {VERSION}'
        raise GraphFormatError(message)
    try:
        nodes = [node_of(one) for one in data["nodes"]]
        edges = [_edge(one) for one in data["edges"]]
    except (KeyError, TypeError, PartFileError) as error:
        message = f"this graph in JSON is damaged: {type(error).__name__}: {error}"
        raise GraphFormatError(message) from error
    return MarkedGraph.of_edges(nodes, edges, hidden=data.get("hidden") is True)


def _edge(data: dict[str, Any]) -> tuple[Node, Node, Mark]:
    x, y = node_of(data["source"]), node_of(data["target"])
    return x, y, mark_named(data["mark"], x, y)
