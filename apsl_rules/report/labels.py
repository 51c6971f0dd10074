"""Where the figures of edges stand: on their own edge, clear of every box and of each other.

A figure for which there is no such place is left out of the drawing; the page shows it when the edge is pointed at.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import floor

import attrs

from apsl_rules.report.curves import Point, Route
from apsl_rules.report.text_width import width_of

#: The size of the letters of a figure, and the height of its place.
LETTERS, TALL = 11, 15.0
_PADDING = 6.0
_SHARES = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82)
_CELL = 40.0


@attrs.frozen
class Rectangle:
    """A place on the sheet by its left upper corner and its size."""

    left: float
    top: float
    width: float
    height: float

    def overlaps(self, other: Rectangle) -> bool:
        """Return whether two places share any point inside."""
        return (
            self.left < other.left + other.width
            and other.left < self.left + self.width
            and self.top < other.top + other.height
            and other.top < self.top + self.height
        )

    def has(self, point: Point) -> bool:
        """Return whether a point lies inside."""
        x, y = point
        return self.left < x < self.left + self.width and self.top < y < self.top + self.height

    @property
    def middle(self) -> Point:
        """Return the middle."""
        return self.left + self.width / 2, self.top + self.height / 2


def width_of_label(text: str) -> float:
    """Return the width of the place that a figure needs."""
    return width_of(text, LETTERS) + _PADDING


def place_labels(
    texts: Sequence[str | None], routes: Sequence[Route], taken: Iterable[Rectangle]
) -> list[Rectangle | None]:
    """Return a place for the text of each edge, or None; of the free places that which fewest other edges cross."""
    occupied = _Cells()
    for one in taken:
        occupied.add(one)
    passing = _Passing(routes)
    places: list[Rectangle | None] = []
    for number, (text, route) in enumerate(zip(texts, routes, strict=True)):
        place = None if text is None else _best(number, width_of_label(text), route, occupied, passing)
        if place is not None:
            occupied.add(place)
        places.append(place)
    return places


def _best(number: int, width: float, route: Route, occupied: _Cells, passing: _Passing) -> Rectangle | None:
    tries = [Rectangle(x - width / 2, y - TALL / 2, width, TALL) for x, y in route.at(*_SHARES)]
    free = [one for one in tries if not occupied.meets(one)]
    return min(free, key=lambda one: passing.count(one, number), default=None)


def _cells(place: Rectangle) -> Iterable[tuple[int, int]]:
    across = range(floor(place.left / _CELL), floor((place.left + place.width) / _CELL) + 1)
    down = range(floor(place.top / _CELL), floor((place.top + place.height) / _CELL) + 1)
    return ((x, y) for x in across for y in down)


class _Cells:
    """The places that are taken, by the cells of a grid that they touch."""

    def __init__(self) -> None:
        self._taken: dict[tuple[int, int], list[Rectangle]] = {}

    def add(self, place: Rectangle) -> None:
        for cell in _cells(place):
            self._taken.setdefault(cell, []).append(place)

    def meets(self, place: Rectangle) -> bool:
        return any(place.overlaps(one) for cell in _cells(place) for one in self._taken.get(cell, ()))


class _Passing:
    """Points along all edges, by the cells of a grid."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self._points: dict[tuple[int, int], list[tuple[int, Point]]] = {}
        for number, route in enumerate(routes):
            for x, y in route.points():
                self._points.setdefault((floor(x / _CELL), floor(y / _CELL)), []).append((number, (x, y)))

    def count(self, place: Rectangle, own: int) -> int:
        """Return how many other edges run through a place."""
        near = (one for cell in _cells(place) for one in self._points.get(cell, ()))
        return len({number for number, point in near if number != own and place.has(point)})
