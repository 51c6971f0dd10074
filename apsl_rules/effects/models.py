"""Estimates of an effect: regression on sums, and standardisation of counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.moments import ColumnUnit
from apsl_rules.effects.contrasts import Change, Estimates, Interval, Refusal
from apsl_rules.names import Node, count_of, listing, shown
from apsl_rules.notes import argument

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


Integers: TypeAlias = npt.NDArray[np.int64]

#: Rates in the variance are shrunk by half a row for each level, so that a stratum of a few equal rows is not certain.
_SHRUNK = 0.5
#: Strata with fewer rows at a level of the cause are named in a note.
_FEW_ROWS = 5


@attrs.frozen(eq=False)
class Strata:
    """Rows counted by stratum, level of the cause and level of the target; only levels that occur."""

    counts: Integers
    cause: Node
    target: Node
    cause_levels: tuple[Any, ...]
    target_levels: tuple[Any, ...]
    given: tuple[Node, ...]
    names: tuple[tuple[Any, ...], ...]

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return int(self.counts.sum())


def strata_of(
    codes: npt.NDArray[Any],
    weights: Integers,
    columns: Sequence[Node],
    levels: Sequence[tuple[Any, ...]],
) -> Strata:
    """Group counted combinations of codes; the first two columns are the cause and the target.

    Combinations with a missing value, whose code lies beyond the levels, are left out.
    """
    known = np.all(codes < np.array([len(one) for one in levels])[:, None], axis=0)
    codes, weights = codes[:, known].astype(np.int64), weights[known]
    places, inverse = np.unique(codes[2:], axis=1, return_inverse=True)
    cards = [len(levels[0]), len(levels[1])]
    cells = (inverse.reshape(-1) * cards[0] + codes[0]) * cards[1] + codes[1]
    size = places.shape[1] * cards[0] * cards[1]
    counts = np.bincount(cells, weights, size).astype(np.int64).reshape(-1, *cards)
    occur = [np.flatnonzero(counts.sum(axis=(0, 2))), np.flatnonzero(counts.sum(axis=(0, 1)))]
    kept = [tuple(levels[axis][place] for place in occur[axis]) for axis in (0, 1)]
    names = tuple(tuple(levels[2 + row][code] for row, code in enumerate(column)) for column in places.T.tolist())
    counts = counts[:, occur[0]][:, :, occur[1]]
    return Strata(counts, columns[0], columns[1], kept[0], kept[1], tuple(columns[2:]), names)


def standardise(strata: Strata, quantile: float, *, leave_out_empty: bool = False) -> Estimates | Refusal:
    """Estimate the distribution of the target under each level of the cause, and every contrast with the first."""
    if strata.rows == 0:
        return Refusal(f"no row is complete in {listing([strata.cause, strata.target, *strata.given])}")
    for node, levels in ((strata.cause, strata.cause_levels), (strata.target, strata.target_levels)):
        if len(levels) < 2:  # noqa: PLR2004 - what does not vary has no effect and shows none
            return Refusal(f"{shown(node)} has only the level {levels[0]!r} in the rows that are complete")
    counts, notes = strata.counts, []
    empty = counts.sum(axis=2) == 0
    if empty.any():
        if not leave_out_empty or empty.any(axis=1).all():
            return Refusal(_positivity(strata, empty))
        share = counts[empty.any(axis=1)].sum() / strata.rows
        counts = counts[~empty.any(axis=1)]
        notes.append(
            f"the effect is that on the {100 * (1 - share):.0f} % of the rows whose strata have every level of "
            f"{shown(strata.cause)}; the others were left out"
        )
    few = int((counts.sum(axis=2) < _FEW_ROWS).any(axis=1).sum())
    if few:
        notes.append(
            f"{few} of {count_of(len(counts), 'stratum', 'strata')} {'has' if few == 1 else 'have'} fewer than "
            f"{_FEW_ROWS} rows at some level of {shown(strata.cause)}, so the interval is rough"
        )
    return _estimates(attrs.evolve(strata, counts=counts), quantile, tuple(notes))


def _estimates(strata: Strata, quantile: float, notes: tuple[str, ...]) -> Estimates:
    counts = strata.counts.astype(np.float64)
    rows = counts.sum()
    share = counts.sum(axis=(1, 2)) / rows
    at_level = counts.sum(axis=2)
    rates = counts / at_level[:, :, None]
    shrunk = (counts + _SHRUNK) / (at_level[:, :, None] + _SHRUNK * counts.shape[2])
    within = share[:, None, None] ** 2 * shrunk * (1 - shrunk) * rows / at_level[:, :, None]
    set_to = np.einsum("s,sxt->xt", share, rates)

    def error(apart: Floats, noise: Floats) -> float:
        mean = float(share @ apart)
        return float(np.sqrt((share @ (apart - mean) ** 2 + noise.sum()) / rows))

    distribution: dict[Any, dict[Any, Interval]] = {}
    changes: dict[Change, Interval] = {}
    for x, level in enumerate(strata.cause_levels):
        distribution[level] = {}
        for t, outcome in enumerate(strata.target_levels):
            wide = quantile * error(rates[:, x, t], within[:, x, t])
            value = float(set_to[x, t])
            distribution[level][outcome] = Interval(value, max(0.0, value - wide), min(1.0, value + wide))
            if x:
                apart = rates[:, x, t] - rates[:, 0, t]
                wide = quantile * error(apart, within[:, x, t] + within[:, 0, t])
                value = float(set_to[x, t] - set_to[0, t])
                change = Change(level, strata.cause_levels[0], outcome)
                changes[change] = Interval(value, max(-1.0, value - wide), min(1.0, value + wide))
    return Estimates(changes, strata.rows, distribution, notes)


def _positivity(strata: Strata, empty: npt.NDArray[np.bool_]) -> str:
    """Say which stratum lacks which level of the cause."""
    stratum, level = (int(places[0]) for places in np.nonzero(empty))
    where = ", ".join(
        f"{shown(node)} = {shown(one)}" for node, one in zip(strata.given, strata.names[stratum], strict=True)
    )
    bad = int(empty.any(axis=1).sum())
    share = strata.counts[empty.any(axis=1)].sum() / strata.rows
    cause = shown(strata.cause)
    return (
        f"nothing shows what {cause} = {shown(strata.cause_levels[level])} does where {where}: no row has both. {bad} "
        f"of {count_of(len(empty), 'stratum', 'strata')} ({100 * share:.0f} % of the rows) lack a level of {cause}; "
        f"join levels, bring more rows, adjust for less if the graph allows it, or leave such strata out with "
        f"{argument('empty', 'leave-out')}"
    )
