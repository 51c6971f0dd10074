"""A whole graph by hill climbing among candidate edges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import attrs

from apsl_backends.learners.findings_from_graph import SOURCE, Output, draft_of, unseen
from apsl_backends.scores.bde import BDeu
from apsl_backends.scores.bde_from_counts import score_for
from apsl_backends.search.hill_climbing import climb
from apsl_rules.evidence import Verdict
from apsl_rules.names import Pair
from apsl_rules.plugins import Context, State


@attrs.frozen
class ClimbOptions:
    """The settings of a score and of a climb.

    ``ess`` and ``penalty`` are those of the score, ``tabu`` and ``patience`` those of the climb. ``candidates`` "lower"
    allows arrows to be added from later to earlier columns only, and turned arrows stay. ``output`` "dag" keeps every
    arrow of the graph found, "cpdag" only those that all equivalent graphs share.
    """

    ess: float = 10.0
    penalty: float | str = 0.0
    tabu: int = 100
    patience: int = 15
    candidates: Literal["all", "lower"] = "all"
    output: Output = "cpdag"


def score_of(context: Context, ess: float, penalty: float | str = 0.0) -> BDeu:
    """Make the score of a spec, with the nodes numbered in the order of the spec."""
    who = f"the learner {context.spec.name!r}"
    return score_for(context.data, who, ess=ess, penalty=penalty, order=context.spec.frontier.order)


def climb_graph(
    context: Context, state: State, score: BDeu, options: ClimbOptions, edges: Mapping[Pair, tuple[Verdict, ...]]
) -> State:
    """Climb among candidate edges, each with its verdicts, and return the state with the graph found."""
    unknown = unseen(score)
    pairs = [score.numbers(pair) for pair in edges if pair not in unknown]
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
    dag = score.dag(found.parents)
    draft = draft_of(dag, score, tested=edges, untested=untested, unknown=unknown, output=options.output)
    note = f"the whole graph scores {score.nats(found.score):.2f} nats ({SOURCE})"
    return state.told(*draft.visits(context.target), notes=[note])
