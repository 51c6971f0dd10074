"""The decision of a test from the sums of its table."""

from __future__ import annotations

from typing import Any

from apsl_backends.kernels.arrays import DEPENDENT, G_SQUARE, INDEPENDENT, UNRELIABLE, Long, Measure, long
from apsl_backends.kernels.chi_square_tail import ROUGHNESS, log_tail, rough_log_tail
from apsl_backends.kernels.compiled import inlined

_LARGEST_DOF = 4e18


@inlined
def judge(sums: Any, cards: Any, dims: Long, levels: Any, measure: Measure) -> Any:
    """Return the decision, statistic and degrees of freedom; ``levels`` is the product of the cardinalities."""
    joint, of_x, of_y, of_all, dof, rows = sums
    if rows < measure.rows_per_cell * levels:
        return UNRELIABLE, 0.0, long(0)
    if measure.full_dof:
        dof = _full_dof(cards, dims)
    if dof == 0:
        return INDEPENDENT, 0.0, dof
    statistic = (joint - of_x - of_y + of_all) / measure.scale
    if measure.kind == G_SQUARE:
        statistic *= 2.0
    statistic = max(statistic, 0.0)
    return (INDEPENDENT if _is_independent(statistic, dof, measure) else DEPENDENT), statistic, dof


@inlined
def _full_dof(cards: Any, dims: Long) -> Long:
    dof = (cards[0] - 1.0) * (cards[1] - 1.0)
    for d in range(2, dims):
        dof *= cards[d]
    return long(min(dof, _LARGEST_DOF))


@inlined
def _is_independent(statistic: Any, dof: Long, measure: Measure) -> Any:
    if dof < len(measure.thresholds):
        return statistic < measure.thresholds[dof]
    return log_tail(statistic, dof) > measure.log_alpha


@inlined
def is_weaker(statistic: Any, dof: Long, other: Any, other_dof: Long, other_log: Any) -> Any:
    """Return whether one dependence has the larger p, or the smaller statistic if p is the same.

    ``other_log`` is ln p of the other. That of the first is only computed when a rough value does not decide.
    """
    if dof == other_dof:
        return statistic < other
    if dof > other_dof and statistic <= other:
        return True
    if dof < other_dof and statistic >= other:
        return False
    if statistic >= 2.0 * dof:
        rough = rough_log_tail(statistic, dof)
        if abs(rough - other_log) > ROUGHNESS:
            return rough > other_log
    mine = log_tail(statistic, dof)
    return mine > other_log or (mine == other_log and statistic < other)
