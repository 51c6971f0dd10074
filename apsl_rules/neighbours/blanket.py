"""Markov blankets: neighbours, and spouses kept for the child that they share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol

import attrs

from apsl_rules.names import Node, count_of, in_order, shown
from apsl_rules.neighbours.symmetric import Neighbours
from apsl_rules.oracles import Oracle, Search
from apsl_rules.showing import NotebookView


@attrs.frozen(repr=False)
class Blanket(NotebookView):
    """The parents and children of a node, and for each child that is shared the spouses it is shared with.

    ``untested`` are nodes that may be neighbours as well: there were too few rows to tell. Only a blanket that is read
    from a part or scored knows them.

    Attributes
    ----------
    node
        The node whose blanket it is.
    neighbours
        Its parents and children, by name.
    spouses
        For each child that is shared, the nodes that it is shared with.
    """

    node: Node
    neighbours: tuple[Node, ...]
    spouses: Mapping[Node, tuple[Node, ...]]
    untested: tuple[Node, ...] = ()

    def __hash__(self) -> int:
        return hash((Blanket, self.node, self.neighbours))

    def __repr__(self) -> str:
        spouses = count_of(len({one for shared in self.spouses.values() for one in shared}), "spouse")
        return f"<Blanket of {shown(self.node)}: {count_of(len(self.neighbours), 'neighbour')}, {spouses}>"

    @property
    def members(self) -> tuple[Node, ...]:
        """Return the whole blanket by name."""
        return in_order({*self.neighbours, *(other for shared in self.spouses.values() for other in shared)})


class BlanketFinder(Protocol):
    """Finds the Markov blanket of a node."""

    def blanket(self, node: Node) -> Blanket:
        """Find the blanket of one node."""


class SpousesByChild:
    """HITON-MB and MMMB: spouses are sought among the neighbours of each neighbour (Aliferis et al. 2003).

    For X in PC(T) and Y in PC(X) outside PC(T): Y is a spouse through X if X is not in the separator of T and Y, and
    adding X makes them dependent. A test with too few rows is accepted or rejected as the setting says.
    """

    def __init__(
        self, oracle: Oracle, neighbours: Neighbours, *, unreliable: Literal["accept", "reject"] = "accept"
    ) -> None:
        self._oracle = oracle
        self._neighbours = neighbours
        self._unreliable = unreliable
        self._known: dict[Node, Blanket] = {}

    def blanket(self, node: Node) -> Blanket:
        """Find the blanket of one node, once."""
        if node not in self._known:
            around = self._neighbours.of(node)
            self._neighbours.prepare(around)
            shared = {child: self._spouses(node, child, around) for child in around}
            self._known[node] = Blanket(node, around, {child: nodes for child, nodes in shared.items() if nodes})
        return self._known[node]

    def _spouses(self, node: Node, child: Node, around: tuple[Node, ...]) -> tuple[Node, ...]:
        far = [other for other in self._neighbours.of(child) if other != node and other not in around]
        apart = [(other, self._neighbours.separation(node, other)) for other in far]
        given = [(other, one.given) for other, one in apart if one is not None and one.given is not None]
        self._oracle.foresee([Search(node, other, (), (*by, child)) for other, by in given if child not in by])
        return in_order(other for other in far if self._share(node, child, other))

    def _share(self, node: Node, child: Node, other: Node) -> bool:
        separation = self._neighbours.separation(node, other)
        if separation is None or separation.given is None or child in separation.given:
            return False
        verdict = self._oracle.verdict(node, other, (*separation.given, child))
        return verdict.dependent or (verdict.decision == "unreliable" and self._unreliable == "accept")
