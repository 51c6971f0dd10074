"""From blankets to edges: who in a blanket is a neighbour, and which neighbours meet in a collider."""

from __future__ import annotations

from collections.abc import Sequence

from apsl_backends.learners.grow_shrink.growing import Growing, GrowShrinkOptions
from apsl_rules.evidence import Verdict
from apsl_rules.names import Node
from apsl_rules.oracles import Oracle, Separation


class Skeleton:
    """The neighbours that blankets contain, worked out pair by pair when asked for.

    Two nodes are in each other's blanket only if both grew it so. Of these, neighbours are the pairs that no subset of
    the pool separates.
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
        """Return the blanket of a node as GSMB finds it, whatever the others find, in the order of the nodes."""
        return self._sorted(self._growing.blanket(node))

    def undecided(self, node: Node) -> tuple[Verdict, ...]:
        """Return the verdicts that kept others out of the blanket of a node only because there were too few rows.

        Those who found reliably that the node is not in their own blanket are decided.
        """
        return tuple(
            one for one in self._growing.undecided(node) if self._is_undecided(one.x if one.y == node else one.y, node)
        )

    def _is_undecided(self, other: Node, node: Node) -> bool:
        """Whether a node did not find reliably that another is outside its blanket."""
        left_out = (verdict for verdict in self._growing.undecided(other) if node in (verdict.x, verdict.y))
        return node in self.grown(other) or any(left_out)

    def blanket(self, node: Node) -> tuple[Node, ...]:
        """Return those in the blanket of a node who have it in theirs."""
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
        """Search what separates two nodes, once for each pair."""
        x, y = self._sorted((x, y))
        if (x, y) not in self._separations:
            self._separations[x, y] = self._oracle.separator(x, y, self._pool(x, y), max_size=self._limit)
        return self._separations[x, y]

    def separation_with(self, x: Node, middle: Node, y: Node) -> Separation:
        """Search what separates two nodes when the middle is given as well; a collider lets nothing do so."""
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
