"""What background knowledge tells a run, at the moment when the run meets the nodes that it is about.

Required edges are told as soon as one of their ends is met, nodes known to be apart when one of them is visited, and a
barred direction when its edge is found. So a run hears only what concerns it, however long the tiers are, and a proof
names exactly the knowledge that it rests on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from apsl_rules.evidence import GIVEN, Evidence
from apsl_rules.names import Node, in_order
from apsl_rules.rules import Fact, Finding, Knowledge, Relation, adjacent, arrow, barred, gap


@attrs.frozen
class Givens:
    """The knowledge of one run, and what was told of it so far: each fact is told once."""

    knowledge: Knowledge
    told: frozenset[Fact] = frozenset()

    def about(self, node: Node, findings: Sequence[Finding]) -> tuple[Givens, list[Finding]]:
        """Return what is known of a visited node, of the nodes found around it and of the edges between them.

        The first value is the knowledge with all of this told.
        """
        if not self.knowledge:
            return self, []
        edges = [one.fact.nodes for one in findings if one.fact.relation == adjacent.name]
        edges += self.knowledge.required_at(node)
        met = {node, *(end for edge in edges for end in edge)}
        apart = [(node, other) for other in self.knowledge.apart_from(node)]
        given = [_finding(gap, pair, self.knowledge.why_apart(*pair)) for pair in apart]
        for one in in_order(met):
            for required in self.knowledge.required_at(one):
                given += [_finding(adjacent, required), _finding(arrow, required)]
                edges.append(required)
        given += self._directions(edges)
        fresh = {one.fact: one for one in given if one.fact not in self.told}
        return Givens(self.knowledge, self.told.union(fresh)), list(fresh.values())

    def _directions(self, edges: Iterable[tuple[Node, ...]]) -> list[Finding]:
        """Return the directions that found edges may not have."""
        given = []
        for x, y in edges:
            if self.knowledge.why_apart(x, y) is None:
                directions = ((tail, head, self.knowledge.why_barred(tail, head)) for tail, head in ((x, y), (y, x)))
                given += [_finding(barred, (tail, head), why) for tail, head, why in directions if why is not None]
        return given


def _finding(relation: Relation, nodes: tuple[Node, ...], note: str | None = None) -> Finding:
    return Finding(relation.fact(*nodes), Evidence(GIVEN, note=note or ""))
