"""The effect of a cause on a target, for every graph that the part leaves open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import attrs
import numpy as np

from apsl_rules._renamed import OldMethods
from apsl_rules.data import ColumnKind
from apsl_rules.effects.adjustment import Adjusted
from apsl_rules.effects.contrasts import Change, Estimates, Interval, Refusal
from apsl_rules.effects.controls import ByInstrument, Control
from apsl_rules.effects.orientations import Orientation
from apsl_rules.names import Node, listing, shown
from apsl_rules.parts import Part
from apsl_rules.showing import NotebookView

if TYPE_CHECKING:
    import pandas as pd

    from apsl_rules.effects.grounds import Grounds
    from apsl_rules.effects.sensitivity import Sensitivity


_ZERO = Interval(0.0, 0.0, 0.0)


@attrs.frozen
class PossibleEffect:
    """The effect in those open graphs in which the edges at the cause point one way.

    ``adjustment`` is what was held. ``no_effect`` says why there is none, where the edges at the cause show it: the
    effect is then exactly 0. ``refused`` says why it could not be estimated.

    Attributes
    ----------
    orientation
        How the edges at the cause point.
    estimates
        What was estimated; None where there is no effect, or it was refused.
    probability
        How probable these graphs are, where graphs were weighed.
    """

    orientation: Orientation
    adjustment: tuple[Node, ...]
    estimates: Estimates | None = None
    no_effect: str | None = None
    refused: str | None = None
    probability: float | None = None

    def interval(self, change: Change) -> Interval | None:
        """Return the estimate of a change with its confidence interval; None where it was refused."""
        if self.no_effect is not None:
            return _ZERO
        return None if self.estimates is None else self.estimates.changes.get(change)


@attrs.frozen
class Subgroup:
    """The effect in the rows with one level or range: its interval by the main change, or why there is none.

    Attributes
    ----------
    name
        The level or range in words.
    rows
        How many rows have it.
    interval
        The interval to state.
    refused
        Why there is none.
    """

    name: str
    rows: int
    interval: Interval | None
    refused: str | None = None


@attrs.frozen
class Subgroups:
    """The effect by the levels or ranges of one or two columns.

    Attributes
    ----------
    columns
        The columns.
    levels
        The effect in each of them.
    p
        How probable such different effects would be if the effect were the same everywhere; None where that is unknown.
    """

    columns: tuple[Node, ...]
    levels: tuple[Subgroup, ...]
    p: float | None


#: What decides whether the cause comes before the target, or the target before the cause.
Basis: TypeAlias = Literal["graph", "given", "assigned", "names", "V-structure", "rows"]


@attrs.frozen(slots=False, repr=False)
class Effect(OldMethods, NotebookView):
    """What setting a cause would do to a target, as far as a part and a table tell.

    ``possible`` has one effect for each set of parents that the cause may have, with its probability where graphs were
    weighed, or for each way in which the drawn edges at the cause can point. ``changes`` are what they compare,
    ``main`` the one to look at first: one unit more of a number, or the last level of a category against the first; of
    a category as the target the probability of its last level.

    Attributes
    ----------
    cause, target
        The two nodes that were asked about.
    part
        The part that the effect was worked out from.
    confidence
        The share of samples whose interval holds the effect.
    adjust
        What was asked to be held: the name of a rule, or columns.
    columns
        How each column of the table was read.
    notes
        What a reader should know of the estimates.
    basis
        What decides which of the two comes first: the known graph, what is given, assignment by chance, names of
        columns, a good V-structure, or the rows alone.
    controls
        The negative controls that were asked for.
    instrument
        The estimate by an instrument, where one was named.
    by
        The effect by the levels or ranges of columns, where some were named.
    """

    cause: Node
    target: Node
    part: Part
    possible: tuple[PossibleEffect, ...]
    confidence: float
    adjust: str | tuple[Node, ...]
    columns: tuple[ColumnKind, ...] = ()
    notes: tuple[str, ...] = ()
    basis: Basis = "graph"
    controls: tuple[Control, ...] = ()
    instrument: ByInstrument | None = None
    by: Subgroups | None = None

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """Return all changes that were estimated, those of the last level of the target last."""
        found = (one.estimates.changes for one in self.possible if one.estimates is not None)
        return tuple(dict.fromkeys(change for changes in found for change in changes))

    @property
    def main(self) -> Change:
        """Return the change to look at first; an empty one where nothing was estimated."""
        return self.changes[-1] if self.changes else Change()

    @property
    def compares(self) -> str:
        """Return what the main change compares, in words; nothing where nothing was estimated."""
        return self.main.text(self.cause, self.target) if self.changes else ""

    @property
    def is_weighed(self) -> bool:
        """Return whether the graphs that are possible were weighed, not drawn."""
        return any(one.probability is not None for one in self.possible)

    @property
    def weighed(self) -> tuple[tuple[float, tuple[Node, ...], float, float], ...]:
        """Return the probability, the adjustment, the estimate and the error for each set that was weighed."""
        found = ((one, one.interval(self.main)) for one in self.possible if one.no_effect is None)
        return tuple(
            (one.probability, one.adjustment, its.estimate, its.error)
            for one, its in found
            if one.probability is not None and its is not None
        )

    @property
    def no_effect(self) -> float | None:
        """Return how probable it is that the target is a cause of the cause, so that there is no effect.

        None where graphs were not weighed.
        """
        if not self.is_weighed:
            return None
        return sum(one.probability or 0.0 for one in self.possible if one.no_effect is not None)

    @property
    def is_refused(self) -> bool:
        """Return whether nothing bounds the effect: some of the possible effects could not be estimated.

        Where graphs were weighed, those that can be estimated are enough.
        """
        refused = [one.refused is not None for one in self.possible if one.no_effect is None]
        return bool(refused) and (all(refused) if self.is_weighed else any(refused))

    @property
    def is_open(self) -> bool:
        """Return whether the part leaves more than one effect open."""
        return len(self.possible) > 1

    @property
    def values(self) -> tuple[float, ...]:
        """Return the possible effects by the main change, smallest first and each once."""
        return self.values_of(self.main)

    def values_of(self, change: Change) -> tuple[float, ...]:
        """Return the possible effects by one change, smallest first and each once."""
        found = (one.interval(change) for one in self.possible)
        return tuple(sorted({one.estimate for one in found if one is not None}))

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Return the two ends of the interval to state, by the main change; None where nothing could be estimated."""
        return self.bounds_of(self.main)

    def bounds_of(self, change: Change) -> tuple[float, float] | None:
        """Return the two ends of the interval to state, by one change."""
        found = self.interval_of(change)
        return None if found is None else (found.low, found.high)

    @property
    def interval(self) -> Interval | None:
        """Return the interval to state, by the main change; None where nothing could be estimated."""
        return self.interval_of(self.main)

    def interval_of(self, change: Change) -> Interval | None:
        """Return the interval to state, by one change.

        Where graphs were weighed it has so much of what the effect is if there is one, and reaches to 0 if "none"
        cannot be excluded at its level. Otherwise it is the smallest that holds the intervals of all possible effects.
        Its estimate is that of the most probable graphs.
        """
        if self.is_refused:
            return None
        found = [(one, one.interval(change)) for one in self.possible]
        known = [(one, its) for one, its in found if its is not None]
        if not self.is_weighed:
            if len(known) < len(found) or not known:
                return None
            low, high = min(its.low for _, its in known), max(its.high for _, its in known)
            return attrs.evolve(known[0][1], low=low, high=high)
        parts = [(one.probability or 0.0, its) for one, its in known if one.no_effect is None]
        if not parts:
            return _ZERO
        stated = mixture(parts, self.confidence)
        if (self.no_effect or 0.0) > 1 - self.confidence:
            stated = attrs.evolve(stated, low=min(stated.low, 0.0), high=max(stated.high, 0.0))
        return stated

    def rows(self) -> list[dict[str, Any]]:
        """Return every possible effect by every change as plain rows."""
        return [
            {
                "cause": self.cause,
                "target": self.target,
                "change": change.text(self.cause, self.target) if self.changes else "",
                "assumes": str(one.orientation) if one.orientation.arrows else "",
                "adjustment": list(one.adjustment),
                **_figures(one, change),
                "rows": None if one.estimates is None else one.estimates.rows,
                "reason": one.no_effect or one.refused or "",
                **({} if one.probability is None else {"probability": one.probability}),
            }
            for change in (self.changes or (self.main,))
            for one in self.possible
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return every possible effect by every change as a data frame."""
        import pandas as pd

        return pd.DataFrame(self.rows())

    def sensitivity(self) -> Sensitivity:
        """Return how strong a hidden cause would have to be to explain the effect away."""
        from apsl_rules.effects.sensitivity import sensitivity_of

        return sensitivity_of(self)

    def svg(self) -> str:
        """Draw the interval with its shares, and how strong a hidden cause would have to be, as SVG text."""
        from apsl_rules.views.effect_picture import effect_svg

        return effect_svg(self)

    def why(self) -> Grounds:
        """Return what the effect rests on: arrows with their proofs, adjustment, assumptions; as text and as data."""
        from apsl_rules.effects.grounds import grounds_of

        return grounds_of(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the effect as plain data."""
        from apsl_rules.effects.wording import effect_data

        return effect_data(self)

    def __str__(self) -> str:
        from apsl_rules.effects.wording import effect_text

        return effect_text(self)

    def __repr__(self) -> str:
        return f"<Effect of {shown(self.cause)} on {shown(self.target)}: {self._short()}>"

    def _short(self) -> str:
        if self.bounds is None:
            return f"refused: {next((one.refused for one in self.possible if one.refused), 'nothing estimated')}"
        low, high = self.bounds
        values = listing([round(value, 6) for value in self.values])
        return f"{values}, between {low:.4g} and {high:.4g}"


#: A set with more of the probability is taken for the only one.
_ALL = 0.999


def mixture(parts: Sequence[tuple[float, Interval]], confidence: float) -> Interval:
    """Return the interval with equal tails of a mixture of t distributions; that of one set is its own.

    Each side of a distribution is as wide as that of the interval of its set, which need not be symmetric.
    """
    from scipy.special import stdtr, stdtrit

    total = sum(share for share, _ in parts)
    share, first = max(parts, key=lambda part: part[0])
    if share >= _ALL * total or all((one.low, one.high) == (first.low, first.high) for _, one in parts):
        return first
    centres, lows, highs, freedoms = (
        np.array([getattr(one, name) for _, one in parts]) for name in ("estimate", "low", "high", "freedom")
    )
    weights = np.array([share for share, _ in parts]) / total
    freedoms = np.minimum(freedoms, 1e9)
    reach = np.array([centres - lows, highs - centres]) / stdtrit(freedoms, (1 + confidence) / 2)
    down, up = np.maximum(reach, np.finfo(np.float64).tiny)

    def below(tail: float) -> float:
        wide = 1e4 * float(reach.max())
        low, high = float(centres.min()) - wide, float(centres.max()) + wide
        for _ in range(80):
            middle = (low + high) / 2
            with np.errstate(over="ignore"):  # an estimate without error is a step
                errors = np.where(middle < centres, down, up)
                below_middle = float(weights @ stdtr(freedoms, (middle - centres) / errors))
            if below_middle < tail:
                low = middle
            else:
                high = middle
        return (low + high) / 2

    return attrs.evolve(first, low=below((1 - confidence) / 2), high=below((1 + confidence) / 2))


def _figures(one: PossibleEffect, change: Change) -> dict[str, float | None]:
    found = one.interval(change)
    if found is None:
        return {"estimate": None, "low": None, "high": None}
    return {"estimate": found.estimate, "low": found.low, "high": found.high}


def possible_effects(
    adjusted: Sequence[Adjusted], estimated: Mapping[tuple[Node, ...], Estimates | Refusal]
) -> tuple[PossibleEffect, ...]:
    """Join what to adjust for with what was estimated for each adjustment set."""
    made = []
    for one in adjusted:
        if one.no_effect is not None:
            made.append(PossibleEffect(one.orientation, (), no_effect=one.no_effect, probability=one.probability))
            continue
        found = estimated[one.given]
        refused, known = (found.reason, None) if isinstance(found, Refusal) else (None, found)
        made.append(PossibleEffect(one.orientation, one.given, known, None, refused, one.probability))
    return tuple(made)
