"""Where values lie among knots: counts, and scores by a curve through the knots."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from apsl_backends.kernels.border import checks
from apsl_backends.kernels.border.checks import Floats, Integers

_MOST_KNOTS = 1 << 30


class ValueCounts(NamedTuple):
    """How many values equal each knot, and how many lie below the first, between two, and above the last one."""

    equal: Integers
    between: Integers


class ScoreCurve(NamedTuple):
    """The scores at knots, just above each, and what a unit beyond it adds.

    The first and the last knots, as many as ``tails`` says, may lie far from the others; they are slower to find.
    """

    knots: Floats
    at: Floats
    above: Floats
    slope: Floats
    tails: tuple[int, int] = (0, 0)


def count_values(values: Floats, knots: Floats) -> ValueCounts:
    """Count values by where they lie among knots, of which there is at least one; NaN is not counted."""
    rows, count = len(values), len(knots)
    at_values = checks.address(values, np.float64, (rows,), "values")
    at_knots = _knots(knots, (0, 0))
    found = ValueCounts(np.empty(count, np.int64), np.empty(count + 1, np.int64))
    status = checks.kernels().apsl_count_values(
        *(at_values, rows, at_knots, count, 0, count - 1),
        checks.target(found.equal, np.int64, (count,), "equal"),
        checks.target(found.between, np.int64, (count + 1,), "between"),
    )
    checks.require_status(status)
    return found


def score_values(values: Floats, curve: ScoreCurve) -> Floats:
    """Return the score of each value by a curve; what lies below the first knot has its score, and NaN stays NaN."""
    rows, count = len(values), len(curve.knots)
    out = np.empty(rows)
    at_values, at_knots = checks.address(values, np.float64, (rows,), "values"), _knots(curve.knots, curve.tails)
    status = checks.kernels().apsl_score_values(
        *(at_values, rows, at_knots, count, curve.tails[0], count - 1 - curve.tails[1]),
        checks.address(curve.at, np.float64, (count,), "at"),
        checks.address(curve.above, np.float64, (count,), "above"),
        checks.address(curve.slope, np.float64, (count,), "slope"),
        checks.target(out, np.float64, (rows,), "out"),
    )
    checks.require_status(status)
    return out


def values_outside(values: Floats, low: float, high: float, most: int) -> Floats | None:
    """Return the values below or above some limits, in their order; None if there are more than so many."""
    rows, out = len(values), np.empty(max(most, 0))
    found = checks.kernels().apsl_values_outside(
        *(checks.address(values, np.float64, (rows,), "values"), rows, low, high),
        *(checks.target(out, np.float64, out.shape, "out"), len(out)),
    )
    return out[:found].copy() if found <= len(out) else None


def _knots(knots: Floats, tails: tuple[int, int]) -> int:
    """Return the address of knots, which must ascend."""
    found = checks.address(knots, np.float64, (len(knots),), "knots")
    checks.require(0 < len(knots) < _MOST_KNOTS, "number of knots", len(knots))
    checks.require(min(tails) >= 0 and sum(tails) < len(knots), "tails", tails)
    checks.require(not np.isnan(knots[0]) and bool((knots[1:] > knots[:-1]).all()), "knots", "not ascending")
    return found
