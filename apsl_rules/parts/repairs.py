"""Repairs of a contradiction: the least sets of findings without which it would not arise.

Each proof of the contradiction rests on findings, and every proof must lose one of them (Reiter 1987, "A theory of
diagnosis from first principles"). Findings are taken away until the sides no longer follow all together, smallest sets
first; the proofs that are met on the way say which findings to try.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from apsl_rules.evidence import evidence_strength, evidence_text
from apsl_rules.names import shown
from apsl_rules.rules import (
    KNOWING,
    PAG,
    RELATIONS,
    Conflict,
    Fact,
    Finding,
    Rulebook,
    as_a_set,
    fact_key,
    head,
    knowing,
    proof_of,
    shortest_proofs,
)

#: How many sets are tried at most, and how large they get.
MOST_TRIED, LARGEST = 2000, 3


@attrs.frozen
class Repair:
    """Findings that, if all of them were wrong, would leave no contradiction; weakest evidence first.

    Attributes
    ----------
    findings
        The findings, those with the weakest evidence first.
    """

    findings: tuple[Finding, ...]

    @property
    def strength(self) -> float:
        """Return the strength of the strongest of the findings, which is what has to be doubted."""
        return max(evidence_strength(one.evidence) for one in self.findings)

    def __str__(self) -> str:
        return "; ".join(f"{_text(one.fact)}   [{evidence_text(one.evidence)}]" for one in self.findings)


def _text(fact: Fact) -> str:
    """Return a fact in words, or by the name of its relation if a plugin brought it."""
    known = {one.name: one for one in RELATIONS}
    if fact.relation in known:
        return known[fact.relation].text(fact.nodes)
    return f"{fact.relation}({', '.join(map(shown, fact.nodes))})"


def repairs_of(conflict: Conflict, findings: Iterable[Finding]) -> tuple[Repair, ...]:
    """Return the repairs of a conflict by the findings of its proofs, and by further ones."""
    own = (finding for proof in conflict.proofs for finding in proof.findings)
    has_heads = any(step.fact.relation == head.name for proof in conflict.proofs for step in proof.steps)
    rulebook = knowing(PAG) if has_heads else KNOWING
    return find_repairs([proof.fact for proof in conflict.proofs], (*own, *findings), rulebook)


def find_repairs(
    sides: Sequence[Fact], findings: Iterable[Finding], rulebook: Rulebook = KNOWING
) -> tuple[Repair, ...]:
    """Return the least sets of findings without which not all of some facts follow, the most doubtful first.

    What the user gave is not put in question as long as something else can be.
    """
    known = {one.fact: one for one in as_a_set(findings)}
    tried = [fact for fact, one in known.items() if not one.evidence.is_given] or list(known)
    allowed = frozenset(tried)
    level: list[frozenset[Fact]] = [frozenset()]
    found: list[frozenset[Fact]] = []
    steps = 0
    for _ in range(LARGEST + 1):
        further: dict[frozenset[Fact], None] = {}
        for gone in level:
            steps += 1
            if steps > MOST_TRIED or any(one <= gone for one in found):
                continue
            grounds = _grounds(rulebook, sides, [one for fact, one in known.items() if fact not in gone])
            if grounds is None:
                found.append(gone)
            else:
                further.update({gone | {fact}: None for fact in sorted(grounds & allowed, key=fact_key)})
        level = list(further)
        if found:
            break
    repairs = (
        Repair(tuple(sorted((known[fact] for fact in one), key=lambda one: evidence_strength(one.evidence))))
        for one in found
        if one
    )
    return tuple(sorted(repairs, key=lambda one: (one.strength, [fact_key(finding.fact) for finding in one.findings])))


def _grounds(rulebook: Rulebook, sides: Sequence[Fact], findings: Sequence[Finding]) -> frozenset[Fact] | None:
    """Return the findings that prove all sides, or None if not all follow."""
    store = shortest_proofs(rulebook, findings)
    if not all(side in store for side in sides):
        return None
    return frozenset(one.fact for side in sides for one in proof_of(store, side).findings)
