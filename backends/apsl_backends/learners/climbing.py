"""A whole graph by hill climbing among candidate edges, and the part cut out of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import attrs

from apsl_backends.learners.findings_from_graph import SOURCE, Output, draft_of
from apsl_backends.scores.bde import BDeu, Order
from apsl_backends.scores.score_for import score_behind
from apsl_backends.search.hill_climbing import climb
from apsl_rules.evidence import Verdict
from apsl_rules.learning import Assembly
from apsl_rules.names import Pair
from apsl_rules.parts import Part
from apsl_rules.plugins import Task


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


def task_score(
    task: Task, ess: float, price: float | str = 0.0, leaning: float = 0.0, order: Order | None = None
) -> BDeu:
    """Make the score that a task's spec asks for, with the nodes numbered as the spec says unless told otherwise."""
    who = f"the learner {task.spec.name!r}"
    order = order or task.spec.frontier.order
    return score_behind(task.oracle, who, ess=ess, price=price, order=order, leaning=leaning)


def climbed_part(task: Task, score: BDeu, options: ClimbOptions, edges: Mapping[Pair, tuple[Verdict, ...]]) -> Part:
    """Climb among candidate edges, each with the verdicts behind it, and cut the asked part out of the graph found."""
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
    assembly = Assembly(task)
    verdicts = (verdict for node in task.oracle.nodes for verdict in task.oracle.untested(node))
    untested = frozenset(frozenset((verdict.x, verdict.y)) for verdict in verdicts).difference(edges)
    draft = draft_of(score.dag(found.parents), score, tested=edges, untested=untested, output=options.output)
    draft.tell(assembly, task.target)
    note = f"the whole graph scores {score.nats(found.score):.2f} nats ({SOURCE})"
    return attrs.evolve(assembly.part(), notes=(note,))
