"""Which arrows are drawn: those whose direction is probable enough. The others are lines with a suggested direction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import attrs

from apsl_rules.names import Node, order_key
from apsl_rules.parts.edge_probability import Grounds
from apsl_rules.rules import Fact, Finding, MarkStore, adjacent, arrow, duplicate


@attrs.frozen(eq=False, slots=False)
class Directions:
    """The probabilities of the edges of a run and of their directions, worked out when they are asked for.

    ``least`` is the least probability of a direction for it to be drawn as an arrow; None and 0 draw all. No data can
    tell which of several duplicate columns has an edge, so arrows at them are not drawn either. Without scores in the
    history there are no probabilities, and no proof is made.
    """

    store: MarkStore
    history: MarkStore
    proofs: Callable[[], MarkStore]
    least: float | None

    @cached_property
    def suggested(self) -> Mapping[tuple[Node, Node], float]:
        """Return the arrows that are not drawn, by name, each with the probability of its direction."""
        if not self.least or not self.are_known:
            return {}
        shares = self._grounds.directions(self.store.arrows)
        duplicates = {node for fact in self.store.facts(duplicate) for node in fact.nodes}
        weak = [pair for pair, share in shares.items() if share < self.least or not duplicates.isdisjoint(pair)]
        return {pair: shares[pair] for pair in sorted(weak, key=lambda pair: tuple(map(order_key, pair)))}

    @cached_property
    def are_known(self) -> bool:
        """Return whether some finding has a lead over a rival."""
        return any(isinstance(one, Finding) and one.evidence.nats is not None for one in self.history.entries)

    def edge(self, x: Node, y: Node) -> float | None:
        """Return how often an edge with the evidence of this one exists; None where no score tells it."""
        evidence = self._grounds.edge(x, y) if self.are_known else None
        return None if evidence is None else evidence.probability

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
        }

    @cached_property
    def _grounds(self) -> Grounds:
        return Grounds(self.proofs())
