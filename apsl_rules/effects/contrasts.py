"""Estimates: how a target changes between two settings of a cause, with a confidence interval."""

from __future__ import annotations

from typing import Any

import attrs

from apsl_rules.names import shown


@attrs.frozen
class Interval:
    """An estimate between the two ends of a confidence interval.

    Attributes
    ----------
    estimate
        The estimate.
    low, high
        The two ends of its confidence interval.
    """

    estimate: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{figure(self.estimate)} ({figure(self.low)} to {figure(self.high)})"


@attrs.frozen
class Change:
    """Which change of a cause is looked at, and what of the target.

    ``level`` and ``reference`` are the levels that a category is set to; both are None for a number, which is raised by
    one unit. ``outcome`` is the level of the target whose probability is meant, None for the mean of a number.

    Attributes
    ----------
    is_number
        Whether the cause is a number, raised by one unit.
    is_mean
        Whether the mean of the target is meant, not the probability of a level.
    """

    level: Any = None
    reference: Any = None
    outcome: Any = None
    is_number: bool = False
    is_mean: bool = False

    def text(self, cause: object, target: object) -> str:
        """Return what is compared, in words."""
        what = f"mean of {shown(target)}" if self.is_mean else f"P({shown(target)} = {shown(self.outcome)})"
        if self.is_number:
            return f"{what} per unit of {shown(cause)}"
        return f"{what}, {shown(cause)} = {shown(self.level)} against {shown(self.reference)}"


@attrs.frozen
class Estimates:
    """What was estimated with one adjustment set: the interval of each change, and the rows behind it.

    ``distribution`` has, for categories, the probability of each level of the target if the cause were set to each of
    its levels. ``notes`` say what a reader should know.

    Attributes
    ----------
    changes
        The interval of each change.
    rows
        How many rows are behind them.
    """

    changes: dict[Change, Interval]
    rows: int
    distribution: dict[Any, dict[Any, Interval]] = attrs.field(factory=dict)
    notes: tuple[str, ...] = ()


@attrs.frozen
class Refusal:
    """Why nothing could be estimated, in a sentence."""

    reason: str

    def __str__(self) -> str:
        return self.reason


def figure(value: float) -> str:
    """Return a figure with three digits that count.

    >>> figure(0.12345), figure(-1234.5), figure(0.0)
    ('0.123', '-1,234', '0')
    """
    if abs(value) >= 1000:  # noqa: PLR2004 - thousands have commas and no decimals
        return f"{value:,.0f}"
    return f"{value:.3g}" if value else "0"
