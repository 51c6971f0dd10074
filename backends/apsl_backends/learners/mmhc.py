"""MMHC (Tsamardinos, Brown, Aliferis 2006): a hill climb among the neighbours that MMPC finds.

Tests say who may be adjacent; the score says who is, and in which direction. The published code differs from the paper
in three ways, which ``mmhc-paper`` repeats: one end's word is enough for an edge, the tests run at 0.05, and the matrix
of candidates is cut to its lower triangle, so that arrows can be added from later to earlier columns only.
"""

from __future__ import annotations

from apsl_backends.learners.climbing import ClimbOptions, climbed_part, task_score
from apsl_rules.errors import LimitReachedError
from apsl_rules.evidence import Verdict
from apsl_rules.learning import Assembly
from apsl_rules.names import Pair, in_order
from apsl_rules.neighbours import Neighbours
from apsl_rules.parts import Part
from apsl_rules.plugins import Task, build, pick


def learn_mmhc(task: Task) -> Part:
    """Learn the whole graph and cut out the asked part."""
    options = build(ClimbOptions, task.spec.options, f"spec {task.spec.name!r}, options")
    score = task_score(task, options.ess, options.price)
    try:
        edges = _candidate_edges(task)
    except LimitReachedError as limit:
        return Assembly(task).part(f"stopped at {limit} before all candidates were known; nothing is learned yet")
    try:
        return climbed_part(task, score, options, edges)
    except LimitReachedError as limit:
        return Assembly(task).part(f"stopped at {limit} before the graph was complete; nothing is learned yet")


def _candidate_edges(task: Task) -> dict[Pair, tuple[Verdict, ...]]:
    """Find the pairs that the spec's finder takes for neighbours: in the view of both ends, or of either."""
    nodes, spec = task.oracle.nodes, task.spec.neighbours
    finder = pick(task.plugins.finders, spec.finder, "finder").make(task.oracle, task.finder_settings)
    neighbours = Neighbours(finder, symmetric=spec.symmetry == "both", threads=task.threads)
    neighbours.prepare(nodes)
    pairs = {frozenset((node, other)) for node in nodes for other in neighbours.of(node)}
    return {pair: neighbours.evidence(*in_order(pair)) for pair in pairs}
