"""GSMB: grow a set until nobody outside depends on the node given the set, then shrink it to those who do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import attrs

from apsl_rules.evidence import Verdict
from apsl_rules.names import Node
from apsl_rules.oracles import Oracle, Search, foresee

_AHEAD = 16


@attrs.frozen
class GrowShrinkOptions:
    """How Grow-Shrink goes about its work.

    ``grow`` tries those with the "strongest" association first, or goes by the "order" of the nodes (as published):
    rows support only so many members, and whoever comes first takes the place of a neighbour. ``shrink`` tries each
    member against the others that are left ("one by one", as published) or against all that were grown ("together",
    which on data can drop two members that stand in for each other). ``pool`` says where the separator of two nodes
    is sought: in the "smaller" of their blankets (as published) or in the "union" of both. ``cycles`` are left to the
    conflict policy, or arrows on them turned round (as published; for the policy "first", which lets them stand).
    """

    grow: Literal["strongest", "order"] = "strongest"
    shrink: Literal["one by one", "together"] = "one by one"
    pool: Literal["smaller", "union"] = "smaller"
    cycles: Literal["policy", "turn"] = "policy"


class Growing:
    """Blankets as GSMB finds them, each once; ``nodes`` are tried in their order.

    A test with too few rows neither lets a node in nor puts a member out, which is what ends the growth on data.
    """

    def __init__(self, oracle: Oracle, nodes: Sequence[Node], options: GrowShrinkOptions) -> None:
        self._oracle = oracle
        self._nodes = nodes
        self._strongest = options.grow == "strongest"
        self._together = options.shrink == "together"
        self._known: dict[Node, tuple[Node, ...]] = {}
        self._undecided: dict[Node, tuple[Verdict, ...]] = {}

    def blanket(self, node: Node) -> tuple[Node, ...]:
        """Return the blanket of a node in the order of growth."""
        if node not in self._known:
            self._known[node] = self._shrunk(node, self._grown(node))
        return self._known[node]

    def undecided(self, node: Node) -> tuple[Verdict, ...]:
        """Return the last verdicts on the nodes that stay outside only because there were too few rows."""
        self.blanket(node)
        return self._undecided[node]

    def _grown(self, node: Node) -> list[Node]:
        candidates = [other for other in self._nodes if other != node]
        if self._strongest:
            sweep = self._oracle.associations(node)
            candidates.sort(key=lambda other: -sweep.verdict_on(other).association)
        members: list[Node] = []
        last: dict[Node, Verdict] = {}
        before = -1
        while len(members) > before:
            before = len(members)
            foreseen = 0
            for number, other in enumerate(candidates):
                if other in members:
                    continue
                if number >= foreseen:
                    foreseen = number + _AHEAD
                    self._foresee(node, candidates[number:foreseen], members)
                last[other] = self._oracle.verdict(node, other, members)
                if last[other].dependent:
                    members.append(other)
                    foreseen = 0
        self._undecided[node] = tuple(one for one in last.values() if one.decision == "unreliable")
        return members

    def _foresee(self, node: Node, others: Sequence[Node], members: Sequence[Node]) -> None:
        """Say that some others will be tested, given the members, unless one of them joins these."""
        given = tuple(members)
        foresee(self._oracle, [Search(node, other, (), given) for other in others if other not in given])

    def _shrunk(self, node: Node, members: list[Node]) -> tuple[Node, ...]:
        kept = list(members)
        for other in members:
            against = members if self._together else kept
            given = [one for one in against if one != other]
            if self._oracle.verdict(node, other, given).independent:
                kept.remove(other)
        return tuple(kept)
