"""The edges between the members of blankets, and tests for colliders."""

from __future__ import annotations

from collections.abc import Sequence

from apsl_backends.learners.grow_shrink.growing import Growing, GrowShrinkOptions
from apsl_rules.evidence import Verdict
from apsl_rules.names import Node
from apsl_rules.oracles import Oracle, Separation


class Skeleton:
    """The neighbours in blankets, computed pair by pair on demand.

    Two nodes are in each other's blanket only if each found the other. Such a pair is adjacent if no subset of the pool
    separates it.
    """

    def __init__(
        self, oracle: Oracle, nodes: Sequence[Node], options: GrowShrinkOptions, max_conditioning: int | None
    ) -> None:
        self._oracle = oracle
        self._rank = {node: rank for rank, node in enumerate(nodes)}
        self._growing = Growing(oracle, nodes, options)
        self._union = options.pool == "union"
        self._limit = max_conditioning
        self._blankets: dict[Node, tuple[Node, ...]] = {}
        self._separations: dict[tuple[Node, Node], Separation] = {}

    def grown(self, node: Node) -> tuple[Node, ...]:
        """Return the blanket of a node that GSMB finds, regardless of the others, in the order of the nodes."""
        return self._sorted(self._growing.blanket(node))

    def undecided(self, node: Node) -> tuple[Verdict, ...]:
        """Return the verdicts that left nodes out of a blanket only because there were too few rows.

        Nodes that reliably left this node out of their own blanket are not included.
        """
        return tuple(
            one for one in self._growing.undecided(node) if self._is_undecided(one.x if one.y == node else one.y, node)
        )

    def _is_undecided(self, other: Node, node: Node) -> bool:
        """Return whether a node did not reliably leave another out of its blanket."""
        left_out = (verdict for verdict in self._growing.undecided(other) if node in (verdict.x, verdict.y))
        return node in self.grown(other) or any(left_out)

    def blanket(self, node: Node) -> tuple[Node, ...]:
        """Return the members of a node's blanket that have the node in theirs."""
        if node not in self._blankets:
            self._blankets[node] = tuple(other for other in self.grown(node) if node in self.grown(other))
        return self._blankets[node]

    def neighbours(self, node: Node) -> tuple[Node, ...]:
        """Return the neighbours of a node."""
        return tuple(other for other in self.blanket(node) if self.linked(node, other))

    def linked(self, x: Node, y: Node) -> bool:
        """Return whether two nodes are neighbours."""
        return y in self.blanket(x) and not self.separation(x, y).found

    def separation(self, x: Node, y: Node) -> Separation:
        """Search for a separator of two nodes, once for each pair."""
        x, y = self._sorted((x, y))
        if (x, y) not in self._separations:
            self._separations[x, y] = self._oracle.separator(x, y, self._pool(x, y), max_size=self._limit)
        return self._separations[x, y]

    def separation_with(self, x: Node, middle: Node, y: Node) -> Separation:
        """Search for a separator that includes the middle; there is none if it is a collider."""
        x, y = self._sorted((x, y))
        pool = [node for node in self._pool(x, y) if node != middle]
        limit = None if self._limit is None else self._limit + 1
        return self._oracle.separator(x, y, pool, must_include=(middle,), max_size=limit)

    def _pool(self, x: Node, y: Node) -> tuple[Node, ...]:
        first, second = ({*self.blanket(one)} - {x, y} for one in (x, y))
        if self._union:
            return self._sorted(first | second)
        return self._sorted(second if len(second) < len(first) else first)

    def _sorted(self, nodes: Sequence[Node] | set[Node]) -> tuple[Node, ...]:
        return tuple(sorted(nodes, key=self._rank.__getitem__))
