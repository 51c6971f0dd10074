"""Two probabilities of an edge: that it exists, and that its direction is right, given that it exists.

The evidence for an edge is the lead, in nats, of the finding that its two nodes are adjacent: how far the graph found
is ahead of its best rival. It counts for more where tests found the nodes dependent too, and for less where many edges
end at them. The evidence for a direction is the least lead among all other findings that the proof of the arrow rests
on, and how many of these no test supports: each of them may be wrong. An arrow for which there are several reasons is
surer than one that rests on a single V-structure.

A direction is right if the equivalence class of the true graph has the same arrow; where that class leaves the
direction open, every arrow counts as wrong. A graph that is ahead of each single rival may still be behind all of them
together, so a lead is worth less than its nats say. ``probability_curves`` has the curves from evidence to probability,
which were fitted to simulated networks, whose true graph is known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from math import log, log1p

import attrs

from apsl_rules.names import Node
from apsl_rules.parts.probability_curves import CURVES
from apsl_rules.rules import Fact, Finding, MarkStore, adjacent, arrow, collider

#: A larger lead than this makes no direction surer: what is wrong then is not the sample, but the search or the score.
MOST_NATS = 8.0


@attrs.frozen
class Lead:
    """The least lead among findings, how many these are, and the score that told them."""

    score: str
    nats: float
    findings: int


@attrs.frozen
class EdgeEvidence:
    """What speaks for an edge: its lead, tests that found its ends dependent, and the edges at both ends."""

    lead: Lead
    tests: int
    degree: int

    @property
    def terms(self) -> Mapping[str, float]:
        """Return the terms of a curve."""
        return {"lead": log1p(self.lead.nats), "tests": log1p(self.tests), "degree": log(self.degree)}

    @property
    def probability(self) -> float | None:
        """Return how often such an edge exists; None where the score has no curves."""
        curves = CURVES.get(self.lead.score)
        return None if curves is None else curves.edge.at(self.terms)


@attrs.frozen
class DirectionEvidence:
    """What speaks for a direction.

    ``lead`` is the least among the findings of its proof but that of the edge, ``untested`` is how many of these no
    test supports, ``reasons`` how many rules give the arrow, and ``degree`` how many edges are at both ends.
    """

    lead: Lead
    untested: int
    reasons: int
    degree: int

    @property
    def terms(self) -> Mapping[str, float]:
        """Return the terms of a curve."""
        return {
            "lead": log1p(self.lead.nats),
            "capped lead": log1p(min(self.lead.nats, MOST_NATS)),
            "findings": log(self.lead.findings),
            "untested": log1p(self.untested),
            "reasons": log(self.reasons),
            "degree": log(self.degree),
        }

    @property
    def probability(self) -> float | None:
        """Return how often such a direction is right; None where the score has no curves."""
        curves = CURVES.get(self.lead.score)
        return None if curves is None else curves.direction.at(self.terms)


def lead_of(findings: Iterable[Finding]) -> Lead | None:
    """Return the least lead of findings; None where one of them does not come from a score.

    What was given beforehand is certain and does not count; None where nothing else is left.

    >>> lead_of(()) is None
    True
    """
    told = [finding.evidence for finding in findings if not finding.evidence.is_given]
    leads = [evidence.nats for evidence in told if evidence.nats is not None]
    if not told or len(leads) < len(told) or len({evidence.source for evidence in told}) > 1:
        return None
    return Lead(told[0].source, max(0.0, min(leads)), len(told))


class Grounds:
    """The evidence behind the edges and arrows of a store; findings that arrows share are gathered once."""

    def __init__(self, store: MarkStore) -> None:
        self._store = store
        self._findings: dict[int, Finding] = {}
        self._behind: dict[int, frozenset[int]] = {}

    def edge(self, x: Node, y: Node) -> EdgeEvidence | None:
        """Return the evidence for an edge; None where no score tells it."""
        behind = self.of_edge(x, y)
        lead = lead_of(behind)
        if lead is None:
            return None
        tests = sum(verdict.dependent for finding in behind for verdict in finding.evidence.verdicts)
        return EdgeEvidence(lead, tests, self._degree(x, y))

    def direction(self, x: Node, y: Node) -> DirectionEvidence | None:
        """Return the evidence for the direction of an arrow; None where no score tells it."""
        behind = self.of_direction(x, y)
        lead = lead_of(behind)
        if lead is None:
            return None
        untested = sum(not one.evidence.verdicts and not one.evidence.is_given for one in behind)
        return DirectionEvidence(lead, untested, self._reasons(x, y), self._degree(x, y))

    def of_edge(self, x: Node, y: Node) -> list[Finding]:
        """Return the findings behind an edge."""
        fact = adjacent.fact(x, y)
        return self._of(fact) if fact in self._store else []

    def of_direction(self, x: Node, y: Node) -> list[Finding]:
        """Return the findings behind the direction of an arrow: all but that of its edge."""
        edge = adjacent.fact(x, y)
        return [one for one in self._of(arrow.fact(x, y)) if one.fact != edge]

    def directions(self, arrows: Collection[tuple[Node, Node]]) -> dict[tuple[Node, Node], float]:
        """Return the probability of the direction of each arrow that has one."""
        found = {pair: self.direction(*pair) for pair in arrows}
        known = {pair: evidence.probability for pair, evidence in found.items() if evidence is not None}
        return {pair: share for pair, share in known.items() if share is not None}

    @cached_property
    def _neighbours(self) -> Mapping[Node, frozenset[Node]]:
        around: dict[Node, set[Node]] = {}
        for fact in (*self._store.facts(adjacent), *self._store.facts(arrow)):
            x, y = fact.nodes
            around.setdefault(x, set()).add(y)
            around.setdefault(y, set()).add(x)
        return {node: frozenset(others) for node, others in around.items()}

    @cached_property
    def _parents(self) -> Mapping[Node, frozenset[Node]]:
        found: dict[Node, set[Node]] = {}
        for tail, head in self._store.arrows:
            found.setdefault(head, set()).add(tail)
        return {node: frozenset(others) for node, others in found.items()}

    @cached_property
    def _colliders(self) -> Counter[tuple[Node, Node]]:
        """Return how many V-structures have each arrow."""
        triples = (fact.nodes for fact in self._store.facts(collider))
        return Counter((end, middle) for one, middle, other in triples for end in (one, other))

    def _degree(self, x: Node, y: Node) -> int:
        """Return how many edges are at both ends of an edge, which counts at each."""
        return max(2, sum(len(self._neighbours.get(node, ())) for node in (x, y)))

    def _reasons(self, x: Node, y: Node) -> int:
        """Return how many reasons there are for an arrow x -> y.

        These are V-structures at y, arrows into x from nodes that are not adjacent to y, and directed paths over a
        third node.
        """
        into, through = self._parents.get(x, frozenset()), self._parents.get(y, frozenset())
        continued = len(into - self._neighbours.get(y, frozenset()) - {y})
        shortcuts = sum(x in self._parents.get(middle, ()) for middle in through)
        return max(1, self._colliders[x, y] + continued + shortcuts)

    def _of(self, fact: Fact) -> list[Finding]:
        """Return the findings behind a fact, in the order in which they were written."""
        last = self._store.reason_before(fact, len(self._store))
        open_entries = [last]
        while open_entries:
            place, reason = open_entries[-1]
            if place in self._behind:
                open_entries.pop()
            elif isinstance(reason, Finding):
                self._findings[place] = reason
                self._behind[place] = frozenset((place,))
            else:
                premises = [self._store.reason_before(one, place) for one in reason.premises]
                unseen = [one for one in premises if one[0] not in self._behind]
                open_entries += unseen
                if not unseen:
                    self._behind[place] = frozenset(at for one, _ in premises for at in self._behind[one])
        return [self._findings[at] for at in sorted(self._behind[last[0]])]
