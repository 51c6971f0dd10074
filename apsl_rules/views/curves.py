"""The curves of edges, and the sides of nodes where they end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from itertools import pairwise
from math import hypot
from typing import TypeAlias

import attrs

from apsl_rules.names import Node, order_key
from apsl_rules.views.edges import Edge, Look


class Side(IntEnum):
    """Where a node stands: on the left, in the column of the target, or on the right."""

    LEFT = -1
    MIDDLE = 0
    RIGHT = 1


def sides_of(target: Node, layer_of: Mapping[Node, int], edges: Sequence[Edge]) -> dict[Node, Side]:
    """Return the side of each node; an edge at the target without a proved arrow puts its node in the middle."""
    near: dict[Node, list[tuple[Node, int]]] = {node: [] for node in layer_of}
    for edge in edges:
        x, y = edge.pair
        near[x].append((y, _turn(edge.last)))
        near[y].append((x, -_turn(edge.last)))
    sides = {target: Side.MIDDLE}
    total = 0
    for node in sorted(layer_of, key=lambda one: (layer_of[one], order_key(one))):
        if node == target:
            continue
        inner = [(other, turn) for other, turn in near[node] if other in sides and layer_of[other] < layer_of[node]]
        if layer_of[node] == 1:
            side = _sign(sum(-turn for other, turn in inner if other == target))
        else:
            pull = sum(int(sides[other]) for other, _ in inner) or sum(-turn for _, turn in inner)
            side = _sign(pull) or (Side.RIGHT if total <= 0 else Side.LEFT)
        sides[node] = side
        total += side
    return sides


def _turn(look: Look) -> int:
    """Return 1 for an arrow along the pair, -1 for one against it, else 0."""
    return {Look.AHEAD: 1, Look.BACK: -1}.get(look, 0)


def _sign(number: int) -> Side:
    return Side((number > 0) - (number < 0))


Point: TypeAlias = tuple[float, float]
Cubic: TypeAlias = tuple[Point, Point, Point, Point]

STUB = 9.0  # the straight end of a curve, as long as an arrow head
_TOOTH, _AMPLITUDE, _SAMPLES = 5.0, 3.0, 24


@attrs.frozen
class Port:
    """Where an edge meets a box: a point on its side, and the direction out of it (1 right, -1 left)."""

    x: float
    y: float
    out: int

    @property
    def stub(self) -> Point:
        """Return the point where the curve begins."""
        return self.x + self.out * STUB, self.y


@attrs.frozen
class Route:
    """The path of an edge from the port of its first node to that of its second."""

    start: Port
    end: Port
    curves: tuple[Cubic, ...]

    @property
    def middle(self) -> Point:
        """Return the point halfway along."""
        (found,) = self.at(0.5)
        return found

    def at(self, *shares: float) -> Iterator[Point]:
        """Return the points at some shares of the length."""
        points = list(self.points())
        lengths = [hypot(x2 - x1, y2 - y1) for (x1, y1), (x2, y2) in pairwise(points)]
        whole = sum(lengths)
        for share in shares:
            yield _along(points, lengths, share * whole)

    def points(self) -> Iterator[Point]:
        """Return points close together along the curves."""
        yield self.curves[0][0]
        for curve in self.curves:
            yield from (_at(curve, step / _SAMPLES) for step in range(1, _SAMPLES + 1))

    def reversed(self) -> Route:
        """Return the same path from its other end."""
        curves = tuple((d, c, b, a) for a, b, c, d in reversed(self.curves))
        return Route(self.end, self.start, curves)

    def zigzag(self) -> tuple[Point, ...]:
        """Return the corners of a zigzag along the path."""
        points = list(self.points())
        corners = [points[0]]
        ahead, side = _TOOTH, 1
        for (x1, y1), (x2, y2) in pairwise(points):
            length = hypot(x2 - x1, y2 - y1)
            while ahead <= length:
                share, shift = ahead / length, side * _AMPLITUDE / length
                corners.append((x1 + (x2 - x1) * share + (y1 - y2) * shift, y1 + (y2 - y1) * share + (x2 - x1) * shift))
                ahead, side = ahead + _TOOTH, -side
            ahead -= length
        return (*corners, points[-1])


def _along(points: Sequence[Point], lengths: Sequence[float], left: float) -> Point:
    for at, length in enumerate(lengths):
        if left <= length and length:
            (x1, y1), (x2, y2), share = points[at], points[at + 1], left / length
            return x1 + (x2 - x1) * share, y1 + (y2 - y1) * share
        left -= length
    return points[0]


def _at(curve: Cubic, t: float) -> Point:
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = curve
    s = 1 - t
    w0, w1, w2, w3 = s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t
    return w0 * x0 + w1 * x1 + w2 * x2 + w3 * x3, w0 * y0 + w1 * y1 + w2 * y2 + w3 * y3


def through(start: Port, passing: Sequence[tuple[Point, Point]], end: Port) -> Route:
    """Join two ports through level stretches, each given by its left and right end."""
    curves: list[Cubic] = []
    here = start.stub
    for left, right in passing:
        curves += [_bend(here, left), _bend(left, right)]
        here = right
    return Route(start, end, (*curves, _bend(here, end.stub)))


def beside(start: Port, end: Port, bulge: float) -> Route:
    """Join two ports on the same side of a column by a bow."""
    (x1, y1), (x2, y2) = start.stub, end.stub
    reach = start.out * bulge * 4 / 3
    return Route(start, end, (((x1, y1), (x1 + reach, y1), (x2 + reach, y2), (x2, y2)),))


def _bend(here: Point, there: Point) -> Cubic:
    """Leave and arrive level."""
    (x1, y1), (x2, y2) = here, there
    half = (x2 - x1) / 2
    return here, (x1 + half, y1), (x2 - half, y2), there
