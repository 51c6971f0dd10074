"""Graphs with hidden nodes, and graphs whose edges have a mark at each end.

A ``DagWithHidden`` is a known graph some of whose nodes are in no table. What its other nodes show is an ancestral
graph: two nodes are adjacent if no set of observed nodes separates them, and each end of an edge says whether the node
there is a cause of the other ("tail"), is none ("arrow"), or that this is not determined ("circle").
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Literal, TypeAlias

import attrs

from apsl_rules._arguments import spelt
from apsl_rules.errors import GraphError
from apsl_rules.graphs.dag import Dag, known_dag
from apsl_rules.names import Depth, Node, Pair, check_depth, count_of, in_order, require_known

EndMark: TypeAlias = Literal["arrow", "tail", "circle"]
Ends: TypeAlias = Mapping[tuple[Node, Node], EndMark]


@attrs.frozen(slots=False, repr=False)
class DagWithHidden:
    """A known graph with hidden nodes; make one with ``known_dag(..., hidden=[...])`` or ``network.hiding(...)``.

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

    >>> hide(known_dag({"H": [], "A": ["H"], "B": ["H"]}), ["H"]).nodes
    ('A', 'B')
    """
    if isinstance(hidden, str) or not isinstance(hidden, Iterable):
        message = f"hidden is {spelt(hidden)}; give a list of nodes, such as [{spelt(hidden)}]"
        raise GraphError(message, argument="hidden")
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
        return DagWithHidden(known_dag({**parents, **causes}), tuple(causes))


@attrs.frozen(slots=False, repr=False)
class Pag(AncestralGraph):
    """A partial ancestral graph: the marks that all maximal ancestral graphs with the same independences share."""
