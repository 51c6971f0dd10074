"""What can show a hidden cause, or do without measuring it: negative controls and an instrument, named by the user."""

from __future__ import annotations

import attrs
import numpy as np

from apsl_rules.effects.contrasts import Change, Estimates, Interval, Refusal, figure
from apsl_rules.effects.least_squares import solve
from apsl_rules.effects.samples import Covariance, How, Sample
from apsl_rules.names import Node, shown

#: An instrument with a smaller F is weak.
WEAK = 10.0
#: The level of a negative control: it sounds in so many tables without a hidden cause.
SOUNDS = 0.05


@attrs.frozen
class Control:
    """A negative control: a column that the cause does nothing to, or one that does nothing to the target.

    An effect that is found nevertheless shows a hidden cause, or that too little is held.

    Attributes
    ----------
    column
        The column.
    kind
        "unaffected" by the cause, or "powerless" over the target.
    p
        How probable so large an effect would be if there were none; None where it could not be worked out.
    sounds
        Whether it was found nevertheless, at 5 %.
    """

    column: Node
    kind: str
    p: float | None = None

    @property
    def sounds(self) -> bool:
        """Return whether an effect that cannot be was found."""
        return self.p is not None and self.p < SOUNDS

    def text(self, cause: Node, target: Node) -> str:
        """Say what the control shows."""
        what = f"{shown(cause)} on {shown(self.column)}"
        if self.kind == "powerless":
            what = f"{shown(self.column)} on {shown(target)}"
        if self.p is None:
            return f"control {shown(self.column)} could not be worked out"
        if self.sounds:
            told = f"an effect of {what}, which cannot be (p = {self.p:.2g})"
            return f"{told}: a hidden cause, or a column that is not held, biases the effect"
        return f"no effect of {what} is seen (p = {self.p:.2g}), as it should be"


def control_of(column: Node, kind: str, found: Estimates | Refusal) -> Control:
    """Return what an estimate of an effect that cannot be says; of several changes the least p, times their number."""
    from scipy.special import stdtr

    told = [] if isinstance(found, Refusal) else _telling(found)
    if not told:
        return Control(column, kind)
    ps = [2 * float(stdtr(min(one.freedom, 1e9), -abs(one.estimate) / one.error)) for one in told]
    return Control(column, kind, min(1.0, min(ps) * len(ps)))


def _telling(found: Estimates) -> list[Interval]:
    """Return the changes that say something by themselves: of a target with two levels those of the last."""
    outcomes = list(dict.fromkeys(change.outcome for change in found.changes))
    kept = outcomes[1:] if len(outcomes) == 2 else outcomes  # noqa: PLR2004 - of two, each mirrors the other
    return [one for change, one in found.changes.items() if change.outcome in kept and one.error > 0]


@attrs.frozen
class ByInstrument:
    """The effect by an instrument: a column that moves the cause, and the target through it alone.

    Attributes
    ----------
    column
        The instrument.
    change, interval
        What is compared, and the estimate by two-stage least squares with errors that hold under unequal spread.
    f
        How strongly the instrument moves the cause; below 10 it is weak.
    """

    column: Node
    change: Change
    interval: Interval
    f: float

    @property
    def is_weak(self) -> bool:
        """Return whether the instrument is too weak for its interval to be trusted."""
        return self.f < WEAK

    def __str__(self) -> str:
        told = f"{self.interval} by the instrument {shown(self.column)} (F {figure(self.f)})"
        return f"{told}, which is weak: the estimate leans to that without it" if self.is_weak else told


def by_instrument(sample: Sample, how: How) -> ByInstrument | Refusal:
    """Estimate by two-stage least squares; the columns are the cause, the target, the instrument, others held."""
    cause, _, column = sample.columns[:3]
    found = sample.covariance
    if isinstance(solved := solve(_with_last(found, 2)), Refusal):
        return solved
    if found.widths[0] != 1 or found.widths[1] != 1 or found.widths[2] != 1:
        return Refusal("an instrument needs a cause, a target and an instrument that are numbers or have two levels")
    whole = np.hstack([block[:, :width] for block, width in zip(sample.blocks, found.widths, strict=True)])
    others = np.delete(np.arange(whole.shape[1]), 2)[solved.held]  # places without the instrument, put back
    held = np.column_stack([np.ones(len(whole)), whole[:, others]])
    mass = sample.mass
    left = whole[:, :3] - held @ np.linalg.lstsq((held.T * mass) @ held, (held.T * mass) @ whole[:, :3], rcond=None)[0]
    x, t, z = left.T
    moves, both = float(np.sum(mass * z * x)), float(np.sum(mass * z * t))
    square = float(np.sum(mass * z * z))
    if square <= 0 or moves == 0:
        return Refusal(f"{shown(column)} does not move {shown(cause)} once the others are held")
    first = moves / square
    own = mass / np.sqrt(sample.times)
    f = first**2 / (float(np.sum((own * z * (x - first * z)) ** 2)) / square**2)
    slope = both / moves
    error = float(np.sqrt(np.sum((own * z * (t - slope * x)) ** 2))) / abs(moves)
    of_x, of_t = found.units[0], found.units[1]
    scale = (1.0 if of_t.levels else float(of_t.scale or 1.0)) / (1.0 if of_x.levels else float(of_x.scale or 1.0))
    value, error = slope * scale, error * scale
    freedom = sample.rows - held.shape[1] - 1
    wide = how.quantile(freedom) * error
    level, reference = (of_x.levels[-1], of_x.levels[0]) if of_x.levels else (None, None)
    outcome = of_t.levels[-1] if of_t.levels else None
    change = Change(level, reference, outcome, not of_x.levels, not of_t.levels)
    return ByInstrument(column, change, Interval(value, value - wide, value + wide, error, freedom), f)


def _with_last(found: Covariance, number: int) -> Covariance:
    """Return a covariance without one of its columns."""
    kept = [place for one in range(len(found.columns)) if one != number for place in found.places(one)]
    rest = [one for one in range(len(found.columns)) if one != number]
    return attrs.evolve(
        found,
        matrix=found.matrix[np.ix_(kept, kept)],
        columns=tuple(found.columns[one] for one in rest),
        widths=tuple(found.widths[one] for one in rest),
        units=tuple(found.units[one] for one in rest),
    )
