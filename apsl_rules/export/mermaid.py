"""Graphs as Mermaid flowcharts, which GitHub and many wikis draw.

An arrow is ``-->``, a line ``---`` and a conflict ``x--x``. A graph with hidden causes has the comment ``%% hidden
causes``, and ``<-->`` with two arrowheads, ``o-->`` and ``o--o`` with circles. Nodes are numbered; their names stand in
quotes, with Mermaid's own codes such as ``#34;`` for signs that it would take for something else.
"""

from __future__ import annotations

import re
from typing import NoReturn

from apsl_rules.errors import GraphFormatError
from apsl_rules.export._spelling import read_label, spell_label
from apsl_rules.parts import MarkedGraph, graph_of
from apsl_rules.rules import Mark

_SIGNS = {Mark.ARROW: "-->", Mark.LINE: "---", Mark.CONFLICT: "x--x"}
_MARKS = {**{sign: mark for mark, sign in _SIGNS.items()}, "<-->": Mark.CONFLICT}
_ENDS = {Mark.ARROW: "-->", Mark.PARTIAL: "o-->", Mark.BIDIRECTED: "<-->", Mark.LINE: "o--o", Mark.CONFLICT: "x--x"}
_MARKS_WITH_HIDDEN = {sign: mark for mark, sign in _ENDS.items()}
_HIDDEN = "%% hidden causes"
_UNSAFE = re.compile(r'["#&<>`\\\x00-\x1f\x7f-\x9f\u2028\u2029]|^ | $')
_CODE = re.compile(r"#([0-9]{1,7});")
_NAMED = {"#quot;": '"', "#amp;": "&", "#lt;": "<", "#gt;": ">"}
_HEAD = re.compile(r"(?:flowchart|graph)(?:\s+(?:TB|TD|BT|LR|RL))?")
_TEXT = r"""(?P<id>[^\W_][\w]*)(?:\[(?:"(?P<quoted>[^"]*)"|(?P<plain>[^"\]]*))\])?"""
_NODE = re.compile(_TEXT)
_SIGN = re.compile(r"\s*(?P<sign>x--x|<-->|o-->|o--o|-->|---)(?:\|[^|]*\|)?\s*")


def to_mermaid(source: object) -> str:
    """Write a graph as a Mermaid flowchart.

    >>> from apsl_rules.graphs import known_dag
    >>> print(to_mermaid(known_dag({"a": [], 'say "b"': ["a"]})))
    flowchart TD
      n0["a"]
      n1["say #34;b#34;"]
      n0 --> n1
    <BLANKLINE>
    """
    graph = graph_of(source)
    number = {node: f"n{place}" for place, node in enumerate(graph.nodes)}
    nodes = [f'  {number[node]}["{_encode(spell_label(node))}"]' for node in graph.nodes]
    signs = _ENDS if graph.hidden else _SIGNS
    edges = [f"  {number[edge.source]} {signs[edge.mark]} {number[edge.target]}" for edge in graph.edges]
    said = [f"  {_HIDDEN}"] if graph.hidden else []
    return "\n".join(["flowchart TD", *said, *nodes, *edges, ""])


def from_mermaid(text: str) -> MarkedGraph:
    """Read a flowchart of nodes ``id`` or ``id["name"]`` joined by ``-->``, ``---``, ``x--x`` or ``<-->``.

    Where it says that causes may be hidden, ``o-->`` and ``o--o`` are read, and ``<-->`` has two arrowheads.
    """
    lines = [(number, line.strip()) for number, line in enumerate(text.split("\n"), start=1)]
    hidden = any(line == _HIDDEN for _, line in lines)
    marks = _MARKS_WITH_HIDDEN if hidden else _MARKS
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
    return _UNSAFE.sub(lambda sign: f"#{ord(sign.group())};", name)


def _decode(text: str) -> str:
    for code, sign in _NAMED.items():
        text = text.replace(code, sign)
    return _CODE.sub(lambda code: chr(int(code[1])) if int(code[1]) <= 0x10FFFF else code.group(), text)  # noqa: PLR2004 - the last sign of Unicode


def _refuse(message: str) -> NoReturn:
    raise GraphFormatError(message)
