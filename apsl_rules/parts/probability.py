"""How probable an edge and its direction are, and which arrows are drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from math import exp, log, log1p
from typing import Any, Literal, TypeAlias, cast

import attrs

from apsl_rules.errors import InvalidArgumentError
from apsl_rules.evidence import ENVIRONMENTS, OPINION, SHAPES, Verdict
from apsl_rules.names import Node, is_number, nearest, order_key, spelt
from apsl_rules.notes import named
from apsl_rules.rules import Fact, Finding, MarkStore, adjacent, arrow, collider, duplicate

#: A least probability of a direction: a number, or one that has a name.
LeastDirection: TypeAlias = float | Literal["precise"]


@attrs.frozen
class Curve:
    """A logistic curve: the logit where all terms are 0, and its change with each term, by name."""

    first: float
    weights: Mapping[str, float]

    def at(self, terms: Mapping[str, float]) -> float:
        """Return the probability for the terms of some evidence."""
        return 1 / (1 + exp(-self.first - sum(weight * terms[name] for name, weight in self.weights.items())))


@attrs.frozen
class Curves:
    """The curves of one score: for the existence of an edge and for its direction.

    ``is_shared`` says that duplicate columns share the probability of an edge. Duplicate numbers are mostly powers or
    ranks of one column, whose edge it is by any name.
    """

    edge: Curve
    direction: Curve
    is_shared: bool = False


_CATEGORIES = Curves(
    edge=Curve(1.40, {"lead": 0.67, "tests": 2.39, "degree": -1.22}),
    direction=Curve(0.45, {"capped lead": 1.67, "findings": -0.93, "reasons": 0.77, "accepted": 0.39, "rows": 0.19}),
    is_shared=True,
)
_WITH_NUMBERS = Curves(
    edge=Curve(-0.40, {"lead": 0.90}),
    direction=Curve(-0.06, {"lead": 1.85, "findings": -2.30}),
)

#: The curves by the source of the evidence, which is the name of a score.
CURVES: Mapping[str, Curves] = {"BDe": _CATEGORIES, "BDeu": _CATEGORIES, "BIC": _WITH_NUMBERS}

#: The sources of evidence whose strength is that of a direction itself.
_SAYING = (SHAPES, OPINION, ENVIRONMENTS)
#: What is likelier there than not.
LIKELY = 0.5
#: The least probability of a direction for it to be drawn as an arrow: one that is likelier wrong is none.
DEFAULT_DIRECTION = 0.5

#: The least probability of a direction for arrows of which nine in ten are right on small samples.
PRECISE_DIRECTION = 0.65

_NAMED: Mapping[str, float] = {"precise": PRECISE_DIRECTION}


def least_direction(given: object, name: str = "min_direction") -> float:
    """Return the least probability of a direction that a number or a word stands for.

    >>> least_direction(0.5), least_direction("precise") == PRECISE_DIRECTION
    (0.5, True)
    """
    if isinstance(given, str) and given in _NAMED:
        return _NAMED[given]
    if is_number(given) and 0 <= given <= 1:
        return float(given)
    hint = nearest(given, _NAMED) if isinstance(given, str) else ""
    hint = hint or "; give a probability from 0 (draw all arrows) to 1, or 'precise'"
    message = f"{named(name)} is {spelt(given)}{hint}"
    raise InvalidArgumentError(message, argument=name)


#: A larger lead than this makes no direction surer: what is wrong then is not the sample, but the search or the score.
MOST_NATS = 4.0
#: The p of the tests behind V-structures counts down to this; where none was accepted it is taken to be at the limit.
_LEAST_P, _LIMIT = 0.001, 0.05
#: So many rows leave the probability of a direction as it is; they are taken for granted where no test says how many.
_ROWS = 1000


@attrs.frozen
class Lead:
    """The least lead among findings, how many these are, and the score that told them."""

    score: str
    nats: float
    findings: int


@attrs.frozen
class EdgeEvidence:
    """What speaks for an edge: its lead, tests that found its ends dependent, and the edges at both ends.

    ``places`` is how many pairs may have the edge as well as this one, since no data can tell duplicate columns apart.
    """

    lead: Lead
    tests: int
    degree: int
    places: int = 1

    @property
    def terms(self) -> Mapping[str, float]:
        """Return the terms of a curve."""
        return {"lead": log1p(self.lead.nats), "tests": log1p(self.tests), "degree": log(self.degree)}

    @property
    def probability(self) -> float | None:
        """Return how often such an edge exists; None where the score has no curves."""
        curves = CURVES.get(self.lead.score)
        return None if curves is None else curves.edge.at(self.terms) / (self.places if curves.is_shared else 1)


@attrs.frozen
class DirectionEvidence:
    """What speaks for a direction.

    ``lead`` is the least among the findings behind it but that of the edge, and ``reasons`` is how many rules give the
    arrow. ``accepted`` is the least p of the tests that found the ends of its V-structures independent: a small one
    says that they may well be joined by a weak edge, and then the arrow is none. ``rows`` is how many rows were tested.
    """

    lead: Lead
    reasons: int
    accepted: float = _LIMIT
    rows: int = _ROWS

    @property
    def terms(self) -> Mapping[str, float]:
        """Return the terms of a curve."""
        return {
            "lead": log1p(self.lead.nats),
            "capped lead": log1p(min(self.lead.nats, MOST_NATS)),
            "findings": log(self.lead.findings),
            "reasons": log(self.reasons),
            "accepted": log(max(self.accepted, _LEAST_P)),
            "rows": log(self.rows / _ROWS),
        }

    @property
    def probability(self) -> float | None:
        """Return how often such a direction is right; None where the score has no curves."""
        curves = CURVES.get(self.lead.score)
        return None if curves is None else curves.direction.at(self.terms)


def lead_of(findings: Iterable[Finding]) -> Lead | None:
    """Return the least lead of findings; None where one of them does not come from a score.

    What was given beforehand is certain and does not count; None where nothing else is left.

    >>> lead_of(()) is None
    True
    """
    told = [finding.evidence for finding in findings if not finding.evidence.is_given]
    leads = [evidence.nats for evidence in told if evidence.nats is not None]
    if not told or len(leads) < len(told) or len({evidence.source for evidence in told}) > 1:
        return None
    return Lead(told[0].source, max(0.0, min(leads)), len(told))


def _apart(finding: Finding) -> Iterator[Verdict]:
    """Yield the tests which show that the ends of a V-structure are independent, and not only given its middle."""
    if finding.fact.relation == collider.name:
        yield from (
            one for one in finding.evidence.verdicts if one.independent and finding.fact.nodes[1] not in one.given
        )


class Grounds:
    """The evidence behind the edges and arrows of a store; findings that arrows share are gathered once."""

    def __init__(self, store: MarkStore) -> None:
        self._store = store
        self._findings: dict[int, Finding] = {}
        self._behind: dict[int, frozenset[int]] = {}

    def edge(self, x: Node, y: Node) -> EdgeEvidence | None:
        """Return the evidence for an edge; None where no score tells it."""
        behind = self.of_edge(x, y)
        lead = lead_of(behind)
        if lead is None:
            return None
        tests = sum(verdict.dependent for finding in behind for verdict in finding.evidence.verdicts)
        return EdgeEvidence(lead, tests, self._degree(x, y), self._places(x, y))

    def direction(self, x: Node, y: Node) -> DirectionEvidence | None:
        """Return the evidence for the direction of an arrow; None where no score tells it."""
        behind = self.of_direction(x, y)
        lead = lead_of(behind)
        if lead is None:
            return None
        accepted = (verdict.p for one in behind for verdict in _apart(one) if verdict.p is not None)
        rows = (verdict.n for one in behind for verdict in one.evidence.verdicts if verdict.n)
        least, most = min(accepted, default=_LIMIT), max(rows, default=_ROWS)
        return DirectionEvidence(lead, self._reasons(x, y), least, most)

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
        found = {pair: self._share(*pair) for pair in arrows}
        return {pair: share for pair, share in found.items() if share is not None}

    def _share(self, x: Node, y: Node) -> float | None:
        """Return the probability of the direction of an arrow: as shapes or an opinion say it, or by the curves."""
        shapes = [one.evidence.strength for one in self.of_direction(x, y) if one.evidence.source in _SAYING]
        if shapes and shapes[0] is not None:
            return 1 - exp(-shapes[0])
        evidence = self.direction(x, y)
        return None if evidence is None else evidence.probability

    @cached_property
    def _neighbours(self) -> Mapping[Node, frozenset[Node]]:
        around: dict[Node, set[Node]] = {}
        for fact in (*self._store.facts(adjacent), *self._store.facts(arrow)):
            x, y = fact.nodes
            around.setdefault(x, set()).add(y)
            around.setdefault(y, set()).add(x)
        return {node: frozenset(others) for node, others in around.items()}

    @cached_property
    def _parents(self) -> Mapping[Node, frozenset[Node]]:
        found: dict[Node, set[Node]] = {}
        for tail, head in self._store.arrows:
            found.setdefault(head, set()).add(tail)
        return {node: frozenset(others) for node, others in found.items()}

    @cached_property
    def _colliders(self) -> Counter[tuple[Node, Node]]:
        """Return how many V-structures have each arrow."""
        triples = (fact.nodes for fact in self._store.facts(collider))
        return Counter((end, middle) for one, middle, other in triples for end in (one, other))

    @cached_property
    def _duplicates(self) -> Mapping[Node, int]:
        return Counter(node for fact in self._store.facts(duplicate) for node in fact.nodes)

    def _places(self, x: Node, y: Node) -> int:
        """Return how many pairs of duplicates of two nodes there are, the nodes themselves included."""
        if duplicate.fact(x, y) in self._store:
            return 1
        return (1 + self._duplicates.get(x, 0)) * (1 + self._duplicates.get(y, 0))

    def _degree(self, x: Node, y: Node) -> int:
        """Return how many edges are at both ends of an edge, which counts at each."""
        return max(2, sum(len(self._neighbours.get(node, ())) for node in (x, y)))

    def _reasons(self, x: Node, y: Node) -> int:
        """Return how many reasons there are for an arrow x -> y.

        These are V-structures at y, arrows into x from nodes that are not adjacent to y, and directed paths over a
        third node.
        """
        into, through = self._parents.get(x, frozenset()), self._parents.get(y, frozenset())
        continued = len(into - self._neighbours.get(y, frozenset()) - {y})
        shortcuts = sum(x in self._parents.get(middle, ()) for middle in through)
        return max(1, self._colliders[x, y] + continued + shortcuts)

    def _of(self, fact: Fact) -> list[Finding]:
        """Return the findings behind a fact, in the order in which they were written."""
        rows = self._store.log
        (last,) = rows.places_of([fact], len(self._store))
        ahead = [last]
        while ahead:
            place = ahead[-1]
            premises = rows.premises(place)
            if place in self._behind:
                ahead.pop()
            elif unseen := [one for one in premises if one not in self._behind]:
                ahead += unseen
            else:
                found = (at for one in premises for at in self._behind[one])
                self._behind[place] = frozenset(found if premises else (place,))
        return [self._finding(at) for at in sorted(self._behind[last])]

    def _finding(self, place: int) -> Finding:
        if place not in self._findings:
            self._findings[place] = cast("Finding", self._store.log.entry(place))
        return self._findings[place]


@attrs.frozen(eq=False, slots=False)
class Directions:
    """The probabilities of the edges of a run and of their directions, worked out when they are asked for.

    ``least`` is the least probability of a direction for it to be drawn as an arrow; None and 0 draw all. An arrow that
    is likelier wrong than right, its edge included, is neither drawn nor suggested, unless ``least`` is smaller. No
    data can tell which of several duplicate columns has an edge, so arrows at them are not drawn either. Without scores
    in the history there are no probabilities, and no proof is made.
    """

    store: MarkStore
    history: MarkStore
    proofs: Callable[[], MarkStore]
    least: float | None

    @cached_property
    def undrawn(self) -> Mapping[tuple[Node, Node], float]:
        """Return the arrows that are proved but not drawn, by name, each with the probability of its direction."""
        if not self.least or not self.are_known:
            return {}
        shares = self._grounds.directions(self.store.arrows)
        duplicates = {node for fact in self.store.facts(duplicate) for node in fact.nodes}
        weak = [
            pair
            for pair, share in shares.items()
            if share < self.least or not duplicates.isdisjoint(pair) or not self._points(pair, share)
        ]
        return {pair: shares[pair] for pair in sorted(weak, key=lambda pair: tuple(map(order_key, pair)))}

    @cached_property
    def suggested(self) -> Mapping[tuple[Node, Node], float]:
        """Return those of the undrawn arrows that are likelier right than wrong."""
        return {pair: share for pair, share in self.undrawn.items() if self._points(pair, share)}

    def _points(self, pair: tuple[Node, Node], share: float) -> bool:
        """Return whether an arrow is likelier right than wrong, or as likely right as the caller asks."""
        return share * (self.edge(*pair) or 1.0) >= min(DEFAULT_DIRECTION, self.least or 0.0)

    @cached_property
    def are_known(self) -> bool:
        """Return whether some finding has a lead over a rival, or shapes of columns behind it."""
        states = (self.history,) if self.store is self.history else (self.history, self.store)
        found = (one.evidence for state in states for one in state.entries if isinstance(one, Finding))
        return any(one.nats is not None or one.source in _SAYING for one in found)

    def edge(self, x: Node, y: Node) -> float | None:
        """Return how often an edge with the evidence of this one exists; None where no score tells it."""
        evidence = self._grounds.edge(x, y) if self.are_known else None
        return None if evidence is None else evidence.probability

    def is_doubtful(self, x: Node, y: Node) -> bool:
        """Return whether an edge is likelier absent: the scored graph with it is not ahead of the best one without."""
        evidence = self._grounds.edge(x, y) if self.are_known else None
        return evidence is not None and evidence.lead.nats <= 0 and (evidence.probability or 0.0) < LIKELY

    def direction(self, x: Node, y: Node) -> float | None:
        """Return how often a direction with the evidence of this arrow is right; None where no score tells it."""
        is_arrow = self.are_known and arrow.fact(x, y) in self.proofs()
        return self._grounds.directions([(x, y)]).get((x, y)) if is_arrow else None

    def weakest_p(self, x: Node, y: Node) -> float | None:
        """Return the largest p of the tests that found two adjacent nodes dependent; None where none has a p."""
        verdicts = (one for finding in self._grounds.of_edge(x, y) for one in finding.evidence.verdicts)
        between = (one.p for one in verdicts if one.dependent and one.p is not None and {one.x, one.y} == {x, y})
        return max(between, default=None)

    def of(self, fact: Fact) -> dict[str, Any]:
        """Return what the proof of a fact says of probabilities: that of an edge, and for an arrow of its direction."""
        if fact.relation not in (arrow.name, adjacent.name) or not self.are_known:
            return {}
        x, y = fact.nodes
        edge = self.edge(x, y)
        if fact.relation == adjacent.name:
            return {"edge_probability": edge}
        return {
            "edge_probability": edge,
            "direction_probability": self.direction(x, y),
            "suggested": (x, y) in self.suggested,
            "unlikely": (x, y) in self.undrawn and (x, y) not in self.suggested,
        }

    @cached_property
    def _grounds(self) -> Grounds:
        return Grounds(self.proofs())
