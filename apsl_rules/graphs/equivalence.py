"""Classes of equivalent graphs: the CPDAG of a graph, and a graph of a partly directed one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from typing import TypeAlias

import attrs

from apsl_rules.errors import GraphError
from apsl_rules.graphs.dag import Dag
from apsl_rules.names import Depth, Node, Pair, check_depth, count_of, in_order, listing, require_known
from apsl_rules.showing import NotebookView

Arrow: TypeAlias = tuple[Node, Node]


@attrs.frozen(slots=False, repr=False)
class Pdag(NotebookView):
    """A partially directed graph: arrows (x, y) and lines {x, y}.

    Attributes
    ----------
    nodes
        The nodes.
    arrows
        The arrows as (from, to).
    lines
        The undirected edges, each as a set of two nodes.
    """

    nodes: tuple[Node, ...]
    arrows: frozenset[Arrow]
    lines: frozenset[Pair]

    def __repr__(self) -> str:
        kind = type(self).__name__
        arrows, lines = count_of(len(self.arrows), "arrow"), count_of(len(self.lines), "line")
        return f"<{kind} of {count_of(len(self.nodes), 'node')}, {arrows} and {lines}>"

    @cached_property
    def skeleton(self) -> frozenset[Pair]:
        """Return all edges without their direction."""
        return self.lines.union(frozenset(arrow) for arrow in self.arrows)

    def neighbours_of(self, x: Node) -> frozenset[Node]:
        """Return all nodes that an arrow or a line joins to a node."""
        return self._neighbours[x]

    def distances(self, target: Node) -> dict[Node, int]:
        """Return the number of edges from the target to each node connected with it, nearest first and then by name."""
        require_known(target, self._neighbours, "target")
        distance = {target: 0}
        layer: tuple[Node, ...] = (target,)
        while layer:
            fresh = {other for node in layer for other in self._neighbours[node] if other not in distance}
            length = distance[layer[0]] + 1
            layer = in_order(fresh)
            distance |= dict.fromkeys(layer, length)
        return distance

    def region(self, target: Node, depth: Depth) -> tuple[frozenset[Arrow], frozenset[Pair]]:
        """Return the arrows and lines with an end nearer to the target than ``depth``; "max" takes all connected.

        >>> from apsl_rules.graphs import Dag
        >>> chain = cpdag(Dag({"A": [], "B": ["A"], "C": ["B"]}))
        >>> [sorted(line) for line in chain.region("A", 1)[1]]
        [['A', 'B']]
        """
        check_depth(depth)
        near = {node for node, distance in self.distances(target).items() if depth == "max" or distance < depth}
        return (
            frozenset(arrow for arrow in self.arrows if not near.isdisjoint(arrow)),
            frozenset(line for line in self.lines if not near.isdisjoint(line)),
        )

    @cached_property
    def _neighbours(self) -> dict[Node, frozenset[Node]]:
        found: dict[Node, set[Node]] = {node: set() for node in self.nodes}
        for x, y in self.skeleton:
            found[x].add(y)
            found[y].add(x)
        return {node: frozenset(neighbours) for node, neighbours in found.items()}


@attrs.frozen(slots=False, repr=False)
class Cpdag(Pdag):
    """A completed partially directed graph: its arrows are compelled, its lines can have either direction.

    Attributes
    ----------
    nodes
        The nodes.
    arrows
        The compelled arrows as (from, to).
    lines
        The edges whose direction is open, each as a set of two nodes.
    """


def cpdag(dag: Dag) -> Cpdag:
    """Find which arrows of a graph all graphs with the same independences share."""
    rank = {node: place for place, node in enumerate(dag.topological_order)}
    compelled: dict[Node, frozenset[Node]] = {}
    for node in dag.topological_order:
        compelled[node] = _compelled_parents(dag, node, rank, compelled)
    arrows = frozenset((parent, node) for node, parents in compelled.items() for parent in parents)
    return Cpdag(dag.nodes, arrows, frozenset(frozenset(edge) for edge in dag.edges - arrows))


def _compelled_parents(
    dag: Dag, node: Node, rank: dict[Node, int], compelled: dict[Node, frozenset[Node]]
) -> frozenset[Node]:
    """Label the arrows into a node once those into all its ancestors are labelled; its last parent decides."""
    parents = frozenset(dag.parents_of(node))
    if not parents:
        return parents
    last = max(parents, key=rank.__getitem__)
    if compelled[last] <= parents and parents - {last} <= frozenset(dag.parents_of(last)):
        return compelled[last]
    return parents


def extension(
    nodes: Iterable[Node],
    arrows: Collection[tuple[Node, Node]],
    lines: Collection[Pair],
    open_pairs: Collection[Pair] = (),
    *,
    strict: bool = True,
) -> Dag:
    """Direct all lines such that neither a cycle nor a new V-structure appears; the first by name comes last.

    Two nodes of an open pair may be joined or not, so arrows that meet between them are no new V-structure. Where lines
    close a circle of four nodes or more there is no such graph. Unless ``strict``, arrows then meet where they make the
    fewest new V-structures.

    >>> extension("abc", [("a", "b")], [frozenset("bc")]).edges == {("a", "b"), ("b", "c")}
    True
    """
    everyone = list(nodes)
    around: dict[Node, set[Node]] = {node: set() for node in everyone}
    onward: dict[Node, set[Node]] = {node: set() for node in everyone}
    for x, y in (*arrows, *map(tuple, lines)):
        around[x].add(y)
        around[y].add(x)
    for tail, head in arrows:
        onward[tail].add(head)
    maybe = frozenset(open_pairs)
    parents: dict[Node, tuple[Node, ...]] = {}
    left = list(in_order(everyone))
    while left:
        free = [node for node in left if not onward[node]]
        last = next((node for node in free if not any(_new_at(node, around, onward, maybe))), None)
        if last is None and not strict:
            last = min(free, key=lambda node: sum(1 for _ in _new_at(node, around, onward, maybe)), default=None)
        if last is None:
            message = f"no graph without cycles and new V-structures has these arrows: they clash at {listing(left)}"
            raise GraphError(message)
        parents[last] = in_order(around.pop(last))
        left.remove(last)
        for other in parents[last]:
            around[other].discard(last)
            onward[other].discard(last)
    return Dag({node: parents[node] for node in everyone})


def _new_at(
    node: Node, around: dict[Node, set[Node]], onward: dict[Node, set[Node]], maybe: Collection[Pair]
) -> Iterator[tuple[Node, Node]]:
    """Yield the new V-structures at a node if all around it points at it, by their ends."""
    near = around[node]
    for other in near:
        if node not in onward[other]:
            yield from ((other, one) for one in near - {other} - around[other] if frozenset((one, other)) not in maybe)
