"""Graphs as data: networkx, GraphML, JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any
from xml.etree import ElementTree as ET

from apsl_rules._documents import DocumentError, json_data, label, node_of
from apsl_rules.errors import GraphFormatError, InvalidArgumentError, PartFileError
from apsl_rules.export.spelling import escape_signs, peer, read_label, spell_label, unescape_signs
from apsl_rules.graphs import is_networkx
from apsl_rules.names import Node
from apsl_rules.parts import ENDS, Edge, MarkedGraph, graph_of, mark_named
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


_SPACE = "http://graphml.graphdrawing.org/xmlns"
_MARK, _HIDDEN = "mark", "hidden"
_FIGURES = ("probability", "direction", "suggested")


def to_graphml(source: object) -> str:
    """Write a graph as GraphML; the names of nodes are their ids."""
    graph = graph_of(source)
    root = ET.Element("graphml", xmlns=_SPACE)
    ET.SubElement(root, "key", {"id": _MARK, "for": "edge", "attr.name": _MARK, "attr.type": "string"})
    if graph.hidden:
        ET.SubElement(root, "key", {"id": _HIDDEN, "for": "graph", "attr.name": _HIDDEN, "attr.type": "boolean"})
    figures = [(x, y, mark, arc_figures(graph, x, y)) for x, y, mark in arcs(graph)]
    for name in _FIGURES:
        if any(name in known for *_, known in figures):
            ET.SubElement(root, "key", {"id": name, "for": "edge", "attr.name": name, "attr.type": "double"})
    drawn = ET.SubElement(root, "graph", edgedefault="directed")
    if graph.hidden:
        ET.SubElement(drawn, "data", key=_HIDDEN).text = "true"
    for node in graph.nodes:
        ET.SubElement(drawn, "node", id=_name(node))
    for x, y, mark, known in figures:
        edge = ET.SubElement(drawn, "edge", source=_name(x), target=_name(y))
        ET.SubElement(edge, "data", key=_MARK).text = str(mark)
        for name, share in known.items():
            ET.SubElement(edge, "data", key=name).text = repr(share)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def from_graphml(text: str) -> MarkedGraph:
    """Read a GraphML text; where edges have no mark, a pair of opposite ones is a line, as is an undirected edge."""
    try:
        root = ET.fromstring(text)  # noqa: S314 - expat itself bounds the expansion of entities
    except (ET.ParseError, ValueError) as error:
        message = f"this is no GraphML text: {error}"
        raise GraphFormatError(message) from error
    drawn = root.find("{*}graph")
    if drawn is None:
        message = f"this XML has no graph in it, only <{root.tag}>; give a GraphML text"
        raise GraphFormatError(message)
    key = next((one.get("id") for one in root.iterfind("{*}key") if one.get("attr.name") == _MARK), None)
    nodes = [_node(_attribute(one, "id")) for one in drawn.iterfind(".//{*}node")]
    default = drawn.get("edgedefault", "directed")
    found: list[tuple[Node, Node, Any]] = []
    for one in drawn.iterfind(".//{*}edge"):
        x, y = _node(_attribute(one, "source")), _node(_attribute(one, "target"))
        mark = next((datum.text for datum in one.iterfind("{*}data") if datum.get("key") == key), None)
        undirected = one.get("directed", str(default == "directed").lower()) == "false"
        found.append((x, y, mark))
        found += [(y, x, mark)] if undirected else []
    said = next((one.get("id") for one in root.iterfind("{*}key") if one.get("attr.name") == _HIDDEN), _HIDDEN)
    hidden = any(datum.get("key") == said and datum.text == "true" for datum in drawn.iterfind("{*}data"))
    return of_arcs(nodes, found, directed=True, hidden=hidden)


def _attribute(element: ET.Element, name: str) -> str:
    value = element.get(name)
    if value is None:
        kind = element.tag.rpartition("}")[2]
        message = f"a <{kind}> of this GraphML text has no {name!r}; each needs one"
        raise GraphFormatError(message)
    return value


def _name(node: Node) -> str:
    return escape_signs(spell_label(node))


def _node(name: str) -> Node:
    return read_label(unescape_signs(name))


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
