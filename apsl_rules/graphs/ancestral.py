"""Graphs with hidden nodes: the maximal ancestral graph of what is seen, and the PAG of its class."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import combinations, permutations, product
from typing import Literal, TypeAlias

import attrs

from apsl_rules.errors import GraphError
from apsl_rules.graphs.dag import Dag
from apsl_rules.names import Depth, Node, Pair, check_depth, count_of, in_order, require_known, spelt

EndMark: TypeAlias = Literal["arrow", "tail", "circle"]
Ends: TypeAlias = Mapping[tuple[Node, Node], EndMark]


@attrs.frozen(slots=False, repr=False)
class DagWithHidden:
    """A known graph with hidden nodes; make one with ``Dag(...).hiding(...)`` or ``network.hiding(...)``.

    Attributes
    ----------
    dag
        The whole graph.
    hidden
        The nodes that no question can be asked about.
    """

    dag: Dag
    hidden: tuple[Node, ...]

    def __attrs_post_init__(self) -> None:
        for node in self.hidden:
            require_known(node, self.dag.nodes, "hidden node")
        if not self.nodes:
            message = "all nodes are hidden; leave at least one to be observed"
            raise GraphError(message)

    def __repr__(self) -> str:
        return f"<DagWithHidden of {count_of(len(self.nodes), 'node')}, and {len(self.hidden)} hidden>"

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Return the observed nodes, in the order given."""
        hidden = frozenset(self.hidden)
        return tuple(node for node in self.dag.nodes if node not in hidden)


def hide(dag: Dag, hidden: object) -> DagWithHidden:
    """Return a known graph some of whose nodes are hidden.

    >>> hide(Dag({"H": [], "A": ["H"], "B": ["H"]}), ["H"]).nodes
    ('A', 'B')
    """
    if isinstance(hidden, str) or not isinstance(hidden, Iterable):
        raise GraphError(argument="hidden", value=hidden, advice=f"give a list of nodes, such as [{spelt(hidden)}]")
    return DagWithHidden(dag, tuple(dict.fromkeys(hidden)))


@attrs.frozen(slots=False, repr=False)
class AncestralGraph:
    """A graph whose edges have a mark at each end: ``ends[x, y]`` is the one at x on the edge of x and y."""

    nodes: tuple[Node, ...]
    ends: Ends = attrs.field(hash=False)

    def __repr__(self) -> str:
        kind = type(self).__name__
        return f"<{kind} of {count_of(len(self.nodes), 'node')} and {count_of(len(self.skeleton), 'edge')}>"

    def end(self, x: Node, y: Node) -> EndMark | None:
        """Return the mark at x on the edge of x and y, or None if they are not adjacent."""
        return self.ends.get((x, y))

    @cached_property
    def skeleton(self) -> frozenset[Pair]:
        """Return all edges without their marks."""
        return frozenset(map(frozenset, self.ends))

    @cached_property
    def arrows(self) -> frozenset[tuple[Node, Node]]:
        """Return every edge with a tail and an arrowhead, as (from, to)."""
        return frozenset((x, y) for (x, y), end in self.ends.items() if (end, self.ends[y, x]) == ("tail", "arrow"))

    @cached_property
    def bidirected(self) -> frozenset[Pair]:
        """Return every edge with two arrowheads."""
        return frozenset(frozenset((x, y)) for (x, y), end in self.ends.items() if end == self.ends[y, x] == "arrow")

    def neighbours_of(self, x: Node) -> tuple[Node, ...]:
        """Return the nodes that are adjacent to a node, by name."""
        return self._neighbours[x]

    @cached_property
    def _neighbours(self) -> dict[Node, tuple[Node, ...]]:
        found: dict[Node, list[Node]] = {node: [] for node in self.nodes}
        for x, y in self.ends:
            found[x].append(y)
        return {node: in_order(others) for node, others in found.items()}

    def distances(self, target: Node) -> dict[Node, int]:
        """Return the number of edges from the target to each node connected with it."""
        require_known(target, self._neighbours, "target")
        distance = {target: 0}
        layer: tuple[Node, ...] = (target,)
        while layer:
            further = distance[layer[0]] + 1
            layer = in_order({other for node in layer for other in self._neighbours[node]} - distance.keys())
            distance |= dict.fromkeys(layer, further)
        return distance

    def region(self, target: Node, depth: Depth) -> dict[tuple[Node, Node], EndMark]:
        """Return the ends of all edges that touch a node nearer to the target than ``depth``; "max" takes all."""
        check_depth(depth)
        near = {node for node, distance in self.distances(target).items() if depth == "max" or distance < depth}
        return {pair: end for pair, end in self.ends.items() if not near.isdisjoint(pair)}


@attrs.frozen(slots=False, repr=False)
class Mag(AncestralGraph):
    """A maximal ancestral graph: arrows and bidirected edges, and every pair that is not adjacent can be separated."""

    def canonical(self) -> DagWithHidden:
        """Return a known graph with the same independences: one hidden cause for each bidirected edge."""
        parents: dict[Node, list[Node]] = {node: [] for node in self.nodes}
        for tail, head in sorted(self.arrows, key=repr):
            parents[head].append(tail)
        causes: dict[Node, list[Node]] = {}
        for pair in sorted(map(in_order, self.bidirected), key=repr):
            cause = ("hidden cause", *pair)
            causes[cause] = []
            for node in pair:
                parents[node].append(cause)
        return DagWithHidden(Dag({**parents, **causes}), tuple(causes))


@attrs.frozen(slots=False, repr=False)
class Pag(AncestralGraph):
    """A partial ancestral graph: the marks that all maximal ancestral graphs with the same independences share."""


def mag(graph: DagWithHidden) -> Mag:
    """Return the maximal ancestral graph over the observed nodes.

    >>> from apsl_rules.graphs import Dag
    >>> mag(Dag({"H": [], "A": ["H"], "B": ["H"]}).hiding("H")).ends
    {('A', 'B'): 'arrow', ('B', 'A'): 'arrow'}
    """
    ancestors = _ancestors(graph.dag)
    observed = frozenset(graph.nodes)
    ends: dict[tuple[Node, Node], EndMark] = {}
    for x, y in combinations(graph.nodes, 2):
        given = ((ancestors[x] | ancestors[y]) & observed) - {x, y}
        if y in _reached(graph.dag, x, given, ancestors):
            ends[x, y] = "tail" if x in ancestors[y] else "arrow"
            ends[y, x] = "tail" if y in ancestors[x] else "arrow"
    return Mag(graph.nodes, ends)


def pag(graph: DagWithHidden | Mag) -> Pag:
    """Return the partial ancestral graph over the observed nodes.

    >>> from apsl_rules.graphs import Dag
    >>> example = {"H": [], "C": [], "D": [], "A": ["H", "C"], "B": ["H", "D"]}
    >>> [sorted(pair) for pair in pag(Dag(example).hiding("H")).bidirected]
    [['A', 'B']]
    """
    whole = graph if isinstance(graph, Mag) else mag(graph)
    marks = _Orientation(whole)
    marks.colliders()
    marks.repeat(marks.r1, marks.r2, marks.r3, marks.r4)
    marks.repeat(marks.r8, marks.r9, marks.r10)
    return Pag(whole.nodes, dict(marks.ends))


def pag_by_enumeration(whole: Mag) -> Pag:
    """Return the marks that all maximal ancestral graphs with the independences of one share, by trying all of them."""
    pairs = [(x, y) for x, y in combinations(whole.nodes, 2) if (x, y) in whole.ends]
    shared = dict(whole.ends)
    independences = _independences(whole)
    kinds: tuple[tuple[EndMark, EndMark], ...] = (("tail", "arrow"), ("arrow", "tail"), ("arrow", "arrow"))
    for chosen in product(kinds, repeat=len(pairs)):
        ends: dict[tuple[Node, Node], EndMark] = {}
        for (x, y), (at_x, at_y) in zip(pairs, chosen, strict=True):
            ends[x, y], ends[y, x] = at_x, at_y
        other = Mag(whole.nodes, ends)
        if is_ancestral(other) and _independences(other) == independences:
            shared = {pair: end if ends[pair] == end else "circle" for pair, end in shared.items()}
    return Pag(whole.nodes, shared)


def is_ancestral(graph: AncestralGraph) -> bool:
    """Return whether no node has an arrowhead on an edge with a node that it is an ancestor of."""
    onward: dict[Node, set[Node]] = {node: set() for node in graph.nodes}
    for tail, head in graph.arrows:
        onward[tail].add(head)
    return all(not (end == "arrow" and y in _closure(x, onward.__getitem__)) for (x, y), end in graph.ends.items())


def _closure(start: Node, onward: Callable[[Node], Collection[Node]]) -> set[Node]:
    """Return all nodes that steps lead to from a node; the node itself only if they lead back."""
    seen: set[Node] = set()
    ahead = [start]
    while ahead:
        for node in onward(ahead.pop()):
            if node not in seen:
                seen.add(node)
                ahead.append(node)
    return seen


def _ancestors(dag: Dag) -> dict[Node, frozenset[Node]]:
    """Return the ancestors of each node, itself among them."""
    found: dict[Node, frozenset[Node]] = {}
    for node in dag.topological_order:
        found[node] = frozenset({node}).union(*(found[parent] for parent in dag.parents_of(node)))
    return found


def _reached(dag: Dag, start: Node, given: Collection[Node], ancestors: dict[Node, frozenset[Node]]) -> set[Node]:
    """Return the nodes that are not d-separated from one node by others."""
    opened = {one for node in given for one in ancestors[node]}
    seen: set[tuple[Node, bool]] = set()
    ahead = [(start, True)]  # whether the node is entered from a child
    while ahead:
        node, up = ahead.pop()
        if (node, up) in seen:
            continue
        seen.add((node, up))
        if up and node not in given:
            ahead += [(parent, True) for parent in dag.parents_of(node)]
            ahead += [(child, False) for child in dag.children_of(node)]
        if not up:
            ahead += [(child, False) for child in dag.children_of(node) if node not in given]
            ahead += [(parent, True) for parent in dag.parents_of(node) if node in opened]
    return {node for node, _ in seen if node not in given}


def _independences(graph: Mag) -> frozenset[tuple[Node, Node, tuple[Node, ...]]]:
    """Return every independence of a graph."""
    known = graph.canonical()
    ancestors = _ancestors(known.dag)
    found = set()
    for x, y in combinations(graph.nodes, 2):
        others = [node for node in graph.nodes if node not in (x, y)]
        for size in range(len(others) + 1):
            for given in combinations(others, size):
                if y not in _reached(known.dag, x, given, ancestors):
                    found.add((x, y, given))
    return frozenset(found)


class _Orientation:
    """The marks of a PAG while they are found; ``ends[x, y]`` is the mark at x."""

    def __init__(self, whole: Mag) -> None:
        self._whole = whole
        self.ends: dict[tuple[Node, Node], EndMark] = dict.fromkeys(whole.ends, "circle")
        self._near = whole.neighbours_of
        self._changed = False

    def repeat(self, *rules: Callable[[], None]) -> None:
        """Apply rules until none changes anything."""
        self._changed = True
        while self._changed:
            self._changed = False
            for rule in rules:
                rule()

    def _set(self, x: Node, y: Node, end: EndMark) -> None:
        if self.ends[x, y] == "circle":
            self.ends[x, y] = end
            self._changed = True

    def _direct(self, x: Node, y: Node) -> None:
        self._set(x, y, "tail")
        self._set(y, x, "arrow")

    def _adjacent(self, x: Node, y: Node) -> bool:
        return (x, y) in self.ends

    def _is(self, x: Node, y: Node, at_x: EndMark, at_y: EndMark) -> bool:
        return self.ends.get((x, y)) == at_x and self.ends[y, x] == at_y

    def _unshielded(self, middle: Node) -> Iterator[tuple[Node, Node]]:
        return ((x, z) for x, z in permutations(self._near(middle), 2) if not self._adjacent(x, z))

    def colliders(self) -> None:
        """R0: put arrowheads at the colliders of the MAG between nodes that are not adjacent."""
        for y in self._whole.nodes:
            for x, z in self._unshielded(y):
                if self._whole.ends[y, x] == self._whole.ends[y, z] == "arrow":
                    self._set(y, x, "arrow")

    def r1(self) -> None:
        """R1: no new collider."""
        for y in self._whole.nodes:
            for x, z in self._unshielded(y):
                if self.ends[y, x] == "arrow" and self.ends[y, z] == "circle":
                    self._direct(y, z)

    def r2(self) -> None:
        """R2: an arrowhead against a cycle."""
        for x, z in self._whole.ends:
            for y in self._near(x):
                if self.ends[z, x] != "circle" or not self._adjacent(y, z):
                    continue
                first = self._is(x, y, "tail", "arrow") and self.ends[z, y] == "arrow"
                second = self.ends[y, x] == "arrow" and self._is(y, z, "tail", "arrow")
                if first or second:
                    self._set(z, x, "arrow")

    def r3(self) -> None:
        """R3: an arrowhead beside a collider."""
        for middle in self._whole.nodes:
            for x, z in self._unshielded(middle):
                if self.ends[middle, x] != "circle" or self.ends[middle, z] != "circle":
                    continue
                for y in self._near(middle):
                    heads = self.ends.get((y, x)) == self.ends.get((y, z)) == "arrow"
                    if heads and self.ends[y, middle] == "circle":
                        self._set(y, middle, "arrow")

    def r4(self) -> None:
        """R4: the node at the end of a discriminating path."""
        for v, y in self._whole.ends:
            if self.ends[v, y] != "circle":
                continue
            for w in self._near(v):
                if self._is(w, y, "tail", "arrow") and self.ends[w, v] == "arrow" and self._discriminates(v, w, y):
                    if self._whole.ends[v, w] == self._whole.ends[v, y] == "arrow":
                        for pair in ((v, w), (v, y), (y, v)):
                            self._set(*pair, "arrow")
                    else:
                        self._direct(v, y)

    def _discriminates(self, v: Node, first: Node, y: Node) -> bool:
        """Return whether colliders that are parents of y lead from w to a node that is not adjacent to y."""
        ahead: list[tuple[Node, ...]] = [(v, first)]
        while ahead:
            path = ahead.pop()
            for other in self._near(path[-1]):
                if other in path or other == y or self.ends[path[-1], other] != "arrow":
                    continue
                if not self._adjacent(other, y):
                    return True
                if self._is(other, y, "tail", "arrow") and self.ends[other, path[-1]] == "arrow":
                    ahead.append((*path, other))
        return False

    def r8(self) -> None:
        """R8: a cause of a cause."""
        for x, z in self._whole.ends:
            if self._is(x, z, "circle", "arrow"):
                for y in self._near(x):
                    if self._is(x, y, "tail", "arrow") and self._is(y, z, "tail", "arrow"):
                        self._direct(x, z)

    def r9(self) -> None:
        """R9: a path that may be directed, and closes a cycle if it is."""
        for x, z in self._whole.ends:
            if self._is(x, z, "circle", "arrow"):
                starts = (y for y in self._near(x) if y != z and not self._adjacent(y, z))
                if any(self._may_lead(x, y, {z}) for y in starts):
                    self._direct(x, z)

    def r10(self) -> None:
        """R10: two paths that may be directed, one of which must be."""
        for x, z in self._whole.ends:
            if self._is(x, z, "circle", "arrow"):
                parents = {y for y in self._near(z) if self._is(y, z, "tail", "arrow")}
                starts = [y for y in self._near(x) if y != z and self._may_lead(x, y, parents)]
                if any(not self._adjacent(one, other) for one, other in combinations(starts, 2)):
                    self._direct(x, z)

    def _may_lead(self, start: Node, second: Node, goals: Collection[Node]) -> bool:
        """Return whether an uncovered path that may be directed begins with two nodes and ends at a goal."""
        ahead: list[tuple[Node, ...]] = [(start, second)] if self._may_be_directed(start, second) else []
        while ahead:
            path = ahead.pop()
            if path[-1] in goals:
                return True
            ahead += [
                (*path, other)
                for other in self._near(path[-1])
                if other not in path and not self._adjacent(path[-2], other) and self._may_be_directed(path[-1], other)
            ]
        return False

    def _may_be_directed(self, x: Node, y: Node) -> bool:
        return self.ends[x, y] != "arrow" and self.ends[y, x] != "tail"
