"""Ask for an effect: learn the edges at the cause where no part is given, adjust, and estimate in one round."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Literal, Unpack, cast

import attrs

from apsl_rules._arguments import chosen, is_number
from apsl_rules.data.moments import is_opened
from apsl_rules.effects.adjustment import Adjusted, Adjustment, adjust
from apsl_rules.effects.contrasts import Estimates, Refusal
from apsl_rules.effects.figures import READING, Figures, open_figures
from apsl_rules.effects.models import regress, standardise
from apsl_rules.effects.orientations import SURE_DIRECTION, neighbourhood_of, with_sure_arrows
from apsl_rules.effects.queries import Effect, possible_effects
from apsl_rules.errors import DataError, InvalidArgumentError, PluginError
from apsl_rules.graphs import Dag, is_networkx
from apsl_rules.graphs.networks import Network
from apsl_rules.knowledge import load_knowledge
from apsl_rules.learning import (
    Request,
    Settings,
    Source,
    nodes_of,
    notes_against_given,
    open_data,
    run_once,
    with_settings,
)
from apsl_rules.names import Depth, Node, check_depth, check_target, listing, require_known
from apsl_rules.notes import argument
from apsl_rules.oracles import is_oracle
from apsl_rules.parts import Part
from apsl_rules.stopping import interruptible

Empty = Literal["refuse", "leave-out"]

#: What is told with an effect of 0 that was worked out from rows.
MISSED = (
    "0 is no estimate: no arrow was found, and a weak effect may be missed; where you know of one, say that its arrow "
    "is required"
)


@with_settings(min_direction=SURE_DIRECTION)
@interruptible
def effect(
    source: Any,
    cause: Node,
    target: Node,
    *,
    adjust: Adjustment = "parents",
    data: Any = None,
    confidence: float = 0.95,
    empty: Empty = "refuse",
    depth: Depth | None = None,
    **settings: Unpack[Settings],
) -> Effect:
    """Estimate what setting a cause would do to a target, for every graph that is left open.

    Parameters
    ----------
    source
        A table: the edges at the cause are learned from it, and the effect is estimated from it. Or a part, or a known
        graph or network, all of whose arrows are taken as known, with the rows as ``data``.
    cause, target
        Two nodes.
    adjust
        What to hold: "parents" of the cause, the "optimal" set (narrower intervals; it takes a part that has all paths
        from the cause to the target), or a list of columns, which is refused where it is not valid in every open graph.
    data
        The table to estimate from, where the source has no rows.
    confidence
        The share of samples whose interval holds the effect.
    empty
        What to do with strata in which some level of the cause does not occur: "refuse", or "leave-out", which gives
        the effect on the other rows.
    depth
        How far to learn around the cause; 1 by default, "max" for an adjustment other than the parents.
    settings
        The further settings of ``learn``. ``min_direction`` is the least probability of a direction for the effect to
        rest on it, 0.85 by default; less probable ones are open, whatever is drawn.

    Examples
    --------
    >>> import pandas as pd
    >>> from apsl_rules import effect, Dag
    >>> rows = pd.DataFrame({"sun": [0, 0, 1, 1] * 25, "ice": [0, 1, 1, 1] * 25})
    >>> effect(Dag({"sun": [], "ice": ["sun"]}), "sun", "ice", data=rows).values
    (0.5,)
    """
    require_different(cause, target)
    check_confidence(confidence)
    chosen("empty", empty, ("refuse", "leave-out"))
    if depth is not None:
        check_depth(depth)
    far: Depth = depth or (1 if isinstance(adjust, str) and adjust == "parents" else "max")
    part, figures = part_and_figures(source, cause, target, depth=far, data=data, settings=settings)
    question = ask(with_sure_arrows(part, least_direction(settings)), cause, target, adjust)
    (found,) = estimate(figures, [question], confidence, leave_out_empty=empty == "leave-out")
    return found


@attrs.frozen
class Question:
    """An effect that is asked for: a part, a cause, a target, and what to adjust for under each orientation."""

    part: Part
    cause: Node
    target: Node
    adjust: str | tuple[Node, ...]
    adjusted: tuple[Adjusted, ...]


def ask(part: Part, cause: Node, target: Node, adjustment: Adjustment) -> Question:
    """Work out what to adjust for under each orientation of the edges at the cause."""
    spelt_out: Adjustment = adjustment if isinstance(adjustment, str) else _taken(adjustment)
    orientations = neighbourhood_of(part, cause).orientations()
    found = adjust(part, orientations, target, spelt_out)
    return Question(part, cause, target, cast("str | tuple[Node, ...]", spelt_out), tuple(found))


def least_direction(settings: Settings) -> float:
    """Return the least probability of a direction for an effect to rest on it."""
    given = settings.get("min_direction")
    return Request(min_direction=SURE_DIRECTION if given is None else given).least_direction


def _taken(adjustment: Any) -> Any:
    """Take a list of one's own once, since it may be read only once."""
    return tuple(adjustment) if hasattr(adjustment, "__iter__") else adjustment


def estimate(
    figures: Figures, questions: Sequence[Question], confidence: float, *, leave_out_empty: bool = False
) -> list[Effect]:
    """Estimate all effects that are asked for from one round of counts, and one of covariances."""
    sets = {
        (one.cause, one.target, *adjusted.given)
        for one in questions
        for adjusted in one.adjusted
        if adjusted.no_effect is None
    }
    for columns in sets:
        for node in columns:
            figures.require(node, "node")
    ordered = sorted(sets, key=lambda columns: [str(node) for node in columns])
    counted = [columns for columns in ordered if figures.are_counted(columns)]
    summed = [columns for columns in ordered if not figures.are_counted(columns)]
    known: dict[tuple[Node, ...], Estimates | Refusal] = {}
    for columns, strata in zip(counted, figures.strata(counted), strict=True):
        known[columns] = standardise(strata, _normal_quantile(confidence), leave_out_empty=leave_out_empty)
    for columns, covariance in zip(summed, figures.covariances(summed), strict=True):
        known[columns] = regress(covariance, lambda freedom: _t_quantile(confidence, freedom))
    return [_joined(one, figures, known, confidence) for one in questions]


def _joined(
    question: Question, figures: Figures, known: dict[tuple[Node, ...], Estimates | Refusal], confidence: float
) -> Effect:
    mine = {
        adjusted.given: known[question.cause, question.target, *adjusted.given]
        for adjusted in question.adjusted
        if adjusted.no_effect is None
    }
    notes = [note for one in mine.values() if isinstance(one, Estimates) for note in one.notes]
    is_from_rows = question.part.settings.get("alpha") is not None
    if is_from_rows and any(_rests_on_a_gap(question, one) for one in question.adjusted):
        notes.append(MISSED)
    notes += notes_against_given(question.part, (question.cause, question.target))
    return Effect(
        question.cause,
        question.target,
        question.part,
        possible_effects(question.adjusted, mine),
        confidence,
        question.adjust,
        figures.opened.columns,
        tuple(dict.fromkeys(notes)),
    )


def _rests_on_a_gap(question: Question, adjusted: Adjusted) -> bool:
    """Return whether the effect is 0 since an arrow was not found, not since the target is itself a cause."""
    return adjusted.no_effect is not None and question.target not in adjusted.orientation.parents


def part_and_figures(
    source: Any, cause: Node, target: Node, *, depth: Depth, data: Any, settings: Settings
) -> tuple[Part, Figures]:
    """Return the part to reason from and the table to estimate from; learn the part where none is given."""
    if isinstance(source, Part):
        if data is None:
            message = (
                f"a part has no rows to estimate from; give the table that it was learned from as {argument('data')}"
            )
            raise InvalidArgumentError(message)
        for node, role in ((cause, "cause"), (target, "target")):
            require_known(node, source.nodes, role)
        figures = open_figures(data, read_as(source, data, settings))
        for node, role in ((cause, "cause"), (target, "target")):
            figures.require(node, role)
        return source, figures
    request, opened = open_structure(source, settings)
    figures = open_figures(source if data is None else data, settings, opened if data is None else None)
    for node, role in ((cause, "cause"), (target, "target")):
        figures.require(node, role)
    return run_once(request, opened, cause, depth), figures


def open_structure(source: Any, settings: Settings) -> tuple[Request, Source]:
    """Open what the structure is learned from; the arrows of a known graph are all known."""
    dag = source.dag if isinstance(source, Network) else source
    is_graph = isinstance(dag, Dag) or is_networkx(dag)
    if is_graph or is_oracle(source):  # how a table is read is meant for the data
        settings = _without_reading(settings)
    if is_graph:
        known = load_knowledge(settings.get("knowledge"))
        required = (*known.required, *Dag(dag).edges)
        settings = cast("Settings", {**settings, "knowledge": attrs.evolve(known, required=required)})
    request = Request.of(settings, caller="effect")
    return request, open_data(source, request)


def read_as(part: Part, data: Any, settings: Settings) -> Settings:
    """Return settings with which a table is read as it was when a part was learned from it."""
    is_read = is_opened(data) or isinstance(data, Source)
    if is_read or is_oracle(data):
        return settings
    known = {name: part.settings[name] for name in ("missing", "discretize", "weights") if name in part.settings}
    found = cast("Settings", {**known, **{name: value for name, value in settings.items() if value is not None}})
    if "discretize" not in found and "kinds" not in found:
        members = set(part.members)
        kinds = {one.name: one.kind for one in part.columns if one.name in members and not one.detail.endswith(", cut")}
        if kinds:
            _require_columns(part, kinds, data)
            found["kinds"] = kinds
    return found


def _require_columns(part: Part, needed: Collection[Node], data: Any) -> None:
    """Refuse a frame that lacks columns of a part; a path is not read for this."""
    try:
        there = frozenset(nodes_of(data))
    except PluginError:
        return
    gone = [node for node in needed if node not in there]
    if gone:
        whose = f"of the part around {part.target!r}"
        message = f"the table has no column {listing(gone)} {whose}; give the table that the part was learned from"
        raise DataError(message)


def _without_reading(settings: Settings) -> Settings:
    """Return the settings that do not say how a table is read."""
    return cast(
        "Settings", {name: value for name, value in settings.items() if name not in READING or name == "plugins"}
    )


def require_different(cause: Node, target: Node) -> None:
    """Refuse a question about one node."""
    check_target(cause, "cause")
    check_target(target)
    if cause == target:
        message = f"{cause!r} is named as cause and as target; name two different nodes"
        raise InvalidArgumentError(message)


def check_confidence(confidence: float) -> None:
    """Refuse a confidence that is no share."""
    if not (is_number(confidence) and 0 < confidence < 1):
        raise InvalidArgumentError(
            argument="confidence", value=confidence, advice="give a number between 0 and 1, such as 0.95"
        )


def _normal_quantile(confidence: float) -> float:
    from statistics import NormalDist

    return NormalDist().inv_cdf((1 + confidence) / 2)


def _t_quantile(confidence: float, freedom: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + confidence) / 2))
