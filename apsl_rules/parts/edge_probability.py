"""The probability that an edge is right: how often edges with this much evidence are.

The evidence is the lead, in nats, of the graph found over its best rival, taken where it is least among the findings
that the proof of the edge rests on, and how many these are: each of them may be wrong. The probability was fitted to
simulated networks, whose true graph is known: the probability of being right is a logistic curve of
ln(1 + lead) and ln(findings), one for arrows and one for lines. A graph that is ahead of each single rival may still be
behind all of them together, so a lead is worth less than its nats say.
``tools/bench/calibration.py`` fits the curves and checks them on networks not used for the fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, log, log1p

from apsl_rules.rules import Mark, Proof

#: For each mark, the logit of being right at no lead, and what it changes by with ln(1 + nats) and with ln(findings).
CURVES: Mapping[Mark, tuple[float, float, float]] = {Mark.ARROW: (-0.31, 0.87, -0.74), Mark.LINE: (-0.68, 0.32, 0.0)}


def lead_of(proof: Proof) -> float | None:
    """Return the least lead among the findings of a proof in nats; None where a finding does not come from a score."""
    leads = [finding.evidence.nats for finding in proof.findings]
    known = [lead for lead in leads if lead is not None]
    return max(0.0, min(known)) if known and len(known) == len(leads) else None


def probability_of(mark: Mark, proof: Proof) -> float | None:
    """Return the probability that an edge with this mark and proof is right, where scores were asked.

    >>> from apsl_rules.rules import Proof
    >>> probability_of(Mark.LINE, Proof(())) is None
    True
    """
    lead = lead_of(proof)
    if lead is None or mark not in CURVES:
        return None
    first, growth, loss = CURVES[mark]
    return 1 / (1 + exp(-(first + growth * log1p(lead) + loss * log(len(proof.findings)))))
