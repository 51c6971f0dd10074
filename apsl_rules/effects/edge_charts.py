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
        {node: _levels(figures, node) for node in part.members},
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


def _levels(figures: Figures, node: Node) -> list[tuple[str, str]]:
    """Return the levels of a category with their rows, or the quartiles of a number."""
    if figures.are_counted([node]):
        (counts,) = figures.counts([(node,)])
        return [(shown(level), f"{rows:,}") for level, rows in zip(figures.levels(node), counts.tolist(), strict=True)]
    if not isinstance(figures.table, MixedTable):
        return []
    values = _numbers(figures.table, node)
    found = np.quantile(values[np.isfinite(values)], _QUARTILES).tolist()
    return list(zip(("least", "quarter", "median", "three quarters", "largest"), map(figure, found), strict=True))
