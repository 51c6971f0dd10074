"""The edges of a part as rows, and the nodes inside of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from apsl_rules.evidence import GIVEN
from apsl_rules.names import Depth, Node, in_order, order_key
from apsl_rules.rules import Finding, Firing, Mark, Proof

if TYPE_CHECKING:
    from apsl_rules.parts.part import Part


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


_TWO_ENDS = (Mark.PARTIAL, Mark.BIDIRECTED)

#: The columns of the table of edges that ``Part.to_frame`` gives.
ROW = (
    "source",
    "target",
    "mark",
    "probability",
    "direction",
    "p",
    "rule",
    "distance",
    "support",
    "suggested",
)


def edge_rows(part: Part) -> list[dict[str, Any]]:
    """Return the edges of a part by the names of their ends; ``Part.rows`` says what each value means."""
    rows = []
    for pair in sorted(part.edges, key=lambda one: tuple(order_key(node) for node in in_order(one))):
        x, y = in_order(pair)
        is_turned = (y, x) in part.arrows or (y, x) in part.suggested or (y, x) in part.partial
        rows.append(edge_row(part, y, x) if is_turned else edge_row(part, x, y))
    return rows


def edge_row(part: Part, x: Node, y: Node) -> dict[str, Any]:
    """Return what a part knows of one of its edges, along its direction if it has one."""
    mark = part.mark(x, y)
    proof = part.why(x, y)
    proofs = [proof, part.why(y, x)] if mark in _TWO_ENDS else [proof]
    known = [part.distances[node] for node in (x, y) if node in part.distances]
    figures = (
        x,
        y,
        str(mark.drawn),
        part.edge_probability(x, y),
        part.direction_probability(x, y),
        part.edge_p(x, y),
        _bases(proofs),
        min(known, default=None),
        part.support.get(frozenset((x, y))),
        (x, y) in part.all_suggested,
    )
    return dict(zip(ROW, figures, strict=True))


def _bases(proofs: Sequence[Proof]) -> str:
    """Name what an edge rests on: with marks at both ends, the rule of each end that has one."""
    reasons = [proof.steps[-1].reason for proof in proofs]
    rules = [reason.rule for reason in reasons if isinstance(reason, Firing)]
    found = [GIVEN if one.evidence.is_given else "found" for one in reasons[:1] if isinstance(one, Finding)]
    return ", ".join(dict.fromkeys(rules or found))
