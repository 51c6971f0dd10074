"""The one drawing of a part that every view shows: the target in the middle, causes on its left, effects on its right.

Each column outwards is one step further away. What is open about the target stands above and below it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from apsl_rules.names import Node, Pair, in_order, shown
from apsl_rules.parts import Part
from apsl_rules.report._columns import arrange
from apsl_rules.report._measures import HEADING, MARGIN, Measures
from apsl_rules.report.curves import Route
from apsl_rules.report.edges import Edge, Look, edges_of
from apsl_rules.report.labels import Rectangle, place_labels
from apsl_rules.report.sides import Side, sides_of
from apsl_rules.report.text_width import width_of

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


def drawing_of(part: Part, *, outside: bool = True, texts: Mapping[Pair, str] | None = None) -> Drawing:
    """Lay out everything that a run ever drew, or without ``outside`` the part alone; ``texts`` are figures at edges.

    The same part gives the same drawing on every run.
    """
    edges = edges_of(part)
    if outside:
        nodes = in_order({part.target, *part.visited, *(node for edge in edges for node in edge.pair)})
        return lay_out(part, nodes, edges, texts or {})
    return lay_out(part, part.members, [edge for edge in edges if edge.within], texts or {})


def lay_out(part: Part, nodes: Sequence[Node], edges: Sequence[Edge], texts: Mapping[Pair, str]) -> Drawing:
    """Lay out some nodes of a part, by name, and those of the edges that join them."""
    number_of = {node: number for number, node in enumerate(nodes)}
    kept = [edge for edge in edges if number_of.keys() >= {*edge.pair}]
    pairs = [(number_of[edge.pair[0]], number_of[edge.pair[1]]) for edge in kept]
    farthest = max(part.distances.values())
    layer_of = {node: part.distances.get(node, farthest + 1) for node in nodes}
    sides = sides_of(part.target, layer_of, kept)
    place_of = [sides[node] * layer_of[node] for node in nodes]
    words = [texts.get(frozenset(edge.pair)) for edge in kept]
    grid = arrange(number_of[part.target], place_of, pairs)
    title = "open, or a hidden cause" if part.allows_hidden else "direction open"
    sheet = Measures(grid, pairs, [shown(node) for node in nodes], words, width_of(title, TITLE_LETTERS) + 2)
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
    bands = _bands(boxes, place_of, farthest)
    reach = [
        *(point for route in routes for point in route.points()),
        *((one.left + one.width, one.top + one.height) for one in (*boxes, *frames, *filter(None, places))),
        *((band.right, 0.0) for band in bands),
    ]
    right, bottom = max(x for x, _ in reach), max(y for _, y in reach)
    return Drawing(boxes, drawn_edges, bands, frames, right + MARGIN / 2, bottom + MARGIN)


def _bands(boxes: Sequence[Box], place_of: Sequence[int], farthest: int) -> tuple[Band, ...]:
    """Draw for each layer on each side a stripe as wide as its boxes."""
    bands = []
    for place in sorted(set(place_of)):
        mine = [box for box, one in zip(boxes, place_of, strict=True) if one == place]
        left, right = min(box.left for box in mine), max(box.left + box.width for box in mine)
        title = "not joined" if abs(place) > farthest else _PLACES.get(place, f"{abs(place)} steps")
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
