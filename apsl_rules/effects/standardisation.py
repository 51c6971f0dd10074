"""Effects between categories: probabilities within strata, weighted by how common the strata are.

P(t | do(x)) is the sum over strata s of P(t | x, s) P(s). Confidence intervals follow from the influence function of
that sum (the delta method for a multinomial sample): within each stratum the variance of a rate, and between strata how
far the rates are apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.effects.contrasts import Change, Estimates, Interval, Refusal
from apsl_rules.names import Node, count_of, listing, shown

Floats: TypeAlias = npt.NDArray[np.float64]
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
        f"empty='leave-out'"
    )
