"""An oracle whose answers contradict each other."""

from __future__ import annotations

from collections.abc import Sequence

from apsl_rules.evidence.evidence import Verdict
from apsl_rules.names import Node
from apsl_rules.oracles.protocol import Oracle


class Contradictory(Oracle):
    """Two V-structures that want opposite arrows on a - b, from answers that no graph could give."""

    nodes = ("a", "b", "c", "d")
    name = "contradictory"
    edges = frozenset(map(frozenset, ("ab", "bc", "ad")))

    def verdict(self, x: Node, y: Node, given: Sequence[Node] = ()) -> Verdict:
        """Find edges dependent, and all other pairs dependent once anything is given."""
        apart = frozenset((x, y)) not in self.edges and not given
        return Verdict(x, y, tuple(given), "independent" if apart else "dependent", self.name, 1.0)
