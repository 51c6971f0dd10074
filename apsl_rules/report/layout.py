"""The one drawing of a part that every view shows: boxes in columns by distance from the target, edges between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import attrs

from apsl_rules.names import Node, in_order, shown
from apsl_rules.parts import Part
from apsl_rules.report._columns import Grid, Slot, arrange
from apsl_rules.report._heights import place_slots
from apsl_rules.report.curves import STUB, Point, Port, Route, beside, through
from apsl_rules.report.edges import Edge, Look, edges_of
from apsl_rules.report.text_width import shorten, width_of

MARGIN, HEADING = 24.0, 40.0
_PADDING, _HEIGHT, _SPACE, _PASSING, _PORTS = 12.0, 28.0, 14.0, 7.0, 8.0
_NARROWEST, _LEAST_GAP, _MOST_GAP = 64.0, 84.0, 210.0


@attrs.frozen
class Box:
    """A node as a box: its name, the label that fits, its layer, its corner and size, and whether the part has it."""

    node: Node
    name: str
    label: str
    layer: int
    within: bool
    left: float
    top: float
    width: float
    height: float

    @property
    def middle(self) -> Point:
        """Return the middle of the box."""
        return self.left + self.width / 2, self.top + self.height / 2


@attrs.frozen
class DrawnEdge:
    """An edge as it is drawn: the numbers of its boxes, and its path from the first to the second."""

    edge: Edge
    first: int
    second: int
    route: Route


@attrs.frozen
class Band:
    """A layer as a stripe behind its boxes."""

    layer: int
    title: str
    within: bool
    left: float
    right: float


@attrs.frozen
class Drawing:
    """Boxes by name, edges by the names of their ends, stripes from left to right, and the size of it all."""

    boxes: tuple[Box, ...]
    edges: tuple[DrawnEdge, ...]
    bands: tuple[Band, ...]
    width: float
    height: float

    def part_only(self) -> Drawing:
        """Return the drawing without what lies beyond the asked depth; everything else stays where it is."""
        kept = [number for number, box in enumerate(self.boxes) if box.within]
        number_of = {number: at for at, number in enumerate(kept)}
        drawn_edges = tuple(
            attrs.evolve(drawn, first=number_of[drawn.first], second=number_of[drawn.second])
            for drawn in self.edges
            if drawn.edge.within and drawn.first in number_of and drawn.second in number_of
        )
        boxes = tuple(self.boxes[number] for number in kept)
        layers = {box.layer for box in boxes}
        bands = tuple(band for band in self.bands if band.layer in layers)
        bottom = max(box.top + box.height for box in boxes) + MARGIN
        return Drawing(boxes, drawn_edges, bands, max(band.right for band in bands) + MARGIN, bottom)


def drawing_of(part: Part) -> Drawing:
    """Lay out everything that a run ever drew; the same part gives the same drawing on every run."""
    edges = edges_of(part)
    nodes = in_order({part.target, *part.visited, *(node for edge in edges for node in edge.pair)})
    number_of = {node: number for number, node in enumerate(nodes)}
    pairs = [(number_of[edge.pair[0]], number_of[edge.pair[1]]) for edge in edges]
    farthest = max(part.distances.values())
    layer_of = [part.distances.get(node, farthest + 1) for node in nodes]
    sheet = _Measures(arrange(layer_of, pairs), pairs, [shorten(shown(node)) for node in nodes])
    members = frozenset(part.members)
    boxes = tuple(
        Box(
            node=node,
            name=shown(node),
            label=sheet.labels[number],
            layer=layer_of[number],
            within=node in members,
            left=sheet.lefts[sheet.column_of[number]],
            top=sheet.middle[number] - sheet.tall[number] / 2,
            width=sheet.widths[sheet.column_of[number]],
            height=sheet.tall[number],
        )
        for number, node in enumerate(nodes)
    )
    routes = sheet.routes()
    drawn_edges = tuple(DrawnEdge(edge, *pair, route) for edge, pair, route in zip(edges, pairs, routes, strict=True))
    right, bottom = sheet.lefts[-1] + sheet.widths[-1], max(box.top + box.height for box in boxes)
    bands = _bands(boxes, {layer: _title(layer, farthest) for layer in layer_of}, drawn_edges)
    return Drawing(boxes, drawn_edges, bands, max([right, *(band.right for band in bands)]) + MARGIN, bottom + MARGIN)


def _title(layer: int, farthest: int) -> str:
    if layer > farthest:
        return "not joined"
    return {0: "target", 1: "1 step"}.get(layer, f"{layer} steps")


def _bands(boxes: Sequence[Box], titles: Mapping[int, str], drawn_edges: Sequence[DrawnEdge]) -> tuple[Band, ...]:
    """Draw for each layer a stripe as wide as its boxes and the bows beside its last column."""
    bands = []
    for layer in sorted({box.layer for box in boxes}):
        mine = [box for box in boxes if box.layer == layer]
        left, right = min(box.left for box in mine), max(box.left + box.width for box in mine)
        bands.append(Band(layer, titles[layer], any(box.within for box in mine), left - MARGIN / 2, right + MARGIN / 2))
    last = bands[-1]
    bows = [drawn.route for drawn in drawn_edges if boxes[drawn.first].layer == boxes[drawn.second].layer == last.layer]
    reach = max((x for bow in bows for x, _ in bow.points()), default=0.0)
    bands[-1] = attrs.evolve(last, right=max(last.right, reach + MARGIN / 2))
    return tuple(bands)


class _Measures:
    """The measures of a drawing while it is made: columns from left to right, slots from top to bottom."""

    def __init__(self, grid: Grid, pairs: Sequence[tuple[int, int]], labels: Sequence[str]) -> None:
        self.grid = grid
        self.labels = labels
        self._pairs = pairs
        self.column_of = {slot: at for at, column in enumerate(grid.columns) for slot in column}
        self.tall = self._tall()
        space = {slot: _SPACE if slot < len(labels) else _PASSING for slot in self.column_of}
        middle = place_slots(grid, self.tall, space)
        self.middle = {slot: at + HEADING + MARGIN for slot, at in middle.items()}
        self.widths = [
            max([_NARROWEST, *(width_of(labels[slot]) + 2 * _PADDING for slot in column if slot < len(labels))])
            for column in grid.columns
        ]
        self.lefts = [MARGIN + MARGIN / 2]
        self._gaps = self._wide_gaps()
        for gap, width in zip(self._gaps[:-1], self.widths, strict=False):
            self.lefts.append(self.lefts[-1] + width + gap)

    def _is_bow(self, chain: tuple[Slot, ...]) -> bool:
        return self.column_of[chain[0]] == self.column_of[chain[-1]]

    def _tall(self) -> dict[Slot, float]:
        """Return the height that a box needs for the edges on its busier side."""
        ends: dict[tuple[Slot, int], int] = {}
        for chain in self.grid.chains:
            for slot, side in ((chain[0], 1), (chain[-1], 1 if self._is_bow(chain) else -1)):
                ends[slot, side] = ends.get((slot, side), 0) + 1
        return {
            slot: max(_HEIGHT, _PORTS * (max(ends.get((slot, 1), 0), ends.get((slot, -1), 0)) + 1))
            if slot < len(self.labels)
            else 2.0
            for slot in self.column_of
        }

    def _wide_gaps(self) -> list[float]:
        """Leave more space between columns where edges climb far."""
        climbs = [0.0] * len(self.grid.columns)
        for chain in self.grid.chains:
            for x, y in pairwise(chain):
                at = self.column_of[x]
                climbs[at] = max(climbs[at], abs(self.middle[x] - self.middle[y]))
        return [min(_MOST_GAP, _LEAST_GAP + climb / 4) for climb in climbs]

    def routes(self) -> list[Route]:
        """Lead every edge from the port of its first node to that of its second."""
        ports = self._ports()
        routes = []
        for number, (chain, pair) in enumerate(zip(self.grid.chains, self._pairs, strict=True)):
            start, end = ports[number, chain[0]], ports[number, chain[-1]]
            if self._is_bow(chain):
                free = self._gaps[self.column_of[chain[0]]] - 3 * STUB
                route = beside(start, end, min(free, 14 + abs(start.y - end.y) / 5))
            else:
                route = through(start, [self._stretch(slot) for slot in chain[1:-1]], end)
            routes.append(route if chain[0] == pair[0] else route.reversed())
        return routes

    def _stretch(self, slot: Slot) -> tuple[Point, Point]:
        at = self.column_of[slot]
        left, level = self.lefts[at], self.middle[slot]
        return (left, level), (left + self.widths[at], level)

    def _ports(self) -> Mapping[tuple[int, Slot], Port]:
        """Set the ends of edges along the sides of the boxes, in the order in which they leave."""
        sides: dict[tuple[Slot, int], list[tuple[tuple[int, float, int], int]]] = {}
        for number, chain in enumerate(self.grid.chains):
            bow = self._is_bow(chain)
            for slot, next_slot, side in ((chain[0], chain[1], 1), (chain[-1], chain[-2], 1 if bow else -1)):
                climb = self.middle[next_slot] - self.middle[slot]
                group = (1 if climb > 0 else -1) if bow else 0
                key = (group, -climb if bow else climb, number)
                sides.setdefault((slot, side), []).append((key, number))
        ports = {}
        for (slot, side), ends in sides.items():
            at = self.column_of[slot]
            x = self.lefts[at] + (self.widths[at] if side > 0 else 0.0)
            for place, (_, number) in enumerate(sorted(ends)):
                shift = (place - (len(ends) - 1) / 2) * _PORTS
                ports[number, slot] = Port(x, self.middle[slot] + shift, side)
        return ports


def final_edges(drawing: Drawing) -> list[DrawnEdge]:
    """Return the edges that the part still has at the end."""
    return [drawn for drawn in drawing.edges if drawn.edge.last is not Look.NONE]
