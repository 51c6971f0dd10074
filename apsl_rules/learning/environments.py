"""Environments in a run: what comes first in its knowledge, and findings on what is made differently where.

Scores and tests see only that the level of a column differs between environments. Here each visited node is compared
by level, slopes and spread, given its neighbours; what was found of environments before gives way to that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import log

import attrs

from apsl_rules.data import Dataset
from apsl_rules.environments import LEAST, Changes, Environments, Explanation, OracleChanges, RowChanges, State, explain
from apsl_rules.errors import LimitReachedError
from apsl_rules.evidence import ENVIRONMENTS, GIVEN, Evidence, Verdict, log_p_of
from apsl_rules.learning.settings import Request
from apsl_rules.names import Node, count_of, in_order, listing, shown
from apsl_rules.notes import Note
from apsl_rules.oracles import Asker, Oracle
from apsl_rules.parts import Part, Visit
from apsl_rules.rules import (
    Fact,
    Finding,
    Mark,
    Rulebook,
    adjacent,
    arrow,
    barred,
    chain,
    collider,
    found_distances,
    gap,
    instead,
    ledger,
    left_open,
    spouse,
    untested,
)

#: No direction that environments tell is stated with more than this.
SUREST = 0.95
#: The level of the tests of changes, where no other is given.
LEVEL = 0.01
#: What was found of environments by tests and scores that see levels alone.
_REPLACED = frozenset(one.name for one in (adjacent, gap, chain, collider, spouse, untested, left_open, instead))


def told_by_environments(part: Part, asker: Asker, data: Dataset | None, request: Request) -> Told:
    """Return what rows say of environments; known graphs say it by their answers, and after a limit nobody asks."""
    environments = request.environments
    if environments is None or data is None or asker.perfect or part.incomplete is not None or not part.visits:
        return Told()
    try:
        return asker.stop.run(lambda: _tell(environments, part, asker, data, request.alpha or LEVEL))
    except LimitReachedError:
        return Told()


def _tell(environments: Environments, part: Part, oracle: Oracle, data: Dataset, alpha: float) -> Told:
    """Return what the rows say of environments around the visited nodes of a part."""
    environments.require_categories(data)
    visited = {visit.node for visit in part.visits}
    columns = [node for node in in_order(visited) if node not in environments.columns and node in data.place]
    told = Told()
    for environment in (one for one in in_order(environments.columns) if one in data.place):
        changes = _changes(environment, oracle, data, alpha)
        if changes is None:
            return attrs.evolve(told, notes=(*told.notes, _elsewhere(data)))
        others = [one for one in environments.columns if one != environment and one in data.place]
        found = {
            node: explain(node, [*_near(part, node, environments.columns), *in_order(others)], changes)
            for node in columns
        }
        targets = environments.targets.get(environment)
        known = {node for one in columns for node in _near(part, one, environments.columns)}
        for node in in_order(known.difference(columns)):
            explained = explain(node, _near(part, node, environments.columns), changes)
            if explained.state in (State.SAME, State.PASSED_ON):  # further neighbours could explain a change
                found[node] = explained
        told = told.joined(_Teller(part, environment, found, changes, environments.columns, targets).told())
    return told


def _elsewhere(data: Dataset) -> Note:
    words = (
        f"environments were compared by the levels of columns alone, since the rows stay in {data.kind}; take a sample "
        f"into memory to compare slopes and spreads"
    )
    return Note(words, "environment", "warning")


def _changes(environment: Node, oracle: Oracle, data: Dataset, alpha: float) -> Changes | None:
    if "counts" in data.can:
        return OracleChanges(oracle, environment)
    return RowChanges(data, environment, alpha) if "rows" in data.can else None


def _near(part: Part, node: Node, environments: Collection[Node]) -> Sequence[Node]:
    """Return the neighbours of a node that are no environments."""
    store = part.store
    pairs = (fact.nodes for fact in store.facts(adjacent) if node in fact.nodes)
    near = {one for pair in pairs for one in pair if one != node and store.mark(*pair) is not Mark.GAP}
    return in_order(near.difference(environments))


@attrs.frozen
class Told:
    """What the rows say of environments: findings, arrows that they prove, and the pairs that they replace."""

    findings: tuple[Finding, ...] = ()
    arrows: tuple[Finding, ...] = ()
    pairs: frozenset[tuple[Node, Node]] = frozenset()
    notes: tuple[Note, ...] = ()

    def joined(self, other: Told) -> Told:
        """Return both."""
        return Told(
            (*self.findings, *other.findings),
            (*self.arrows, *other.arrows),
            self.pairs | other.pairs,
            (*self.notes, *other.notes),
        )

    def into(self, part: Part, book: Rulebook, *, with_colliders: bool) -> Part:
        """Return a part in which these findings stand in the place of what was found of the same pairs."""
        kept: list[list[Finding]] = []
        for visit in part.visits:
            entries = part.history.entries[visit.begin : visit.end]
            fresh = [one for one in entries if isinstance(one, Finding)]
            kept.append([one for one in fresh if one.evidence.is_given or not self._replaces(one.fact)])
        gone = {one.fact for some in kept for one in some}
        mine = [one for one in (*self.findings, *self.arrows) if one.fact not in gone]
        mine = [one for one in mine if with_colliders or one.fact.relation != collider.name]
        found, visits = ledger(book, part.ledger.policy), list[Visit]()
        for place, visit in enumerate(part.visits):
            begin, is_last = len(found.history), place == len(part.visits) - 1
            found = found.with_findings([*kept[place], *mine] if is_last else kept[place])
            visits.append(Visit(visit.node, self._neighbours(visit), begin, len(found.history)))
        distances = found_distances(found, part.target, part.knowledge)
        return attrs.evolve(part, ledger=found, visits=tuple(visits), distances=distances)

    def _replaces(self, fact: Fact) -> bool:
        if fact.relation not in _REPLACED:
            return False
        nodes = fact.nodes
        return any((one, other) in self.pairs for one in nodes for other in nodes if one != other)

    def _neighbours(self, visit: Visit) -> tuple[Node, ...]:
        joined = {pair for one in self.findings if one.fact.relation == adjacent.name for pair in _both(one.fact.nodes)}
        near = {node for node in visit.neighbours if not any(pair in self.pairs for pair in _both((visit.node, node)))}
        near |= {one for one, other in joined if other == visit.node}
        return in_order(near)


def _both(nodes: tuple[Node, ...]) -> tuple[tuple[Node, Node], tuple[Node, Node]]:
    return (nodes[0], nodes[1]), (nodes[1], nodes[0])


@attrs.frozen
class _Teller:
    """Tells what the rows say of one environment: which columns are made differently, and what follows."""

    part: Part
    environment: Node
    found: Mapping[Node, Explanation]
    changes: Changes
    environments: tuple[Node, ...]
    targets: tuple[Node, ...] | None

    def told(self) -> Told:
        findings = [one for node in self.found for one in self._of_node(node)]
        arrows = [one for node in self.found for one in self._arrows_to(node)]
        tested = [node for node, one in self.found.items() if one.state is not State.UNTESTED]
        pairs = frozenset((self.environment, node) for node in tested)
        return Told(tuple(findings), tuple(arrows), pairs, tuple(self._notes()))

    def _is_made_differently(self, node: Node) -> bool:
        return node in self.targets if self.targets is not None else self.found[node].has_changed

    def _of_node(self, node: Node) -> Iterator[Finding]:
        """Tell whether the environment acts on a node, and what that says of the node's neighbours."""
        environment, one = self.environment, self.found[node]
        if one.state in (State.UNTESTED, State.SMALL):
            return
        if self.targets is None:
            yield self._edge(one) if one.has_changed else self._gap(one)
        elif not self._is_made_differently(node) and not one.has_changed:
            yield self._gap(one)
        if self._is_made_differently(node) and self.targets is None:
            why = self.part.knowledge.why_barred(node, environment) or ""
            yield Finding(barred.fact(node, environment), Evidence(GIVEN, note=why))
        if self._is_made_differently(node) or one.has_changed:
            return
        for other in _near(self.part, node, self.environments):
            if other in self.found and self._is_made_differently(other) and other not in one.given:
                opened = self.changes.test(node, [*one.given, other])
                if not opened.verdict.dependent or opened.is_small:
                    continue  # a change of the other that is hardly seen says nothing of its effects
                words = f"{shown(node)} is alike in all of {shown(environment)} unless {shown(other)} is given"
                verdicts = (one.proof.verdict, opened.verdict)
                evidence = Evidence(ENVIRONMENTS, verdicts, words, strength=_strength(opened.verdict))
                yield Finding(collider.fact(environment, other, node), evidence)

    def _edge(self, one: Explanation) -> Finding:
        words = f"{shown(one.column)} is made differently; none of {count_of(one.sets, 'set')} explains it away"
        evidence = Evidence(ENVIRONMENTS, (one.proof.verdict,), words)
        return Finding(adjacent.fact(self.environment, one.column), evidence)

    def _gap(self, one: Explanation) -> Finding:
        words = f"{shown(one.column)} is made alike everywhere"
        return Finding(gap.fact(self.environment, one.column), Evidence(ENVIRONMENTS, (one.proof.verdict,), words))

    def _arrows_to(self, node: Node) -> Iterator[Finding]:
        """Tell the causes of a node: the members of the smallest set that explains its difference away."""
        one = self.found[node]
        for cause in (other for other in one.causes if other not in self.environments):
            without = self.changes.test(node, [other for other in one.given if other != cause]).verdict
            words = (
                f"only {shown(self.environment)} tells: the smallest set that explains how {shown(node)} differs has "
                f"causes of it alone"
            )
            verdicts = (one.proof.verdict, without)
            yield Finding(arrow.fact(cause, node), Evidence(ENVIRONMENTS, verdicts, words, strength=_strength(without)))

    def _notes(self) -> Iterator[Note]:
        name = self.environment
        little = [node for node, one in self.found.items() if one.state is State.SMALL]
        if little and self.targets is None:
            words = f"{listing(little)} changed by little between levels of {shown(name)}, below {LEAST:g} nats a row"
            yield Note(words, "environment", columns=little)
        if self.targets is not None:
            for node in (one for one in self.targets if one in self.found and not self.found[one].has_changed):
                words = f"{shown(name)} is said to act on {shown(node)}, but no test sees that it does"
                yield Note(words, "intervention", "warning", columns=[name, node])
            more = [node for node, one in self.found.items() if one.has_changed and node not in self.targets]
            if more:
                words = f"{listing(more)} differ too between levels of {shown(name)}, and nothing explains that"
                yield Note(f"{words}; is it said to act on too little?", "intervention", "warning", columns=more)
        words = f"what {shown(name)} tells assumes that no column decides which of its levels a row is from"
        yield Note(words, "environment", columns=[name])


def _strength(verdict: Verdict | None) -> float:
    """Return how strong a direction is that rests on a dependence, up to a bound."""
    most = -log(1 - SUREST)
    return most if verdict is None else min(most, -log_p_of(verdict))
