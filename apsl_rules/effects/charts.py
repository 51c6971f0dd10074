"""Charts of two columns, as they are or given others, and how the values of a column are spread: all as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from apsl_rules.data import Dataset
from apsl_rules.effects.contrasts import figure
from apsl_rules.effects.figures import Figures
from apsl_rules.effects.opening import figures_of, read_as
from apsl_rules.effects.samples import Floats
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.learning import Settings
from apsl_rules.names import Node, shown
from apsl_rules.parts import Part

#: How many points a chart has at most, and how many levels a table or a row of boxes.
MOST_POINTS, MOST_LEVELS = 400, 30
#: How many intervals a histogram has at most.
MOST_BINS = 24
_QUARTILE_NAMES = ("least", "quarter", "median", "three quarters", "largest")
_QUARTILES = (0, 0.25, 0.5, 0.75, 1)


def charts_of(figures: Figures, pairs: list[tuple[Node, Node]]) -> Iterable[tuple[tuple[Node, Node], dict[str, Any]]]:
    """Return what lies behind pairs of columns, where that can be shown."""
    counted = [pair for pair in pairs if figures.are_counted(pair)]
    for pair, counts in zip(counted, figures.counts(counted), strict=True):
        if max(counts.shape) <= MOST_LEVELS:
            names = [[shown(level) for level in figures.levels(node)] for node in pair]
            yield pair, {"kind": "table", "nodes": list(pair), "levels": names, "counts": counts.tolist()}
    if "rows" in figures.data.can:
        for pair in pairs:
            chart = None if pair in counted else _chart_of_numbers(figures.data, *pair)
            if chart is not None:
                yield pair, chart


def _chart_of_numbers(data: Dataset, x: Node, y: Node) -> dict[str, Any] | None:
    """Return boxes of a number by the levels of a category, or points of two numbers."""
    if not data.is_category(x) and not data.is_category(y):
        points = np.array([data.values(x), data.values(y)])
        return _points(x, y, points[:, np.isfinite(points).all(axis=0)])
    category, number = (x, y) if data.is_category(x) else (y, x)
    codes, levels = data.categories.codes_of(category), data.categories.levels_of(category)
    values = data.values(number)
    groups = [values[(codes == code) & np.isfinite(values)] for code in range(len(levels))]
    if len(groups) > MOST_LEVELS:
        return None
    return _boxes(category, number, [shown(level) for level in levels], groups)


def _points(x: Node, y: Node, points: Floats) -> dict[str, Any]:
    """Return points of two numbers, of many rows some that are evenly spread over the table."""
    rows = points.shape[1]
    kept = np.linspace(0, rows - 1, min(MOST_POINTS, rows)).astype(np.int64)
    return {"kind": "points", "nodes": [x, y], "points": points[:, kept].T.tolist(), "rows": rows}


def _boxes(category: Node, number: Node, levels: list[str], groups: Sequence[Floats]) -> dict[str, Any]:
    """Return the quartiles of a number by the levels of a category."""
    return {
        "kind": "boxes",
        "nodes": [category, number],
        "levels": levels,
        "boxes": [np.quantile(one, _QUARTILES).tolist() if len(one) else None for one in groups],
        "rows": [len(one) for one in groups],
    }


def distribution_of(figures: Figures, node: Node) -> dict[str, Any]:
    """Return how the values of a column are spread; nothing but its kind where its rows cannot be seen."""
    if figures.are_counted([node]):
        (counts,) = figures.counts([(node,)])
        return _of_category(figures, [shown(level) for level in figures.levels(node)], counts.tolist())
    if "rows" not in figures.data.can:
        return {"kind": "number"}
    values = figures.data.values(node)
    return _of_number(values[np.isfinite(values)], figures.rows)


def _of_category(figures: Figures, levels: list[str], counts: list[int]) -> dict[str, Any]:
    """Return the commonest levels with their rows, in the order of the levels, and what the others have together."""
    common = sorted(sorted(range(len(levels)), key=lambda at: (-counts[at], at))[:MOST_LEVELS])
    return {
        "kind": "category",
        "levels": [{"name": levels[at], "rows": counts[at]} for at in common],
        "others": {"levels": len(levels) - len(common), "rows": sum(counts) - sum(counts[at] for at in common)},
        "rows": figures.rows,
        "missing": figures.rows - sum(counts),
    }


def _of_number(values: Floats, rows: int) -> dict[str, Any]:
    """Return a histogram and the quartiles of a number."""
    found: dict[str, Any] = {"kind": "number", "rows": rows, "missing": rows - len(values)}
    if not len(values):
        return found
    distinct = np.unique(values)
    bins = min(MOST_BINS, max(1, len(distinct)), max(1, round(2 * len(values) ** (1 / 3))))
    counts, ends = np.histogram(values, bins)
    quartiles = dict(zip(_QUARTILE_NAMES, map(figure, np.quantile(values, _QUARTILES).tolist()), strict=True))
    return {**found, "counts": counts.tolist(), "low": float(ends[0]), "high": float(ends[-1]), "quartiles": quartiles}


# --- given other columns ---------------------------------------------------------------------------------------------

#: How many strata are shown, the largest first; into how many parts of equal size a number is cut for them.
MOST_STRATA, _PARTS = 6, 3
#: The most levels of a category that numbers are compared within.
_MOST_HELD = 200


def chart_given(
    part: Part, x: Node, y: Node, given: Sequence[Node], data: Any, **settings: Unpack[Settings]
) -> dict[str, Any]:
    """Return a chart of two columns once others are held, as plain data.

    Of a number it shows what a straight line in the others leaves of it. Two categories are counted in each stratum of
    the others, the largest ones first.
    """
    figures = figures_of(data, read_as(part, data, settings))
    for node in (x, y, *given):
        figures.require(node, "column")
    if "rows" not in figures.data.can:
        message = "the rows stay elsewhere, so they cannot be drawn; open a sample of the table"
        raise InvalidArgumentError(message)
    table = figures.data
    rows = np.all([_known(table, node) for node in (x, y, *given)], axis=0)
    category, other = (x, y) if table.is_category(x) else (y, x)
    if not table.is_category(category):
        left = [_left_of(table, node, given, rows) for node in (x, y)]
        return _points(x, y, np.array(left))
    levels = _levels(table, category)
    if not table.is_category(other):
        codes, left_over = table.categories.codes_of(category)[rows], _left_of(table, other, given, rows)
        return _boxes(category, other, levels, [left_over[codes == code] for code in range(len(levels))])
    return _strata(table, (x, y), given, rows)


def _known(data: Dataset, node: Node) -> npt.NDArray[np.bool_]:
    """Return which rows have a value."""
    if not data.is_category(node):
        return np.isfinite(data.values(node))
    codes = data.categories.codes_of(node)
    return (codes >= 0) & (codes < len(data.categories.levels_of(node)))


def _levels(data: Dataset, node: Node) -> list[str]:
    levels = [shown(level) for level in data.categories.levels_of(node)]
    if len(levels) > MOST_LEVELS:
        message = f"{shown(node)} has {len(levels):,} levels, and at most {MOST_LEVELS} are drawn"
        raise InvalidArgumentError(message)
    return levels


def _left_of(data: Dataset, node: Node, given: Sequence[Node], rows: npt.NDArray[np.bool_]) -> Floats:
    """Return what a straight line in other columns leaves of a number; without others the number itself."""
    values = data.values(node)[rows]
    if not given:
        return values
    columns = [np.ones((len(values), 1))]
    for other in given:
        if data.is_category(other):
            codes, kinds = data.categories.codes_of(other)[rows], len(data.categories.levels_of(other))
            if kinds > _MOST_HELD:
                message = f"{shown(other)} has {kinds:,} levels, too many to hold in a chart"
                raise InvalidArgumentError(message)
            columns.append((codes[:, None] == np.arange(1, kinds)).astype(np.float64))
        else:
            own = data.values(other)[rows]
            spread = float(own.std()) if len(own) else 0.0
            columns.append(((own - own.mean()) / spread if spread else np.zeros(len(own)))[:, None])
    design = np.hstack(columns)
    left: Floats = values - design @ np.linalg.lstsq(design.T @ design, design.T @ values, rcond=None)[0]
    return left


def _strata(
    data: Dataset, pair: tuple[Node, Node], given: Sequence[Node], rows: npt.NDArray[np.bool_]
) -> dict[str, Any]:
    """Return the counts of two categories in each of the largest strata of other columns."""
    levels = [_levels(data, node) for node in pair]
    cuts = [_cut(data, node, rows) for node in given]
    number = np.zeros(int(rows.sum()), np.int64)
    for codes, words in cuts:
        number = number * len(words) + codes
    found, sizes = np.unique(number, return_counts=True)
    x, y = (data.categories.codes_of(node)[rows].astype(np.int64) for node in pair)
    strata = []
    for at in np.argsort(-sizes, kind="stable")[:MOST_STRATA]:
        inside, rest, said = number == found[at], int(found[at]), list[str]()
        for node, (_, words) in zip(reversed(given), reversed(cuts), strict=True):
            said.append(f"{shown(node)} {words[rest % len(words)]}")
            rest //= len(words)
        cells = np.bincount(x[inside] * len(levels[1]) + y[inside], minlength=len(levels[0]) * len(levels[1]))
        counts = cells.reshape(len(levels[0]), len(levels[1])).tolist()
        strata.append({"words": ", ".join(reversed(said)), "rows": int(sizes[at]), "counts": counts})
    rest_of = {"strata": len(found) - len(strata), "rows": int(np.sort(sizes)[: -MOST_STRATA or None].sum())}
    return {"kind": "strata", "nodes": [*pair], "levels": levels, "strata": strata, "others": rest_of}


def _cut(data: Dataset, node: Node, rows: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.int64], list[str]]:
    """Return the code of each row and what the codes stand for: levels, or parts of a number."""
    if data.is_category(node):
        words = [f"= {shown(level)}" for level in data.categories.levels_of(node)]
        return data.categories.codes_of(node)[rows].astype(np.int64), words
    values = data.values(node)[rows]
    inner = np.unique(np.quantile(values, np.linspace(0, 1, _PARTS + 1)[1:-1])) if len(values) else np.empty(0)
    ends = [figure(float(one)) for one in inner]
    words = [f"≤ {ends[0]}" if ends else "", *(f"{low} to {high}" for low, high in pairwise(ends))]
    return np.searchsorted(inner, values).astype(np.int64), [*words, *([f"> {ends[-1]}"] if ends else [])]
