"""The upper tail of χ², critical values, and which of two dependences is weaker."""

from __future__ import annotations

from ctypes import byref, c_double
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from apsl_backends.kernels.border import checks
from apsl_backends.kernels.border.checks import Floats, Integers
from apsl_backends.kernels.library import TABLED_DOFS


class Tails(NamedTuple):
    """The upper tails of statistics under χ², and their logarithms, which do not underflow."""

    p: Floats
    log_p: Floats


def tails(statistics: Floats, dofs: Integers) -> Tails:
    """Return the upper tail of each statistic; without degrees of freedom it is 1."""
    count = len(statistics)
    found = Tails(np.empty(count), np.empty(count))
    checks.kernels().apsl_tails(
        checks.address(statistics, np.float64, (count,), "statistics"),
        checks.address(dofs, np.int64, (count,), "dofs"),
        count,
        checks.target(found.p, np.float64, (count,), "tails"),
        checks.target(found.log_p, np.float64, (count,), "logs"),
    )
    return found


def tail(statistic: float, dof: int) -> tuple[float, float]:
    """Return the upper tail of one statistic and its logarithm."""
    log_p = c_double()
    p: float = checks.kernels().apsl_tail(statistic, dof, byref(log_p))
    return p, log_p.value


@lru_cache(maxsize=16)
def thresholds(alpha: float) -> Floats:
    """Return the smallest statistic with p <= alpha for each number of degrees of freedom below ``TABLED_DOFS``."""
    if not 0.0 < alpha < 1.0:
        message = f"alpha is {alpha!r} and must lie between 0 and 1"
        raise ValueError(message)
    out = np.empty(TABLED_DOFS)
    checks.kernels().apsl_thresholds(alpha, checks.target(out, np.float64, (TABLED_DOFS,), "thresholds"))
    out.setflags(write=False)
    return out


def is_weaker(statistic: float, dof: int, other: float, other_dof: int) -> bool:
    """Return whether one dependence has the larger p, or the smaller statistic where p is the same."""
    return bool(checks.kernels().apsl_is_weaker(statistic, dof, other, other_dof))
