"""Contradictions between findings, and the policies that settle them without hiding them.

On data, findings can contradict each other: a pair gets both arrows, arrows close a cycle, an edge is found and
found absent. ``quarantine`` blocks every contradicted pair and takes the fixpoint again from the findings alone,
those with the shallowest proofs first; ``strongest`` blocks only the side with the weaker evidence, and what was given
as background knowledge outranks every test. Both depend on the set of findings, not on its order. ``first`` and
``last`` keep the arrow that came first or last.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Literal, TypeAlias, get_args

import attrs

from apsl_rules.evidence import Evidence, evidence_strength
from apsl_rules.names import Node, Pair, in_order, shown
from apsl_rules.rules.cycles import cyclic_groups, shortest_path
from apsl_rules.rules.engine import Outcome, compile_rulebook, extend
from apsl_rules.rules.facts import Fact, Finding, adjacent, arrow, conflict, fact_key, gap
from apsl_rules.rules.proof import Proof, as_a_set, proof_of
from apsl_rules.rules.repairs import Repair, find_repairs
from apsl_rules.rules.rule import Rulebook
from apsl_rules.rules.store import MarkStore

Policy: TypeAlias = Literal["quarantine", "strongest", "first", "last"]
POLICIES: tuple[Policy, ...] = get_args(Policy)


@attrs.frozen
class Conflict:
    """A contradiction on a pair: its kind, what was done about it, and the proofs of all sides."""

    pair: tuple[Node, Node]
    kind: Literal["opposed", "cycle", "edge"]
    outcome: str
    proofs: tuple[Proof, ...]

    def __str__(self) -> str:
        kinds = {
            "opposed": "both directions are proved",
            "cycle": "the arrow closes a directed cycle",
            "edge": "found adjacent and found apart",
        }
        return f"{shown(self.pair[0])} and {shown(self.pair[1])}: {kinds[self.kind]}; {self.outcome}"

    def repairs(self, findings: Iterable[Finding] = ()) -> tuple[Repair, ...]:
        """Return the least sets of findings without which the contradiction would not arise, the most doubtful first.

        The findings of its own proofs are looked at; with ``findings``, such as ``part.findings``, all other ways to
        prove its sides are too.
        """
        own = (finding for proof in self.proofs for finding in proof.findings)
        return find_repairs([proof.fact for proof in self.proofs], (*own, *findings))


@attrs.frozen
class Settled:
    """The fixpoint that is left when all contradictions are settled, and the contradictions."""

    store: MarkStore
    conflicts: tuple[Conflict, ...]


def is_consistent(store: MarkStore) -> bool:
    """Return whether a store holds no opposed arrows, no directed cycle and no edge that is also a gap."""
    if any(store.relates(gap, *fact.nodes) for fact in store.facts(adjacent)):
        return False
    return not cyclic_groups([fact.nodes for fact in store.facts(arrow)])


def settle(rulebook: Rulebook, findings: Sequence[Finding], policy: Literal["quarantine", "strongest"]) -> Settled:
    """Take the fixpoint of a set of findings, blocking contradicted arrows until none is left."""
    program = compile_rulebook(rulebook)
    findings = as_a_set(findings)
    blocked: set[Fact] = set()
    conflicts: list[Conflict] = []
    undecided: list[Conflict] = []
    torn: set[Pair] = set()
    while True:
        outcome = extend(program, program.start(), findings, blocked)
        met = _shallowest(outcome, torn)
        if not met:
            break
        for contradiction in met:
            losers = contradiction.losers(outcome.store, policy)
            blocked.update(losers)
            if contradiction.kind == "edge":
                torn.update(frozenset(fact.nodes) for fact in contradiction.sides)
            reports = contradiction.report(outcome.store, losers)
            conflicts += reports
            undecided += [] if contradiction.kind == "edge" and losers.intersection(contradiction.sides) else reports
    marked = [
        Finding(conflict.fact(*one.pair), Evidence("conflict", note=str(one)))
        for one in undecided
        if not outcome.store.has_arrow(*one.pair) and not outcome.store.has_arrow(*reversed(one.pair))
    ]
    return Settled(outcome.store.with_reasons(marked), tuple(conflicts))


def left_standing(store: MarkStore) -> tuple[Conflict, ...]:
    """Return the directed cycles and torn edges that an order-dependent run left as they are."""
    torn = [
        _Contradiction("edge", (fact, gap.fact(*fact.nodes)))
        for fact in sorted(store.facts(adjacent), key=fact_key)
        if gap.fact(*fact.nodes) in store
    ]
    arrows = sorted(store.facts(arrow), key=fact_key)
    groups = cyclic_groups([fact.nodes for fact in arrows])
    cycles = [
        _Contradiction("cycle", tuple(fact for fact in arrows if group.issuperset(fact.nodes))) for group in groups
    ]
    reports = [report for one in (*torn, *cycles) for report in one.report(store, ())]
    return tuple(attrs.evolve(report, outcome="left as it is") for report in reports)


@attrs.frozen
class _Contradiction:
    """Facts that cannot all hold."""

    kind: Literal["opposed", "cycle", "edge"]
    sides: tuple[Fact, ...]

    def losers(self, store: MarkStore, policy: Literal["quarantine", "strongest"]) -> set[Fact]:
        """Return the facts to block: all arrows on the contradicted pairs, or the weakest side only."""
        arrows = {Fact(arrow.name, nodes) for side in self.sides for nodes in (side.nodes, side.nodes[::-1])}
        if policy == "quarantine":
            return arrows
        strengths = {side: _strength(store, side) for side in self.sides}
        weakest = min(strengths.values())
        losers = {side for side, strength in strengths.items() if strength == weakest}
        if self.kind != "edge":
            return losers
        if len(losers) > 1:  # neither an edge nor a gap is the better told
            return arrows
        return losers | arrows if adjacent.fact(*self.sides[0].nodes) in losers else losers

    def _text(self, store: MarkStore, side: Fact) -> str:
        if self.kind == "edge":
            return "the edge" if side.relation == adjacent.name else "the gap"
        return store.relations[arrow.name].text(side.nodes)

    def report(self, store: MarkStore, losers: Collection[Fact]) -> list[Conflict]:
        """Return a conflict for each pair concerned, with the proof of each side."""
        if self.kind != "cycle":
            kept = [side for side in self.sides if side not in losers]
            outcome = f"kept {self._text(store, kept[0])}" if len(kept) == 1 else "no arrow is drawn"
            x, y = in_order(self.sides[0].nodes)
            return [Conflict((x, y), self.kind, outcome, tuple(proof_of(store, side) for side in self.sides))]
        reports = []
        for side in self.sides:
            tail, head = side.nodes
            back = [Fact(arrow.name, step) for step in shortest_path(head, tail, [one.nodes for one in self.sides])]
            proofs = tuple(proof_of(store, one) for one in (side, *back))
            outcome = "no arrow is drawn" if side in losers else f"kept {store.relations[arrow.name].text(side.nodes)}"
            x, y = in_order(side.nodes)
            reports.append(Conflict((x, y), "cycle", outcome, proofs))
        return reports


def _strength(store: MarkStore, side: Fact) -> tuple[float, bool]:
    """Rank a side by its weakest finding, and what was given above all else.

    The edge that an arrow lies on is not in question between arrows, so its own finding does not count.
    """
    findings = proof_of(store, side).findings
    deciding = [one for one in findings if one.fact != adjacent.fact(*side.nodes)] or findings
    return min(evidence_strength(one.evidence) for one in deciding), all(one.evidence.is_given for one in deciding)


def _shallowest(outcome: Outcome, torn: Collection[Pair]) -> list[_Contradiction]:
    """Return the contradictions with the shallowest proofs, all of one depth and kind together."""
    store, depths = outcome.store, outcome.depths()
    edges = [
        _Contradiction("edge", (fact, gap.fact(*fact.nodes)))
        for fact in store.facts(adjacent)
        if gap.fact(*fact.nodes) in store and frozenset(fact.nodes) not in torn
    ]
    if edges:
        return sorted(edges, key=lambda one: fact_key(one.sides[0]))
    arrows = sorted(store.facts(arrow), key=fact_key)
    opposed: dict[int, list[_Contradiction]] = {}
    for fact in arrows:
        against = Fact(arrow.name, fact.nodes[::-1])
        if against in store and fact_key(fact) < fact_key(against):
            depth = max(depths.get(fact, 0), depths.get(against, 0))
            opposed.setdefault(depth, []).append(_Contradiction("opposed", (fact, against)))
    first = min(opposed, default=None)
    for depth in sorted({depths.get(fact, 0) for fact in arrows}):
        if first is not None and depth >= first:
            return opposed[first]
        shallow = [fact for fact in arrows if depths.get(fact, 0) <= depth]
        groups = cyclic_groups([fact.nodes for fact in shallow])
        if groups:
            return [
                _Contradiction("cycle", tuple(fact for fact in shallow if group.issuperset(fact.nodes)))
                for group in groups
            ]
    return []
