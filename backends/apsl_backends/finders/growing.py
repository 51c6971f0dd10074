"""Blankets that grow by dependence and shrink by independence: GSMB (Margaritis and Thrun 1999)."""

from __future__ import annotations

from collections.abc import Sequence

from apsl_rules.evidence import Verdict
from apsl_rules.names import Node
from apsl_rules.oracles import Oracle, Search

#: How many tests are announced together while a blanket grows.
_AHEAD = 16


class Growing:
    """Finds blankets by GSMB, each once.

    Growth tries the ``strongest`` association first, or the nodes in their order. Shrinking tests each member given the
    other remaining ones, or given all others that were grown ``together``.

    A test with too few rows neither adds a node nor removes a member; on data this ends the growth.
    """

    def __init__(
        self, oracle: Oracle, nodes: Sequence[Node], *, strongest: bool = True, together: bool = False
    ) -> None:
        self._oracle = oracle
        self._nodes = nodes
        self._strongest = strongest
        self._together = together
        self._known: dict[Node, tuple[Node, ...]] = {}
        self._undecided: dict[Node, tuple[Verdict, ...]] = {}

    def blanket(self, node: Node) -> tuple[Node, ...]:
        """Return the blanket of a node in the order of growth."""
        if node not in self._known:
            self._known[node] = self._shrink(node, self._grow(node))
        return self._known[node]

    def undecided(self, node: Node) -> tuple[Verdict, ...]:
        """Return the last verdicts on the nodes that were left out only because there were too few rows."""
        self.blanket(node)
        return self._undecided[node]

    def _grow(self, node: Node) -> list[Node]:
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
        """Announce tests of some other nodes given the members, in case none of them is added."""
        given = tuple(members)
        self._oracle.foresee([Search(node, other, (), given) for other in others if other not in given])

    def _shrink(self, node: Node, members: list[Node]) -> tuple[Node, ...]:
        kept = list(members)
        for other in members:
            against = members if self._together else kept
            given = [one for one in against if one != other]
            if self._oracle.verdict(node, other, given).independent:
                kept.remove(other)
        return tuple(kept)
