"""Grow-Shrink as a blanket finder."""

from __future__ import annotations

from apsl_backends.learners.grow_shrink.growing import GrowShrinkOptions
from apsl_backends.learners.grow_shrink.skeleton import Skeleton
from apsl_rules.names import Node, in_order
from apsl_rules.neighbours import Blanket
from apsl_rules.oracles import Oracle
from apsl_rules.plugins import FinderSettings, build


class GrowShrink:
    """Blankets by GSMB, split into neighbours and spouses by the tests with which GSBN finds its edges.

    It supports the options ``grow``, ``shrink`` and ``pool``; ties are broken by name. Members that are neither found
    adjacent nor found to share a child are in ``grown`` only.
    """

    def __init__(self, oracle: Oracle, settings: FinderSettings) -> None:
        given = {name: value for name, value in settings.options.items() if name in ("grow", "shrink", "pool")}
        options = build(GrowShrinkOptions, given, "options of the blanket finder 'gs'")
        self._skeleton = Skeleton(oracle, in_order(oracle.nodes), options, settings.max_conditioning)

    def grown(self, node: Node) -> tuple[Node, ...]:
        """Return the members of the blanket by name."""
        return self._skeleton.grown(node)

    def blanket(self, node: Node) -> Blanket:
        """Find the blanket of one node."""
        around = self._skeleton.neighbours(node)
        far = [other for other in self._skeleton.blanket(node) if other not in around]
        shared = {child: tuple(other for other in far if self._share(node, child, other)) for child in around}
        return Blanket(node, around, {child: spouses for child, spouses in shared.items() if spouses})

    def _share(self, node: Node, child: Node, other: Node) -> bool:
        linked = self._skeleton.linked(child, other)
        return linked and not self._skeleton.separation_with(node, child, other).found
