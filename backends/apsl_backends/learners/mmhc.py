"""MMHC (Tsamardinos, Brown, Aliferis 2006): a hill climb among the neighbours that MMPC finds.

Tests find pairs that may be adjacent; the score decides which are, and in which direction. The published code differs
from the paper in three points, which ``mmhc-paper`` repeats: it is enough that one end of an edge finds the other, the
tests run at 0.05, and the matrix of candidates is reduced to its lower triangle, so that arrows can only be added from
later to earlier columns.
"""

from __future__ import annotations

from apsl_backends.learners.climbing import ClimbOptions, climb_graph, score_of
from apsl_rules.evidence import Verdict
from apsl_rules.names import Node, Pair, in_order
from apsl_rules.neighbours import Neighbours
from apsl_rules.plugins import Context, State, build, pick


class MmhcFindings:
    """Learns the whole graph at once."""

    whole = True

    def __init__(self, context: Context) -> None:
        self._context = context
        self._options = build(ClimbOptions, context.spec.options, f"spec {context.spec.name!r}, options")

    def join(self, state: State, nodes: tuple[Node, ...]) -> State:  # noqa: ARG002 - all nodes are learned together
        """Return the state after the whole graph was learned."""
        score = score_of(self._context, self._options.ess, self._options.penalty)
        return climb_graph(self._context, state, score, self._options, _candidate_edges(self._context))


def _candidate_edges(context: Context) -> dict[Pair, tuple[Verdict, ...]]:
    """Find the pairs in which both ends, or either end, find the other with the spec's finder."""
    nodes, spec = context.asker.nodes, context.spec.neighbours
    finder = pick(context.plugins.finders, spec.finder, "finder").make(context.asker, context.finder_settings)
    neighbours = Neighbours(finder, symmetric=spec.symmetry == "both", threads=context.threads)
    neighbours.prepare(nodes)
    pairs = {frozenset((node, other)) for node in nodes for other in neighbours.of(node)}
    return {pair: neighbours.evidence(*in_order(pair)) for pair in pairs}
