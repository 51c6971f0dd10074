"""Graphs as text: dagitty, Mermaid, BIF."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import prod
from typing import NoReturn

import numpy as np

from apsl_rules.errors import GraphFormatError, InvalidArgumentError
from apsl_rules.export.dot import Join, parse
from apsl_rules.export.spelling import escape_signs, read_label, spell_label, unescape_signs
from apsl_rules.graphs import Dag, DagWithHidden
from apsl_rules.graphs.networks import Network, parse_bif, write_bif
from apsl_rules.names import Node, listed, mapping, spelt
from apsl_rules.parts import MarkedGraph, OpenEdges, arrows_only, edge_with_ends, graph_of
from apsl_rules.rules import End, Mark

_UNSAFE_IN_DAGITTY = r'"\\'
_DAGITTY_SIGNS = {Mark.ARROW: "->", Mark.LINE: "--", Mark.CONFLICT: "<->"}
_DAGITTY_MARKS = {sign: mark for mark, sign in _DAGITTY_SIGNS.items()}
_DAGITTY_ENDS = {Mark.ARROW: "->", Mark.PARTIAL: "@->", Mark.BIDIRECTED: "<->", Mark.LINE: "@-@", Mark.CONFLICT: "@-@"}
_READ_ENDS = {
    "->": (End.TAIL, End.ARROW),
    "<-": (End.ARROW, End.TAIL),
    "<->": (End.ARROW, End.ARROW),
    "@->": (End.CIRCLE, End.ARROW),
    "<-@": (End.ARROW, End.CIRCLE),
    "@-@": (End.CIRCLE, End.CIRCLE),
}


def to_dagitty(source: object) -> str:
    """Write a graph for dagitty.

    >>> from apsl_rules.graphs import Dag, DagWithHidden
    >>> print(to_dagitty(Dag({"smoke": [], "lung cancer": ["smoke"]})))
    dag {
    smoke
    "lung cancer"
    smoke -> "lung cancer"
    }
    <BLANKLINE>
    """
    graph = graph_of(source)
    signs = _DAGITTY_ENDS if graph.hidden else _DAGITTY_SIGNS
    edges = [f"{_name(edge.source)} {signs[edge.mark]} {_name(edge.target)}" for edge in graph.edges]
    kind = "pag" if graph.hidden else "pdag" if graph.lines else "dag"
    return "\n".join([f"{kind} {{", *map(_name, graph.nodes), *edges, "}", ""])


def from_dagitty(text: str) -> MarkedGraph:
    """Read a dagitty text; positions and roles of variables are skipped.

    In a dag or pdag ``x <-> y``, dagitty's sign for an unmeasured common cause, becomes a conflict: an edge without a
    direction that holds. A graph with one is no known graph. A mag or pag is a graph with hidden causes.
    """
    drawing = parse(text, kinds=("dag", "pdag", "mag", "pag", "digraph", "graph"), what="dagitty", options=False)
    if drawing.kind in {"mag", "pag"}:
        edges = (_edge_with_ends(join, drawing.kind) for join in drawing.joins)
        return MarkedGraph.of_edges(map(_node, drawing.nodes), edges, hidden=True)
    return MarkedGraph.of_edges(map(_node, drawing.nodes), map(_edge, drawing.joins))


def known_from_dagitty(text: str) -> MarkedGraph | DagWithHidden:
    """Read a dagitty text as a model of causes: variables marked ``[latent]`` are hidden nodes.

    In a dag ``x <-> y`` is a hidden common cause. Other kinds of graph are read as ``from_dagitty`` does.
    """
    drawing = parse(text, kinds=("dag", "pdag", "mag", "pag", "digraph", "graph"), what="dagitty", options=False)
    latent = [_node(one) for one, marks in drawing.attributes.items() if not {"latent", "l"}.isdisjoint(marks)]
    shared = [join for join in drawing.joins if join.sign == "<->"]
    if drawing.kind != "dag" or not (latent or shared):
        return from_dagitty(text)
    parents: dict[Node, list[Node]] = {_node(name): [] for name in drawing.nodes}
    for join in drawing.joins:
        if join.sign == "<->":
            cause = ("hidden cause", _node(join.left), _node(join.right))
            parents[cause] = []
            latent.append(cause)
            for name in (join.left, join.right):
                parents[_node(name)].append(cause)
            continue
        tail, head, mark = _edge(join)
        if mark is not Mark.ARROW:
            message = f"{tail!r} and {head!r} are joined by {join.sign!r}, which leaves the direction open in a dag"
            raise GraphFormatError(message)
        parents[head].append(tail)
    return Dag(parents).hiding(*latent)


def _edge_with_ends(join: Join, kind: str) -> tuple[Node, Node, Mark]:
    if join.sign not in _READ_ENDS:
        message = (
            f"the edge of {join.left!r} and {join.right!r} has the sign {join.sign!r}; signs that can be read in a "
            f"{kind} are {', '.join(_READ_ENDS)}"
        )
        raise GraphFormatError(message)
    return edge_with_ends(_node(join.left), _node(join.right), *_READ_ENDS[join.sign])


def _edge(join: Join) -> tuple[Node, Node, Mark]:
    if join.sign == "<-":
        return _node(join.right), _node(join.left), Mark.ARROW
    if join.sign not in _DAGITTY_MARKS:
        message = (
            f"the edge of {join.left!r} and {join.right!r} has the sign {join.sign!r}; "
            f"signs that can be read are {', '.join(_DAGITTY_MARKS)} and <-"
        )
        raise GraphFormatError(message)
    return _node(join.left), _node(join.right), _DAGITTY_MARKS[join.sign]


def _node(name: str) -> Node:
    return read_label(unescape_signs(name))


def _name(node: Node) -> str:
    name = escape_signs(spell_label(node), _UNSAFE_IN_DAGITTY)
    plain = name.isascii() and name.replace("_", "").isalnum()
    return name if plain else f'"{name}"'


_MERMAID_SIGNS = {Mark.ARROW: "-->", Mark.LINE: "---", Mark.CONFLICT: "x--x"}
_MERMAID_MARKS = {**{sign: mark for mark, sign in _MERMAID_SIGNS.items()}, "<-->": Mark.CONFLICT}
_MERMAID_ENDS = {
    Mark.ARROW: "-->",
    Mark.PARTIAL: "o-->",
    Mark.BIDIRECTED: "<-->",
    Mark.LINE: "o--o",
    Mark.CONFLICT: "x--x",
}
_MARKS_WITH_HIDDEN = {sign: mark for mark, sign in _MERMAID_ENDS.items()}
_HIDDEN = "%% hidden causes"
_UNSAFE_IN_MERMAID = re.compile(r'["#&<>`\\\x00-\x1f\x7f-\x9f\u2028\u2029]|^ | $')
_CODE = re.compile(r"#([0-9]{1,7});")
_NAMED = {"#quot;": '"', "#amp;": "&", "#lt;": "<", "#gt;": ">"}
_HEAD = re.compile(r"(?:flowchart|graph)(?:\s+(?:TB|TD|BT|LR|RL))?")
_TEXT = r"""(?P<id>[^\W_][\w]*)(?:\[(?:"(?P<quoted>[^"]*)"|(?P<plain>[^"\]]*))\])?"""
_NODE = re.compile(_TEXT)
_SIGN = re.compile(r"\s*(?P<sign>x--x|<-->|o-->|o--o|-->|---)(?:\|[^|]*\|)?\s*")


def to_mermaid(source: object) -> str:
    """Write a graph as a Mermaid flowchart.

    >>> from apsl_rules.graphs import Dag, DagWithHidden
    >>> print(to_mermaid(Dag({"a": [], 'say "b"': ["a"]})))
    flowchart TD
      n0["a"]
      n1["say #34;b#34;"]
      n0 --> n1
    <BLANKLINE>
    """
    graph = graph_of(source)
    number = {node: f"n{place}" for place, node in enumerate(graph.nodes)}
    nodes = [f'  {number[node]}["{_encode(spell_label(node))}"]' for node in graph.nodes]
    signs = _MERMAID_ENDS if graph.hidden else _MERMAID_SIGNS
    edges = [f"  {number[edge.source]} {signs[edge.mark]} {number[edge.target]}" for edge in graph.edges]
    said = [f"  {_HIDDEN}"] if graph.hidden else []
    return "\n".join(["flowchart TD", *said, *nodes, *edges, ""])


def from_mermaid(text: str) -> MarkedGraph:
    """Read a flowchart of nodes ``id`` or ``id["name"]`` joined by ``-->``, ``---``, ``x--x`` or ``<-->``.

    Where it says that causes may be hidden, ``o-->`` and ``o--o`` are read, and ``<-->`` has two arrowheads.
    """
    lines = [(number, line.strip()) for number, line in enumerate(text.split("\n"), start=1)]
    hidden = any(line == _HIDDEN for _, line in lines)
    marks = _MARKS_WITH_HIDDEN if hidden else _MERMAID_MARKS
    lines = [(number, line) for number, line in lines if line and not line.startswith("%%")]
    if not lines or not _HEAD.fullmatch(lines[0][1].rstrip(";")):
        _refuse("this is no Mermaid flowchart; its first line must be 'flowchart TD' or the like")
    names: dict[str, str | None] = {}
    read = [edge for number, line in lines[1:] for edge in _read_chain(line.rstrip(";"), number, names)]
    for x, y, sign in read:
        if sign not in marks:
            _refuse(f"{x!r} and {y!r} are joined by {sign!r}; signs that can be read here are {', '.join(marks)}")
    drawn = [(x, y, marks[sign]) for x, y, sign in read]
    node = {one: read_label(one if name is None else name) for one, name in names.items()}
    if len(set(node.values())) < len(node):
        _refuse("two nodes of this flowchart have the same name; give each its own")
    return MarkedGraph.of_edges(node.values(), [(node[x], node[y], mark) for x, y, mark in drawn], hidden=hidden)


def _read_chain(line: str, number: int, names: dict[str, str | None]) -> list[tuple[str, str, str]]:
    """Read a line of nodes joined by signs, and remember the names that it gives."""
    edges = []
    one, place = _read_node(line, 0, number, names)
    while place < len(line):
        sign = _SIGN.match(line, place)
        if sign is None:
            _refuse(f"line {number} of the flowchart cannot be read from {line[place:]!r} on")
        other, place = _read_node(line, sign.end(), number, names)
        edges.append((one, other, sign["sign"]))
        one = other
    return edges


def _read_node(line: str, place: int, number: int, names: dict[str, str | None]) -> tuple[str, int]:
    found = _NODE.match(line, place)
    if found is None:
        _refuse(f"line {number} of the flowchart has no node where one must be: {line[place:]!r}")
    text = found["quoted"] if found["quoted"] is not None else found["plain"]
    if text is not None or found["id"] not in names:
        names[found["id"]] = None if text is None else _decode(text)
    return found["id"], found.end()


def _encode(name: str) -> str:
    return _UNSAFE_IN_MERMAID.sub(lambda sign: f"#{ord(sign.group())};", name)


def _decode(text: str) -> str:
    for code, sign in _NAMED.items():
        text = text.replace(code, sign)
    return _CODE.sub(lambda code: chr(int(code[1])) if int(code[1]) <= 0x10FFFF else code.group(), text)  # noqa: PLR2004 - the last sign of Unicode


def _refuse(message: str) -> NoReturn:
    raise GraphFormatError(message)


_LARGEST = 1_000_000


def to_bif(
    source: object,
    *,
    open_edges: OpenEdges = "refuse",
    levels: Mapping[Node, Sequence[str]] | None = None,
    name: str = "structure",
) -> str:
    """Write the structure of a graph as BIF text; of a ``Network`` use ``write_bif``, which keeps its probabilities."""
    dag = arrows_only(graph_of(source), open_edges, "a BIF file")
    given = mapping("levels", levels, "{'smoker': ['yes', 'no']}")
    known = {
        spell_label(node): tuple(
            listed(f"the entry of {spelt(node)} in levels", given.get(node, ("unknown",)), "levels", letters=True)
        )
        for node in dag.nodes
    }
    named = Dag({spell_label(node): [spell_label(parent) for parent in dag.parents_of(node)] for node in dag.nodes})
    tables = {}
    for node in named.nodes:
        shape = [len(known[str(other)]) for other in (*named.parents_of(node), node)]
        if prod(shape) > _LARGEST:
            message = (
                f"the table of {node!r} would have {prod(shape)} cells; leave out levels, "
                "so that each node has one level that holds the place"
            )
            raise InvalidArgumentError(message)
        tables[node] = np.full(shape, 1 / max(shape[-1], 1))
    source_note = "Structure only: all probabilities are placeholders."
    return write_bif(Network(name, named, dict(known.items()), tables, source_note))


def network_to_bif(network: Network) -> str:
    """Write a network with its probabilities as BIF text, whatever its labels are."""
    named: dict[Node, Node] = {node: spell_label(node) for node in network.dag.nodes}
    dag = Dag({named[node]: [named[one] for one in network.dag.parents_of(node)] for node in network.dag.nodes})
    levels = {named[node]: network.levels[node] for node in network.dag.nodes}
    tables = {named[node]: network.tables[node] for node in network.dag.nodes}
    return write_bif(Network(network.name, dag, levels, tables, network.source))


def from_bif(text: str) -> MarkedGraph:
    """Read the structure of a BIF text; ``network`` and ``read_bif`` read its probabilities too."""
    dag = parse_bif(text).dag
    label = {name: read_label(str(name)) for name in dag.nodes}
    return MarkedGraph(label.values(), [(label[x], label[y]) for x, y in dag.edges])
