"""Facts, rules and the engine that fires them to a fixpoint; conflicts, proofs and background knowledge."""

from __future__ import annotations

from apsl_rules.rules.conflicts import POLICIES, Policy
from apsl_rules.rules.contradictions import Conflict, is_consistent, left_standing, marks_on
from apsl_rules.rules.cycles import cyclic_groups
from apsl_rules.rules.engine import Outcome, Program, compile_rulebook, count_firings, extend
from apsl_rules.rules.facts import (
    RELATIONS,
    Drop,
    Entry,
    Fact,
    Finding,
    Firing,
    Nodes,
    Reason,
    Relation,
    adjacent,
    arrow,
    barred,
    by_name,
    chain,
    collider,
    conflict,
    duplicate,
    gap,
    head,
    noncause,
    settled,
    spouse,
    untested,
    within,
    without,
)
from apsl_rules.rules.knowledge import NAMED, NOTHING, Knowledge
from apsl_rules.rules.ledger import Ledger, ledger
from apsl_rules.rules.proof import Proof, Step, proof_of, proof_of_reason, shortest_proofs
from apsl_rules.rules.ranked import LEFT_OUT
from apsl_rules.rules.repairs import Repair
from apsl_rules.rules.rule import Rule, Rulebook
from apsl_rules.rules.rulebooks import KNOWING, PAG, PAPER, SOUND, STEP_2, X, Y, Z, discriminates, knowing
from apsl_rules.rules.sequential import store_of
from apsl_rules.rules.store import End, Mark, MarkStore

__all__ = [
    "KNOWING",
    "LEFT_OUT",
    "NAMED",
    "NOTHING",
    "PAG",
    "PAPER",
    "POLICIES",
    "RELATIONS",
    "SOUND",
    "STEP_2",
    "Conflict",
    "Drop",
    "End",
    "Entry",
    "Fact",
    "Finding",
    "Firing",
    "Knowledge",
    "Ledger",
    "Mark",
    "MarkStore",
    "Nodes",
    "Outcome",
    "Policy",
    "Program",
    "Proof",
    "Reason",
    "Relation",
    "Repair",
    "Rule",
    "Rulebook",
    "Step",
    "X",
    "Y",
    "Z",
    "adjacent",
    "arrow",
    "barred",
    "by_name",
    "chain",
    "collider",
    "compile_rulebook",
    "conflict",
    "count_firings",
    "cyclic_groups",
    "discriminates",
    "duplicate",
    "extend",
    "gap",
    "head",
    "is_consistent",
    "knowing",
    "ledger",
    "left_standing",
    "marks_on",
    "noncause",
    "proof_of",
    "proof_of_reason",
    "settled",
    "shortest_proofs",
    "spouse",
    "store_of",
    "untested",
    "within",
    "without",
]
