"""A part with the lines at a cause oriented and all that follows from it, for questions about whole paths.

Adjustment sets other than the parents depend on paths from the cause to the target. The graph is closed under Meek's
rules by the engine that learned the part, so background knowledge holds here too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from functools import cached_property

import attrs

from apsl_rules.effects.neighbourhood import Orientation
from apsl_rules.errors import GraphError
from apsl_rules.evidence import GIVEN, Evidence
from apsl_rules.graphs import Dag, extension
from apsl_rules.names import Node, Pair, in_order
from apsl_rules.parts import Part
from apsl_rules.rules import KNOWING, Finding, Mark, adjacent, arrow, chain, shortest_proofs


@attrs.frozen(eq=False, slots=False)
class OrientedGraph:
    """Arrows and lines among the nodes of a part, closed under Meek's rules.

    ``complete`` are the nodes all of whose edges are known, ``suggested`` directions of lines that are not sure enough.
    """

    cause: Node
    nodes: tuple[Node, ...]
    arrows: frozenset[tuple[Node, Node]]
    lines: frozenset[Pair]
    complete: frozenset[Node]
    suggested: frozenset[tuple[Node, Node]] = frozenset()

    def parents_of(self, node: Node) -> frozenset[Node]:
        """Return the nodes with an arrow to a node."""
        return frozenset(tail for tail, head in self.arrows if head == node)

    def possible_descendants(self, nodes: Iterable[Node], *, beyond: Node | None = None) -> frozenset[Node]:
        """Return some nodes and all that a path without an arrow against it leads to, not on through one node."""
        return _reached(nodes, lambda node: () if node == beyond else self._onward[node])

    def on_causal_paths(self, target: Node) -> frozenset[Node]:
        """Return the nodes after the cause on paths to the target that may be directed."""
        without = {node: [one for one in after if one != self.cause] for node, after in self._onward.items()}
        back: dict[Node, list[Node]] = {node: [] for node in self.nodes}
        for node, after in without.items():
            for one in after:
                back[one].append(node)
        leading = _reached([target], lambda node: back[node])
        first = [one for one in self._onward[self.cause] if one in leading]
        return _reached(first, lambda node: [one for one in without[node] if one in leading])

    @cached_property
    def _onward(self) -> dict[Node, list[Node]]:
        found: dict[Node, list[Node]] = {node: [] for node in self.nodes}
        for tail, head in self.arrows:
            found[tail].append(head)
        for x, y in self.lines:
            found[x].append(y)
            found[y].append(x)
        return {node: list(in_order(after)) for node, after in found.items()}

    def some_dags(self) -> list[Dag]:
        """Return graphs that are left open: one, and where directions are suggested also one that has them.

        Without suggested directions, all open graphs have the same V-structures and one stands for all. There may be
        none, where directions that are suggested contradict those that were given to the lines at the cause.
        """
        hinted = {pair for pair in self.suggested if frozenset(pair) in self.lines}
        left = self.lines - set(map(frozenset, hinted))
        found = []
        for arrows, lines in ((self.arrows, self.lines), (self.arrows | hinted, left)):
            with suppress(GraphError):
                found.append(extension(self.nodes, arrows, lines))
        return found


def orient(part: Part, orientation: Orientation, further: Iterable[Node]) -> OrientedGraph:
    """Orient the lines at the cause and take all that follows by Meek's rules; ``further`` nodes join in any case.

    What a whole part does not have is not connected with it.
    """
    arrows = part.all_arrows.union(orientation.arrows)
    edges = {frozenset(pair) for pair in (*arrows, *part.all_lines)}
    nodes = in_order({part.target, orientation.cause, *further}.union(*edges))
    told = [adjacent.fact(*in_order(pair)) for pair in edges]
    told += [arrow.fact(*pair) for pair in arrows]
    told += [chain.fact(x, node, y) for x, node, y in _chains(part, nodes, edges, arrows)]
    store = shortest_proofs(KNOWING, [Finding(fact, Evidence(GIVEN)) for fact in told])
    lines = frozenset(pair for pair in edges if not store.arrows.intersection(_both(pair)))
    complete = frozenset(node for node in nodes if not part.incomplete and (part.depth == "max" or part.is_inner(node)))
    return OrientedGraph(orientation.cause, nodes, store.arrows, lines, complete, frozenset(part.all_suggested))


def _chains(
    part: Part, nodes: Iterable[Node], edges: Collection[Pair], arrows: Collection[tuple[Node, Node]]
) -> Iterable[tuple[Node, Node, Node]]:
    """Return the triples x, node, y without an edge between x and y and without a V-structure at the node.

    A V-structure that the part found counts as one even where its arrows are open here.
    """
    known = {*arrows, *part.store.arrows}
    around: dict[Node, list[Node]] = {node: [] for node in nodes}
    for pair in edges:
        x, y = pair
        around[x].append(y)
        around[y].append(x)
    for node, near in around.items():
        ordered = in_order(near)
        for at, x in enumerate(ordered):
            for y in ordered[at + 1 :]:
                is_collider = (x, node) in known and (y, node) in known
                if part.mark(x, y) is Mark.GAP and not is_collider:
                    yield x, node, y


def _both(pair: Pair) -> list[tuple[Node, Node]]:
    x, y = pair
    return [(x, y), (y, x)]


def _reached(start: Iterable[Node], after: Callable[[Node], Iterable[Node]]) -> frozenset[Node]:
    """Return some nodes and all that steps lead to from them."""
    found = set(start)
    waiting = list(found)
    while waiting:
        new = set(after(waiting.pop())).difference(found)
        found |= new
        waiting += new
    return frozenset(found)
