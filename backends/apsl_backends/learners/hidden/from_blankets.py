"""Findings from answers to independence questions, where common causes may be hidden.

With hidden causes, two nodes that are not adjacent need not be separated by neighbours of either. But if any set
separates them, then a subset of the Markov blanket of either does (Xie et al. 2024). That is the blanket in the maximal
ancestral graph: neighbours, and all nodes that a path of colliders leads to. Growing and shrinking finds it. So a visit
finds the blanket of a node, and inside it the sets that separate nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from apsl_backends.learners.grow_shrink import Growing, GrowShrinkOptions
from apsl_rules.evidence import Evidence, Verdict
from apsl_rules.names import Node, Pair, count_of, in_order
from apsl_rules.oracles import Separation
from apsl_rules.plugins import Context, State, Visited
from apsl_rules.rules import Fact, Finding, Relation, adjacent, chain, collider, gap, settled, within, without


class FindingsFromBlankets:
    """Visits the nearest node, the first by name: its blanket, its neighbours, and the triples known by then."""

    whole = False

    def __init__(self, context: Context) -> None:
        self._asker = context.asker
        self._limit = context.finder_settings.max_conditioning
        self._growing = Growing(context.asker, in_order(context.asker.nodes), GrowShrinkOptions())
        self._blankets: dict[Node, frozenset[Node]] = {}
        self._near: dict[Node, set[Node]] = {}
        self._separations: dict[Pair, Separation] = {}
        self._told: set[Fact] = set()

    def join(self, state: State, nodes: tuple[Node, ...]) -> State:
        """Return the state after a visit to the nearest of some nodes."""
        rank = self._asker.rank
        node = min(nodes, key=lambda one: (state.distances.get(one, 0), rank[one]))
        found = list(self._visit(node))
        return state.told(Visited(node, in_order(self._near[node]), tuple(found)))

    def _visit(self, node: Node) -> Iterator[Finding]:
        """Find the neighbours of a node, and tell what they and the sets found by now say of triples."""
        blanket = self._blankets[node] = frozenset(self._growing.blanket(node))
        around = [other for other in in_order(blanket) if not self._separate(node, other, blanket).found]
        self._near.setdefault(node, set()).update(around)
        yield from self._tell(settled, (node,), note=count_of(len(around), "neighbour"))
        for other in around:
            self._near.setdefault(other, set()).add(node)
            weakest = self._asker.separator(node, other, self._pool(blanket, other), max_size=self._limit).verdict
            verdicts = () if weakest is None else (weakest,)
            yield from self._tell(adjacent, (node, other), verdicts, "no set in the blanket separates them")
        for one in around:
            for other in in_order(blanket - {one}):
                self._separate(one, other, blanket | {node})
        for middle in in_order({node, *blanket}.union(*(self._near.get(one, ()) for one in blanket))):
            for one, other in combinations(in_order(self._near.get(middle, ())), 2):
                if other not in self._near[one]:
                    yield from self._tell_triple(one, middle, other)

    def _pool(self, blanket: frozenset[Node], *ends: Node) -> tuple[Node, ...]:
        return in_order(blanket.difference(ends))

    def _separate(self, x: Node, y: Node, among: frozenset[Node]) -> Separation:
        """Look for a set that separates two nodes, unless one is known."""
        pair = frozenset((x, y))
        known = self._separations.get(pair)
        if known is not None:
            return known
        x, y = in_order((x, y))
        found = self._asker.separator(x, y, self._pool(among, x, y), max_size=self._limit)
        if found.found:
            self._separations[pair] = found
        return found

    def _separation(self, x: Node, y: Node) -> Separation | None:
        """Return a set that is known to separate two nodes; the blanket of one does if the other is not in it."""
        pair = frozenset((x, y))
        if pair not in self._separations:
            for one, other in ((x, y), (y, x)):
                if one in self._blankets and other not in self._blankets[one]:
                    given = in_order(self._blankets[one])
                    verdict = self._asker.verdict(one, other, given)
                    if verdict.independent:
                        self._separations[pair] = Separation(one, other, given, verdict)
                        break
        return self._separations.get(pair)

    def _tell_triple(self, x: Node, middle: Node, y: Node) -> Iterator[Finding]:
        """Tell whether a node is a collider between two, and what separates these says of nodes beside them."""
        separation = self._separation(x, y)
        if separation is None or separation.given is None or separation.verdict is None:
            return
        apart = (separation.verdict,)
        yield from self._tell(gap, (x, y), apart)
        if middle in separation.given:
            yield from self._tell(chain, (x, middle, y), apart)
        else:
            yield from self._tell_opened(collider, (x, middle, y), separation)
        for end in (x, y):
            for beside in in_order(self._near[end] - {x, y}):
                if self._near[beside].isdisjoint(self._near[end]):
                    continue  # no discriminating path can end there
                if beside in separation.given:
                    yield from self._tell(within, (x, beside, y), apart)
                else:
                    yield from self._tell_opened(without, (x, beside, y), separation)

    def _tell_opened(
        self, relation: Relation, nodes: tuple[Node, Node, Node], separation: Separation
    ) -> Iterator[Finding]:
        """Tell that a node is outside the sets that separate two others, if adding it makes these dependent."""
        x, middle, y = nodes
        if relation.fact(*nodes) in self._told or separation.verdict is None:
            return
        opened = self._asker.verdict(x, y, (*(separation.given or ()), middle))
        if opened.dependent:
            yield from self._tell(relation, nodes, (separation.verdict, opened))

    def _tell(
        self, relation: Relation, nodes: Iterable[Node], verdicts: tuple[Verdict, ...] = (), note: str = ""
    ) -> Iterator[Finding]:
        """Tell a fact once."""
        fact = relation.fact(*nodes)
        if fact not in self._told:
            self._told.add(fact)
            yield Finding(fact, Evidence(self._asker.name, verdicts, note))
