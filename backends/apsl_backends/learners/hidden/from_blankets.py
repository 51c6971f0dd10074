"""Hidden causes from blankets: the skeleton of a PAG, and signatures of hidden causes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice
from math import log

import attrs

from apsl_backends.finders.by_tests import Growing
from apsl_backends.learners.ball import Ball
from apsl_rules.errors import LimitReachedError
from apsl_rules.evidence import Evidence, Verdict, log_p_of
from apsl_rules.learning import may_share_hidden_cause
from apsl_rules.names import Node, Pair, count_of, in_order, order_key, shown
from apsl_rules.notes import Sentence, argument
from apsl_rules.oracles import Asker, Query, Search, Separation
from apsl_rules.plugins import Context, State, Visited
from apsl_rules.rules import Fact, Finding, Relation, adjacent, chain, collider, gap, settled, within, without

#: The p-value below which a dependence counts here.
CERTAIN = 1e-5
#: The most tests for these notes: among hundreds of neighbours of one node there would be millions.
MOST_TESTS = 5_000


def notes_on_signatures(ball: Ball, core: Sequence[Node], asker: Asker) -> list[str]:
    """Return a note for each pair of adjacent nodes with an end in the core that shows the signature.

    A run that has reached its limit asks nothing more. Where too many tests were needed, a note says so.
    """
    near = {node: frozenset(others) for node, others in ball.neighbours.items()}
    inner = frozenset(core)
    edges = [
        (a, b)
        for a in in_order(near)
        for b in in_order(near[a])
        if order_key(a) < order_key(b) and not inner.isdisjoint((a, b)) and not near[a].isdisjoint(near[b])
    ]
    questions = (one for a, b in edges for x, y in ((a, b), (b, a)) for one in _questions(near, x, y))
    asked = list(islice(questions, MOST_TESTS + 1))
    if len(asked) > MOST_TESTS:
        told = f"more than {MOST_TESTS:,} tests would tell whether nodes here share a hidden cause; they were not made"
        return [Sentence(f"{told} ({argument('hidden', 'allowed')} looks for such causes)")]
    try:
        return [
            may_share_hidden_cause(a, b, f"{_text(c, a, b)}, and {_text(d, b, a)}")
            for a, b, c, d in _signatures(near, edges, asked, asker)
        ]
    except LimitReachedError:
        return []


def _text(cause: Node, effect: Node, other: Node) -> str:
    return f"{shown(cause)} is independent of {shown(other)} but not given {shown(effect)}"


def _signatures(
    near: Mapping[Node, frozenset[Node]], edges: Sequence[tuple[Node, Node]], asked: Sequence[Query], asker: Asker
) -> Iterator[tuple[Node, Node, Node, Node]]:
    """Find adjacent nodes a, b with tested colliders c -> a and d -> b, one of which the graph covers by an edge."""
    asker.foresee([Search(c, y, (), given) for c, y, given in asked])
    for a, b in edges:
        at_a, at_b = (_colliders(near, x, y, asker) for x, y in ((a, b), (b, a)))
        for c, d in ((c, d) for c in at_a for d in at_b if c != d):
            if c in near[b] or d in near[a]:
                yield a, b, c, d
                break


def _questions(near: Mapping[Node, frozenset[Node]], a: Node, b: Node) -> Iterator[Query]:
    """Return whether the other neighbours of a are independent of b, given nothing else or one other node."""
    for c in in_order(near[a] - {b}):
        yield c, b, ()
        yield from ((c, b, (one,)) for one in in_order((near[c] | near[b]) - {a, b, c}))


def _colliders(near: Mapping[Node, frozenset[Node]], a: Node, b: Node, asker: Asker) -> list[Node]:
    """Return the neighbours c of a that are independent of b, and not given a.

    What a collider opens is weaker than both of its edges. Where it is stronger, c and b act on a by an interaction, or
    are adjacent themselves.
    """
    first: dict[Node, Query] = {}
    for query in _questions(near, a, b):
        if query[0] not in first and asker.verdict(*query).independent:
            first[query[0]] = query
    found = []
    for c, (_, _, given) in first.items():
        opened, *edges = asker.verdicts([(c, b, (*given, a)), (c, a, given), (a, b, given)])
        is_weaker = log_p_of(opened) > max(map(log_p_of, edges))
        if is_weaker and all(verdict.dependent for verdict in edges) and log_p_of(opened) < log(CERTAIN):
            found.append(c)
    return found


@attrs.frozen(eq=False)
class Skeleton:
    """Neighbours of each node, the verdict that separates each removed pair, and the weakest dependence of others."""

    near: Mapping[Node, frozenset[Node]]
    separations: Mapping[Pair, Verdict]
    weakest: Mapping[Pair, Verdict]


def find_skeleton(asker: Asker, near: Mapping[Node, Iterable[Node]], limit: int | None) -> Skeleton:
    """Remove from a graph all pairs that sets of neighbours separate; ``limit`` is the largest size of a set."""
    left = {node: set(others) for node, others in near.items()}
    separations: dict[Pair, Verdict] = {}
    weakest: dict[Pair, Verdict] = {}
    size = 0
    while (limit is None or size <= limit) and any(len(others) > size for others in left.values()):
        frozen = {node: in_order(others) for node, others in left.items()}
        pairs = [in_order(pair) for pair in _separable(asker, frozen, size, weakest)]
        for verdict in asker.verdicts([(x, y, given) for x, y in pairs for given in _sets(frozen, x, y, size)]):
            pair = frozenset((verdict.x, verdict.y))
            if verdict.independent and (pair not in separations or _p_of(verdict) > _p_of(separations[pair])):
                separations[pair] = verdict
        for x, y in pairs:
            left[x].remove(y)
            left[y].remove(x)
        size += 1
    return Skeleton({node: frozenset(others) for node, others in left.items()}, separations, weakest)


def _separable(
    asker: Asker, near: Mapping[Node, tuple[Node, ...]], size: int, weakest: dict[Pair, Verdict]
) -> Iterator[Pair]:
    """Return the pairs that a set of some size separates; of the others the weakest dependence is noted."""
    pairs = [(x, y) for x, others in near.items() for y in others if asker.rank[x] < asker.rank[y]]
    searches = [
        Search(x, y, tuple(one for one in near[end] if one not in (x, y)) if size else (), (), size)
        for x, y in pairs
        for end in ((x, y) if size else (x,))
    ]
    found: dict[Pair, None] = {}
    for one in asker.separators(searches):
        pair = frozenset((one.x, one.y))
        if one.found:
            found[pair] = None
        elif one.verdict is not None and (pair not in weakest or _p_of(one.verdict) > _p_of(weakest[pair])):
            weakest[pair] = one.verdict
    return iter(found)


def _sets(near: Mapping[Node, tuple[Node, ...]], x: Node, y: Node, size: int) -> Iterable[tuple[Node, ...]]:
    """Return the sets of some size among the neighbours of either end, each once."""
    pools = (tuple(one for one in near[end] if one not in (x, y)) for end in (x, y))
    return dict.fromkeys(given for pool in pools for given in combinations(pool, size))


def _p_of(verdict: Verdict) -> float:
    return 0.0 if verdict.p is None else verdict.p


class FindingsFromBlankets:
    """Visits the nearest node, the first by name: its blanket, its neighbours, and the triples known by then."""

    whole = False

    def __init__(self, context: Context) -> None:
        self._asker = context.asker
        self._limit = context.finder_settings.max_conditioning
        self._growing = Growing(context.asker, in_order(context.asker.nodes))
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
