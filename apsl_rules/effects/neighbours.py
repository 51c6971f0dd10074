"""The effects between a target and its neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Unpack, cast

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules._renamed import OldMethods
from apsl_rules.effects.adjustment import Adjustment
from apsl_rules.effects.asking import Graphs, Question, ask, ask_weighed, is_weighable
from apsl_rules.effects.charts import charts_of, distribution_of
from apsl_rules.effects.contrasts import figure
from apsl_rules.effects.estimate import check_choices, check_confidence, estimate, least_direction
from apsl_rules.effects.figures import Figures
from apsl_rules.effects.opening import figures_of, read_as
from apsl_rules.effects.orientations import SURE_DIRECTION, with_sure_arrows
from apsl_rules.effects.queries import Effect
from apsl_rules.effects.samples import DEFAULT, Empty, How, Variance
from apsl_rules.errors import ApslError, InvalidArgumentError
from apsl_rules.learning import Request, Settings, Source, run_once, with_bar, with_settings
from apsl_rules.names import Node, Pair, count_of, in_order, shown
from apsl_rules.notes import Sentence, argument, marked
from apsl_rules.oracles import counted
from apsl_rules.parts import EdgeFigures, Part
from apsl_rules.showing import NotebookView
from apsl_rules.stopping import interruptible

if TYPE_CHECKING:
    import pandas as pd


@attrs.frozen(slots=False, repr=False)
class Effects(OldMethods, NotebookView):
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
        empty = dict.fromkeys(("change", "lowest", "highest", "low", "high", "none", "basis", "rows"))
        refused = [
            {"cause": cause, "target": target, **empty, "reason": why} for (cause, target), why in self.refused.items()
        ]
        return [*rows, *refused]

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each neighbour as a data frame."""
        import pandas as pd

        return pd.DataFrame(self.rows())

    def __str__(self) -> str:
        told = [str(one) for one in self.effects]
        told += [
            f"effect of {shown(cause)} on {shown(target)}: {marked(why)}"
            for (cause, target), why in self.refused.items()
        ]
        return Sentence("\n".join(map(marked, told)))


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
        "none": effect.no_effect,
        "basis": effect.basis,
        "rows": next((one.estimates.rows for one in effect.possible if one.estimates is not None), None),
        "reason": next(reasons, ""),
    }


@with_settings(min_direction=SURE_DIRECTION)
@interruptible
@with_bar("effects", of_phases=True)
def effects_at_target(
    part: Part,
    data: Any,
    *,
    adjust: Adjustment = "parents",
    confidence: float = 0.95,
    empty: Empty = "borrow",
    graphs: Graphs = "weighed",
    variance: Variance = "robust",
    **settings: Unpack[Settings],
) -> Effects:
    """Estimate the effect along each edge at the target of a part, in one round of counting.

    Graphs near each pair are weighed. Where drawn ones are asked for, what to hold for a neighbour depends on its own
    edges: if the part does not have them it is learned once more from the data, around the same target to depth 2.
    """
    how = How(check_confidence(confidence), empty, variance)
    check_choices(how, graphs)
    figures = figures_of(data, read_as(part, data, settings))
    return effects_from(part, figures, settings, adjust=adjust, how=how, graphs=graphs)


def effects_from(
    part: Part,
    figures: Figures,
    settings: Settings,
    *,
    adjust: Adjustment = "parents",
    how: How = DEFAULT,
    graphs: Graphs = "weighed",
) -> Effects:
    """Estimate the effects along the edges at the target from a table that is open already."""
    neighbours = part.neighbours_of(part.target)
    pairs = [_along(part, other) for other in neighbours]
    is_weighed = is_weighable(part, adjust, graphs)
    wide = part
    if not is_weighed and not all(part.is_inner(cause) for cause, _ in pairs):
        wide = _further(part, figures.opened, settings)
    sure = with_sure_arrows(wide, least_direction(settings))
    questions: list[Question] = []
    refused: dict[tuple[Node, Node], str] = {}
    for cause, target in counted("effects", pairs):
        try:
            if is_weighed:
                questions.append(ask_weighed(sure, figures, cause, target, adjust))
            else:
                questions.append(ask(sure, cause, target, adjust))
        except ApslError as error:
            refused[cause, target] = error.sentence
    found = estimate(figures, questions, how)
    return Effects(wide, tuple(found), refused)


def _along(part: Part, other: Node) -> tuple[Node, Node]:
    """Return the cause and the target of the effect along an edge: as its arrow points, else towards the target."""
    return (part.target, other) if (part.target, other) in part.arrows else (other, part.target)


def _further(part: Part, opened: Source, settings: Settings) -> Part:
    """Learn a part once more, to depth 2."""
    if part.settings.get("alpha") is None:
        message = (
            "the part does not have the edges of the neighbours of its target, which say what to hold; "
            f"learn it with {argument('depth', 2)}"
        )
        raise InvalidArgumentError(message)
    known = {"learner": part.learner, "knowledge": part.knowledge, "alpha": part.settings["alpha"]}
    kept = {
        name: part.settings[name]
        for name in ("min_direction", "hidden", "roots")
        if part.settings.get(name) is not None
    }
    request = Request.of(cast("Settings", {**known, **kept, **settings}), caller="effects")
    return run_once(request, opened, part.target, 2)


Floats = npt.NDArray[np.float64]


def edge_figures(part: Part, data: Any, **settings: Unpack[Settings]) -> EdgeFigures:
    """Return what a table says of the edges and nodes of a part."""
    figures = figures_of(data, read_as(part, data, settings))
    for node in part.members:
        figures.require(node, "node")
    found = effects_from(part, figures, settings)
    pairs = [in_order(pair) for pair in part.edges]
    ordered = sorted((_chart_along(part, *pair) for pair in pairs), key=str)
    return EdgeFigures(
        {frozenset((one.cause, one.target)): effect_label(one) for one in found if effect_label(one)},
        dict(_effect_lines(found)),
        {frozenset(pair): chart for pair, chart in charts_of(figures, ordered)},
        {node: distribution_of(figures, node) for node in part.members},
    )


def effect_label(effect: Effect) -> str:
    """Return the size of an effect in a few signs: one figure, or the smallest and the largest that are possible.

    Without an estimate it is empty.
    """
    ends = [_signed(value) for value in dict.fromkeys(stated_ends(effect))]
    return " … ".join(dict.fromkeys(ends))


def stated_ends(effect: Effect) -> tuple[float, ...]:
    """Return the smallest and the largest effect that are stated; without an estimate none.

    Graphs that are too improbable to count at the confidence of the effect are left out.
    """
    values = effect.values_of(effect.main)
    if effect.is_refused or not values:
        return ()
    stated = effect.interval
    if effect.is_weighed and stated is not None:
        none = (effect.no_effect or 0.0) > 1 - effect.confidence
        values = tuple(sorted({stated.estimate, 0.0 if none else stated.estimate}))
    return values[0], values[-1]


def _signed(value: float) -> str:
    """Return a figure with its sign and two digits."""
    rough = float(f"{value:.2g}")
    return f"+{figure(rough)}" if rough > 0 else figure(rough).replace("-", "−")


def _effect_lines(found: Effects) -> Iterable[tuple[Pair, list[str]]]:
    for one in found:
        told = [Sentence(line.strip()) for line in marked(str(one)).split("\n")]
        yield frozenset((one.cause, one.target)), [*told, f"assumed: {'; '.join(one.why().assumptions[:2])}"]
    for pair, why in found.refused.items():
        yield frozenset(pair), [why]


def _chart_along(part: Part, x: Node, y: Node) -> tuple[Node, Node]:
    return (y, x) if (y, x) in part.arrows else (x, y)
