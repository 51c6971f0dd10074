"""A whole graph by hill climbing among candidate edges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import attrs

from apsl_backends.learners.findings_from_graph import SOURCE, Output, draft_of
from apsl_backends.scores.bde import BDeu
from apsl_backends.scores.score_for import score_for
from apsl_backends.search.hill_climbing import climb
from apsl_rules.evidence import Verdict
from apsl_rules.names import Pair
from apsl_rules.plugins import Context, State


@attrs.frozen
class ClimbOptions:
    """The settings of a score and of a climb.

    ``ess`` and ``price`` are those of the score, ``tabu`` and ``patience`` those of the climb. ``candidates`` "lower"
    lets arrows be added from later to earlier columns only, and those once turned stay. ``output`` "dag" draws every
    arrow of the graph found, "cpdag" only those that all graphs with the same score share.
    """

    ess: float = 10.0
    price: float | str = 0.0
    tabu: int = 100
    patience: int = 15
    candidates: Literal["all", "lower"] = "all"
    output: Output = "cpdag"


def score_of(context: Context, ess: float, price: float | str = 0.0) -> BDeu:
    """Make the score that a spec asks for, with the nodes numbered as the spec says."""
    who = f"the learner {context.spec.name!r}"
    return score_for(context.data, who, ess=ess, price=price, order=context.spec.frontier.order)


def climb_graph(
    context: Context, state: State, score: BDeu, options: ClimbOptions, edges: Mapping[Pair, tuple[Verdict, ...]]
) -> State:
    """Climb among candidate edges, each with the verdicts behind it, and tell the graph found."""
    pairs = [score.numbers(pair) for pair in edges]
    arrows = {(later, earlier) for earlier, later in pairs}
    if options.candidates == "all":
        arrows.update((earlier, later) for earlier, later in pairs)
    found = climb(
        score,
        range(len(score.nodes)),
        candidates=arrows,
        tabu=options.tabu,
        patience=options.patience,
        turn_any=options.candidates == "lower",
    )
    verdicts = (verdict for node in context.asker.nodes for verdict in context.asker.untested(node))
    untested = frozenset(frozenset((verdict.x, verdict.y)) for verdict in verdicts).difference(edges)
    draft = draft_of(score.dag(found.parents), score, tested=edges, untested=untested, output=options.output)
    note = f"the whole graph scores {score.nats(found.score):.2f} nats ({SOURCE})"
    return state.told(*draft.visits(context.target), notes=[note])
