"""Evidence: where a finding comes from, and how strong that is."""

from __future__ import annotations

from math import exp, inf, log, log1p

import attrs

from apsl_rules.evidence.verdicts import Verdict
from apsl_rules.names import Node

#: The source of background knowledge.
GIVEN = "given"
#: The source of what is told of pairs that too few rows speak for.
ROWS = "rows"


@attrs.frozen
class Evidence:
    """Where a finding comes from: the source's name, the verdicts behind it, and what they amount to in words.

    ``nats`` is how far the scored graph with the finding is ahead of the best one without it, where scores were asked.
    ``strength`` is how strong it is all in all, where its source has more to go by than the weakest verdict.

    Attributes
    ----------
    source
        The name of the test or score, or "given".
    verdicts
        The tests behind the finding.
    note
        What they amount to, in words.
    """

    source: str
    verdicts: tuple[Verdict, ...] = ()
    note: str = ""
    nats: float | None = None
    strength: float | None = None

    @property
    def is_given(self) -> bool:
        """Return whether it is background knowledge."""
        return self.source == GIVEN

    @property
    def separator(self) -> tuple[Node, ...] | None:
        """Return the separating set, if the finding rests on one."""
        return next((verdict.given for verdict in self.verdicts if verdict.independent), None)


def evidence_strength(evidence: Evidence) -> float:
    """Return how strong evidence is: minus the log of the probability that its weakest verdict is wrong.

    That probability is p for "dependent" and 1 - p for "independent". With a lead in nats over the best rival it is
    1 / (1 + exp(nats)), and tests do not count. Evidence without any of these (a known graph, what the user gave) is
    infinitely strong. A source may say itself how strong its evidence is.
    """
    if evidence.strength is not None:
        return evidence.strength
    if evidence.nats is not None:
        return _log_sum(evidence.nats)
    return min((_verdict_strength(verdict) for verdict in evidence.verdicts), default=inf)


def _log_sum(nats: float) -> float:
    """Return the log of 1 + exp(nats), also where that is beyond the largest float."""
    return max(nats, 0.0) + log1p(exp(-abs(nats)))


def _verdict_strength(verdict: Verdict) -> float:
    if verdict.p is None:
        return inf if verdict.decision != "unreliable" else 0.0
    if verdict.independent:
        return -log1p(-verdict.p) if verdict.p < 1 else inf
    if verdict.log_p is not None:
        return -verdict.log_p
    return -log(verdict.p) if verdict.p > 0 else inf
