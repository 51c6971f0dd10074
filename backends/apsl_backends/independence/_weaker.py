"""Which of two dependences is the weaker one, as the kernels see it."""

from __future__ import annotations

from apsl_backends.kernels.chi_square_tail import log_tail
from apsl_backends.kernels.compiled import entry
from apsl_backends.kernels.decision import is_weaker


@entry
def weaker_of(statistic: float, dof: int, other: float, other_dof: int) -> bool:
    """Return whether one dependence has the larger p, or the smaller statistic where p is the same."""
    weaker: bool = is_weaker(statistic, dof, other, other_dof, log_tail(other, other_dof))
    return weaker
