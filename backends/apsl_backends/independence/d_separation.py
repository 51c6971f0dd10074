"""The perfect oracle: d-separation in a known graph, some of whose nodes may be hidden.

A trail between x and y is active given Z when each of its colliders has a descendant in Z (or is in Z) and no other
node of it is in Z; x and y are independent given Z when no trail is active. Sets of nodes are bits of Python
integers, so that one breadth-first pass from x answers for all y at once. Bit positions follow the names, so that
no answer depends on the order in which the graph lists its nodes.

Separators are found without trying subsets: if any Z with I <= Z <= pool separates x from y, then so do the
ancestors of x, y and I that are in the pool, and among subsets of these ancestors d-separation is plain separation
in the moral graph of the ancestors (van der Zander, Liskiewicz and Textor 2014, "Constructing separators and
adjustment sets in ancestral graphs").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

import attrs

from apsl_rules.errors import InvalidArgumentError
from apsl_rules.evidence import Verdict
from apsl_rules.graphs import Dag, DagWithHidden
from apsl_rules.memory import check
from apsl_rules.names import Node, in_order, require_known
from apsl_rules.oracles import Oracle, Separation, Sweep

Mask: TypeAlias = int
Layers: TypeAlias = tuple[Mask, ...]

_REMEMBERED = 4096


class DSeparation(Oracle):
    """Answers independence questions from a known graph; nearer dependent nodes have the larger statistic.

    Hidden nodes lie on trails like all others, but nobody can ask about them or give them. So the answers are those of
    m-separation in the maximal ancestral graph of the observed nodes.
    """

    name = "dsep"
    perfect = True

    def __init__(self, graph: Dag | DagWithHidden, *, data: object = None) -> None:
        self.data = data
        dag = graph.dag if isinstance(graph, DagWithHidden) else graph
        self.dag = dag
        self.nodes = graph.nodes
        self._observed = frozenset(graph.nodes)
        self._names = in_order(dag.nodes)
        self._place = {node: place for place, node in enumerate(self._names)}
        self._parents = [self._mask(dag.parents_of(node)) for node in self._names]
        self._children = [self._mask(dag.children_of(node)) for node in self._names]
        self._ancestors = [0] * len(self._names)
        for node in dag.topological_order:
            place = self._place[node]
            self._ancestors[place] = 1 << place | _union(self._ancestors, self._parents[place])
        self._trails: dict[tuple[int, Mask], Layers] = {}

    def verdict(self, x: Node, y: Node, given: Sequence[Node] = ()) -> Verdict:
        """Return whether the given nodes d-separate x from y."""
        self._check(x, y, given)
        return self._answer(x, y, tuple(given))

    def associations(self, x: Node) -> Sweep:
        """Test x against every other node with nothing given, in one pass."""
        require_known(x, self._observed, "node")
        distance = {
            place: length for length, layer in enumerate(self._active(self._place[x], 0)) for place in _bits(layer)
        }
        others = [(y, distance.get(self._place[y])) for y in self.nodes if y != x]
        return Sweep(x, [_verdict_of(x, y, (), length) for y, length in others])

    def separator(
        self,
        x: Node,
        y: Node,
        pool: Sequence[Node],
        *,
        must_include: Sequence[Node] = (),
        max_size: int | None = None,
    ) -> Separation:
        """Find an inclusion-minimal separator; where it is larger than ``max_size``, a smallest one that fits."""
        self._check(x, y, [*pool, *must_include])
        fixed = self._mask(must_include)
        if max_size is not None and fixed.bit_count() > max_size:
            return Separation(x, y, None, None)
        start, goal = self._place[x], self._place[y]
        within = self._ancestors[start] | self._ancestors[goal] | _union(self._ancestors, fixed)
        moral = _Moral(self._parents, self._children, within, start, goal)
        found = moral.minimal(self._mask(pool) & within, fixed)
        if found is not None and max_size is not None and found.bit_count() > max_size:
            found = moral.smallest(self._mask(pool) & within, fixed, max_size)
        if found is None:
            return Separation(x, y, None, self._answer(x, y, in_order(set(must_include))), 1)
        given = tuple(self._names[place] for place in _bits(found))
        return Separation(x, y, given, _verdict_of(x, y, given, None), 1)

    def _check(self, x: Node, y: Node, others: Iterable[Node]) -> None:
        require_known(x, self._observed, "node")
        require_known(y, self._observed, "node")
        if x == y:
            message = f"x and y are both {x!r}; ask about two different nodes"
            raise InvalidArgumentError(message)
        for node in others:
            require_known(node, self._observed, "conditioning node")
            if node in (x, y):
                message = f"{node!r} cannot be tested and conditioned on at once; leave it out of the given nodes"
                raise InvalidArgumentError(message)

    def _mask(self, nodes: Iterable[Node]) -> Mask:
        mask = 0
        for node in nodes:
            mask |= 1 << self._place[node]
        return mask

    def _answer(self, x: Node, y: Node, given: tuple[Node, ...]) -> Verdict:
        goal = 1 << self._place[y]
        layers = self._active(self._place[x], self._mask(given))
        return _verdict_of(x, y, given, next((length for length, layer in enumerate(layers) if layer & goal), None))

    def _active(self, start: int, given: Mask) -> Layers:
        """Return the nodes that active trails reach, layer by layer of trail length; remembers its answers."""
        known = self._trails.get((start, given))
        if known is None:
            if len(self._trails) >= _REMEMBERED:
                self._trails.clear()
            known = self._trails[start, given] = self._walk(start, given)
        return known

    def _walk(self, start: int, given: Mask) -> Layers:
        """Follow all active paths at once; "up" holds nodes entered from a child, "down" from a parent."""
        opened = _union(self._ancestors, given)
        up, down = 1 << start, 0
        seen_up, seen_down, seen = up, down, 0
        layers = []
        while up | down:
            layers.append((up | down) & ~seen)
            seen |= up | down
            to_parents = up & ~given | down & opened
            to_children = (up | down) & ~given
            up = _union(self._parents, to_parents) & ~seen_up
            down = _union(self._children, to_children) & ~seen_down
            seen_up |= up
            seen_down |= down
        return tuple(layers)


@attrs.frozen
class _Moral:
    """The moral graph of some ancestors, in which a separator between two nodes is looked for."""

    parents: Sequence[Mask]
    children: Sequence[Mask]
    within: Mask
    start: int
    goal: int

    def minimal(self, pool: Mask, fixed: Mask) -> Mask | None:
        """Keep of the pool what is met first from the start, and of that what is met first from the goal."""
        met = self._layers(self.start, self.goal, pool | fixed)
        if met[-1] >> self.goal & 1:
            return None
        near_start = _join_layers(met) & pool | fixed
        return _join_layers(self._layers(self.goal, self.start, near_start)) & near_start | fixed

    def smallest(self, pool: Mask, fixed: Mask, largest: int) -> Mask | None:
        """Find a separator of the least size not above the largest allowed, where the whole pool separates."""
        fewest = fixed.bit_count() + len(self._open_paths(pool, fixed, largest + 1))
        tried = (self._blocking(pool, fixed, size) for size in range(fewest, largest + 1))
        return next((found for found in tried if found is not None), None)

    def _blocking(self, pool: Mask, chosen: Mask, size: int) -> Mask | None:
        """Add pool nodes to the chosen ones until no path is open, if so many are enough."""
        check()
        left = size - chosen.bit_count()
        paths = self._open_paths(pool, chosen, left + 1)
        if not paths:
            return chosen
        if len(paths) > left:
            return None
        tried = (self._blocking(pool, chosen | 1 << place, size) for place in _bits(paths[0]))
        return next((found for found in tried if found is not None), None)

    def _open_paths(self, pool: Mask, blocked: Mask, most: int) -> list[Mask]:
        """Return the pool nodes of open paths that share none of them: each needs a separating node of its own."""
        paths: list[Mask] = []
        while len(paths) < most and (path := self._open_path(blocked) & pool):
            paths.append(path)
            blocked |= path
        return paths

    def _open_path(self, blocked: Mask) -> Mask:
        """Return the inner nodes of the shortest open path from start to goal, the first by name; 0 if none is open."""
        layers = self._layers(self.start, self.goal, blocked)
        path = 0
        if layers[-1] >> self.goal & 1:
            place = self.goal
            for layer in layers[-2:0:-1]:
                place = next(_bits(self._neighbours(place) & layer & ~blocked))
                path |= 1 << place
        return path

    def _layers(self, start: int, goal: int, blocked: Mask) -> Layers:
        """Return the nodes met from the start, layer by layer and blocked ones too, until the goal is met."""
        seen = layer = 1 << start
        layers = []
        while layer:
            layers.append(layer)
            if layer >> goal & 1:
                break
            met = 0
            for place in _bits(layer & ~blocked):
                met |= self._neighbours(place)
            layer = met & ~seen
            seen |= layer
        return tuple(layers)

    def _neighbours(self, place: int) -> Mask:
        children = self.children[place] & self.within
        return (self.parents[place] | children | _union(self.parents, children)) & self.within


def _verdict_of(x: Node, y: Node, given: tuple[Node, ...], length: int | None) -> Verdict:
    if length is None:
        return Verdict(x, y, given, "independent", DSeparation.name)
    return Verdict(x, y, given, "dependent", DSeparation.name, statistic=1 / length)


def _bits(mask: Mask) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def _union(masks: Sequence[Mask], places: Mask) -> Mask:
    found = 0
    for place in _bits(places):
        found |= masks[place]
    return found


def _join_layers(layers: Layers) -> Mask:
    joined = 0
    for layer in layers:
        joined |= layer
    return joined
