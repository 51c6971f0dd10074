"""How little it takes for an arrow to fall: the alpha or the lead at which a finding of its proof would not be told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from apsl_rules._documents import label
from apsl_rules.evidence import evidence_strength, evidence_text
from apsl_rules.names import Node, order_key, shown
from apsl_rules.rules import Finding, Proof

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
            falls.append(f"if rivals gain {self.lead:.3g} nats")
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
