"""Neighbours among visited nodes only, as PCD-by-PCD (Yin et al. 2008) draws its edges."""

from __future__ import annotations

from collections.abc import Collection

from apsl_rules.names import Node
from apsl_rules.neighbours.symmetric import Finder, Neighbours
from apsl_rules.rules import NOTHING, Knowledge


class PairedNeighbours(Neighbours):
    """Neighbours that were both visited and list each other; of all others nothing is known yet.

    No candidates are computed before the visit, so a run costs one search for each visit, but a node's edges
    appear only as its neighbours are visited in turn. ``visited`` is the caller's own growing record.
    """

    def __init__(self, finder: Finder, visited: Collection[Node], *, knowledge: Knowledge = NOTHING) -> None:
        super().__init__(finder, symmetric=True, knowledge=knowledge)
        self._visited = visited

    def of(self, node: Node) -> tuple[Node, ...]:
        """Return the neighbours of a node that were visited."""
        return tuple(other for other in self.candidates(node).members if self.linked(node, other))

    def linked(self, x: Node, y: Node) -> bool:
        """Return whether two nodes are known to be neighbours by now."""
        return x in self._visited and y in self._visited and super().linked(x, y)

    def all_known(self, node: Node) -> bool:
        """Return whether a node and all nodes that it lists were visited, so that it gets no further neighbour."""
        return node in self._visited and all(other in self._visited for other in self.candidates(node).members)
