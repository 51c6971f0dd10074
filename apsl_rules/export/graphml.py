"""Graphs as GraphML, which Gephi, Cytoscape, yEd, igraph and networkx read.

Every edge has the datum ``mark`` and, where scores were asked, its ``probability``; along a direction that is proved it
has that of the ``direction``, and along one that is only suggested the same as ``suggested``. A line or
conflict is a pair of opposite edges, as in ``to_networkx``, since few tools read a graph in which only some edges are
directed. A graph with hidden causes has the datum ``hidden``.
"""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

from apsl_rules.errors import GraphFormatError
from apsl_rules.export._spelling import escape_signs, read_label, spell_label, unescape_signs
from apsl_rules.export.networkx import arc_figures, arcs, of_arcs
from apsl_rules.names import Node
from apsl_rules.parts import MarkedGraph, graph_of

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
