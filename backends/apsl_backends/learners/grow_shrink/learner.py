"""GSBN: the structure of a whole network from the blankets of all its nodes.

First the skeleton is found, node by node. Then every pair of neighbours X, Y of a node A that are not adjacent is
tested: if a set with A in it separates them, A is no collider between them; if none does, it is one.
"""

from __future__ import annotations

from itertools import combinations

from apsl_backends.learners.grow_shrink.growing import GrowShrinkOptions
from apsl_backends.learners.grow_shrink.skeleton import Skeleton
from apsl_backends.learners.grow_shrink.turning import arrows_to_turn
from apsl_rules.learning import finding_of
from apsl_rules.learning.findings import FindingList
from apsl_rules.names import Node, count_of, in_order, shown
from apsl_rules.plugins import Context, State, Visited, build
from apsl_rules.rules import adjacent, arrow, chain, collider, gap, settled


class GrowShrinkFindings:
    """Reports the skeleton node by node, and all triples with the last node."""

    whole = True

    def __init__(self, context: Context) -> None:
        spec, nodes = context.spec, context.asker.nodes
        self._options = build(GrowShrinkOptions, spec.options, f"spec {spec.name!r}, options")
        self._findings = spec.findings
        self._oracle = context.asker
        self._nodes = in_order(nodes) if spec.frontier.order == "name" else nodes
        limit = context.finder_settings.max_conditioning
        self._skeleton = Skeleton(context.asker, self._nodes, self._options, limit)

    def join(self, state: State, nodes: tuple[Node, ...]) -> State:
        """Return the state after a visit to the first of some nodes in the order of the spec."""
        node = next(one for one in self._nodes if one in nodes)
        found = FindingList(self._oracle.name)
        self._tell_edges(found, node)
        if node == self._nodes[-1]:
            self._tell_triples(found)
        return state.told(Visited(node, self._skeleton.neighbours(node), tuple(found.findings)))

    def _tell_edges(self, found: FindingList, node: Node) -> None:
        around = self._skeleton.neighbours(node)
        found.add(settled, (node,), note=count_of(len(around), "neighbour"))
        for other in self._skeleton.blanket(node):
            separation = self._skeleton.separation(node, other)
            verdicts = () if separation.verdict is None else (separation.verdict,)
            if separation.found:
                found.add(gap, (node, other), verdicts)
            else:
                found.add(adjacent, (node, other), verdicts, "no set tried separates them")
        for verdict in self._skeleton.undecided(node):
            found.take(finding_of(verdict, self._oracle))

    def _tell_triples(self, found: FindingList) -> None:
        triples = FindingList(self._oracle.name)
        for node in self._nodes:
            for x, y in combinations(self._skeleton.neighbours(node), 2):
                if not self._skeleton.linked(x, y):
                    self._tell_triple(triples, x, node, y)
        if self._options.cycles == "turn":
            met = [finding.fact.nodes for finding in triples.findings if finding.fact.relation == collider.name]
            for tail, head in arrows_to_turn({(end, middle) for x, middle, y in met for end in (x, y)}):
                note = f"turned round, since {shown(tail)} -> {shown(head)} closes the most cycles"
                found.add(arrow, (head, tail), note=note)
        for finding in triples.findings:
            found.take(finding)

    def _tell_triple(self, found: FindingList, x: Node, middle: Node, y: Node) -> None:
        separation = self._skeleton.separation_with(x, middle, y)
        verdict = separation.verdict
        if separation.found:
            if self._findings.chains:
                found.add(chain, (x, middle, y), () if verdict is None else (verdict,))
        elif verdict is not None or self._findings.unreliable == "accept":
            apart = self._skeleton.separation(x, y).verdict if y in self._skeleton.blanket(x) else None
            found.add(collider, (x, middle, y), tuple(one for one in (apart, verdict) if one is not None))
