"""Effects where a number takes part: the coefficients of a linear regression, from one covariance matrix.

A number is itself, a category its indicators. The effect of a number is a slope, that of a category a contrast between
two levels; for a category as the target both are differences of a probability. Intervals are those of least squares:
they take the spread around the line to be the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.moments import ColumnUnit
from apsl_rules.effects.contrasts import Change, Estimates, Interval, Refusal
from apsl_rules.names import Node, count_of, listing, shown

Floats: TypeAlias = npt.NDArray[np.float64]

#: A column whose variance is this much less once others are held is taken to depend on them alone.
_LEAST_LEFT = 1e-9


@attrs.frozen(eq=False)
class Covariance:
    """The covariance of embedded columns, block after block: the cause, the target, what is adjusted for."""

    matrix: Floats
    rows: int
    columns: tuple[Node, ...]
    widths: tuple[int, ...]
    units: tuple[ColumnUnit, ...]

    def places(self, number: int) -> list[int]:
        """Return where the embedded columns of a column are."""
        start = sum(self.widths[:number])
        return list(range(start, start + self.widths[number]))


@attrs.frozen(eq=False)
class _Side:
    """One of cause and target: what can be looked at, each as weights of its embedded columns."""

    weights: tuple[tuple[Any, Floats], ...]
    reference: Any
    is_number: bool


def regress(found: Covariance, quantile_of: Callable[[int], float]) -> Estimates | Refusal:
    """Estimate every change of the target from the covariance; ``quantile_of`` takes the degrees of freedom."""
    cause, target, *given = found.columns
    if found.widths[0] == 0 or found.widths[1] == 0:
        still = cause if found.widths[0] == 0 else target
        return Refusal(f"{shown(still)} does not vary in the rows that are complete")
    held = [place for number in range(2, len(found.columns)) for place in found.places(number)]
    held = _independent(found.matrix, held)
    x, t = found.places(0), found.places(1)
    freedom = found.rows - len(held) - len(x) - 1
    if freedom < 1:
        return Refusal(f"{count_of(found.rows, 'row')} are too few to adjust for {listing(given)}")
    left = _residual(found.matrix, [*x, *t], held)
    of_x = left[: len(x), : len(x)]
    before = np.diag(found.matrix)[x]
    if np.any(np.diag(of_x) <= _LEAST_LEFT * before) or np.linalg.cond(of_x) > 1 / _LEAST_LEFT:
        return Refusal(
            f"{shown(cause)} follows from {listing(given)}, so it does not vary once they are held; adjust for less if "
            "the graph allows it"
        )
    inverse = np.linalg.inv(of_x)
    slopes = inverse @ left[: len(x), len(x) :]
    noise = left[len(x) :, len(x) :] - slopes.T @ of_x @ slopes
    quantile = quantile_of(freedom)
    changes: dict[Change, Interval] = {}
    side, outcome = _sides(found, 0), _sides(found, 1)
    for level, up in side.weights:
        for name, down in outcome.weights:
            value = float(up @ slopes @ down)
            wide = quantile * float(np.sqrt((up @ inverse @ up) * max(0.0, float(down @ noise @ down)) / freedom))
            reference = None if side.is_number else side.reference
            change = Change(level, reference, name, side.is_number, outcome.is_number)
            changes[change] = Interval(value, value - wide, value + wide)
    return Estimates(changes, found.rows)


def _sides(found: Covariance, number: int) -> _Side:
    """Return what can be looked at of the cause (0) or the target (1)."""
    unit, width = found.units[number], found.widths[number]
    if not unit.levels:
        scale = float(unit.scale or 1.0)
        # one embedded unit is a standard deviation: a slope per unit of the cause is divided by it, a mean multiplied
        weight = np.eye(width)[0] * (1 / scale if number == 0 else scale)
        return _Side(((None, weight),), None, is_number=True)
    groups: dict[int, list[Any]] = {}
    for level, place in zip(unit.levels, unit.indicators, strict=True):
        groups.setdefault(place, []).append(level)
    indicators = {place: np.eye(width)[place] if place >= 0 else np.zeros(width) for place in groups}
    names = {place: one[0] if len(one) == 1 else " or ".join(map(shown, one)) for place, one in groups.items()}
    places = list(groups)
    first = places[0]
    if number == 0:
        against = tuple((names[place], indicators[place] - indicators[first]) for place in places[1:])
        return _Side(against, names[first], is_number=False)
    whole = np.ones(width)
    each = tuple((names[place], indicators[place] if place >= 0 else -whole) for place in places)
    return _Side(each, None, is_number=False)


def _independent(matrix: Floats, places: Sequence[int]) -> list[int]:
    """Return the places of which none depends on those before it."""
    kept: list[int] = []
    for place in places:
        left = _residual(matrix, [place], kept)[0, 0]
        if left > _LEAST_LEFT * matrix[place, place]:
            kept.append(place)
    return kept


def _residual(matrix: Floats, places: Sequence[int], held: Sequence[int]) -> Floats:
    """Return the covariance of some columns once others are held."""
    block: Floats = matrix[np.ix_(places, places)]
    if not held:
        return block
    across = matrix[np.ix_(held, places)]
    return block - across.T @ np.linalg.solve(matrix[np.ix_(held, held)], across)
