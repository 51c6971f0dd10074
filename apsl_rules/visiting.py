"""A visit to a node: asks for its neighbourhood and tells the rules what was found.

A visit to A settles its neighbours, then asks one question of every unshielded triple that A takes part in, as the
middle (X - A - Y, Step 2 of the paper) or as an end (A - B - C, Step 1): is the middle in the separator of the ends,
and if not, does adding it make them dependent? In the separator: a ``chain``. Not in it and dependent: a V-structure,
told as ``collider`` from the middle and as ``spouse`` from the end. Otherwise nothing is said of the triple.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations
from typing import Any

from apsl_rules.facts import Evidence, Fact, Finding, Relation, adjacent, chain, collider, gap, settled, spouse
from apsl_rules.names import Node
from apsl_rules.neighbours import Neighbours
from apsl_rules.oracle import Oracle, Separation, Verdict
from apsl_rules.spec import FindingSpec, Separators


class Visitor:
    """Turns a visit into findings, as a spec says."""

    def __init__(
        self,
        oracle: Oracle,
        neighbours: Neighbours,
        spec: FindingSpec,
        *,
        order: Callable[[Node], Any],
        max_conditioning: int | None,
    ) -> None:
        self._oracle = oracle
        self._neighbours = neighbours
        self._spec = spec
        self._order = order
        self._max_conditioning = max_conditioning

    def visit(self, node: Node) -> list[Finding]:
        """Give everything that a visit to a node finds, each fact once."""
        around = self._sorted(self._neighbours.of(node))
        found = _Found(self._oracle.name)
        found.tell(settled, (node,), note=f"{len(around)} neighbours")
        for other in around:
            self._tell_edge(found, node, other)
        if self._spec.spouses != "none":
            self._look_past(found, node, around)
        if self._spec.colliders != "none":
            self._look_between(found, node, around)
        return list(found.findings.values())

    def _look_past(self, found: _Found, node: Node, around: tuple[Node, ...]) -> None:
        """Step 1 (lines 21-26): ask of each node beyond a neighbour whether it shares that neighbour as a child."""
        self._neighbours.prepare(around)
        for middle in around:
            for other in self._sorted(self._neighbours.candidates(middle).members):
                if other == node or other in around:
                    continue
                separation = self._separation(node, other, self._spec.spouses)
                if separation is None:
                    continue
                kind, verdicts = self._triple(node, middle, other, separation)
                found.tell(gap, (node, other), verdicts[:1])
                if kind is chain:
                    found.tell(chain, (node, middle, other), verdicts)
                elif kind is collider and self._neighbours.linked(middle, other):
                    self._tell_edge(found, middle, other)
                    found.tell(spouse, (node, middle, other), verdicts)

    def _look_between(self, found: _Found, node: Node, around: tuple[Node, ...]) -> None:
        """Step 2 (lines 28-36): ask of each pair of neighbours whether the node is a collider between them."""
        for x, y in combinations(around, 2):
            separation = self._separation(x, y, self._spec.colliders)
            if separation is not None:
                kind, verdicts = self._triple(x, node, y, separation)
                found.tell(gap, (x, y), verdicts[:1])
                if kind is not None:
                    found.tell(kind, (x, node, y), verdicts)
            elif self._spec.colliders == "stored" and self._neighbours.linked(x, y):
                self._tell_edge(found, x, y)

    def _triple(
        self, x: Node, middle: Node, y: Node, separation: Separation
    ) -> tuple[Relation | None, tuple[Verdict, ...]]:
        """Ask the one question of an unshielded triple; the verdict that separates its ends comes first."""
        apart = () if separation.verdict is None else (separation.verdict,)
        given = separation.given or ()
        if middle in given:
            return (chain if self._spec.chains else None), apart
        verdict = self._oracle.verdict(x, y, (*given, middle))
        accepted = verdict.dependent or (verdict.decision == "unreliable" and self._spec.unreliable == "accept")
        return (collider if accepted else None), (*apart, verdict)

    def _separation(self, x: Node, y: Node, source: Separators) -> Separation | None:
        """Give what separates two nodes, from where the spec takes it."""
        ends = ((x, y),) if source.endswith("first") else ((x, y), (y, x))
        for end, other in ends:
            if source.startswith("stored"):
                separation = self._neighbours.candidates(end).separation(other)
            else:
                pool = [one for one in self._sorted(self._neighbours.of(end)) if one != other]
                separation = self._oracle.separator(end, other, pool, max_size=self._max_conditioning)
            if separation is not None and separation.found:
                return separation
        return None

    def _sorted(self, nodes: Iterable[Node]) -> tuple[Node, ...]:
        return tuple(sorted(nodes, key=self._order))

    def _tell_edge(self, found: _Found, x: Node, y: Node) -> None:
        found.tell(adjacent, (x, y), self._neighbours.evidence(x, y), "no set tried separates them")


class _Found:
    """The findings of one visit, each fact once."""

    def __init__(self, source: str) -> None:
        self._source = source
        self.findings: dict[Fact, Finding] = {}

    def tell(
        self, relation: Relation, nodes: tuple[Node, ...], verdicts: tuple[Verdict, ...] = (), note: str = ""
    ) -> None:
        """Add a finding unless the fact is told already."""
        fact = relation.fact(*nodes)
        if fact not in self.findings:
            self.findings[fact] = Finding(fact, Evidence(self._source, verdicts, note))
