"""The policies that settle contradictions between findings without hiding them.

``quarantine`` blocks every contradicted pair and takes the fixpoint again from the findings alone, those with the
shallowest proofs first; ``strongest`` blocks only the side with the weaker evidence, and what was given as background
knowledge outranks every test. ``ranked`` takes up the findings themselves, the strongest first, and leaves out those
that contradict what it has. All three depend on the set of findings, not on its order. ``first`` and ``last`` keep the
arrow that came first or last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

import attrs

from apsl_rules.evidence import Evidence
from apsl_rules.names import Pair
from apsl_rules.rules.contradictions import Conflict, is_consistent, shallowest, tears
from apsl_rules.rules.engine import compile_rulebook, extend
from apsl_rules.rules.facts import Fact, Finding, conflict
from apsl_rules.rules.proof import as_a_set
from apsl_rules.rules.ranked import add_by_strength, open_untested_heads, untested_heads
from apsl_rules.rules.rule import Rulebook
from apsl_rules.rules.store import MarkStore

Policy: TypeAlias = Literal["quarantine", "strongest", "ranked", "first", "last"]
Judging: TypeAlias = Literal["quarantine", "strongest", "ranked"]
POLICIES: tuple[Policy, ...] = get_args(Policy)


@attrs.frozen
class Settled:
    """The fixpoint that is left when all contradictions are settled, and the contradictions."""

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
