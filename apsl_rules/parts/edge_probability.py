"""Two probabilities of an edge: that it exists, and that its direction is right, given that it exists.

The evidence is the lead, in nats, of the graph found over its best rival. For an edge it is the lead of the finding
that the two nodes are adjacent. For a direction it is the least lead among all other findings that the proof of the
arrow rests on, and how many these are: each of them may be wrong. Both probabilities were fitted to simulated networks,
whose true graph is known, as logistic curves of ln(1 + lead) and ln(findings). A direction is right if the equivalence
class of the true graph has the same arrow; where that class leaves the direction open, every arrow counts as wrong.
A graph that is ahead of each single rival may still be behind all of them together, so a lead is worth less than its
nats say. ``tools/bench/calibration.py`` fits the curves and checks them on networks not used for the fit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from math import exp, log, log1p

import attrs

from apsl_rules.names import Node
from apsl_rules.rules import Fact, Finding, MarkStore, adjacent, arrow


@attrs.frozen
class Curve:
    """A logistic curve: the logit at no lead, and its change with ln(1 + nats) and with ln(findings)."""

    first: float
    growth: float
    loss: float = 0.0

    def at(self, lead: Lead) -> float:
        """Return the probability at a lead."""
        return 1 / (1 + exp(-(self.first + self.growth * log1p(lead.nats) + self.loss * log(lead.findings))))


@attrs.frozen
class Curves:
    """The curves of one score: for the existence of an edge and for its direction."""

    edge: Curve
    direction: Curve


@attrs.frozen
class Lead:
    """The least lead among findings, how many these are, and the score that told them."""

    score: str
    nats: float
    findings: int


#: The least probability of a direction for it to be drawn as an arrow. The curves are too low at their lower end: on
#: the benchmark sets three of four arrows with .3 to .5 were right, so a larger value would cost more than it saves.
DEFAULT_DIRECTION = 0.25

_CATEGORIES = Curves(edge=Curve(0.27, 0.58), direction=Curve(0.39, 0.88, -1.30))
_WITH_NUMBERS = Curves(edge=Curve(-0.40, 0.90), direction=Curve(-0.06, 1.85, -2.30))

#: The curves by the source of the evidence, which is the name of a score.
CURVES: Mapping[str, Curves] = {"BDe": _CATEGORIES, "BDeu": _CATEGORIES, "BIC": _WITH_NUMBERS}


def lead_of(findings: Iterable[Finding]) -> Lead | None:
    """Return the least lead of findings; None where one of them does not come from a score.

    What was given beforehand is certain and does not count; None where nothing else is left.
    """
    told = [finding.evidence for finding in findings if not finding.evidence.is_given]
    leads = [evidence.nats for evidence in told if evidence.nats is not None]
    if not told or len(leads) < len(told) or len({evidence.source for evidence in told}) > 1:
        return None
    return Lead(told[0].source, max(0.0, min(leads)), len(told))


def edge_probability(findings: Iterable[Finding]) -> float | None:
    """Return the probability that an edge exists, from the findings behind it; None where no known score tells them.

    >>> edge_probability(()) is None
    True
    """
    lead = lead_of(findings)
    return None if lead is None or lead.score not in CURVES else CURVES[lead.score].edge.at(lead)


def direction_probability(findings: Iterable[Finding]) -> float | None:
    """Return the probability that an arrow has the right direction; None where no known score tells its findings."""
    lead = lead_of(findings)
    return None if lead is None or lead.score not in CURVES else CURVES[lead.score].direction.at(lead)


class Grounds:
    """The findings behind the edges and arrows of a store, each gathered once however many arrows share it."""

    def __init__(self, store: MarkStore) -> None:
        self._store = store
        self._findings: dict[int, Finding] = {}
        self._behind: dict[int, frozenset[int]] = {}

    def of_edge(self, x: Node, y: Node) -> list[Finding]:
        """Return the findings behind an edge."""
        fact = adjacent.fact(x, y)
        return self._of(fact) if fact in self._store else []

    def of_direction(self, x: Node, y: Node) -> list[Finding]:
        """Return the findings behind the direction of an arrow: all but that of its edge."""
        edge = adjacent.fact(x, y)
        return [one for one in self._of(arrow.fact(x, y)) if one.fact != edge]

    def directions(self, arrows: Collection[tuple[Node, Node]]) -> dict[tuple[Node, Node], float]:
        """Return the probability of the direction of each arrow that has one."""
        known = {pair: direction_probability(self.of_direction(*pair)) for pair in arrows}
        return {pair: share for pair, share in known.items() if share is not None}

    def _of(self, fact: Fact) -> list[Finding]:
        """Return the findings behind a fact, in the order in which they were written."""
        last = self._store.reason_before(fact, len(self._store))
        open_entries = [last]
        while open_entries:
            place, reason = open_entries[-1]
            if place in self._behind:
                open_entries.pop()
            elif isinstance(reason, Finding):
                self._findings[place] = reason
                self._behind[place] = frozenset((place,))
            else:
                premises = [self._store.reason_before(one, place) for one in reason.premises]
                unseen = [one for one in premises if one[0] not in self._behind]
                open_entries += unseen
                if not unseen:
                    self._behind[place] = frozenset(at for one, _ in premises for at in self._behind[one])
        return [self._findings[at] for at in sorted(self._behind[last[0]])]
