"""Learning from a table where common causes may be hidden: by tests, and by the graph that a score finds best.

``surroundings`` says what is found near a core of nodes. The conflict policy ``ranked`` takes it up by its strength.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import attrs

from apsl_backends.learners.apsl_score import FindingsFromScores, findings_by_counts, findings_by_moments
from apsl_backends.learners.hidden.from_blankets import FindingsFromBlankets
from apsl_backends.learners.hidden.surroundings import Surroundings
from apsl_rules.data import MixedTable, Table
from apsl_rules.data.counts import CachedCounts
from apsl_rules.data.moments import MomentSource
from apsl_rules.names import Node
from apsl_rules.parts import Distances
from apsl_rules.plugins import Context, Findings, Searched, State, Visited, pick
from apsl_rules.rules import Knowledge


def findings_with_hidden(context: Context) -> Findings:
    """Return how the learner finds things out: by tests and scores on a table, otherwise by answers alone."""
    if isinstance(context.data, Table | CachedCounts):
        return FindingsFromTable(context, findings_by_counts(_scoring(context, "apsl-score")))
    if isinstance(context.data, MixedTable | MomentSource):
        return FindingsFromTable(context, findings_by_moments(_scoring(context, "apsl-mixed")))
    return FindingsFromBlankets(context)


def _scoring(context: Context, learner: str) -> Context:
    """Return the context in which another learner searches the scored graph, with what is known of its arrows."""
    spec = pick(context.plugins.learners, learner, "learner").spec
    given = context.knowledge
    return attrs.evolve(
        context,
        spec=spec,
        finder_settings=attrs.evolve(
            context.finder_settings, max_conditioning=spec.tests.max_conditioning, options=spec.options
        ),
        knowledge=Knowledge(required=given.required, tiers=given.tiers),
    )


class FindingsFromTable:
    """Learns the marks near the core anew each time that nodes join it."""

    whole = False

    def __init__(self, context: Context, scores: FindingsFromScores) -> None:
        self._context = context
        self._scores = scores

    def join(self, state: State, nodes: tuple[Node, ...]) -> State:
        """Return the state after a search around the core with some new nodes."""
        core = (*state.visited, *nodes)
        near = Surroundings(self._context, self._scores.around(core), core, self._scores.duplicates.groups)
        distances = Distances(self._context.target)
        for x, y in near.edges:
            distances.add(x, y)
        return state.searched(Searched(core, near.marks(), distances.of, partial(_tell, near)))


def _tell(near: Surroundings, compare: bool) -> tuple[Sequence[Visited], Sequence[str]]:  # noqa: ARG001, FBT001 - as the run asks
    """Return the visits to the core; what concerns several of its nodes is told at the last."""
    *before, last = near.core
    visits = [Visited(node, near.around(node), tuple(near.findings_at(node))) for node in before]
    rest = (*near.findings_at(last), *near.triples)
    return [*visits, Visited(last, near.around(last), rest)], near.notes
