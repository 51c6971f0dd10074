"""What lies behind the edges of a part: effects at the target, tables of counts, boxes and points, for its views."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from apsl_rules.data import MixedTable
from apsl_rules.effects.contrasts import figure
from apsl_rules.effects.effect import Effect
from apsl_rules.effects.estimate import read_as
from apsl_rules.effects.figures import Figures, open_figures
from apsl_rules.effects.neighbours import Effects, effects_from
from apsl_rules.learning import Settings
from apsl_rules.names import Node, Pair, in_order, shown
from apsl_rules.parts import EdgeFigures, Part

Floats = npt.NDArray[np.float64]

#: How many points a chart has at most, and how many levels a table or a row of boxes.
MOST_POINTS, MOST_LEVELS = 400, 30
#: How many intervals a histogram has at most.
MOST_BINS = 24
_QUARTILE_NAMES = ("least", "quarter", "median", "three quarters", "largest")
_QUARTILES = (0, 0.25, 0.5, 0.75, 1)


def edge_figures(part: Part, data: Any, **settings: Unpack[Settings]) -> EdgeFigures:
    """Return what a table says of the edges and nodes of a part."""
    figures = open_figures(data, read_as(part, data, settings))
    for node in part.members:
        figures.require(node, "node")
    found = effects_from(part, figures, settings)
    pairs = [in_order(pair) for pair in part.edges]
    ordered = sorted((_along(part, *pair) for pair in pairs), key=str)
    return EdgeFigures(
        {frozenset((one.cause, one.target)): effect_label(one) for one in found if effect_label(one)},
        dict(_effect_lines(found)),
        {frozenset(pair): chart for pair, chart in _charts(figures, ordered)},
        {node: _distribution(figures, node) for node in part.members},
    )


def effect_label(effect: Effect) -> str:
    """Return the size of an effect in a few signs: one figure, or the smallest and the largest that are possible.

    Without an estimate it is empty.
    """
    values = effect.values_of(effect.main)
    if effect.is_refused or not values:
        return ""
    ends = [_signed(value) for value in dict.fromkeys((values[0], values[-1]))]
    return " … ".join(dict.fromkeys(ends))


def _signed(value: float) -> str:
    """Return a figure with its sign and two digits."""
    rough = float(f"{value:.2g}")
    return f"+{figure(rough)}" if rough > 0 else figure(rough).replace("-", "−")


def _effect_lines(found: Effects) -> Iterable[tuple[Pair, list[str]]]:
    for one in found:
        told = [line.strip() for line in str(one).split("\n")]
        yield frozenset((one.cause, one.target)), [*told, f"assumed: {'; '.join(one.why().assumptions[:2])}"]
    for pair, why in found.refused.items():
        yield frozenset(pair), [why]


def _along(part: Part, x: Node, y: Node) -> tuple[Node, Node]:
    return (y, x) if (y, x) in part.arrows else (x, y)


def _charts(figures: Figures, pairs: list[tuple[Node, Node]]) -> Iterable[tuple[tuple[Node, Node], dict[str, Any]]]:
    counted = [pair for pair in pairs if figures.are_counted(pair)]
    for pair, counts in zip(counted, figures.counts(counted), strict=True):
        if max(counts.shape) <= MOST_LEVELS:
            names = [[shown(level) for level in figures.levels(node)] for node in pair]
            yield pair, {"kind": "table", "nodes": list(pair), "levels": names, "counts": counts.tolist()}
    if isinstance(figures.table, MixedTable):
        for pair in pairs:
            chart = None if pair in counted else _chart_of_numbers(figures.table, *pair)
            if chart is not None:
                yield pair, chart


def _chart_of_numbers(table: MixedTable, x: Node, y: Node) -> dict[str, Any] | None:
    """Return boxes of a number by the levels of a category, or points of two numbers."""
    if x not in table.categories.place and y not in table.categories.place:
        points = np.array([_numbers(table, x), _numbers(table, y)])
        points = points[:, np.isfinite(points).all(axis=0)]
        kept = np.linspace(0, points.shape[1] - 1, min(MOST_POINTS, points.shape[1])).astype(np.int64)
        return {"kind": "points", "nodes": [x, y], "points": points[:, kept].T.tolist(), "rows": points.shape[1]}
    category, number = (x, y) if x in table.categories.place else (y, x)
    place = table.categories.place[category]
    codes, levels = table.categories.codes[place], table.categories.levels[place]
    values = _numbers(table, number)
    groups = [values[(codes == code) & np.isfinite(values)] for code in range(int(table.categories.cards[place]))]
    if len(groups) > MOST_LEVELS:
        return None
    boxes = [np.quantile(one, _QUARTILES).tolist() if len(one) else None for one in groups]
    return {
        "kind": "boxes",
        "nodes": [category, number],
        "levels": [shown(level) for level in levels[: len(groups)]],
        "boxes": boxes,
        "rows": [len(one) for one in groups],
    }


def _numbers(table: MixedTable, node: Node) -> Floats:
    values: Floats = table.numbers[table.number_names.index(node)]
    return values


def _distribution(figures: Figures, node: Node) -> dict[str, Any]:
    """Return how the values of a column are spread; nothing but its kind where its rows cannot be seen."""
    if figures.are_counted([node]):
        (counts,) = figures.counts([(node,)])
        return _of_category(figures, [shown(level) for level in figures.levels(node)], counts.tolist())
    if not isinstance(figures.table, MixedTable):
        return {"kind": "number"}
    values = _numbers(figures.table, node)
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
