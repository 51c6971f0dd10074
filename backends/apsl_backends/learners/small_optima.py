"""Best graphs over small sets of nodes, each found once, and the neighbours and spouses of a node there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cached_property

import attrs

from apsl_backends.learners.findings_from_graph import unseen
from apsl_backends.scores.bde import BDeu, Numbers
from apsl_backends.search.exact import MOST_BYTES, optimal


@attrs.frozen(slots=False, eq=False)
class SmallGraph:
    """A graph over a few numbered nodes: the parents of each, and its score in units."""

    parents: Mapping[int, Numbers]
    score: int

    @cached_property
    def children(self) -> dict[int, frozenset[int]]:
        """Return the children of each node."""
        return {
            node: frozenset(child for child, before in self.parents.items() if node in before) for node in self.parents
        }

    def neighbours(self, node: int) -> frozenset[int]:
        """Return the parents and children of a node."""
        return self.children[node].union(self.parents[node])

    def spouses(self, node: int) -> frozenset[int]:
        """Return the nodes that share a child with a node and are not adjacent to it.

        Adjacent nodes are left out since equivalent graphs may disagree on whether they share a child.
        """
        shared = {other for child in self.children[node] for other in self.parents[child]}
        return frozenset(shared) - self.neighbours(node) - {node}

    def shared_children(self, node: int, spouse: int) -> tuple[int, ...]:
        """Return the children that two nodes share, in order."""
        return tuple(sorted(self.children[node] & self.children[spouse]))


class Optima:
    """Finds and caches the best graph over any set of nodes; beyond ``largest`` nodes it uses a hill climb.

    ``limits`` is called before each search, so that a run can be stopped from outside.
    """

    def __init__(
        self,
        score: BDeu,
        *,
        largest: int,
        most_bytes: int = MOST_BYTES,
        limits: Callable[[], None] = lambda: None,
    ) -> None:
        self.score = score
        self._largest = largest
        self._most_bytes = most_bytes
        self._limits = limits
        self.unknown = unseen(score)
        self._known: dict[frozenset[int], SmallGraph] = {}
        self._climbed: list[int] = []

    def may_be_adjacent(self, node: int, other: int) -> bool:
        """Return whether two nodes are others, and seen together in enough rows to tell."""
        nodes = self.score.nodes
        return node != other and frozenset((nodes[node], nodes[other])) not in self.unknown

    def best(self, *groups: Collection[int]) -> SmallGraph:
        """Return the best graph over all nodes of some groups."""
        members = frozenset[int]().union(*groups)
        if members not in self._known:
            self._limits()
            found = optimal(self.score, tuple(members), largest=self._largest, most_bytes=self._most_bytes)
            if not found.exact:
                self._climbed.append(len(members))
            self._known[members] = SmallGraph(found.parents, found.score)
        return self._known[members]

    @property
    def notes(self) -> tuple[str, ...]:
        """Return a note on the number of graphs that are not proven to be best, if there are any."""
        if not self._climbed:
            return ()
        note = (
            f"{len(self._climbed)} of {len(self._known)} small graphs, of up to {max(self._climbed)} nodes, were too "
            f"large for an exact search (the limit is {self._largest} nodes) and were climbed instead"
        )
        return (note,)
