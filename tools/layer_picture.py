"""Draw rooms as boxes in layers, lowest at the bottom, with arrows to what each needs; as SVG text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import pairwise

import attrs

Edge = tuple[str, str]

BOX, TALL, GAP, LANE, ACROSS = 128, 46, 26, 18, 44
MARGIN, HEAD = 24, 64
STYLE = """\
  text { font: 13px "Helvetica Neue", Arial, sans-serif; fill: #1f2933; }
  .name { font-weight: 600; text-anchor: middle; }
  .size { font-size: 11px; fill: #52606d; text-anchor: middle; }
  .title { font-size: 16px; font-weight: 600; }
  .note { font-size: 11.5px; fill: #52606d; }
  .panel { fill: #ffffff; stroke: #cbd2d9; }
  .box { fill: #e6f0fa; stroke: #3e6fa3; }
  .low { fill: #f0f4f8; stroke: #627d98; }
  .need { fill: none; stroke: #627d98; stroke-width: 1.2; }"""
TIP = """\
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
  <path d="M0,0 L8,4 L0,8 z" fill="#627d98"/>
</marker></defs>"""


@attrs.frozen
class Panel:
    """One package: its title, a remark, its layers of rooms (lowest first), sizes of rooms and needs between them."""

    title: str
    remark: str
    layers: Sequence[Sequence[str]]
    sizes: Mapping[str, int]
    needs: frozenset[Edge]


def reduce_needs(edges: Iterable[Edge]) -> frozenset[Edge]:
    """Return the needs without those that follow from others: the transitive reduction of an acyclic graph."""
    edges = set(edges)
    ahead: dict[str, set[str]] = {}
    for tail, head in edges:
        ahead.setdefault(tail, set()).add(head)

    def reach(node: str) -> set[str]:
        return {far for near in ahead.get(node, ()) for far in {near, *reach(near)}}

    return frozenset((x, y) for x, y in edges if not any(y in reach(other) for other in ahead[x] - {y}))


def stack(rooms: Sequence[str], edges: Iterable[Edge]) -> list[list[str]]:
    """Return rooms in layers, each as low as what it needs allows; within a layer they keep their order."""
    edges = set(edges)
    height = dict.fromkeys(rooms, 0)
    for _ in rooms:
        for tail, head in edges:
            height[tail] = max(height[tail], height[head] + 1)
    return [[room for room in rooms if height[room] == level] for level in range(max(height.values()) + 1)]


def draw(panels: Sequence[Panel], footnotes: Sequence[str]) -> str:
    """Return the picture of some packages side by side."""
    laid = [_lay_out(panel) for panel in panels]
    tall = max(one.height for one in laid)
    parts, left = [], MARGIN
    for panel, layout in zip(panels, laid, strict=True):
        parts += _panel(panel, layout, left, tall)
        left += layout.width + MARGIN
    bottom = MARGIN + tall + 22
    lines = [(bottom + 17 * row, escape(text)) for row, text in enumerate(footnotes)]
    notes = [f'<text class="note" x="{MARGIN}" y="{y}">{text}</text>' for y, text in lines]
    height = bottom + 17 * len(footnotes)
    size = f'viewBox="0 0 {left} {height}" width="{left}" height="{height}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
            "<title>The rooms of the packages and what each needs</title>",
            f"<style>\n{STYLE}\n</style>",
            TIP,
            f'<rect width="{left}" height="{height}" fill="#fafbfc"/>',
            *parts,
            *notes,
            "</svg>",
            "",
        ]
    )


@attrs.frozen
class _Layout:
    """Where things are in a panel: the middle of each room and of each bend of an arrow, by layer."""

    middle: dict[str, float]
    level: dict[str, int]
    routes: dict[Edge, list[str]]
    width: int
    height: int

    def top(self, name: str) -> float:
        return self.height - MARGIN - TALL - self.level[name] * (TALL + ACROSS)


def _lay_out(panel: Panel) -> _Layout:
    rows = [list(layer) for layer in panel.layers]
    level = {room: height for height, layer in enumerate(rows) for room in layer}
    routes: dict[Edge, list[str]] = {}
    for tail, head in sorted(panel.needs):
        bends = [f"{tail}>{head}@{height}" for height in range(level[tail] - 1, level[head], -1)]
        for bend in bends:
            level[bend] = int(bend.rpartition("@")[2])
            rows[level[bend]].append(bend)
        routes[tail, head] = [tail, *bends, head]
    steps = [(x, y) for route in routes.values() for x, y in pairwise(route)]
    rows = _untangle(rows, steps)
    wide = max(_width(row) for row in rows)
    middle: dict[str, float] = {}
    for row in rows:
        x = MARGIN + (wide - _width(row)) / 2
        for name in row:
            middle[name] = x + _span(name) / 2
            x += _span(name) + GAP
    height = HEAD + len(rows) * (TALL + ACROSS) - ACROSS + MARGIN
    return _Layout(middle, level, routes, int(wide) + 2 * MARGIN, height)


def _untangle(rows: list[list[str]], steps: Sequence[Edge]) -> list[list[str]]:
    """Order each row by where its neighbours in the other rows are, a few times up and down."""
    place = {name: (at + 0.5) / len(row) for row in rows for at, name in enumerate(row)}
    for sweep in range(8):
        ends = steps if sweep % 2 else [(y, x) for x, y in steps]
        for row in rows if sweep % 2 else rows[::-1]:
            near = {name: [place[y] for x, y in ends if x == name] for name in row}
            row.sort(key=lambda name: sum(near[name]) / len(near[name]) if near[name] else place[name])
            place |= {name: (at + 0.5) / len(row) for at, name in enumerate(row)}
    return rows


def _span(name: str) -> int:
    return LANE if "@" in name else BOX


def _width(row: Sequence[str]) -> float:
    return sum(_span(name) for name in row) + GAP * (len(row) - 1)


def _panel(panel: Panel, layout: _Layout, left: float, tall: float) -> list[str]:
    below = tall - layout.height

    def spot(name: str) -> tuple[float, float]:
        return left + layout.middle[name], MARGIN + below + layout.top(name)

    parts = [
        f'<rect class="panel" x="{left}" y="{MARGIN}" width="{layout.width}" height="{tall}" rx="8"/>',
        f'<text class="title" x="{left + MARGIN}" y="{MARGIN + 26}">{escape(panel.title)}</text>',
        f'<text class="note" x="{left + MARGIN}" y="{MARGIN + 44}">{escape(panel.remark)}</text>',
    ]
    parts += [_arrow([spot(name) for name in route], layout, route) for route in layout.routes.values()]
    for room in (room for layer in panel.layers for room in layer):
        x, y = spot(room)
        kind = "box" if layout.level[room] else "box low"
        size = f"{panel.sizes[room]} module{'' if panel.sizes[room] == 1 else 's'}"
        parts.append(f'<rect class="{kind}" x="{x - BOX / 2:g}" y="{y:g}" width="{BOX}" height="{TALL}" rx="5"/>')
        parts.append(f'<text class="name" x="{x:g}" y="{y + 20:g}">{escape(room)}</text>')
        parts.append(f'<text class="size" x="{x:g}" y="{y + 36:g}">{size}</text>')
    return parts


def _arrow(spots: Sequence[tuple[float, float]], layout: _Layout, route: Sequence[str]) -> str:
    """Return an arrow from the bottom of a box to the top of a lower one, straight down beside the boxes between."""
    x, y = spots[0][0] + _shift(layout, route[0], route[1]), spots[0][1] + TALL
    path = [f"M{x:g},{y:g}"]
    for name, (middle, top) in zip(route[1:], spots[1:], strict=True):
        is_bend = "@" in name
        to_x, half = middle if is_bend else middle + _shift(layout, name, route[-2]), (y + top) / 2
        path.append(f"C{x:g},{half:g} {to_x:g},{half:g} {to_x:g},{top:g}")
        x, y = to_x, top + TALL
        if is_bend:
            path.append(f"V{y:g}")
    return f'<path class="need" d="{" ".join(path)}" marker-end="url(#tip)"/>'


def _shift(layout: _Layout, box: str, other: str) -> float:
    """Return how far from the middle of a box an arrow ends: towards where it comes from."""
    return max(-0.36, min(0.36, (layout.middle[other] - layout.middle[box]) / 500)) * BOX
