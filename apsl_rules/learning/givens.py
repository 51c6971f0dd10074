"""Background knowledge as a run meets it: each fact is told when the nodes that it is about are found.

Required edges are told as soon as one of their ends is met, nodes known to be apart when one of them is visited, and a
barred direction when its edge is found. So a run hears only what concerns it, however long the tiers are, and a proof
names exactly the knowledge that it rests on.

With hidden causes a tier says more than that: a later node is no cause of an earlier one, not even through others.
Where all these others are in tiers, the edges between them say it all. Where some are in no tier, it is told of the
nodes in tiers around them. What is forbidden is told of any two nodes that are met.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs

from apsl_rules.evidence import GIVEN, Evidence
from apsl_rules.names import Node, in_order
from apsl_rules.rules import Fact, Finding, Knowledge, Relation, adjacent, arrow, barred, gap, noncause


@attrs.frozen
class Givens:
    """The knowledge of one run, and what was told of it so far: each fact is told once.

    With ``hidden`` causes two nodes can be adjacent although neither may cause the other; ``near`` has the edges by
    which one may cause another through others.
    """

    knowledge: Knowledge
    told: frozenset[Fact] = frozenset()
    hidden: bool = False
    near: Mapping[Node, frozenset[Node]] = attrs.field(factory=dict)

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
        reasons = [(pair, self.knowledge.why_apart(*pair, hidden=self.hidden)) for pair in apart]
        given = [_finding(gap, pair, why) for pair, why in reasons if why is not None]
        for one in in_order(met):
            for required in self.knowledge.required_at(one):
                given += [_finding(adjacent, required), _finding(arrow, required)]
                edges.append(required)
        given += self._directions(edges)
        near = _with_edges(self.near, edges) if self.hidden else self.near
        if self.hidden:
            given += self._noncauses(near, met)
        fresh = {one.fact: one for one in given if one.fact not in self.told}
        return attrs.evolve(self, told=self.told.union(fresh), near=near), list(fresh.values())

    def _noncauses(self, near: Mapping[Node, frozenset[Node]], met: Iterable[Node]) -> Iterator[Finding]:
        """Tell which nodes are no causes of others, where nodes in no tier may lie between them."""
        known = self.knowledge
        for tail, head in known.forbidden:
            if tail in near and head in near:
                yield _finding(noncause, (tail, head))
        seen: set[Node] = set()
        for node in in_order(met):
            if node in seen or known.tier_of(node) is not None:
                continue
            between = _beyond_tiers(known, near, node)
            seen |= between
            around = in_order({one for inner in between for one in near.get(inner, ())} - between)
            for late in around:
                for early in around:
                    if late != early and (why := known.why_barred(late, early)):
                        yield _finding(noncause, (late, early), why)

    def _directions(self, edges: Iterable[tuple[Node, ...]]) -> list[Finding]:
        """Return the directions that found edges may not have."""
        given = []
        for x, y in edges:
            if self.knowledge.why_apart(x, y, hidden=self.hidden) is None:
                directions = ((tail, head, self.knowledge.why_barred(tail, head)) for tail, head in ((x, y), (y, x)))
                given += [_finding(barred, (tail, head), why) for tail, head, why in directions if why is not None]
        return given


def _finding(relation: Relation, nodes: tuple[Node, ...], note: str | None = None) -> Finding:
    return Finding(relation.fact(*nodes), Evidence(GIVEN, note=note or ""))


def _with_edges(near: Mapping[Node, frozenset[Node]], edges: Iterable[tuple[Node, ...]]) -> dict[Node, frozenset[Node]]:
    joined = dict(near)
    for x, y in edges:
        joined[x] = joined.get(x, frozenset()) | {y}
        joined[y] = joined.get(y, frozenset()) | {x}
    return joined


def _beyond_tiers(known: Knowledge, near: Mapping[Node, frozenset[Node]], start: Node) -> set[Node]:
    """Return the nodes in no tier that edges between such nodes join to one of them."""
    seen = {start}
    ahead = [start]
    while ahead:
        fresh = [one for one in near.get(ahead.pop(), ()) if one not in seen and known.tier_of(one) is None]
        seen.update(fresh)
        ahead += fresh
    return seen
