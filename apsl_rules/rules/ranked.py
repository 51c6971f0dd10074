"""The policy ``ranked``: findings are taken up by their strength, and those that contradict what is held are left out.

What was given comes first, then what says who is adjacent, then all else, the strongest first. Many are tried at once,
and halved where they contradict. So the result is that of taking them up one by one. A try ends with the round of rules
in which the contradiction arises, and is taken back: what it costs is what it added.

An edge with two arrowheads says that a cause is hidden, which is a strong claim to rest on a long proof from uncertain
findings. So each of its arrowheads must be that of a collider which a test has shown, or be certain. Others are opened.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import inf

from apsl_rules.evidence import evidence_strength
from apsl_rules.names import in_order
from apsl_rules.rules.contradictions import Conflict, shallowest, tears
from apsl_rules.rules.engine import Outcome, compile_rulebook, extend
from apsl_rules.rules.facts import Fact, Finding, adjacent, collider, fact_key, gap, head, settled, untested
from apsl_rules.rules.proof import proof_of
from apsl_rules.rules.rule import Rulebook
from apsl_rules.rules.store import Mark, MarkStore

_FIRST = (adjacent.name, gap.name, settled.name, untested.name)
#: How the outcome of a conflict begins whose finding was not taken up.
LEFT_OUT = "left out that "


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
            conflicts.append(_conflict(outcome, batch[0]))
        state = state.taken_back(held)
    return taken, conflicts


def _rank(finding: Finding) -> tuple[bool, bool, float, tuple[object, ...]]:
    evidence, fact = finding.evidence, finding.fact
    return not evidence.is_given, fact.relation not in _FIRST, -evidence_strength(evidence), fact_key(fact)


def _conflict(outcome: Outcome, finding: Finding) -> Conflict:
    """Report that a finding contradicts what is held."""
    store = outcome.store
    contradiction = shallowest(outcome)[0]
    text = store.relations[finding.fact.relation].text(finding.fact.nodes)
    return _with_outcome(contradiction.report(store, ())[0], f"{LEFT_OUT}{text}")


def _with_outcome(conflict: Conflict, outcome: str) -> Conflict:
    return Conflict(conflict.pair, conflict.kind, outcome, conflict.proofs)


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
    other = "nor at the other end" if head.fact(y, x) in found else "the one at the other end stays"
    text = store.relations[head.name].text(fact.nodes)
    outcome = f"no arrowhead is drawn for {text}, {other}"
    return Conflict((pair[0], pair[1]), "untested", outcome, tuple(proof_of(store, side) for side in sides))
