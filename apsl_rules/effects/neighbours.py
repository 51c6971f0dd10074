"""The effects along all edges at the target of a part, estimated in one round."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Unpack, cast

import attrs

from apsl_rules._arguments import chosen
from apsl_rules.effects.adjustment import Adjustment
from apsl_rules.effects.effect import Effect
from apsl_rules.effects.estimate import Empty, Question, ask, check_confidence, estimate, least_direction, read_as
from apsl_rules.effects.figures import Figures, open_figures
from apsl_rules.effects.neighbourhood import with_sure_arrows
from apsl_rules.errors import ApslError, InvalidArgumentError
from apsl_rules.learning import Request, Settings, Source, run_once
from apsl_rules.names import Node, count_of, shown
from apsl_rules.notebook_view import NotebookView
from apsl_rules.parts import Part
from apsl_rules.stopping import interruptible

if TYPE_CHECKING:
    import pandas as pd


@attrs.frozen(slots=False, repr=False)
class Effects(NotebookView):
    """The effect along each edge at the target of a part: of the target on its children, on it of all others.

    ``part`` is what the effects were worked out from: the part itself, or one that reaches further. ``refused`` says
    for which pairs of cause and target nothing could be worked out, and why.

    Attributes
    ----------
    effects
        The effects, one for each edge that allows one.
    """

    part: Part
    effects: tuple[Effect, ...]
    refused: dict[tuple[Node, Node], str] = attrs.field(factory=dict)

    def __iter__(self) -> Iterator[Effect]:
        return iter(self.effects)

    def __len__(self) -> int:
        return len(self.effects)

    def __repr__(self) -> str:
        refused = f", {len(self.refused):,} refused" if self.refused else ""
        return f"<Effects at {shown(self.part.target)}: {count_of(len(self.effects), 'edge')}{refused}>"

    def rows(self) -> list[dict[str, Any]]:
        """Return one plain row for each neighbour, by the main change of its effect."""
        rows = [_row(one) for one in self.effects]
        empty = dict.fromkeys(("change", "lowest", "highest", "low", "high", "rows"))
        refused = [
            {"cause": cause, "target": target, **empty, "reason": why} for (cause, target), why in self.refused.items()
        ]
        return [*rows, *refused]

    def to_pandas(self) -> pd.DataFrame:
        """Return one row for each neighbour as a data frame."""
        import pandas as pd

        return pd.DataFrame(self.rows())

    def __str__(self) -> str:
        told = [str(one) for one in self.effects]
        told += [f"effect of {shown(cause)} on {shown(target)}: {why}" for (cause, target), why in self.refused.items()]
        return "\n".join(told)


def _row(effect: Effect) -> dict[str, Any]:
    values, bounds = effect.values_of(effect.main), effect.bounds
    reasons = (one.refused for one in effect.possible if one.refused)
    return {
        "cause": effect.cause,
        "target": effect.target,
        "change": effect.compares,
        "lowest": values[0] if values else None,
        "highest": values[-1] if values else None,
        "low": None if bounds is None else bounds[0],
        "high": None if bounds is None else bounds[1],
        "rows": next((one.estimates.rows for one in effect.possible if one.estimates is not None), None),
        "reason": next(reasons, ""),
    }


@interruptible
def effects_at_target(
    part: Part,
    data: Any,
    *,
    adjust: Adjustment = "parents",
    confidence: float = 0.95,
    empty: Empty = "refuse",
    **settings: Unpack[Settings],
) -> Effects:
    """Estimate the effect along each edge at the target of a part, in one round of counting.

    What to hold for a neighbour depends on its own edges. Where the part does not have them it is learned once more
    from the data, around the same target to depth 2.
    """
    check_confidence(confidence)
    chosen("empty", empty, ("refuse", "leave-out"))
    figures = open_figures(data, read_as(part, data, settings))
    return effects_from(part, figures, settings, adjust=adjust, confidence=confidence, empty=empty)


def effects_from(
    part: Part,
    figures: Figures,
    settings: Settings,
    *,
    adjust: Adjustment = "parents",
    confidence: float = 0.95,
    empty: Empty = "refuse",
) -> Effects:
    """Estimate the effects along the edges at the target from a table that is open already."""
    neighbours = part.neighbours_of(part.target)
    pairs = [_along(part, other) for other in neighbours]
    wide = part if all(part.is_inner(cause) for cause, _ in pairs) else _further(part, figures.opened, settings)
    sure = with_sure_arrows(wide, least_direction(settings))
    questions: list[Question] = []
    refused: dict[tuple[Node, Node], str] = {}
    for cause, target in pairs:
        try:
            questions.append(ask(sure, cause, target, adjust))
        except ApslError as error:
            refused[cause, target] = str(error)
    found = estimate(figures, questions, confidence, leave_out_empty=empty == "leave-out")
    return Effects(wide, tuple(found), refused)


def _along(part: Part, other: Node) -> tuple[Node, Node]:
    """Return the cause and the target of the effect along an edge: as its arrow points, else towards the target."""
    return (part.target, other) if (part.target, other) in part.arrows else (other, part.target)


def _further(part: Part, opened: Source, settings: Settings) -> Part:
    """Learn a part once more, to depth 2."""
    if part.settings.get("alpha") is None:
        message = (
            "the part does not have the edges of the neighbours of its target, which say what to hold; "
            "learn it with depth=2"
        )
        raise InvalidArgumentError(message)
    known = {"learner": part.learner, "knowledge": part.knowledge, "alpha": part.settings["alpha"]}
    kept = {name: part.settings[name] for name in ("min_direction",) if part.settings.get(name) is not None}
    request = Request.of(cast("Settings", {**known, **kept, **settings}), caller="effects")
    return run_once(request, opened, part.target, 2)
