"""Line charts as plain SVG: one line for each method over a few places, linear or logarithmic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, floor, log10
from xml.sax.saxutils import escape

import attrs

COLOURS = ("#d1495b", "#2e86ab", "#3c896d", "#edae49", "#8d5a97", "#66707a", "#c96f2f", "#5b7f00", "#00798c", "#9b2226")
_WIDTH, _HEIGHT = 380.0, 210.0
_LEFT, _TOP, _RIGHT, _BOTTOM = 48.0, 30.0, 12.0, 34.0
_STYLE = """
.apsl-chart { color: #1f2328; font: 12px system-ui, sans-serif; }
@media (prefers-color-scheme: dark) { .apsl-chart { color: #e6edf3; } }
.apsl-chart text { fill: currentColor; }
.apsl-chart .axis { stroke: currentColor; stroke-opacity: 0.35; fill: none; }
.apsl-chart .title { font-weight: 600; }
"""


@attrs.frozen
class Panel:
    """One chart: for each method its figure at each place, None where it has none."""

    title: str
    places: tuple[str, ...]
    lines: Mapping[str, Sequence[float | None]]
    logarithmic: bool = False


def chart(panels: Sequence[Panel], *, columns: int = 2) -> str:
    """Draw panels side by side, with one legend below for all."""
    methods = list(dict.fromkeys(method for panel in panels for method in panel.lines))
    colour = {method: COLOURS[at % len(COLOURS)] for at, method in enumerate(methods)}
    rows = ceil(len(panels) / columns)
    width = columns * _WIDTH
    legend, height_of_legend = _legend(methods, colour, width, rows * _HEIGHT)
    height = rows * _HEIGHT + height_of_legend
    groups = []
    for at, panel in enumerate(panels):
        row, column = divmod(at, columns)
        moved = f"translate({column * _WIDTH:.0f} {row * _HEIGHT:.0f})"
        groups.append(f'<g transform="{moved}">\n{_panel(panel, colour)}\n</g>')
    drawn = "\n".join(groups)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="apsl-chart" role="img" width="{width:.0f}" '
        f'height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}">\n'
        f"<style>{_STYLE}</style>\n{drawn}\n{legend}\n</svg>\n"
    )


def _panel(panel: Panel, colour: Mapping[str, str]) -> str:
    figures = [figure for line in panel.lines.values() for figure in line if figure is not None]
    ticks = _ticks(figures, logarithmic=panel.logarithmic)
    low, high = ticks[0], ticks[-1]
    inner = _HEIGHT - _TOP - _BOTTOM
    step = (_WIDTH - _LEFT - _RIGHT) / max(len(panel.places), 1)

    def across(at: int) -> float:
        return _LEFT + step * (at + 0.5)

    def up(figure: float) -> float:
        share = log10(figure / low) / log10(high / low) if panel.logarithmic else (figure - low) / (high - low)
        return _TOP + inner * (1 - share)

    shapes = [_text(_LEFT, 16, panel.title, "start", "title")]
    for tick in ticks:
        shapes.append(f'<path class="axis" d="M{_LEFT:.0f} {up(tick):.1f} H{_WIDTH - _RIGHT:.0f}"/>')
        shapes.append(_text(_LEFT - 5, up(tick) + 4, f"{tick:g}", "end"))
    for at, place in enumerate(panel.places):
        shapes.append(_text(across(at), _HEIGHT - _BOTTOM + 16, place, "middle"))
    for method, line in panel.lines.items():
        points = [(across(at), up(figure)) for at, figure in enumerate(line) if figure is not None]
        if len(points) > 1:
            path = " L".join(f"{x:.1f} {y:.1f}" for x, y in points)
            shapes.append(f'<path d="M{path}" fill="none" stroke="{colour[method]}" stroke-width="1.6"/>')
        shapes += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour[method]}"/>' for x, y in points]
    return "\n".join(shapes)


def _ticks(figures: Sequence[float], *, logarithmic: bool) -> list[float]:
    """Return the marks of an axis: powers of ten, or steps of a round size from nought."""
    if logarithmic:
        low, high = (min(figures), max(figures)) if figures else (1.0, 10.0)
        first, last = floor(log10(low)), ceil(log10(high))
        return [10.0**power for power in range(first, max(last, first + 1) + 1)]
    high = max(figures, default=1.0)
    size = next(size for size in (0.1, 0.2, 0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 1e9) if high / size <= 6)
    return [round(size * number, 6) for number in range(max(ceil(high / size), 1) + 1)]


def _legend(methods: Sequence[str], colour: Mapping[str, str], width: float, top: float) -> tuple[str, float]:
    shapes, x, y = [], 10.0, top + 14
    for method in methods:
        room = 28 + 7.2 * len(method)
        if x + room > width:
            x, y = 10.0, y + 18
        shapes.append(f'<circle cx="{x + 5:.1f}" cy="{y - 4:.1f}" r="4" fill="{colour[method]}"/>')
        shapes.append(_text(x + 13, y, method, "start"))
        x += room
    return "\n".join(shapes), y - top + 10


def _text(x: float, y: float, text: str, anchor: str, kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
