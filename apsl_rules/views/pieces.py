"""Pieces of HTML for notebooks: cards, tables, a drawing of a graph, and the register of views."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import singledispatch
from html import escape
from math import isfinite
from typing import Any

import attrs

from apsl_rules.names import Node, Pair, count_of, in_order, shown
from apsl_rules.parts import ENDS, Edge, MarkedGraph
from apsl_rules.rules import End, Mark
from apsl_rules.views.labels import shorten, width_of

#: How many rows of a table, and how many nodes of a list, are shown.
MOST_ROWS = 60
MOST_NAMES = 40
_LONGEST_NAME, _LONGEST_TEXT = 200, 2000
_SOFT = "opacity:.75"
_WORDS = "text-align:left;vertical-align:top;overflow-wrap:anywhere;min-width:1.2em;padding:.2em .6em"
_FIGURES = "text-align:right;vertical-align:top;white-space:nowrap;padding:.2em .6em"


def text(words: str, longest: int = _LONGEST_TEXT) -> str:
    """Return words as text that is no markup; very long ones are cut."""
    return escape(words if len(words) <= longest else f"{words[:longest]}…")


@singledispatch
def html_of(result: object) -> str:
    """Return a result as HTML without scripts."""
    return card(title(text(repr(result))))


def name(node: Node) -> str:
    """Return the name of a node as text that is no markup."""
    return text(shown(node), _LONGEST_NAME)


def names(nodes: Sequence[Node]) -> str:
    """Return the names of nodes, the first ones of many."""
    rest = len(nodes) - MOST_NAMES
    listed = ", ".join(map(name, nodes[:MOST_NAMES]))
    return f"{listed} and {rest:,} more" if rest > 0 else listed or "none"


def soft(html: str) -> str:
    """Return a piece in a paler colour."""
    return f'<span style="{_SOFT}">{html}</span>'


def title(html: str) -> str:
    """Return a line that says what is shown."""
    return f'<div style="font-weight:600;margin:.3em 0">{html}</div>'


def paragraph(html: str) -> str:
    """Return a line of text."""
    return f'<div style="margin:.3em 0;max-width:60em">{html}</div>'


def fold(summary: str, body: str, *, is_open: bool = False) -> str:
    """Return a piece under a line that opens and closes it."""
    state = " open" if is_open else ""
    return f'<details{state} style="margin:.2em 0"><summary style="cursor:pointer">{summary}</summary>{body}</details>'


def indent(html: str) -> str:
    """Return a piece moved to the right, along a rule."""
    return f'<div style="margin-left:.45em;padding-left:1em;border-left:1px solid rgba(128,128,128,.45)">{html}</div>'


def card(*pieces: str) -> str:
    """Return a whole view."""
    return f'<div class="apsl">{"".join(pieces)}</div>'


def scroll(html: str) -> str:
    """Return a piece that scrolls where it is larger than the notebook."""
    return f'<div style="overflow:auto;max-height:640px">{html}</div>'


def notes(lines: Iterable[str]) -> str:
    """Return notes under a fold, or nothing."""
    listed = list(lines)
    items = "".join(f"<li>{escape(line)}</li>" for line in listed)
    return fold(count_of(len(listed), "note"), f"<ul>{items}</ul>") if listed else ""


def figure(value: Any) -> str:
    """Return a value of a table: figures with three digits that count, nothing for None.

    >>> figure(0.12345), figure(None), figure(True), figure(1200), figure("a < b")
    ('0.123', '', 'yes', '1,200', 'a &lt; b')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}" if isfinite(value) else str(value)
    return f"{value:,}" if isinstance(value, int) else name(value)


def table(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    words: int,
    what: str,
    total: int = 0,
    remark: bool = False,
) -> str:
    """Return a table of cells that are HTML already; the first ``words`` columns are words, the others figures.

    The last column is words, too, if it is a ``remark``. Of many rows the first are shown, and a line says how many of
    ``what`` are left out; ``total`` is how many there are where ``rows`` has only the first.
    """
    styles = [_WORDS if at < words or (remark and at == len(heads) - 1) else _FIGURES for at in range(len(heads))]
    shown_rows = rows[:MOST_ROWS]
    head = _row("th", styles, heads)
    body = "".join(f"<tr>{_row('td', styles, row)}</tr>" for row in shown_rows)
    rest = max(total, len(rows)) - len(shown_rows)
    more = paragraph(soft(f"and {count_of(rest, f'more {what}', f'more {what}s')}")) if rest else ""
    return scroll(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>") + more


def _row(tag: str, styles: Sequence[str], cells: Sequence[str]) -> str:
    return "".join(f'<{tag} style="{style}">{cell}</{tag}>' for style, cell in zip(styles, cells, strict=False))


#: Larger graphs are listed, not drawn.
MOST_DRAWN = 80
_LETTERS, _HEIGHT, _LAYER, _SPACE, _MARGIN = 12, 26.0, 74.0, 18.0, 12.0
_SWEEPS = 6
_CONFLICT, _HIDDEN = "#d9534f", "#9b6bd3"


@attrs.frozen
class Placed:
    """A node in a drawing: the middle of its box, and its width."""

    x: float
    y: float
    width: float


def draw_graph(
    graph: MarkedGraph,
    *,
    bold: Node = None,
    colours: Mapping[Pair, str] | None = None,
    boxes: Mapping[Node, str] | None = None,
) -> str:
    """Draw a graph as SVG text, one node in bold if named, edges in ``colours`` and nodes in those of ``boxes``.

    Nodes without edges, a name in bold or a colour are left out.
    """
    painted: Mapping[Node, str] = boxes or {}
    joined = {node for edge in graph.edges for node in (edge.source, edge.target)}
    nodes = [node for node in graph.nodes if node in joined or node == bold or node in painted]
    layers = _ordered(_layers(nodes, graph), graph)
    placed, width = _place(layers)
    height = 2 * _MARGIN + _HEIGHT + _LAYER * (len(layers) - 1)
    edges = "".join(_edge(edge, placed, colours or {}, hidden=graph.hidden) for edge in graph.edges)
    drawn = "".join(_box(node, placed[node], painted.get(node), is_bold=node == bold) for node in nodes)
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    style = "color:inherit;font-family:system-ui,sans-serif;max-width:none"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size} font-size="{_LETTERS}" style="{style}">'
        f"{edges}{drawn}</svg>"
    )


def _layers(nodes: Sequence[Node], graph: MarkedGraph) -> list[list[Node]]:
    """Put each node one layer below the lowest of the neighbours that come before it."""
    around = _neighbours(graph)
    depth: dict[Node, int] = {}
    for node in _in_line(nodes, graph):
        depth[node] = 1 + max((depth[one] for one in around.get(node, ()) if one in depth), default=-1)
    layers: list[list[Node]] = [[] for _ in range(1 + max(depth.values(), default=0))]
    for node in in_order(nodes):
        layers[depth[node]].append(node)
    return layers


def _in_line(nodes: Sequence[Node], graph: MarkedGraph) -> Iterator[Node]:
    """Give the nodes such that arrows go forward, but for those of a cycle; ties are broken by name."""
    waiting: dict[Node, set[Node]] = {node: set() for node in in_order(nodes)}
    for tail, head in (*graph.arrows, *graph.partial, *graph.suggested):
        waiting[head].add(tail)
    while waiting:
        node = min(waiting, key=lambda one: len(waiting[one]))
        del waiting[node]
        for tails in waiting.values():
            tails.discard(node)
        yield node


def _neighbours(graph: MarkedGraph) -> Mapping[Node, list[Node]]:
    """Return the nodes that an edge joins to each node."""
    around: dict[Node, list[Node]] = {}
    for edge in graph.edges:
        around.setdefault(edge.source, []).append(edge.target)
        around.setdefault(edge.target, []).append(edge.source)
    return around


def _ordered(layers: list[list[Node]], graph: MarkedGraph) -> list[list[Node]]:
    """Move each node towards the middle of its neighbours, sweep by sweep."""
    around = _neighbours(graph)
    place = {node: (at + 0.5) / len(layer) for layer in layers for at, node in enumerate(layer)}
    for _ in range(_SWEEPS):
        for at, layer in enumerate(layers):
            middle = {
                node: sum(place[one] for one in near) / len(near) if (near := around.get(node)) else place[node]
                for node in layer
            }
            layers[at] = sorted(layer, key=lambda node: middle[node])
            place |= {node: (rank + 0.5) / len(layer) for rank, node in enumerate(layers[at])}
    return layers


def _place(layers: list[list[Node]]) -> tuple[dict[Node, Placed], float]:
    """Set the layers below each other, each in the middle."""
    boxes = [[(node, width_of(shorten(shown(node)), _LETTERS) + 16) for node in layer] for layer in layers]
    wide = [sum(width for _, width in layer) + _SPACE * max(0, len(layer) - 1) for layer in boxes]
    whole = max(wide, default=0) + 2 * _MARGIN
    placed: dict[Node, Placed] = {}
    for at, (layer, width) in enumerate(zip(boxes, wide, strict=True)):
        left = (whole - width) / 2
        for node, own in layer:
            placed[node] = Placed(left + own / 2, _MARGIN + _HEIGHT / 2 + at * _LAYER, own)
            left += own + _SPACE
    return placed, whole


def _box(node: Node, at: Placed, colour: str | None, *, is_bold: bool) -> str:
    label = escape(shorten(shown(node)))
    stroke = colour or "currentColor"
    fill = "none" if colour is None else f'{colour}" fill-opacity="0.18'
    border, weight = (' stroke-width="2.2"', ' font-weight="700"') if is_bold else ("", "")
    return (
        f'<g data-node="{escape(shown(node))}"><title>{escape(shown(node))}</title>'
        f'<rect x="{at.x - at.width / 2:.1f}" y="{at.y - _HEIGHT / 2:.1f}" width="{at.width:.1f}" height="{_HEIGHT}" '
        f'rx="6" fill="{fill}" stroke="{stroke}"{border}/>'
        f'<text x="{at.x:.1f}" y="{at.y:.1f}" dy="0.35em" text-anchor="middle" fill="currentColor"'
        f"{weight}>{label}</text></g>"
    )


def _edge(edge: Edge, placed: Mapping[Node, Placed], colours: Mapping[Pair, str], *, hidden: bool) -> str:
    first, second = placed[edge.source], placed[edge.target]
    start, end = _border(first, second), _border(second, first)
    usual = {Mark.CONFLICT: _CONFLICT, Mark.BIDIRECTED: _HIDDEN}.get(edge.mark, "currentColor")
    colour = colours.get(frozenset((edge.source, edge.target)), usual)
    is_open = edge.mark in (Mark.LINE, Mark.PARTIAL)
    dashes = ' stroke-dasharray="6 4"' if is_open else ""
    bend = 0.0 if abs(first.y - second.y) > 1 else 22.0
    middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2 + bend)
    signs = ENDS[edge.mark] if hidden else (End.TAIL, End.ARROW if edge.mark is Mark.ARROW else End.TAIL)
    if edge.suggested is not None:
        signs = (End.TAIL, End.ARROW)
    heads = "".join(
        _sign(sign, middle, tip, is_empty=edge.suggested is not None)
        for sign, tip in zip(signs, (start, end), strict=True)
    )
    words = f"{shown(edge.source)} {_EDGE_WORDS[edge.mark]} {shown(edge.target)}"
    return (
        f'<g data-mark="{edge.mark}" data-source="{escape(shown(edge.source))}" '
        f'data-target="{escape(shown(edge.target))}" stroke="{colour}" color="{colour}" fill="none" '
        f'stroke-width="1.4" opacity="0.85"><title>{escape(words)}</title>'
        f'<path d="M{start[0]:.1f} {start[1]:.1f}Q{middle[0]:.1f} {middle[1]:.1f} {end[0]:.1f} {end[1]:.1f}"{dashes}/>'
        f"{heads}</g>"
    )


_EDGE_WORDS = {
    Mark.ARROW: "→",
    Mark.LINE: "—",
    Mark.CONFLICT: "✕",
    Mark.PARTIAL: "o→",
    Mark.BIDIRECTED: "↔",
}


def _border(at: Placed, towards: Placed) -> tuple[float, float]:
    """Return where a line from the middle of a box leaves it."""
    if abs(at.y - towards.y) < 1:
        side = 1 if towards.x > at.x else -1
        return at.x + side * at.width / 2 * 0.7, at.y + _HEIGHT / 2
    side = 1 if towards.y > at.y else -1
    lean = (towards.x - at.x) / max(1.0, abs(towards.y - at.y)) * _HEIGHT / 2
    reach = at.width / 2 * 0.8
    return at.x + max(-reach, min(reach, lean)), at.y + side * _HEIGHT / 2


def _sign(sign: End, come: tuple[float, float], tip: tuple[float, float], *, is_empty: bool) -> str:
    """Return an arrowhead or a circle at the end of an edge."""
    along_x, along_y = tip[0] - come[0], tip[1] - come[1]
    length = max(1e-9, (along_x**2 + along_y**2) ** 0.5)
    along_x, along_y = along_x / length, along_y / length
    if sign is End.CIRCLE:
        return f'<circle cx="{tip[0] - 4 * along_x:.1f}" cy="{tip[1] - 4 * along_y:.1f}" r="3.5"/>'
    if sign is End.TAIL:
        return ""
    base = tip[0] - 9 * along_x, tip[1] - 9 * along_y
    left = base[0] - 4 * along_y, base[1] + 4 * along_x
    right = base[0] + 4 * along_y, base[1] - 4 * along_x
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (tip, left, right))
    return f'<polygon points="{points}" fill="{"none" if is_empty else "currentColor"}"/>'
