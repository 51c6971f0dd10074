"""The legend of a drawing: a sign for each kind of edge that occurs, and what the numbers at the edges are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from apsl_rules.parts import EdgeFigures, Part
from apsl_rules.views.curves import Port, Route, through
from apsl_rules.views.edges import Look
from apsl_rules.views.labels import width_of
from apsl_rules.views.layout import MARGIN, DrawnEdge

#: The size of the letters of a legend, and the height of a row of it.
LEGEND_LETTERS, LEGEND_ROW = 11, 22.0
_SIGN, _TEXT, _SPACE = 40.0, 48.0, 12.0

#: What stands for each look; looks that differ only in their direction share a sign.
_WORDS = {
    Look.AHEAD: "arrow",
    Look.TWO_HEADS: "hidden common cause",
    Look.PARTIAL_AHEAD: "cause, or hidden cause",
    Look.OPEN: "open",
    Look.LINE: "line: direction open",
    Look.MAYBE_AHEAD: "line: direction suggested",
    Look.CONFLICT: "conflict",
}
#: How time runs in a drawing with columns of earlier steps.
TIME_RUNS = "time runs from left to right: [t-1] is one step before"
_AHEAD = {
    Look.BACK: Look.AHEAD,
    Look.MAYBE_BACK: Look.MAYBE_AHEAD,
    Look.PARTIAL_BACK: Look.PARTIAL_AHEAD,
    Look.BOTH: Look.CONFLICT,
}


@attrs.frozen
class LegendItem:
    """A sign and its words at a place; ``route`` is None for words alone."""

    words: str
    look: Look
    within: bool
    route: Route | None
    left: float
    middle: float


@attrs.frozen
class Legend:
    """The items of a legend, and how much room they take."""

    items: tuple[LegendItem, ...]
    width: float
    height: float


def legend_of(edges: Iterable[DrawnEdge], numbers: Sequence[str], width: float, top: float) -> Legend:
    """Arrange the legend of some edges below a drawing; ``numbers`` are sentences on the numbers at edges."""
    listed = list(edges)
    seen = {_AHEAD.get(drawn.edge.last, drawn.edge.last) for drawn in listed if drawn.edge.within}
    entries: list[tuple[str, Look | None, bool]] = [
        (words, look, True) for look, words in _WORDS.items() if look in seen
    ]
    if any(not drawn.edge.within for drawn in listed):
        entries.append(("beyond the asked depth", Look.LINE, False))
    entries += [(words, None, True) for words in numbers]
    wide = max([width, *(2 * MARGIN + _room(words, look) for words, look, _ in entries)])
    items = tuple(_arranged(entries, wide, top))
    rows = 1 + round((items[-1].middle - items[0].middle) / LEGEND_ROW) if items else 0
    return Legend(items, wide, rows * LEGEND_ROW)


def _arranged(entries: Sequence[tuple[str, Look | None, bool]], width: float, top: float) -> Iterator[LegendItem]:
    """Set the entries in rows that fit."""
    left, middle = MARGIN, top
    for words, look, within in entries:
        room = _room(words, look)
        if left > MARGIN and left + room + MARGIN > width:
            left, middle = MARGIN, middle + LEGEND_ROW
        ends = Port(left, middle, 1), Port(left + _SIGN, middle, -1)
        route = None if look is None else through(ends[0], [], ends[1])
        text = left if look is None else left + _TEXT
        yield LegendItem(words, look or Look.NONE, within, route, text, middle)
        left += room


def _room(words: str, look: Look | None) -> float:
    return (0.0 if look is None else _TEXT) + width_of(words, LEGEND_LETTERS) + _SPACE


def words_of(part: Part, rows: Iterable[Mapping[str, Any]], figures: EdgeFigures | None) -> list[str]:
    """Say what the numbers at edges are, and how time runs where columns of earlier steps are drawn."""
    in_time = [TIME_RUNS] if part.earlier.keys() & set(part.members) else []
    return [*_on_numbers(list(rows), figures), *in_time]


def _on_numbers(rows: Sequence[Mapping[str, Any]], figures: EdgeFigures | None) -> list[str]:
    if figures is not None:
        return ["number: effect along the edge"] if figures.labels else []
    if any(row.get("support") is not None for row in rows):
        return ["number: share of resamples with this mark"]
    known = any(row.get("probability") is not None for row in rows)
    return ["number: probability of the edge, of an arrow with its direction"] if known else []
