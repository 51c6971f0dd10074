"""APSL refined by scores: tests say who may matter near the target, a search by score says what the part is."""

from __future__ import annotations

import attrs

from apsl_backends.learners.ball import Ball, Balls, Pairs
from apsl_backends.learners.climbing import task_score
from apsl_backends.learners.duplicate_columns import Copies
from apsl_backends.learners.findings_from_scores import Leads, leads_of, tell_ball
from apsl_backends.scores.bde import Order
from apsl_backends.search.rounds import MOST_PARENTS, Effort
from apsl_rules.errors import InvalidArgumentError, LimitReachedError, SpecError
from apsl_rules.evidence import Verdict
from apsl_rules.learning import Assembly
from apsl_rules.names import Node
from apsl_rules.neighbours import Neighbours
from apsl_rules.parts import Part
from apsl_rules.plugins import Task, build, pick


@attrs.frozen
class RefinedOptions:
    """The settings of a ball search.

    ``radius`` is how many steps from candidate to candidate the ball reaches around its core. ``pairs`` says which
    pairs of the ball the search may join: "all", those with an end nearer than the radius ("inner"), or those at the
    core and those of a candidate ("candidates"). ``ess``, ``leaning`` and ``price`` (for each parent) are those of the
    score. ``rounds``, ``tabu`` and ``patience`` say how hard to search.
    """

    radius: int = 2
    pairs: Pairs = "all"
    ess: float = 15.0
    leaning: float = 0.5
    price: float | str = "columns+2"
    max_parents: int = MOST_PARENTS
    rounds: int = 8
    tabu: int = 100
    patience: int = 100

    def __attrs_post_init__(self) -> None:
        ranges = (
            ("radius", self.radius, 1, 9),
            ("max_parents", self.max_parents, 1, MOST_PARENTS),
            ("rounds", self.rounds, 0, 99),
            ("tabu", self.tabu, 1, 999),
            ("patience", self.patience, 1, 999),
        )
        for name, value, least, most in ranges:
            if not least <= value <= most:
                message = f"the option {name!r} is {value!r}; give a whole number from {least} to {most}"
                raise SpecError(message)


def learn_refined(task: Task) -> Part:
    """Learn the part around the target from the best class of graphs over the nodes near it."""
    options = build(RefinedOptions, task.spec.options, f"spec {task.spec.name!r}, options")
    if task.oracle.kept is not None:
        message = f"the learner {task.spec.name!r} searches by scores in memory; leave out counts, or take 'apsl'"
        raise InvalidArgumentError(message)
    order: Order = "content" if task.spec.frontier.order == "name" else "column"
    score = task_score(task, options.ess, options.price, options.leaning, order)
    assembly = Assembly(task)
    copies = Copies.among(task.oracle.table)
    seeing = attrs.evolve(task.finder_settings, hidden=copies.hidden)
    finder = pick(task.plugins.finders, task.spec.neighbours.finder, "finder").make(task.oracle, seeing)
    neighbours = Neighbours(finder, symmetric=task.spec.neighbours.symmetry == "both", threads=task.threads)
    balls = Balls(
        score,
        lambda node: score.numbers(copies.around(score.nodes[node], neighbours.of)),
        radius=options.radius,
        pairs=options.pairs,
        effort=Effort(options.max_parents, options.rounds, options.tabu, options.patience),
        limits=task.oracle.within_limits,
    )

    def tested(x: Node, y: Node, are_joined: bool) -> tuple[Verdict, ...]:  # noqa: FBT001 - one of two kinds of pair
        if are_joined:
            return tuple(one for one in neighbours.evidence(x, y) if one.dependent)
        known = [neighbours.candidates(one).separation(other) for one, other in ((x, y), (y, x))
                 if one in neighbours.computed]  # fmt: skip
        return tuple(one.verdict for one in known if one is not None and one.verdict is not None)[:1]

    try:
        ball = balls.around(score.number[task.target], task.depth)
        leads = leads_of(ball, book=balls.book, max_parents=options.max_parents)
    except LimitReachedError as limit:
        return assembly.part(f"stopped at {limit} before the part was settled; nothing is learned yet")
    scored = frozenset(score.nodes[one] for one in ball.found.members) if options.pairs == "all" else frozenset()
    tell_ball(assembly, ball, score, leads, tested=tested, scored=scored)
    nats = score.nats(ball.found.gain)
    width = len(ball.found.members)
    note = (
        f"the best graph found over {width} nodes near {task.target} is {nats:.2f} nats ahead of no edge ({score.name})"
    )
    return attrs.evolve(assembly.part(), notes=(note, *_bounds(ball, leads, int(balls.book.tried[1]))))


def _bounds(ball: Ball, leads: Leads, most: int) -> tuple[str, ...]:
    """Say what searches left out because they compared as many moves as they may."""
    notes = []
    width = len(ball.found.members)
    if not ball.found.finished:
        notes.append(
            f"the search over {width} nodes ended after {most:,} moves compared, before all were; there may be a "
            "better graph, so take edges and missing edges with care, or choose fewer columns"
        )
    unsought = sum(lead is not None and not lead.sought for lead in leads.values())
    if unsought:
        notes.append(
            f"{unsought} of {len(leads)} findings were not compared with rivals, since {most:,} moves were "
            "compared before; such edges have no lead, and such gaps and V-structures are left open"
        )
    return tuple(notes)
