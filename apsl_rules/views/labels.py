"""Texts in a drawing: widths of words and edges, and labels that do not overlap."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import floor
from typing import Any
from unicodedata import category, east_asian_width

import attrs

from apsl_rules.names import Node, Pair
from apsl_rules.parts import EdgeFigures, arrow_share
from apsl_rules.rules import Mark
from apsl_rules.views.curves import Point, Route

FONT_SIZE = 13
#: The longest that a name is always written out.
LONGEST = 168.0  # a name of some 20 letters
_NARROW = frozenset("iIjlft.,;:'|![]()`/\\ ")
_WIDE = frozenset("mwMW@%&—…")
_ELLIPSIS = "…"
_EMOJI = 0x10000  # and everything after them


def _em(letter: str) -> float:
    """Return a generous width in ems: that of the widest of the common sans-serif fonts."""
    if category(letter) in {"Mn", "Me", "Cf"}:
        return 0.0
    if east_asian_width(letter) in {"W", "F"} or ord(letter) >= _EMOJI:
        return 1.35
    if letter in _NARROW:
        return 0.4
    if letter in _WIDE:
        return 1.0
    return 0.75 if letter.isupper() else 0.65


def width_of(text: str, size: float = FONT_SIZE) -> float:
    """Estimate the width of a text in pixels, rather too wide than too narrow."""
    return size * sum(map(_em, text))


def shorten(text: str, longest: float = LONGEST) -> str:
    """Keep the beginning and the end of a name that is too long, since names that share one often differ in the other.

    >>> shorten("a_very_long_name_of_a_column_in_a_table_2024")
    'a_very_lon…able_2024'
    """
    if width_of(text) <= longest:
        return text
    available = longest - width_of(_ELLIPSIS)
    head, tail, used = 0, 0, 0.0
    while head + tail < len(text):
        from_head = head <= tail
        letter = text[head] if from_head else text[-1 - tail]
        used += width_of(letter)
        if used > available:
            break
        head, tail = head + from_head, tail + (not from_head)
    return f"{text[:head]}{_ELLIPSIS}{text[len(text) - tail :]}"


_THIN, _USUAL, _THICK = 1.0, 1.8, 3.4
#: What is found from data is never certain.
_SUREST = 0.99


def weights_of(rows: Iterable[Mapping[str, Any]]) -> dict[frozenset[Node], float]:
    """Return the support of each edge over resamples, or else its probability; edges without either are left out.

    That of an arrow, drawn or suggested, is of the edge and its direction together.
    """
    weights = {}
    for row in rows:
        points = row.get("mark") == Mark.ARROW or row.get("suggested")
        share = arrow_share(row) if points else row.get("probability")
        known = [row["support"]] if row.get("support") is not None else []
        known += [min(_SUREST, share)] if share is not None else []
        if known:
            weights[frozenset((row["source"], row["target"]))] = float(known[0])
    return weights


def texts_of(weights: Mapping[Pair, float], figures: EdgeFigures | None) -> Mapping[Pair, str]:
    """Return what stands at the edges: their weights, or where a table is known the effects along them."""
    if figures is not None:
        return figures.labels
    return {pair: weight_text(weight) for pair, weight in weights.items()}


def thickness(weight: float | None) -> float:
    """Return the width of a stroke."""
    return _USUAL if weight is None else _THIN + (_THICK - _THIN) * min(1.0, max(0.0, weight))


def weight_text(weight: float) -> str:
    """Write a weight in two digits.

    >>> weight_text(0.874), weight_text(1.0)
    ('.87', '1')
    """
    text = f"{weight:.2f}"
    return "1" if text == "1.00" else text.removeprefix("0")


#: The size of the letters of a figure, and the height of its place.
LETTERS, TALL = 11, 15.0
_PADDING = 6.0
_SHARES = (0.5, *(0.5 + turn * step / 25 for step in range(1, 12) for turn in (-1, 1)))
_CELL = 40.0
#: How near a label that stands beside its edge is to it, and how far from all others if there is room.
_BESIDE, _CLEAR = 2.0, 4.0
_ON_EDGE = ((0.0, 0.0),)
_TRIES, _FEW = 4, 60


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

    def grown(self, by: float) -> Rectangle:
        """Return the place with a margin around it."""
        return Rectangle(self.left - by, self.top - by, self.width + 2 * by, self.height + 2 * by)

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
    """Return a place for the text of each edge, or None; of the free places that which fewest other edges cross.

    Labels that find no place on their edge go first in the next try, where edges are few.
    """
    passing, boxes = _Passing(routes), tuple(taken)
    order = [number for number, text in enumerate(texts) if text is not None]
    best: dict[int, tuple[Rectangle | None, bool]] = {}
    for _ in range(_TRIES if len(routes) <= _FEW else 1):
        found = _placed(order, texts, routes, boxes, passing)
        aside = [number for number in order if not found[number][1]]
        if not best or len(aside) < sum(not on_edge for _, on_edge in best.values()):
            best = found
        if not aside:
            break
        order = [*aside, *(number for number in order if found[number][1])]
    return [best[number][0] if number in best else None for number in range(len(texts))]


def _placed(
    order: Iterable[int],
    texts: Sequence[str | None],
    routes: Sequence[Route],
    taken: Iterable[Rectangle],
    passing: _Passing,
) -> dict[int, tuple[Rectangle | None, bool]]:
    """Return a place for each label, one after another, and whether it is on its edge alone."""
    occupied = _Cells()
    for one in taken:
        occupied.add(one)
    found = {}
    for number in order:
        place, on_edge = _best(number, width_of_label(texts[number] or ""), routes[number], occupied, passing)
        if place is not None:
            occupied.add(place)
        found[number] = (place, on_edge)
    return found


def _best(
    number: int, width: float, route: Route, occupied: _Cells, passing: _Passing
) -> tuple[Rectangle | None, bool]:
    """Return a place on an edge, or where other edges cross all of these, beside it; and whether it is on it alone."""
    points = list(route.at(*_SHARES))
    below, right = TALL / 2 + _BESIDE, width / 2 + _BESIDE
    aside = ((0.0, -below), (0.0, below), (right, 0.0), (-right, 0.0))
    best: Rectangle | None = None
    for ways, clear in ((_ON_EDGE, 0.0), (aside, _CLEAR), (aside, 0.0)):
        tries = [
            Rectangle(x + by - width / 2, y + down - TALL / 2, width, TALL) for x, y in points for by, down in ways
        ]
        free = [(one, passing.count(one.grown(clear), number)) for one in tries if not occupied.meets(one)]
        found, crossing = min(free, key=lambda pair: pair[1], default=(None, 1))
        if not crossing:
            return found, ways is _ON_EDGE
        best = best or found
    return best, False


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
