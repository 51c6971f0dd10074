"""The effect of a cause on a target, for every graph that the part leaves open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import attrs

from apsl_rules._renamed import OldMethods
from apsl_rules.data import ColumnKind
from apsl_rules.effects.adjustment import Adjusted
from apsl_rules.effects.contrasts import Change, Estimates, Interval, Refusal
from apsl_rules.effects.orientations import Orientation
from apsl_rules.names import Node, listing, shown
from apsl_rules.notebook_view import NotebookView
from apsl_rules.parts import Part

if TYPE_CHECKING:
    import pandas as pd

    from apsl_rules.effects.grounds import Grounds


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
    """

    orientation: Orientation
    adjustment: tuple[Node, ...]
    estimates: Estimates | None = None
    no_effect: str | None = None
    refused: str | None = None

    def interval(self, change: Change) -> Interval | None:
        """Return the estimate of a change with its confidence interval; None where it was refused."""
        if self.no_effect is not None:
            return _ZERO
        return None if self.estimates is None else self.estimates.changes.get(change)


@attrs.frozen(slots=False, repr=False)
class Effect(OldMethods, NotebookView):
    """What setting a cause would do to a target, as far as a part and a table tell.

    ``possible`` has one effect for each way in which the edges at the cause can point. ``changes`` are what they
    compare, ``main`` the one to look at first: one unit more of a number, or the last level of a category against the
    first; of a category as the target the probability of its last level.

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
    """

    cause: Node
    target: Node
    part: Part
    possible: tuple[PossibleEffect, ...]
    confidence: float
    adjust: str | tuple[Node, ...]
    columns: tuple[ColumnKind, ...] = ()
    notes: tuple[str, ...] = ()

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
    def is_refused(self) -> bool:
        """Return whether some of the possible effects could not be estimated, so that nothing bounds the effect."""
        return any(one.refused is not None for one in self.possible)

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
        """Return the smallest interval that holds the intervals of all possible effects, by the main change.

        It is None where one of them could not be estimated.
        """
        return self.bounds_of(self.main)

    def bounds_of(self, change: Change) -> tuple[float, float] | None:
        """Return the smallest interval that holds the intervals of all possible effects, by one change."""
        found = [one.interval(change) for one in self.possible]
        known = [one for one in found if one is not None]
        if len(known) < len(found) or not known:
            return None
        return min(one.low for one in known), max(one.high for one in known)

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
            }
            for change in (self.changes or (self.main,))
            for one in self.possible
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return every possible effect by every change as a data frame."""
        import pandas as pd

        return pd.DataFrame(self.rows())

    def why(self) -> Grounds:
        """Return what the effect rests on: arrows with their proofs, adjustment, assumptions; as text and as data."""
        from apsl_rules.effects.grounds import grounds_of

        return grounds_of(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the effect as plain data."""
        from apsl_rules.effects.grounds import effect_data

        return effect_data(self)

    def __str__(self) -> str:
        from apsl_rules.effects.grounds import effect_text

        return effect_text(self)

    def __repr__(self) -> str:
        return f"<Effect of {shown(self.cause)} on {shown(self.target)}: {self._short()}>"

    def _short(self) -> str:
        if self.bounds is None:
            return f"refused: {next((one.refused for one in self.possible if one.refused), 'nothing estimated')}"
        low, high = self.bounds
        values = listing([round(value, 6) for value in self.values])
        return f"{values}, between {low:.4g} and {high:.4g}"


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
            made.append(PossibleEffect(one.orientation, (), no_effect=one.no_effect))
            continue
        found = estimated[one.given]
        refused = found.reason if isinstance(found, Refusal) else None
        made.append(
            PossibleEffect(one.orientation, one.given, None if isinstance(found, Refusal) else found, refused=refused)
        )
    return tuple(made)
