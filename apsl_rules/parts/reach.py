"""How far nodes are from the target, and which distances belong to a part."""

from __future__ import annotations

from collections import deque

from apsl_rules.names import Depth, Node


class Distances:
    """Distances from the target over the edges known so far; they only ever shrink."""

    def __init__(self, target: Node) -> None:
        self.of: dict[Node, int] = {target: 0}
        self._edges: dict[Node, tuple[Node, ...]] = {}

    def __copy__(self) -> Distances:
        same = type(self).__new__(type(self))
        same.__dict__.update(of=dict(self.of), _edges=dict(self._edges))
        return same

    def add(self, x: Node, y: Node) -> None:
        """Take up an edge and pass on what it shortens."""
        if y in self._edges.get(x, ()):
            return
        self._edges[x] = (*self._edges.get(x, ()), y)
        self._edges[y] = (*self._edges.get(y, ()), x)
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
