"""What becomes of findings that contradict each other: a quarantine, or the stronger first."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import inf
from typing import Literal, TypeAlias, get_args

import attrs

from apsl_rules.evidence import Evidence, evidence_strength
from apsl_rules.names import Pair, in_order
from apsl_rules.rules.contradictions import Conflict, Outcome, is_consistent, shallowest, tears
from apsl_rules.rules.engine import Extension, compile_rulebook, extend
from apsl_rules.rules.proof import as_a_set, proof_of
from apsl_rules.rules.store import Mark, MarkStore
from apsl_rules.rules.vocabulary import (
    Fact,
    Finding,
    Rulebook,
    adjacent,
    collider,
    conflict,
    fact_key,
    gap,
    head,
    settled,
    untested,
)

_FIRST = (adjacent.name, gap.name, settled.name, untested.name)


def add_by_strength(
    rulebook: Rulebook, findings: Sequence[Finding], *, report: bool = True
) -> tuple[list[Finding], list[Conflict]]:
    """Return the findings that can be taken up, and if wanted a conflict with proofs for each that was left out."""
    program = compile_rulebook(rulebook)
    taken: list[Finding] = []
    conflicts: list[Conflict] = []
    state = program.start()
    waiting = [sorted(findings, key=_rank)]
    while waiting:
        batch = waiting.pop()
        held = len(state)
        outcome = extend(program, state, batch, stop=tears)
        state = outcome.store
        if not outcome.stopped:
            taken += batch
            continue
        if len(batch) > 1:
            half = len(batch) // 2
            waiting += [batch[half:], batch[:half]]
        elif report:
            conflicts.append(_conflict_of_finding(outcome, batch[0]))
        state = state.taken_back(held)
    return taken, conflicts


def _rank(finding: Finding) -> tuple[bool, bool, float, tuple[object, ...]]:
    evidence, fact = finding.evidence, finding.fact
    return not evidence.is_given, fact.relation not in _FIRST, -evidence_strength(evidence), fact_key(fact)


def _conflict_of_finding(extension: Extension, finding: Finding) -> Conflict:
    """Report that a finding contradicts what is held."""
    report = shallowest(extension)[0].report(extension.store, ())[0]
    return attrs.evolve(report, outcome=Outcome.LEFT_OUT, kept=(), dropped=(finding.fact,))


def untested_heads(store: MarkStore) -> list[Fact]:
    """Return the arrowheads on edges with two of them that neither a tested collider shows nor certain findings."""
    if head.name not in store.relations:
        return []
    tested = {end for fact in store.facts(collider) if _is_tested(store, fact) for end in _ends(fact)}
    return [
        fact
        for fact in sorted(store.facts(head), key=fact_key)
        if store.mark(*fact.nodes) is Mark.BIDIRECTED
        and fact not in tested
        and proof_of(store, fact).weakest_evidence < inf
    ]


def _ends(fact: Fact) -> Iterator[Fact]:
    x, middle, y = fact.nodes
    return (head.fact(middle, end) for end in (x, y))


def _is_tested(store: MarkStore, fact: Fact) -> bool:
    reason = store.reason(fact)
    return isinstance(reason, Finding) and any(verdict.dependent for verdict in reason.evidence.verdicts)


def open_untested_heads(rulebook: Rulebook, findings: Sequence[Finding]) -> tuple[MarkStore, list[Conflict]]:
    """Take the fixpoint without the arrowheads that would claim a hidden cause untested; report each of them."""
    program = compile_rulebook(rulebook)
    blocked: set[Fact] = set()
    conflicts: list[Conflict] = []
    while True:
        store = extend(program, program.start(), findings, blocked).store
        found = untested_heads(store)
        if not found:
            return store, conflicts
        blocked.update(found)
        conflicts += [_opened(store, fact, found) for fact in found]


def _opened(store: MarkStore, fact: Fact, found: Collection[Fact]) -> Conflict:
    x, y = fact.nodes
    pair = in_order((x, y))
    sides = (head.fact(*pair), head.fact(*reversed(pair)))
    proofs = tuple(proof_of(store, side) for side in sides)
    kept = () if head.fact(y, x) in found else (head.fact(y, x),)
    return Conflict((pair[0], pair[1]), "untested", Outcome.NO_ARROWHEAD, proofs, kept, dropped=(fact,))


Policy: TypeAlias = Literal["quarantine", "strongest", "ranked", "first", "last"]
Judging: TypeAlias = Literal["quarantine", "strongest", "ranked"]
POLICIES: tuple[Policy, ...] = get_args(Policy)


@attrs.frozen
class Settled:
    """What is left when all contradictions are settled, as ``store``, and the contradictions, as ``conflicts``."""

    store: MarkStore
    conflicts: tuple[Conflict, ...]


def needs_settling(store: MarkStore, policy: Judging) -> bool:
    """Return whether a policy has something to settle in what findings lead to."""
    return not is_consistent(store) or (policy == "ranked" and bool(untested_heads(store)))


def settle(rulebook: Rulebook, findings: Sequence[Finding], policy: Judging) -> Settled:
    """Take the fixpoint of a set of findings such that no contradiction is left."""
    if policy == "ranked":
        taken, left_out = add_by_strength(rulebook, as_a_set(findings))
        store, opened = open_untested_heads(rulebook, taken)
        return Settled(store, (*left_out, *opened))
    return _block(rulebook, findings, policy)


def settled_marks(rulebook: Rulebook, findings: Sequence[Finding], policy: Judging) -> MarkStore:
    """Return the marks that are left when all contradictions are settled, without a report of these."""
    program = compile_rulebook(rulebook)
    outcome = extend(program, program.start(), findings, stop=tears)
    if not outcome.stopped and not needs_settling(outcome.store, policy):
        return outcome.store
    if policy != "ranked":
        return settle(rulebook, findings, policy).store
    taken, _ = add_by_strength(rulebook, as_a_set(findings), report=False)
    return open_untested_heads(rulebook, taken)[0]


def _block(rulebook: Rulebook, findings: Sequence[Finding], policy: Literal["quarantine", "strongest"]) -> Settled:
    """Block contradicted marks until none is left."""
    program = compile_rulebook(rulebook)
    findings = as_a_set(findings)
    blocked: set[Fact] = set()
    conflicts: list[Conflict] = []
    undecided: list[Conflict] = []
    torn: set[Pair] = set()
    while True:
        outcome = extend(program, program.start(), findings, blocked)
        met = shallowest(outcome, torn)
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
        if not outcome.store.has_mark(*one.pair)
    ]
    return Settled(outcome.store.with_reasons(marked), tuple(conflicts))
