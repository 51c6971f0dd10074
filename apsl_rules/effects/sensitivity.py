"""How strong a hidden cause would have to be to explain an effect away.

E-values are those of VanderWeele and Ding (2017, Annals of Internal Medicine 167, 268-274), robustness values and
bounds by measured columns those of Cinelli and Hazlett (2020, Journal of the Royal Statistical Society B 82, 39-67).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, inf, isfinite, sqrt

import attrs
import numpy as np
from scipy.special import stdtrit

from apsl_rules.effects.contrasts import Interval, Refusal, figure
from apsl_rules.effects.least_squares import solve
from apsl_rules.effects.queries import Effect, PossibleEffect
from apsl_rules.effects.samples import Covariance
from apsl_rules.errors import GraphError
from apsl_rules.names import Node, shown

#: ln risk ratio of a standardised difference of means, and how it widens with the standard error.
_RATIO, _RATIO_ERROR = 0.91, 1.78
_STEPS = 80


def e_value(ratio: float) -> float:
    """Return the least risk ratio that a hidden cause needs with cause and target to explain a risk ratio away.

    >>> round(e_value(3.9), 2), round(e_value(0.8), 2)
    (7.26, 1.81)
    """
    ratio = 1 / ratio if 0 < ratio < 1 else ratio
    return ratio + sqrt(ratio * (ratio - 1)) if isfinite(ratio) else inf


def e_value_of_limits(low: float, high: float) -> float:
    """Return the E-value of the limit of a risk ratio nearer to 1; it is 1 if 1 lies between them.

    >>> round(e_value_of_limits(1.8, 8.7), 2)
    3.0
    """
    return 1.0 if low <= 1 <= high else e_value(low if low > 1 else high)


@attrs.frozen
class Regressed:
    """An estimate by least squares as sensitivity needs it: with its usual error and degrees of freedom."""

    estimate: float
    error: float
    freedom: int

    def robustness(self, confidence: float | None = None) -> float:
        """Return the share of what is unexplained of both that a hidden cause must explain to undo the estimate.

        With a ``confidence`` it undoes the interval: 0 is in it then.

        >>> darfur = Regressed(0.09731582, 0.02325654, 783)
        >>> round(darfur.robustness(), 4), round(darfur.robustness(0.95), 4)
        (0.1388, 0.0763)
        """
        f = abs(self.estimate) / self.error / sqrt(self.freedom)
        critical = 0.0
        if confidence is not None:
            critical = float(stdtrit(self.freedom - 1, (1 + confidence) / 2)) / sqrt(self.freedom - 1)
        gap = f - critical
        if gap <= 0:
            return 0.0
        value = (sqrt(gap**4 + 4 * gap**2) - gap**2) / 2
        if critical > 0 and f > 1 / critical:
            value = max(value, (f**2 - critical**2) / (1 + f**2))
        return value

    def adjusted(self, with_cause: float, with_target: float) -> tuple[float, float]:
        """Return the estimate and its error with a hidden cause held that works against the estimate.

        It explains the shares ``with_cause`` and ``with_target`` of what is unexplained of cause and target.

        >>> shares = bound(0.009081065, 0.109033915, 1)
        >>> [round(one, 4) for one in Regressed(0.09731582, 0.02325654, 783).adjusted(*shares)]
        [0.0752, 0.0219]
        """
        bias = self.error * sqrt(self.freedom) * sqrt(with_target * with_cause / (1 - with_cause))
        error = self.error * sqrt((1 - with_target) / (1 - with_cause)) * sqrt(self.freedom / (self.freedom - 1))
        return (1 if self.estimate >= 0 else -1) * (abs(self.estimate) - bias), error

    def times(self, with_cause: float, with_target: float, confidence: float | None = None) -> float:
        """Return how many times as strong as a measured column a hidden cause must be to undo the estimate.

        >>> round(Regressed(0.09731582, 0.02325654, 783).times(0.009081065, 0.109033915), 2)
        4.33
        """
        if min(with_cause, with_target) < 1e-12:  # noqa: PLR2004 - such a column explains nothing, however often
            return inf
        if self._left(0.0, with_cause, with_target, confidence) <= 0:
            return 0.0
        low, high = 0.0, 1.0
        while self._left(high, with_cause, with_target, confidence) > 0:
            low, high = high, 2 * high
            if high > 1e6:  # noqa: PLR2004 - no cause is so strong
                return inf
        for _ in range(_STEPS):
            middle = (low + high) / 2
            is_left = self._left(middle, with_cause, with_target, confidence) > 0
            low, high = (middle, high) if is_left else (low, middle)
        return high

    def _left(self, times: float, with_cause: float, with_target: float, confidence: float | None) -> float:
        shares = bound(with_cause, with_target, times)
        if shares is None:
            return -inf
        estimate, error = self.adjusted(*shares)
        quantile = 0.0 if confidence is None else float(stdtrit(self.freedom - 1, (1 + confidence) / 2))
        return (estimate if self.estimate >= 0 else -estimate) - quantile * error


def bound(with_cause: float, with_target: float, times: float) -> tuple[float, float] | None:
    """Return the shares that a hidden cause explains which is so many times as strong as a measured column.

    ``with_cause`` is the partial R² of the column with the cause, ``with_target`` that with the target given the cause.
    None says that no cause can be so strong.
    """
    of_cause = times * with_cause / (1 - with_cause)
    if of_cause >= 1 or times * with_cause >= 1:
        return None
    among = times * with_cause**2 / ((1 - times * with_cause) * (1 - with_cause))
    if among >= 1:
        return None
    of_target = ((sqrt(times) + sqrt(among)) / sqrt(1 - among)) ** 2 * with_target / (1 - with_target)
    return of_cause, min(of_target, 1.0)


@attrs.frozen
class Sensitivity:
    """How strong a hidden cause would have to be to explain an effect away, by the main change and the likeliest set.

    Attributes
    ----------
    e_value, e_value_limit
        The least risk ratio with cause and target that explains away the estimate, and the limit of its interval; of a
        number that of one standard deviation.
    robustness, robustness_limit
        The share of what is unexplained of both that does; None where the change is no single regression.
    times, times_limit
        How many times as strong as each column that was held a hidden cause must be.
    regressed
        The estimate with its usual error.
    adjustment
        What was held.
    """

    e_value: float
    e_value_limit: float
    robustness: float | None
    robustness_limit: float | None
    times: Mapping[Node, float]
    times_limit: Mapping[Node, float]
    regressed: Regressed | None
    strengths: Mapping[Node, tuple[float, float]]
    adjustment: tuple[Node, ...]
    is_number: bool = False

    def __str__(self) -> str:
        weakest = sorted((value, str(node), node) for node, value in self.times.items() if isfinite(value))[:3]
        strong = ", ".join(f"{_times(value)} as strong as {shown(node)}" for value, _, node in weakest)
        told = [f"undone by a cause {strong}"] if strong else []
        if self.robustness is not None:
            which = "or one that" if strong else "undone by a cause that"
            told.append(f"{which} explains {min(100 * self.robustness, 99):.2g} % of what is left of both")
        unit = " for one sd of the cause" if self.is_number else ""
        told.append(f"E-value {figure(self.e_value)}{unit}, of the limit {figure(self.e_value_limit)}")
        return "; ".join(told)


def _times(value: float) -> str:
    return f"{figure(float(f'{value:.2g}'))} times"


def sensitivity_of(effect: Effect) -> Sensitivity:
    """Work out how strong a hidden cause would have to be, for the most probable set that was held."""
    known = [one for one in effect.possible if one.estimates is not None and one.estimates.covariance is not None]
    if not known:
        message = f"no effect of {effect.cause!r} on {effect.target!r} was estimated, so nothing can be undone"
        raise GraphError(message)
    one = max(known, key=lambda possible: possible.probability or 0.0)
    return _sensitivity(effect, one)


def _sensitivity(effect: Effect, one: PossibleEffect) -> Sensitivity:
    estimates, change = one.estimates, effect.main
    if estimates is None or estimates.covariance is None:
        raise AssertionError(one)
    found, interval = estimates.covariance, estimates.changes[change]
    regressed, strengths, spread = _regressed(found)
    if change.is_mean or change.is_number or not estimates.distribution:
        step = found.units[0].scale if change.is_number else 1.0
        ratio, limits = _ratios(interval, float(step or 1.0), spread)
    else:
        row = estimates.distribution
        set_to, reference = (float(row[level][change.outcome].estimate) for level in (change.level, change.reference))
        ratio = set_to / reference if reference > 0 else inf
        low, high = ((reference + end) / reference if reference > 0 else inf for end in (interval.low, interval.high))
        limits = (max(low, 1e-12), high)
    values = e_value(ratio), e_value_of_limits(*limits)
    if regressed is None:
        return Sensitivity(*values, None, None, {}, {}, None, {}, one.adjustment, change.is_number)
    level = effect.confidence
    return Sensitivity(
        *values,
        regressed.robustness(),
        regressed.robustness(level),
        {node: regressed.times(*shares) for node, shares in strengths.items()},
        {node: regressed.times(*shares, level) for node, shares in strengths.items()},
        regressed,
        strengths,
        one.adjustment,
        change.is_number,
    )


def _ratios(interval: Interval, step: float, spread: float) -> tuple[float, tuple[float, float]]:
    """Return the risk ratio that a difference of means stands for, and its limits."""
    d, s = interval.estimate * step / spread, interval.error * step / spread
    return exp(_RATIO * d), (exp(_RATIO * d - _RATIO_ERROR * s), exp(_RATIO * d + _RATIO_ERROR * s))


def _regressed(found: Covariance) -> tuple[Regressed | None, dict[Node, tuple[float, float]], float]:
    """Return the estimate with its usual error, the partial R² of each column held, and the spread that is left."""
    solved = solve(found)
    if isinstance(solved, Refusal):
        return None, {}, 1.0
    last = len(solved.t) - 1
    of_t = found.units[1]
    scale = 1.0 if of_t.levels else float(of_t.scale or 1.0)
    noise = float(solved.noise[last, last])
    spread = sqrt(max(noise * found.rows / solved.freedom, 1e-300)) * scale
    if len(solved.x) > 1:
        return None, {}, spread
    error = sqrt(float(solved.inverse[0, 0]) * noise / solved.freedom)
    if not error:
        return None, {}, spread
    unit = found.units[0]
    per = scale / (1.0 if unit.levels else float(unit.scale or 1.0))
    strengths = {}
    for number, node in enumerate(found.columns[2:], start=2):
        mine = set(found.places(number)) & set(solved.held)
        rest = [place for place in solved.held if place not in mine]
        if mine:
            x, t = solved.x[0], solved.t[last]
            with_cause = _explained(found.matrix, x, sorted(mine), rest)
            strengths[node] = (with_cause, _explained(found.matrix, t, sorted(mine), [*rest, x]))
    slope = float(solved.slopes[0, last])
    return Regressed(slope * per, error * per, solved.freedom), strengths, spread


def _explained(matrix: np.ndarray, place: int, others: list[int], held: list[int]) -> float:
    """Return the partial R² of a column with others, once some are held."""
    return min(1 - _left(matrix, place, [*held, *others]) / _left(matrix, place, held), 1 - 1e-12)


def _left(matrix: np.ndarray, place: int, held: list[int]) -> float:
    if not held:
        return float(matrix[place, place])
    across = matrix[held, place]
    return float(matrix[place, place] - across @ np.linalg.solve(matrix[np.ix_(held, held)], across))
