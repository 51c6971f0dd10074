"""Reliability: how often what has some probability is right, as rows, as one figure, and as a picture.

The picture has one panel for each network, with the probability on the horizontal axis and the share that is right on
the vertical one. The area of a point grows with the number of its cases.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import pairwise
from math import sqrt
from pathlib import Path
from typing import TypeAlias

#: The ranges of probability within which cases are counted together.
BINS = (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0001)

#: Probabilities, and whether what has them is right.
Shares: TypeAlias = Sequence[tuple[float, bool]]

_SIDE, _GAP, _LEFT, _TOP, _BELOW = 150, 26, 46, 46, 46
_COLOURS = ("#1f6fb4", "#d1661f")


def reliability(found: Shares) -> list[tuple[float, float, int]]:
    """Return the mean probability, the share that is right and the number of cases, by ranges of probability.

    >>> reliability([(0.75, True), (0.75, False), (0.97, True)])
    [(0.75, 0.5, 2), (0.97, 1.0, 1)]
    """
    rows = []
    for low, high in pairwise(BINS):
        inside = [(probability, right) for probability, right in found if low <= probability < high]
        if inside:
            count = len(inside)
            rows.append((sum(one for one, _ in inside) / count, sum(right for _, right in inside) / count, count))
    return rows


def calibration_error(found: Shares) -> float:
    """Return the expected calibration error: how far probabilities are from the shares that are right, on average.

    >>> round(calibration_error([(0.75, True), (0.75, False), (0.97, True)]), 3)
    0.177
    """
    rows = reliability(found)
    return sum(count * abs(probability - right) for probability, right, count in rows) / sum(row[2] for row in rows)


def draw_panels(networks: Mapping[str, Mapping[str, Shares]], path: Path) -> None:
    """Write the picture as SVG: a panel for each network, a line for each kind of case."""
    width = _LEFT + len(networks) * (_SIDE + _GAP)
    height = _TOP + _SIDE + _BELOW
    kinds = list(dict.fromkeys(kind for found in networks.values() for kind in found))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">',
        '<g font-family="sans-serif" font-size="11">',
        "<title>Share that is right by probability, on networks that were not used for the fit</title>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for at, kind in enumerate(kinds):
        x = _LEFT + 110 * at
        parts.append(f'<circle cx="{x + 5}" cy="14" r="4" fill="{_COLOURS[at]}"/>')
        parts.append(f'<text x="{x + 14}" y="18">{escape(kind)}</text>')
    for place, (name, found) in enumerate(networks.items()):
        parts += _panel(name, found, _LEFT + place * (_SIDE + _GAP), is_first=not place)
    parts.append(f'<text x="{_LEFT}" y="{height - 8}">probability; vertical: share that is right</text>')
    parts.append("</g>\n</svg>\n")
    path.write_text("\n".join(parts), "utf-8")


def _panel(name: str, found: Mapping[str, Shares], left: int, *, is_first: bool) -> list[str]:
    """Return the elements of one panel."""
    bottom = _TOP + _SIDE

    def at(probability: float, share: float) -> tuple[float, float]:
        return left + _SIDE * probability, bottom - _SIDE * share

    def path(points: Iterable[tuple[float, float]]) -> str:
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)

    parts = [
        f'<rect x="{left}" y="{_TOP}" width="{_SIDE}" height="{_SIDE}" fill="none" stroke="#999"/>',
        f'<polyline points="{path([at(0, 0), at(1, 1)])}" stroke="#bbb" fill="none"/>',
        f'<text x="{left + _SIDE / 2}" y="{_TOP - 6}" text-anchor="middle">{escape(name)}</text>',
    ]
    for tick in (0, 0.5, 1):
        x, y = at(tick, tick)
        parts.append(f'<text x="{x}" y="{bottom + 14}" text-anchor="middle" fill="#555">{tick}</text>')
        if is_first:
            parts.append(f'<text x="{left - 6}" y="{y + 4}" text-anchor="end" fill="#555">{tick}</text>')
    for number, (kind, some) in enumerate(found.items()):
        rows, colour = reliability(some), _COLOURS[number]
        line = path(at(probability, share) for probability, share, _ in rows)
        dash = ' stroke-dasharray="5 3"' if number else ""
        parts.append(f'<polyline points="{line}" stroke="{colour}" fill="none"{dash}/>')
        for probability, share, count in rows:
            x, y = at(probability, share)
            radius = min(9.0, 1.5 + sqrt(count) / 3)
            parts.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{colour}" fill-opacity="0.6">'
                f"<title>{escape(kind)}: {probability:.2f} said, {share:.2f} right; {count} in all</title></circle>"
            )
    return parts
