"""How far nodes are from the target, and which distances belong to a part."""

from __future__ import annotations

from collections import deque

from apsl_rules.names import Depth, Node


class Distances:
    """Distances from the target over the edges known so far; they only ever shrink."""

    def __init__(self, target: Node) -> None:
        self.of: dict[Node, int] = {target: 0}
        self._edges: dict[Node, set[Node]] = {}

    def add(self, x: Node, y: Node) -> None:
        """Add an edge, and update the distances that it shortens."""
        self._edges.setdefault(x, set()).add(y)
        self._edges.setdefault(y, set()).add(x)
        changed = deque(sorted((node for node in (x, y) if node in self.of), key=self.of.__getitem__))
        while changed:
            node = changed.popleft()
            further = self.of[node] + 1
            for other in self._edges[node]:
                if self.of.get(other, further + 1) > further:
                    self.of[other] = further
                    changed.append(other)


def inside(depth: Depth, distance: int) -> bool:
    """Return whether all edges of a node at this distance belong to the part: it is at most K - 1."""
    return depth == "max" or distance < depth
