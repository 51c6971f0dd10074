"""How little it takes for a conclusion to fall: the fragility of arrows, and repairs of contradictions.

An arrow falls at the alpha or the lead at which a finding of its proof would not be told. A contradiction falls with a
set of findings: each of its proofs must lose one of them (Reiter 1987, "A theory of diagnosis from first principles").
Findings are taken away until the sides no longer follow all together, smallest sets first; the proofs that are met on
the way say which findings to try.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from apsl_rules._documents import label
from apsl_rules.evidence import evidence_strength, evidence_text, times
from apsl_rules.names import Node, order_key, shown
from apsl_rules.rules import (
    KNOWING,
    PAG,
    RELATIONS,
    Conflict,
    Fact,
    Finding,
    Proof,
    Rulebook,
    as_a_set,
    fact_key,
    head,
    knowing,
    proof_of,
    shortest_proofs,
)

if TYPE_CHECKING:
    from apsl_rules.parts.part import Part


@attrs.frozen
class Fragility:
    """What takes an arrow away, by the figures in its shortest proof.

    A test that found dependence would not below ``alpha_below``; one that found independence would not from
    ``alpha_above`` on. ``lead`` is how many nats the weakest scored finding is ahead of its best rival. Each is None
    where the proof has no such figure. ``finding`` is the weakest finding of the proof; without one that can fall, as
    in a known graph, nothing takes the arrow away.

    Attributes
    ----------
    tail, head
        The two ends of the arrow.
    strength
        The strength of the weakest finding.
    direction_probability
        How often a direction with this much evidence is right; None where no scores were asked.
    """

    tail: Node
    head: Node
    alpha_below: float | None
    alpha_above: float | None
    lead: float | None
    strength: float
    finding: Finding | None
    direction_probability: float | None = None

    def __str__(self) -> str:
        falls = []
        if self.lead is not None:
            falls.append(f"if rivals become {times(self.lead)} as probable ({self.lead:.3g} nats)")
        if self.alpha_below is not None:
            falls.append(f"below alpha {self.alpha_below:.3g}")
        if self.alpha_above is not None:
            falls.append(f"from alpha {self.alpha_above:.3g} on")
        told = ", or ".join(falls) if falls else "never: its proof has no figure"
        return f"{shown(self.tail)} -> {shown(self.head)} falls {told}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "from": label(self.tail),
            "to": label(self.head),
            "alpha_below": self.alpha_below,
            "alpha_above": self.alpha_above,
            "lead": self.lead,
            "finding": None if self.finding is None else evidence_text(self.finding.evidence),
        }


def fragility_of(part: Part) -> tuple[Fragility, ...]:
    """Return how fragile each arrow of a part is, the weakest first."""
    found = [_of_arrow(tail, head, part.why(tail, head)) for tail, head in part.arrows]
    return tuple(sorted(found, key=lambda one: (one.strength, order_key(one.tail), order_key(one.head))))


def _of_arrow(tail: Node, head: Node, proof: Proof) -> Fragility:
    findings = [one for one in proof.findings if not one.evidence.is_given]
    tested = [one for one in findings if one.evidence.nats is None]
    verdicts = [verdict for one in tested for verdict in one.evidence.verdicts if verdict.p is not None]
    below = [float(one.p) for one in verdicts if one.dependent and one.p is not None]
    above = [float(one.p) for one in verdicts if one.independent and one.p is not None]
    leads = [float(one.evidence.nats) for one in findings if one.evidence.nats is not None]
    weakest = min(findings, key=lambda one: evidence_strength(one.evidence), default=None)
    return Fragility(
        tail,
        head,
        max(below, default=None),
        min(above, default=None),
        min(leads, default=None),
        float("inf") if weakest is None else evidence_strength(weakest.evidence),
        weakest,
        proof.direction_probability,
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
