"""Estimates for categories: rates standardised over the strata of what is held, with the limits of Wilson."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from apsl_rules.effects.contrasts import Change, Estimates, Interval, Refusal
from apsl_rules.effects.least_squares import least_squares
from apsl_rules.effects.samples import Flags, Floats, How, Sample
from apsl_rules.names import Node, count_of, listing, shown
from apsl_rules.notes import argument

#: Rates in the variance are shrunk by half a row for each level, so that a stratum of a few equal rows is not certain.
_SHRUNK = 0.5
#: Strata with fewer rows at a level of the cause are named in a note.
_FEW_ROWS = 5
#: Where more of the rows are in strata without a level of the cause, a linear model holds what strata cannot.
_MOST_LACKING = 0.1


@attrs.frozen(eq=False)
class Strata:
    """Rows counted by stratum, level of the cause and level of the target; only levels that occur.

    ``worth`` has the rows that each stratum has at each level of the cause; of weighted rows as many equal ones as
    would say as much. ``by_group`` has the counts of each group of rows.
    """

    counts: Floats
    worth: Floats
    cause: Node
    target: Node
    cause_levels: tuple[Any, ...]
    target_levels: tuple[Any, ...]
    given: tuple[Node, ...]
    names: tuple[tuple[Any, ...], ...]
    rows: int
    by_group: Floats | None = None

    @property
    def share(self) -> Floats:
        """Return the share of each stratum."""
        found: Floats = self.counts.sum(axis=(1, 2)) / self.counts.sum()
        return found


def strata_of(sample: Sample) -> Strata:
    """Group rows of categories; the first two columns are the cause and the target."""
    codes = np.array([one.astype(np.int64) for one in sample.values]).reshape(len(sample.columns), -1)
    places, stratum = np.zeros((0, 1), np.int64), np.zeros(codes.shape[1], np.int64)
    if len(codes) > 2:  # noqa: PLR2004 - something is held
        places, inverse = np.unique(codes[2:], axis=1, return_inverse=True)
        stratum = inverse.reshape(-1)
    kept = [np.unique(codes[axis]) for axis in (0, 1)]
    cards = [len(one) for one in kept]
    x, t = (np.searchsorted(kept[axis], codes[axis]) for axis in (0, 1))
    strata = places.shape[1]
    cells = (stratum * cards[0] + x) * cards[1] + t
    shape = (strata, cards[0], cards[1])
    size = strata * cards[0] * cards[1]
    counts: Floats = np.bincount(cells, sample.mass, size).astype(np.float64).reshape(shape)
    worth = counts.sum(axis=2)
    if sample.weights is not None:
        squares = np.bincount(cells, sample.mass * sample.weights, size).reshape(shape).sum(axis=2)
        worth = np.divide(worth**2, squares, out=np.zeros_like(worth), where=squares > 0)
    by_group = None
    if sample.groups is not None:
        groups = np.unique(sample.groups, return_inverse=True)[1]
        flat = np.bincount(groups * size + cells, sample.mass, size * (int(groups.max()) + 1))
        by_group = flat.astype(np.float64).reshape(-1, *shape)
    levels = [tuple(sample.levels[axis][place] for place in kept[axis].tolist()) for axis in (0, 1)]
    held = sample.levels[2:]
    names = tuple(tuple(held[row][code] for row, code in enumerate(column)) for column in places.T.tolist())
    columns = sample.columns
    both = levels[0], levels[1]
    return Strata(counts, worth, columns[0], columns[1], *both, columns[2:], names, sample.rows, by_group)


def standardise(sample: Sample, how: How) -> Estimates | Refusal:
    """Estimate the distribution of the target under each level of the cause, and every contrast with the first.

    A stratum without some level of the cause borrows the rate of all rows with that level. Where many rows are in such
    strata, a linear model without interactions holds what strata cannot.
    """
    if sample.rows == 0:
        return Refusal(f"no row is complete in {listing(sample.columns)}")
    strata = strata_of(sample)
    for node, levels in ((strata.cause, strata.cause_levels), (strata.target, strata.target_levels)):
        if len(levels) < 2:  # noqa: PLR2004 - what does not vary has no effect and shows none
            return Refusal(f"{shown(node)} has only the level {levels[0]!r} in the rows that are complete")
    empty = strata.counts.sum(axis=2) == 0
    lacking = float(strata.share[empty.any(axis=1)].sum())
    notes: list[str] = []
    if lacking:
        if how.empty == "refuse" or empty.any(axis=1).all():
            return Refusal(_positivity(strata, empty))
        if how.empty == "leave-out":
            kept = ~empty.any(axis=1)
            strata = attrs.evolve(
                strata,
                counts=strata.counts[kept],
                worth=strata.worth[kept],
                by_group=None if strata.by_group is None else strata.by_group[:, kept],
            )
            notes.append(
                f"the effect is that on the {100 * (1 - lacking):.0f} % of the rows whose strata have every level of "
                f"{shown(strata.cause)}; the others were left out"
            )
        elif lacking > _MOST_LACKING:
            told = (
                f"{100 * lacking:.0f} % of the rows are in strata without some level of {shown(strata.cause)}, so what "
                f"is adjusted for was held by a linear model without interactions"
            )
            return least_squares(sample, how, (told,))
        else:
            notes.append(
                f"{100 * lacking:.2g} % of the rows are in strata without some level of {shown(strata.cause)}, which "
                f"borrow its rate in all rows"
            )
    few = int((strata.worth < _FEW_ROWS).any(axis=1).sum())
    if few and len(strata.counts) > 1:
        notes.append(
            f"{few} of {count_of(len(strata.counts), 'stratum', 'strata')} {'has' if few == 1 else 'have'} fewer than "
            f"{_FEW_ROWS} rows at some level of {shown(strata.cause)}, so the interval is rough"
        )
    found = _estimates(strata, how, tuple(notes))
    return attrs.evolve(found, covariance=sample.covariance)


def _rates(counts: Floats) -> Floats:
    """Return the rate of each level of the target, where there are no rows that of all rows with the level."""
    at_level = counts.sum(axis=-1, keepdims=True)
    whole = counts.sum(axis=0, keepdims=True)
    crude = whole / np.maximum(whole.sum(axis=-1, keepdims=True), np.finfo(np.float64).tiny)
    found: Floats = np.where(at_level > 0, counts / np.maximum(at_level, np.finfo(np.float64).tiny), crude)
    return found


def _set_to(counts: Floats) -> Floats:
    """Return the distribution of the target if the cause were set to each of its levels."""
    share = counts.sum(axis=(1, 2)) / counts.sum()
    found: Floats = np.einsum("s,sxt->xt", share, _rates(counts))
    return found


def _estimates(strata: Strata, how: How, notes: tuple[str, ...]) -> Estimates:
    share, rates, set_to = strata.share, _rates(strata.counts), _set_to(strata.counts)
    worth = np.maximum(strata.worth, _SHRUNK)
    levels = strata.counts.shape[2]
    scale = np.where(strata.counts.sum(axis=2) > 0, strata.worth / np.maximum(strata.counts.sum(axis=2), 1e-300), 0.0)
    shrunk = (strata.counts * scale[:, :, None] + _SHRUNK) / (strata.worth[:, :, None] + _SHRUNK * levels)
    within = share[:, None, None] ** 2 * shrunk * (1 - shrunk) / worth[:, :, None]
    alike = 1 / np.sum(share[:, None] ** 2 / worth, axis=0)
    low, high = _wilson(set_to, alike[:, None], how.normal)
    rows = float(strata.worth.sum())
    without = None if strata.by_group is None else _without_each_group(strata.by_group)
    distribution: dict[Any, dict[Any, Interval]] = {}
    changes: dict[Change, Interval] = {}
    for x, level in enumerate(strata.cause_levels):
        distribution[level] = {}
        for t, outcome in enumerate(strata.target_levels):
            value = float(set_to[x, t])
            distribution[level][outcome] = Interval(value, float(low[x, t]), float(high[x, t]))
            if not x:
                continue
            apart = rates[:, x, t] - rates[:, 0, t]
            value = float(set_to[x, t] - set_to[0, t])
            between = float(share @ (apart - share @ apart) ** 2) / rows
            change = Change(level, strata.cause_levels[0], outcome)
            if without is not None:
                moved = without[:, x, t] - without[:, 0, t] - value
                error = float(np.sqrt((len(moved) - 1) / len(moved) * np.sum(moved**2)))
                wide = how.quantile(len(moved) - 1) * error
                changes[change] = _clipped(value, wide, wide, error, len(moved) - 1)
                continue
            error = float(np.sqrt(within[:, x, t].sum() + within[:, 0, t].sum() + between))
            down = _joined(set_to[x, t] - low[x, t], high[0, t] - set_to[0, t], how.normal**2 * between)
            up = _joined(high[x, t] - set_to[x, t], set_to[0, t] - low[0, t], how.normal**2 * between)
            changes[change] = _clipped(value, down, up, error, float(rows))
    return Estimates(changes, strata.rows, distribution, notes)


def _wilson(rate: Floats, rows: Floats, quantile: float) -> tuple[Floats, Floats]:
    """Return the limits of Wilson for rates of so many rows."""
    square = quantile**2 / rows
    centre = (rate + square / 2) / (1 + square)
    wide = np.sqrt(np.maximum(square * rate * (1 - rate) + square**2 / 4, 0)) / (1 + square)
    return np.maximum(centre - wide, 0.0), np.minimum(centre + wide, 1.0)


def _joined(one: float, other: float, further: float) -> float:
    """Return how far a difference reaches to one side, whose two rates reach so far (Newcombe 1998)."""
    return float(np.sqrt(one**2 + other**2 + further))


def _clipped(value: float, down: float, up: float, error: float, freedom: float) -> Interval:
    return Interval(value, max(-1.0, value - down), min(1.0, value + up), error, freedom)


def _without_each_group(by_group: Floats) -> Floats:
    """Return the distribution of the target under each level, one group of rows after the other left out."""
    whole = by_group.sum(axis=0)
    return np.array([_set_to(whole - one) for one in by_group])


def _positivity(strata: Strata, empty: Flags) -> str:
    """Say which stratum lacks which level of the cause."""
    stratum, level = (int(places[0]) for places in np.nonzero(empty))
    where = ", ".join(
        f"{shown(node)} = {shown(one)}" for node, one in zip(strata.given, strata.names[stratum], strict=True)
    )
    bad: Flags = np.asarray(empty.any(axis=1))
    cause = shown(strata.cause)
    return (
        f"nothing shows what {cause} = {shown(strata.cause_levels[level])} does where {where}: no row has both. "
        f"{int(bad.sum())} of {count_of(len(empty), 'stratum', 'strata')} ({100 * strata.share[bad].sum():.0f} % of "
        f"the rows) lack a level of {cause}; join levels, bring more rows, adjust for less if the graph allows it, or "
        f"leave such strata out with "
        f"{argument('empty', 'leave-out')}"
    )
