"""From the sums of a table to a decision."""

from __future__ import annotations

from typing import Any

import numpy as np

from apsl_backends.counts.arrays import DEPENDENT, G_SQUARE, INDEPENDENT, UNRELIABLE, Measure
from apsl_backends.counts.compiled import kernel
from apsl_backends.counts.tail import log_tail

_LARGEST_DOF = 4e18


@kernel
def judge(sums: Any, cards: Any, dims: int, levels: float, measure: Measure) -> Any:
    """Give the decision, statistic and degrees of freedom; ``levels`` is the product of the cardinalities."""
    joint, of_x, of_y, of_all, dof, rows = sums
    if rows < measure.rows_per_cell * levels:
        return UNRELIABLE, 0.0, np.int64(0)
    if measure.full_dof:
        dof = _full_dof(cards, dims)
    if dof == 0:
        return INDEPENDENT, 0.0, dof
    statistic = (joint - of_x - of_y + of_all) / measure.scale
    if measure.kind == G_SQUARE:
        statistic *= 2.0
    statistic = max(statistic, 0.0)
    return (INDEPENDENT if _is_independent(statistic, dof, measure) else DEPENDENT), statistic, dof


@kernel
def _full_dof(cards: Any, dims: int) -> int:
    dof = (cards[0] - 1.0) * (cards[1] - 1.0)
    for d in range(2, dims):
        dof *= cards[d]
    return np.int64(min(dof, _LARGEST_DOF))


@kernel
def _is_independent(statistic: float, dof: int, measure: Measure) -> bool:
    if dof < len(measure.thresholds):
        return statistic < measure.thresholds[dof]
    return log_tail(statistic, dof) > measure.log_alpha


@kernel
def is_weaker(statistic: float, dof: int, other: float, other_dof: int) -> bool:
    """Say whether one dependence has the larger p, or the smaller statistic where p is the same."""
    if dof == other_dof:
        return statistic < other
    if dof > other_dof and statistic <= other:
        return True
    if dof < other_dof and statistic >= other:
        return False
    mine, its = log_tail(statistic, dof), log_tail(other, other_dof)
    return mine > its or (mine == its and statistic < other)
