"""Lay out the nodes and edges of a part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import attrs

from apsl_rules.names import Node, Pair, in_order, shown
from apsl_rules.parts import Part
from apsl_rules.views.columns import Grid, Slot, arrange, place_slots
from apsl_rules.views.curves import STUB, Point, Port, Route, Side, beside, sides_of, through
from apsl_rules.views.edges import Edge, Look, edges_of
from apsl_rules.views.labels import LONGEST, Rectangle, place_labels, shorten, width_of, width_of_label

MARGIN, HEADING = 24.0, 40.0
_PADDING, _HEIGHT, _SPACE, _PASSING, _PORTS = 12.0, 28.0, 14.0, 7.0, 8.0
_BOW = 16.0  # the room beside a column for each edge between two of its nodes
_CLEARANCE = 30.0  # above and below the target, where nodes share its column


@attrs.frozen
class Room:
    """How generous a drawing is: the narrowest box, the gaps between columns, and the longest names."""

    narrowest: float = 64.0
    least_gap: float = 84.0
    most_gap: float = 210.0
    sheet: float = 1300.0
    longest_name: float = 420.0
    surely: float = LONGEST


#: The room on a screen, and on a page, where a part of three columns is as wide as a column of text.
_SCREEN, _PAGE = Room(), Room(44.0, 52.0, 96.0, 420.0, LONGEST, 104.0)


class Measures:
    """The measures of a drawing while it is made: columns from left to right, slots from top to bottom.

    ``words`` are the figures of the edges, ``title`` the width of the title over open neighbours of the target.
    """

    def __init__(
        self,
        grid: Grid,
        pairs: Sequence[tuple[int, int]],
        names: Sequence[str],
        words: Sequence[str | None],
        title: float,
        *,
        room: Room = _SCREEN,
    ) -> None:
        self._grid = grid
        self._room = room
        self._pairs = pairs
        self._words = [0.0 if text is None else width_of_label(text) for text in words]
        longest = min(room.longest_name, max(room.surely, room.sheet / len(grid.columns)))
        self.labels = [shorten(name, longest) for name in names]
        self._column_of = {slot: at for at, column in enumerate(grid.columns) for slot in column}
        self._tall = self._find_heights()
        self._middle = self._find_middles()
        self._widths = [self._width_of_column(column) for column in grid.columns]
        shared = sum(slot < len(names) for slot in grid.columns[grid.middle]) > 1
        if shared:
            self._widths[grid.middle] = max(self._widths[grid.middle], title)
        self._gaps = self._find_gaps()
        self._lefts = [MARGIN + self._gaps[0]]
        for gap, width in zip(self._gaps[1:-1], self._widths, strict=False):
            self._lefts.append(self._lefts[-1] + width + gap)

    def corner_and_size(self, node: Slot) -> tuple[float, float, float, float]:
        """Return left, top, width and height of the box of a node."""
        at = self._column_of[node]
        return self._lefts[at], self._middle[node] - self._tall[node] / 2, self._widths[at], self._tall[node]

    def _is_node(self, slot: Slot) -> bool:
        return slot < len(self.labels)

    def _is_bow(self, chain: tuple[Slot, ...]) -> bool:
        return self._column_of[chain[0]] == self._column_of[chain[-1]]

    def _sides(self, chain: tuple[Slot, ...]) -> tuple[int, int]:
        """Return the sides of its two boxes at which an edge ends: 1 right, -1 left."""
        if self._is_bow(chain):
            side = self._grid.bow_sides[self._column_of[chain[0]]]
            return side, side
        return 1, -1

    def _width_of_column(self, column: Sequence[Slot]) -> float:
        names = [width_of(self.labels[slot]) + 2 * _PADDING for slot in column if self._is_node(slot)]
        return max([self._room.narrowest, *names])

    def _find_heights(self) -> dict[Slot, float]:
        """Return the height that a box needs for the edges on its busier side."""
        ends: dict[tuple[Slot, int], int] = {}
        for chain in self._grid.chains:
            for slot, side in zip((chain[0], chain[-1]), self._sides(chain), strict=True):
                ends[slot, side] = ends.get((slot, side), 0) + 1
        return {
            slot: max(_HEIGHT, _PORTS * (max(ends.get((slot, 1), 0), ends.get((slot, -1), 0)) + 1))
            if self._is_node(slot)
            else 2.0
            for slot in self._column_of
        }

    def _find_middles(self) -> dict[Slot, float]:
        """Return the middle of each slot; a target with company in its column keeps clear of it."""
        column = self._grid.columns[self._grid.middle]
        nodes = [slot for slot in column if self._is_node(slot)]
        space = {slot: _SPACE if self._is_node(slot) else _PASSING for slot in self._column_of}
        tall = dict(self._tall)
        if len(nodes) > 1:
            tall[self._grid.target] += 2 * _CLEARANCE
        middle = place_slots(self._grid, tall, space)
        top = min(at - self._tall[slot] / 2 for slot, at in middle.items())
        return {slot: at - top + HEADING + MARGIN for slot, at in middle.items()}

    def _find_gaps(self) -> list[float]:
        """Return the space left of each column and right of the last: more where edges climb far or have figures."""
        climbs = [0.0] * (len(self._grid.columns) + 1)
        figures = [0.0] * (len(self._grid.columns) + 1)
        bows = [0] * (len(self._grid.columns) + 1)
        for chain, figure in zip(self._grid.chains, self._words, strict=True):
            for x, y in pairwise(chain):
                at = self._column_of[x] + (self._sides(chain)[0] > 0)
                climbs[at] = max(climbs[at], abs(self._middle[x] - self._middle[y]), 1.0)
                figures[at] = max(figures[at], figure)
                bows[at] += self._is_bow(chain)
        least, most = self._room.least_gap, self._room.most_gap
        gaps = [
            min(max(most, _BOW * bow, 3 * figure), max(least, figure + 4 * STUB) + climb / 4) if climb else MARGIN / 2
            for climb, figure, bow in zip(climbs, figures, bows, strict=True)
        ]
        return [gaps[0], *(max(least, gap) for gap in gaps[1:-1]), gaps[-1]]

    def routes(self) -> list[Route]:
        """Lead every edge from the port of its first node to that of its second."""
        ports = self._ports()
        routes = []
        for number, (chain, pair) in enumerate(zip(self._grid.chains, self._pairs, strict=True)):
            start, end = ports[number, chain[0]], ports[number, chain[-1]]
            if self._is_bow(chain):
                free = self._gaps[self._column_of[chain[0]] + (start.out > 0)] - 3 * STUB
                wanted = max(14 + abs(start.y - end.y) / 5, self._words[number] / 2)
                route = beside(start, end, min(free, wanted))
            else:
                route = through(start, [self._stretch(slot) for slot in chain[1:-1]], end)
            routes.append(route if chain[0] == pair[0] else route.reversed())
        return routes

    def _stretch(self, slot: Slot) -> tuple[Point, Point]:
        at = self._column_of[slot]
        left, level = self._lefts[at], self._middle[slot]
        return (left, level), (left + self._widths[at], level)

    def _ports(self) -> Mapping[tuple[int, Slot], Port]:
        """Set the ends of edges along the sides of the boxes, in the order in which they leave."""
        sides: dict[tuple[Slot, int], list[tuple[tuple[int, float, int], int]]] = {}
        for number, chain in enumerate(self._grid.chains):
            bow = self._is_bow(chain)
            ends = zip((chain[0], chain[-1]), (chain[1], chain[-2]), self._sides(chain), strict=True)
            for slot, next_slot, side in ends:
                climb = self._middle[next_slot] - self._middle[slot]
                group = (1 if climb > 0 else -1) if bow else 0
                key = (group, -climb if bow else climb, number)
                sides.setdefault((slot, side), []).append((key, number))
        ports = {}
        for (slot, side), ends_there in sides.items():
            at = self._column_of[slot]
            x = self._lefts[at] + (self._widths[at] if side > 0 else 0.0)
            for place, (_, number) in enumerate(sorted(ends_there)):
                shift = (place - (len(ends_there) - 1) / 2) * _PORTS
                ports[number, slot] = Port(x, self._middle[slot] + shift, side)
        return ports


__all__ = ["HEADING", "MARGIN", "Band", "Box", "Drawing", "DrawnEdge", "Frame", "drawing_of", "final_edges", "lay_out"]

#: The size of the letters of a frame's title, and the space of the frame above and around its boxes.
TITLE_LETTERS = 10.5
_TITLE, _AROUND = 20.0, 8.0
_CROSS = 9.0  # the radius of the cross on a conflict
_PLACES = {-1: "causes", 0: "target", 1: "effects"}


@attrs.frozen
class Box(Rectangle):
    """A node as a box: its name, the label that fits, its side and distance, and whether the part has it."""

    node: Node
    name: str
    label: str
    side: Side
    layer: int
    within: bool


@attrs.frozen
class DrawnEdge:
    """An edge as it is drawn: the numbers of its boxes, its path from the first to the second, and its figure.

    ``label`` is where the text stands; it is None where there is no text, or no free place for it.
    """

    edge: Edge
    first: int
    second: int
    route: Route
    text: str | None
    label: Rectangle | None


@attrs.frozen
class Band:
    """A layer on one side as a stripe behind its boxes; ``place`` is negative on the left."""

    place: int
    title: str
    within: bool
    left: float
    right: float


@attrs.frozen
class Frame(Rectangle):
    """A frame around the neighbours of the target whose edges are open."""

    title: str


@attrs.frozen
class Drawing:
    """Boxes by name, edges by the names of their ends, stripes from left to right, and the size of it all."""

    boxes: tuple[Box, ...]
    edges: tuple[DrawnEdge, ...]
    bands: tuple[Band, ...]
    frames: tuple[Frame, ...]
    width: float
    height: float


def drawing_of(
    part: Part, *, outside: bool = True, texts: Mapping[Pair, str] | None = None, compact: bool = False
) -> Drawing:
    """Lay out everything that a run ever drew, or without ``outside`` the part alone; ``texts`` are figures at edges.

    The same part gives the same drawing on every run. A ``compact`` one has the width of a page.
    """
    edges = edges_of(part)
    if outside:
        nodes = in_order({part.target, *part.visited, *(node for edge in edges for node in edge.pair)})
        return lay_out(part, nodes, edges, texts or {}, compact=compact)
    return lay_out(part, part.members, [edge for edge in edges if edge.within], texts or {}, compact=compact)


def lay_out(
    part: Part, nodes: Sequence[Node], edges: Sequence[Edge], texts: Mapping[Pair, str], *, compact: bool = False
) -> Drawing:
    """Lay out some nodes of a part, by name, and those of the edges that join them."""
    number_of = {node: number for number, node in enumerate(nodes)}
    kept = [edge for edge in edges if number_of.keys() >= {*edge.pair}]
    pairs = [(number_of[edge.pair[0]], number_of[edge.pair[1]]) for edge in kept]
    farthest = max(part.distances.values())
    layer_of = {node: part.distances.get(node, farthest + 1) for node in nodes}
    sides = sides_of(part.target, layer_of, kept)
    past = {} if part.target in (steps := part.earlier) else {node: steps[node][1] for node in nodes if node in steps}
    sides = {**sides, **dict.fromkeys(past, Side.LEFT)}
    place_of = _places(nodes, sides, layer_of, past)
    words = [texts.get(frozenset(edge.pair)) for edge in kept]
    grid = arrange(number_of[part.target], place_of, pairs)
    title = "open, or a hidden cause" if part.allows_hidden else "direction open"
    room = _PAGE if compact else _SCREEN
    sheet = Measures(grid, pairs, [shown(node) for node in nodes], words, width_of(title, TITLE_LETTERS) + 2, room=room)
    members = frozenset(part.members)
    boxes = tuple(
        Box(
            *sheet.corner_and_size(number),
            node=node,
            name=shown(node),
            label=sheet.labels[number],
            side=sides[node],
            layer=layer_of[node],
            within=node in members,
        )
        for number, node in enumerate(nodes)
    )
    frames = tuple(_frames(boxes, boxes[number_of[part.target]], title))
    routes = sheet.routes()
    places = place_labels(words, routes, [*boxes, *map(_title_of, frames), *_crosses(kept, routes)])
    drawn = zip(kept, pairs, routes, words, places, strict=True)
    drawn_edges = tuple(DrawnEdge(edge, *pair, route, text, place) for edge, pair, route, text, place in drawn)
    bands = _bands(boxes, place_of, farthest, past)
    reach = [
        *(point for route in routes for point in route.points()),
        *((one.left + one.width, one.top + one.height) for one in (*boxes, *frames, *filter(None, places))),
        *((band.right, 0.0) for band in bands),
    ]
    right, bottom = max(x for x, _ in reach), max(y for _, y in reach)
    return Drawing(boxes, drawn_edges, bands, frames, right + MARGIN / 2, bottom + MARGIN)


def _places(
    nodes: Sequence[Node], sides: Mapping[Node, Side], layer_of: Mapping[Node, int], past: Mapping[Node, int]
) -> list[int]:
    """Return the column of each node; what was at earlier steps stands left of all others, the earliest first."""
    places = [sides[node] * layer_of[node] for node in nodes]
    farthest = max((-place for node, place in zip(nodes, places, strict=True) if node not in past), default=0)
    return [-farthest - past[node] if node in past else place for node, place in zip(nodes, places, strict=True)]


def _bands(boxes: Sequence[Box], place_of: Sequence[int], farthest: int, past: Mapping[Node, int]) -> tuple[Band, ...]:
    """Draw for each layer on each side a stripe as wide as its boxes."""
    bands = []
    for place in sorted(set(place_of)):
        mine = [box for box, one in zip(boxes, place_of, strict=True) if one == place]
        left, right = min(box.left for box in mine), max(box.left + box.width for box in mine)
        title = "not joined" if abs(place) > farthest else _PLACES.get(place, f"{abs(place)} steps")
        if mine[0].node in past:
            title = f"t-{past[mine[0].node]}"
        elif past:
            title = title.replace("target", "target, t").replace("steps", "edges away")
        bands.append(Band(place, title, any(box.within for box in mine), left - MARGIN / 2, right + MARGIN / 2))
    return tuple(bands)


def _frames(boxes: Sequence[Box], target: Box, title: str) -> list[Frame]:
    """Frame the boxes above and below the target, and those in further columns of the middle."""
    groups: dict[tuple[float, bool], list[Box]] = {}
    for box in boxes:
        if box.side is Side.MIDDLE and box is not target:
            groups.setdefault((box.left, box.left == target.left and box.top < target.top), []).append(box)
    frames = []
    for mine in groups.values():
        top, bottom = min(box.top for box in mine) - _TITLE, max(box.top + box.height for box in mine) + _AROUND
        left, width = mine[0].left - _AROUND, mine[0].width + 2 * _AROUND
        frames.append(Frame(left, top, width, bottom - top, title=title))
    return frames


def _title_of(frame: Frame) -> Rectangle:
    return Rectangle(frame.left, frame.top, frame.width, _TITLE)


def _crosses(edges: Sequence[Edge], routes: Sequence[Route]) -> list[Rectangle]:
    """Return the places of the crosses on edges in conflict."""
    middles = [route.middle for edge, route in zip(edges, routes, strict=True) if edge.is_contradicted]
    return [Rectangle(x - _CROSS, y - _CROSS, 2 * _CROSS, 2 * _CROSS) for x, y in middles]


def final_edges(drawing: Drawing) -> list[DrawnEdge]:
    """Return the edges that the part still has at the end."""
    return [drawn for drawn in drawing.edges if drawn.edge.last is not Look.NONE]
