"""GS: grow and shrink blankets, then direct edges, as published and as its authors programmed it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations, islice
from typing import Literal

import attrs

from apsl_backends.finders.by_tests import Growing
from apsl_rules.cycles import cyclic_groups
from apsl_rules.evidence import Verdict
from apsl_rules.learning import FindingList, finding_of
from apsl_rules.names import Node, count_of, in_order, order_key, shown
from apsl_rules.neighbours import Blanket
from apsl_rules.oracles import Oracle, Separation
from apsl_rules.plugins import Context, FinderSettings, State, Visited, build
from apsl_rules.rules import adjacent, arrow, chain, collider, gap, settled


@attrs.frozen
class GrowShrinkOptions:
    """The settings of Grow-Shrink.

    ``grow`` tries nodes with the "strongest" association first, or in their "order" (as published): the rows support a
    limited number of members, and early ones can take the place of a neighbour. ``shrink`` tests each member given the
    other remaining ones ("one by one", as published) or given all others that were grown ("together", which on data can
    drop two members that substitute for each other). ``pool`` says where the separator of two nodes is sought: in the
    "smaller" of their blankets (as published) or in the "union" of both. ``cycles`` are left to the conflict "policy",
    or their arrows reversed ("turn", as published; for the policy "first", which keeps the reversed ones).
    """

    grow: Literal["strongest", "order"] = "strongest"
    shrink: Literal["one by one", "together"] = "one by one"
    pool: Literal["smaller", "union"] = "smaller"
    cycles: Literal["policy", "turn"] = "policy"


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
        self._growing = Growing(
            oracle, nodes, strongest=options.grow == "strongest", together=options.shrink == "together"
        )
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


Arrow = tuple[Node, Node]

#: The most cycles that are counted to choose the arrow on most of them; there can be exponentially many.
COUNTED = 10_000


def arrows_to_turn(arrows: Collection[Arrow]) -> tuple[Arrow, ...]:
    """Return the arrows to reverse, in the order of their removal; ties are broken by name.

    >>> arrows_to_turn([("a", "b"), ("b", "c"), ("c", "a"), ("b", "a")])
    (('a', 'b'),)
    """
    left = set(arrows)
    taken = []
    while cyclic_groups(left):
        counts = Counter(arrow for cycle in islice(cycles(left), COUNTED) for arrow in cycle)
        worst = min(counts, key=lambda arrow: (-counts[arrow], order_key(arrow)))
        left.remove(worst)
        taken.append(worst)
    return tuple(taken)


def cycles(arrows: Collection[Arrow]) -> Iterator[tuple[Arrow, ...]]:
    """Yield every directed cycle without a repeated node once, starting from its first node by name.

    >>> list(cycles([("a", "b"), ("b", "a"), ("b", "c")]))
    [(('a', 'b'), ('b', 'a'))]
    """
    for group in cyclic_groups(arrows):
        inside = [arrow for arrow in arrows if group.issuperset(arrow)]
        onward = {node: in_order(head for tail, head in inside if tail == node) for node in group}
        for start in in_order(group):
            yield from _rounds(onward, (start,))


def _rounds(onward: dict[Node, tuple[Node, ...]], path: tuple[Node, ...]) -> Iterator[tuple[Arrow, ...]]:
    """Yield the cycles that extend a path back to its start through nodes later by name only."""
    for head in onward[path[-1]]:
        if head == path[0]:
            yield tuple(zip(path, (*path[1:], head), strict=True))
        elif head not in path and order_key(head) > order_key(path[0]):
            yield from _rounds(onward, (*path, head))


class GrowShrinkFindings:
    """Reports the skeleton node by node, and all triples with the last node."""

    whole = True

    def __init__(self, context: Context) -> None:
        spec, nodes = context.spec, context.asker.nodes
        self._options = build(GrowShrinkOptions, spec.options, f"spec {spec.name!r}, options")
        self._findings = spec.findings
        self._oracle = context.asker
        self._nodes = in_order(nodes) if spec.frontier.order == "name" else nodes
        limit = context.finder_settings.max_conditioning
        self._skeleton = Skeleton(context.asker, self._nodes, self._options, limit)

    def join(self, state: State, nodes: tuple[Node, ...]) -> State:
        """Return the state after a visit to the first of some nodes in the order of the spec."""
        node = next(one for one in self._nodes if one in nodes)
        found = FindingList(self._oracle.name)
        self._tell_edges(found, node)
        if node == self._nodes[-1]:
            self._tell_triples(found)
        return state.told(Visited(node, self._skeleton.neighbours(node), tuple(found.findings)))

    def _tell_edges(self, found: FindingList, node: Node) -> None:
        around = self._skeleton.neighbours(node)
        found.add(settled, (node,), note=count_of(len(around), "neighbour"))
        for other in self._skeleton.blanket(node):
            separation = self._skeleton.separation(node, other)
            verdicts = () if separation.verdict is None else (separation.verdict,)
            if separation.found:
                found.add(gap, (node, other), verdicts)
            else:
                found.add(adjacent, (node, other), verdicts, "no set tried separates them")
        for verdict in self._skeleton.undecided(node):
            found.take(finding_of(verdict, self._oracle))

    def _tell_triples(self, found: FindingList) -> None:
        triples = FindingList(self._oracle.name)
        for node in self._nodes:
            for x, y in combinations(self._skeleton.neighbours(node), 2):
                if not self._skeleton.linked(x, y):
                    self._tell_triple(triples, x, node, y)
        if self._options.cycles == "turn":
            met = [finding.fact.nodes for finding in triples.findings if finding.fact.relation == collider.name]
            for tail, head in arrows_to_turn({(end, middle) for x, middle, y in met for end in (x, y)}):
                note = f"turned round, since {shown(tail)} -> {shown(head)} closes the most cycles"
                found.add(arrow, (head, tail), note=note)
        for finding in triples.findings:
            found.take(finding)

    def _tell_triple(self, found: FindingList, x: Node, middle: Node, y: Node) -> None:
        separation = self._skeleton.separation_with(x, middle, y)
        verdict = separation.verdict
        if separation.found:
            if self._findings.chains:
                found.add(chain, (x, middle, y), () if verdict is None else (verdict,))
        elif verdict is not None or self._findings.unreliable == "accept":
            apart = self._skeleton.separation(x, y).verdict if y in self._skeleton.blanket(x) else None
            found.add(collider, (x, middle, y), tuple(one for one in (apart, verdict) if one is not None))
