"""Estimates by least squares: from rows with errors that hold under unequal spread or in groups, or from sums."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import attrs
import numpy as np

from apsl_rules.effects.contrasts import Change, Estimates, Interval, Refusal
from apsl_rules.effects.samples import Covariance, Floats, How, Sample
from apsl_rules.names import count_of, listing, shown

#: A column whose variance is this much less once others are held is taken to depend on them alone.
_LEAST_LEFT = 1e-9
#: The most that one row may pull the line towards itself.
_MOST_LEVERAGE = 0.999
FROM_SUMS = (
    "the interval takes the spread to be the same everywhere, since it was worked out from sums without the rows"
)


@attrs.frozen(eq=False)
class _Side:
    """One of cause and target: what can be looked at, each as weights of its embedded columns."""

    weights: tuple[tuple[Any, Floats], ...]
    reference: Any
    is_number: bool


@attrs.frozen(eq=False)
class Solved:
    """The coefficients of the cause: ``slopes``, the inverse of what is left of its covariance, and the noise left.

    ``x``, ``t`` and ``held`` are places of embedded columns, of which none depends on others.
    """

    found: Covariance
    slopes: Floats
    inverse: Floats
    noise: Floats
    freedom: int
    x: list[int]
    t: list[int]
    held: list[int]


def solve(found: Covariance) -> Solved | Refusal:
    """Regress the target on the cause and what is held."""
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
    inverse: Floats = np.linalg.inv(of_x).astype(np.float64)
    slopes = inverse @ left[: len(x), len(x) :]
    noise = left[len(x) :, len(x) :] - slopes.T @ of_x @ slopes
    return Solved(found, slopes, inverse, noise, freedom, x, t, held)


def from_sums(found: Covariance, how: How) -> Estimates | Refusal:
    """Estimate every change of the target from the covariance, with the usual errors."""
    solved = solve(found)
    if isinstance(solved, Refusal):
        return solved
    usual = {change: error for change, _, _, error in _changes(solved)}
    told = () if how.variance == "equal" else (FROM_SUMS,)
    return _estimates(solved, usual, solved.freedom, how, told)


def least_squares(sample: Sample, how: How, notes: tuple[str, ...] = ()) -> Estimates | Refusal:
    """Estimate every change of the target from rows.

    Errors are those of HC3, which hold if the spread is not the same everywhere; of rows in groups those of CR3, which
    hold if rows of a group depend on each other.
    """
    found = sample.covariance
    solved = solve(found)
    if isinstance(solved, Refusal):
        return solved
    listed = list(_changes(solved))
    if sample.groups is not None:
        groups = np.unique(sample.groups, return_inverse=True)[1].astype(np.int64)
        count = int(groups.max()) + 1
        if count <= len(solved.held) + len(solved.x) + 1:
            return Refusal(f"{count_of(count, 'group')} of rows are too few to tell how sure the effect is")
        errors = _without_each_group(sample, solved, groups, [(one, up, down) for one, up, down, _ in listed])
        return _estimates(solved, errors, count - 1, how, notes)
    usual = {change: error for change, _, _, error in listed}
    if how.variance == "equal":
        return _estimates(solved, usual, solved.freedom, how, notes)
    whole = np.hstack([block[:, :width] for block, width in zip(sample.blocks, found.widths, strict=True)])
    design = whole[:, [*solved.x, *solved.held]]
    mass, rows = sample.mass, float(sample.mass.sum())
    bread = np.linalg.inv((design.T * mass) @ design)
    own = mass / sample.times
    leverage = own * (1 / rows + np.einsum("ij,jk,ik->i", design, bread, design))
    kept = 1 - np.minimum(leverage, _MOST_LEVERAGE)
    rest = whole[:, solved.t] - design @ (bread @ ((design.T * mass) @ whole[:, solved.t]))
    pull = design @ bread[:, : len(solved.x)]
    errors = {}
    for change, up, down, _ in listed:
        pulled = own * (pull @ up) * (rest @ down) / kept
        errors[change] = float(np.sqrt(np.sum(sample.times * pulled**2)))
    return _estimates(solved, errors, solved.freedom, how, notes)


def _without_each_group(
    sample: Sample, solved: Solved, groups: Any, listed: Sequence[tuple[Change, Floats, Floats]]
) -> dict[Change, float]:
    """Return the errors of CR3: how far the estimates move when one group after the other is left out."""
    found, mass = sample.covariance, sample.mass
    whole = np.hstack([block[:, :width] for block, width in zip(sample.blocks, found.widths, strict=True)])
    design = np.column_stack([whole[:, [*solved.x, *solved.held]], np.ones(len(whole))])
    target = whole[:, solved.t]
    squares, cross = (design.T * mass) @ design, (design.T * mass) @ target
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(int(groups.max()) + 2))
    moved: dict[Change, float] = dict.fromkeys((change for change, _, _ in listed), 0.0)
    for begin, end in pairwise(starts):
        at = order[begin:end]
        part = design[at].T * mass[at]
        slopes = np.linalg.lstsq(squares - part @ design[at], cross - part @ target[at], rcond=None)[0]
        apart = slopes[: len(solved.x)] - solved.slopes
        for change, up, down in listed:
            moved[change] += float(up @ apart @ down) ** 2
    count = len(starts) - 1
    return {change: float(np.sqrt((count - 1) / count * one)) for change, one in moved.items()}


def _changes(solved: Solved) -> Iterator[tuple[Change, Floats, Floats, float]]:
    """Give each change with the weights of the cause and of the target, and its usual error."""
    side, outcome = _sides(solved.found, 0), _sides(solved.found, 1)
    for level, up in side.weights:
        for name, down in outcome.weights:
            noise = max(0.0, float(down @ solved.noise @ down))
            reference = None if side.is_number else side.reference
            change = Change(level, reference, name, side.is_number, outcome.is_number)
            yield change, up, down, float(np.sqrt((up @ solved.inverse @ up) * noise / solved.freedom))


def _estimates(
    solved: Solved, errors: dict[Change, float], freedom: int, how: How, notes: tuple[str, ...]
) -> Estimates:
    found, quantile = solved.found, how.quantile(freedom)
    changes = {}
    for change, up, down, _ in _changes(solved):
        value, error = float(up @ solved.slopes @ down), errors[change]
        changes[change] = Interval(value, value - quantile * error, value + quantile * error, error, freedom)
    return Estimates(changes, found.rows, notes=notes, covariance=found)


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
