"""The upper tail of χ²: its logarithm, and critical values that make it unnecessary for a decision."""

from __future__ import annotations

from functools import lru_cache
from math import exp, lgamma, log, log1p

import numpy as np

from apsl_backends.kernels.arrays import Floats, Integers
from apsl_backends.kernels.compiled import entry, inlined

_TABLED = 256
_TINY = 1e-300
_CLOSE = 1e-16
_MOST_ROUNDS = 1_000_000

ROUGHNESS = 0.7
"""The largest error of ``rough_log_tail``: slightly more than ln 2."""


@entry
def log_tail(statistic: float, dof: int) -> float:
    """Return ln P(χ² > statistic), accurate even where the probability itself underflows."""
    a = 0.5 * dof
    x = 0.5 * statistic
    if x <= 0.0:
        return 0.0
    front = a * log(x) - x - lgamma(a)
    if x < a + 1.0:
        share = 1.0 / a
        total = share
        up = a
        while share > total * _CLOSE:
            up += 1.0
            share *= x / up
            total += share
        return log1p(-min(exp(front + log(total)), 1.0 - _CLOSE))
    b = x + 1.0 - a
    c = 1.0 / _TINY
    d = 1.0 / b
    fraction = d
    for i in range(1, _MOST_ROUNDS):
        step = -i * (i - a)
        b += 2.0
        d = step * d + b
        if abs(d) < _TINY:
            d = _TINY
        c = b + step / c
        if abs(c) < _TINY:
            c = _TINY
        d = 1.0 / d
        factor = d * c
        fraction *= factor
        if abs(factor - 1.0) < _CLOSE:
            break
    return front + log(fraction)


@inlined
def rough_log_tail(statistic: float, dof: int) -> float:
    """Return ln P(χ² > statistic) up to ``ROUGHNESS``, for a statistic of at least twice the degrees of freedom.

    With a = dof/2 and x = statistic/2, Γ(a, x) lies between x^(a-1)·e^-x and x^a·e^-x / (x - a + 1), which differ by
    a factor of at most 2.
    """
    a = 0.5 * dof
    x = 0.5 * statistic
    return (a - 1.0) * log(x) - x - lgamma(a)


@entry
def _fill_log_tails(statistics: Floats, dofs: Integers, logs: Floats) -> None:
    for i in range(len(statistics)):
        if dofs[i] > 0:
            logs[i] = log_tail(statistics[i], dofs[i])


def log_tails(statistics: Floats, dofs: Integers) -> Floats:
    """Return the logarithm of the upper tail for each statistic; without degrees of freedom it is 0."""
    logs = np.zeros(len(statistics))
    _fill_log_tails(np.ascontiguousarray(statistics), np.ascontiguousarray(dofs), logs)
    return logs


@lru_cache(maxsize=16)
def thresholds(alpha: float) -> Floats:
    """Return the smallest statistic with p <= alpha for each small number of degrees of freedom."""
    from scipy.special import chdtrc, chdtri

    dof = np.arange(1, _TABLED, dtype=np.float64)
    guess = chdtri(dof, alpha)
    low, high = guess * (1.0 - 1e-9), guess * (1.0 + 1e-9)
    while np.any(wrong := chdtrc(dof, low) <= alpha):
        low[wrong] *= 0.5
    while np.any(wrong := chdtrc(dof, high) > alpha):
        high[wrong] *= 2.0
    while np.any(np.nextafter(low, np.inf) < high):
        middle = low + 0.5 * (high - low)
        above = chdtrc(dof, middle) > alpha
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.concatenate([[0.0], high])
