"""The shapes of edges as SVG path data, for the page and the still drawing alike."""

from __future__ import annotations

from collections.abc import Iterable

from apsl_rules.report.curves import STUB, Point, Port, Route
from apsl_rules.report.edges import Look

#: The looks that have an arrow head at the first node of a pair, and at the second.
BEGINS_WITH_HEAD = frozenset({Look.BACK, Look.MAYBE_BACK, Look.BOTH, Look.PARTIAL_BACK, Look.TWO_HEADS})
ENDS_WITH_HEAD = frozenset({Look.AHEAD, Look.MAYBE_AHEAD, Look.BOTH, Look.PARTIAL_AHEAD, Look.TWO_HEADS})
#: Those that have a circle there.
BEGINS_WITH_CIRCLE = frozenset({Look.PARTIAL_AHEAD, Look.OPEN})
ENDS_WITH_CIRCLE = frozenset({Look.PARTIAL_BACK, Look.OPEN})
#: The radius of such a circle.
RADIUS = STUB / 2 - 0.5
#: The looks of a line with a suggested direction, whose head is hollow.
SUGGESTED = frozenset({Look.MAYBE_AHEAD, Look.MAYBE_BACK})


def num(number: float) -> str:
    """Write a length with at most one digit after the point.

    >>> num(12.04), num(7.25)
    ('12', '7.2')
    """
    return f"{number:.1f}".removesuffix(".0")


def _at(point: Point) -> str:
    return f"{num(point[0])} {num(point[1])}"


def body_of(route: Route) -> str:
    """Return the curves of a path from one stub to the other, without the leading command."""
    curves = " ".join("C" + " ".join(map(_at, curve[1:])) for curve in route.curves)
    return f"{_at(route.curves[0][0])} {curves}"


def corners_of(corners: Iterable[Point]) -> str:
    """Return straight pieces between corners, without the leading command."""
    return "L".join(map(_at, corners))


def head_of(port: Port) -> str:
    """Return an arrow head that points into a box."""
    x, y = port.stub
    return f"M{num(port.x)} {num(port.y)}L{num(x)} {num(y - STUB / 2)}L{num(x)} {num(y + STUB / 2)}Z"


def circle_of(port: Port) -> Point:
    """Return the middle of a circle at the end of an edge; its radius is ``RADIUS``."""
    return port.x + port.out * STUB / 2, port.y


def whole(route: Route, body: str, look: Look) -> str:
    """Lengthen a body to both boxes, except where an arrow head or a circle stands."""
    start = "M" if look in BEGINS_WITH_HEAD | BEGINS_WITH_CIRCLE else f"M{num(route.start.x)} {num(route.start.y)}L"
    end = "" if look in ENDS_WITH_HEAD | ENDS_WITH_CIRCLE else f"L{num(route.end.x)} {num(route.end.y)}"
    return f"{start}{body}{end}"
