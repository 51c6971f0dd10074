"""A known directed acyclic graph, checked and immutable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, cast

import attrs

from apsl_rules.errors import GraphError
from apsl_rules.names import Node, check_labels, count_of, in_order, nearest, spelt
from apsl_rules.showing import NotebookView

if TYPE_CHECKING:
    from apsl_rules.graphs.ancestral import DagWithHidden


_SPELT_OUT = 12


@attrs.frozen(slots=False, repr=False, init=False)
class Dag(NotebookView):
    """A known graph, directed and acyclic: ``parents[i]`` are the parents of ``nodes[i]``, both in the order given.

    Make one from a mapping of each node to its parents, from a networkx DiGraph or from a ``MarkedGraph``; or from
    nodes and the parents of each. Empty graphs, directed cycles and unknown or repeated nodes are refused.

    Attributes
    ----------
    nodes
        The nodes, in the order given.
    parents
        The parents of each node, in the same order.

    Examples
    --------
    >>> Dag({"A": [], "B": ["A"]}).edges
    frozenset({('A', 'B')})
    """

    nodes: tuple[Node, ...]
    parents: tuple[tuple[Node, ...], ...]

    def __init__(self, source: object, parents: tuple[tuple[Node, ...], ...] | None = None) -> None:
        nodes, parents = _read(source) if parents is None else (cast("tuple[Node, ...]", source), parents)
        self.__attrs_init__(nodes, parents)

    def __attrs_post_init__(self) -> None:
        if not self.nodes:
            _refuse("the graph has no nodes; give at least one")
        if len(self.parents) != len(self.nodes):
            nodes, lists = count_of(len(self.nodes), "node"), count_of(len(self.parents), "list")
            _refuse(f"the graph has {nodes} but {lists} of parents")
        check_labels(self.nodes)
        if repeated := _find_repeated(self.nodes):
            _refuse(f"the node {repeated[0]!r} is given twice; name each node once")
        for node, parents in zip(self.nodes, self.parents, strict=True):
            self._check_parents(node, parents)
        if len(self.topological_order) < len(self.nodes):
            cycle = " -> ".join(str(node) for node in self._cycle())
            _refuse(f"the graph has a directed cycle {cycle}; remove or turn one of these arrows")

    def __repr__(self) -> str:
        if len(self.nodes) > _SPELT_OUT:
            return f"<Dag of {count_of(len(self.nodes), 'node')} and {count_of(len(self.edges), 'arrow')}>"
        return f"Dag({ {node: list(self.parents_of(node)) for node in self.nodes} })"

    def hiding(self, *nodes: Node) -> DagWithHidden:
        """Return the graph with some of its nodes hidden: they act in it, but no question can be asked about them."""
        from apsl_rules.graphs.ancestral import hide

        return hide(self, nodes)

    def parents_of(self, x: Node) -> tuple[Node, ...]:
        """Return the parents of a node, in the order given."""
        return self._parents_by_node[x]

    def children_of(self, x: Node) -> tuple[Node, ...]:
        """Return the children of a node, in the order of the nodes."""
        return self._children_by_node[x]

    def neighbours_of(self, x: Node) -> frozenset[Node]:
        """Return all nodes that an arrow joins to a node."""
        return frozenset(self.parents_of(x)).union(self.children_of(x))

    @cached_property
    def edges(self) -> frozenset[tuple[Node, Node]]:
        """Return all arrows as (parent, child)."""
        return frozenset(
            (parent, node) for node, parents in zip(self.nodes, self.parents, strict=True) for parent in parents
        )

    @cached_property
    def topological_order(self) -> tuple[Node, ...]:
        """Return the nodes such that every parent comes before its children."""
        waiting_for = {node: len(parents) for node, parents in self._parents_by_node.items()}
        order = [node for node in self.nodes if not waiting_for[node]]
        for node in order:  # grows while it is walked
            for child in self._children_by_node[node]:
                waiting_for[child] -= 1
                if not waiting_for[child]:
                    order.append(child)
        return tuple(order)

    @cached_property
    def _parents_by_node(self) -> dict[Node, tuple[Node, ...]]:
        return dict(zip(self.nodes, self.parents, strict=True))

    @cached_property
    def _children_by_node(self) -> dict[Node, tuple[Node, ...]]:
        children: dict[Node, list[Node]] = {node: [] for node in self.nodes}
        for node, parents in self._parents_by_node.items():
            for parent in parents:
                children[parent].append(node)
        return {node: tuple(found) for node, found in children.items()}

    def _check_parents(self, node: Node, parents: tuple[Node, ...]) -> None:
        if repeated := _find_repeated(parents):
            _refuse(f"the node {node!r} has the parent {repeated[0]!r} twice; name each parent once")
        for parent in parents:
            if parent == node:
                _refuse(f"the node {node!r} is its own parent; remove that arrow")
            if parent not in self._parents_by_node:
                check_labels([parent])
                hint = nearest(str(parent), (str(other) for other in self.nodes))
                advice = hint or f"; give it an entry with its own parents, such as {parent!r}: []"
                _refuse(f"the parent {parent!r} of {node!r} is not a node of the graph{advice}")

    def _cycle(self) -> list[Node]:
        """Find one cycle: outside the topological order every node has a parent that is outside too."""
        outside = set(self.nodes).difference(self.topological_order)
        path = [in_order(outside)[0]]
        while path[-1] not in path[:-1]:
            path.append(next(parent for parent in self.parents_of(path[-1]) if parent in outside))
        backwards = path[path.index(path[-1]) : -1]
        first = backwards.index(in_order(backwards)[0])
        cycle = [*backwards[first::-1], *backwards[:first:-1]]
        return [*cycle, cycle[0]]


def _read(source: object) -> tuple[tuple[Node, ...], tuple[tuple[Node, ...], ...]]:
    """Return the nodes of a source and the parents of each."""
    if isinstance(source, Dag):
        return source.nodes, source.parents
    if isinstance(source, Mapping):
        return tuple(source), tuple(_parent_list(node, parents) for node, parents in source.items())
    learned = getattr(source, "dag", None)
    if callable(learned):
        return _read(learned())
    if not is_networkx(source):
        _refuse(
            f"a known graph cannot be made from {type(source).__name__}; give a mapping of each node to a list of its "
            "parents, such as {'A': [], 'B': ['A']}, a networkx DiGraph, or an imported graph"
        )
    graph: Any = source
    if not graph.is_directed():
        _refuse("the networkx graph is undirected; give a DiGraph")
    return tuple(graph.nodes), tuple(tuple(graph.predecessors(node)) for node in graph.nodes)


def _parent_list(node: Node, parents: Any) -> tuple[Node, ...]:
    if isinstance(parents, str) or not isinstance(parents, Iterable):
        given = spelt(parents)
        _refuse(f"the parents of {node!r} are given as {given}; give a list of nodes, such as [] or [{given}]")
    listed = in_order(parents) if isinstance(parents, AbstractSet) else tuple(parents)
    for parent in listed:
        if not isinstance(parent, Hashable):
            _refuse(f"the parent {spelt(parent)} of {node!r} cannot be a node; name nodes by text, numbers or tuples")
    return listed


def is_networkx(source: object) -> bool:
    """Return whether an object is a networkx graph, without importing networkx."""
    return any(kind.__module__.partition(".")[0] == "networkx" for kind in type(source).__mro__)


def _find_repeated(nodes: tuple[Node, ...]) -> list[Node]:
    return [node for node, count in Counter(nodes).items() if count > 1]


def _refuse(message: str) -> NoReturn:
    raise GraphError(message)


@attrs.frozen
class Degrees:
    """How many nodes and arrows a graph has, and the extremes over its nodes."""

    nodes: int
    arcs: int
    max_parents: int
    max_children: int
    min_neighbours: int
    max_neighbours: int


def degrees(dag: Dag) -> Degrees:
    """Count nodes and arrows and find the extreme degrees.

    >>> from apsl_rules.graphs.networks import network
    >>> degrees(network("alarm").dag)
    Degrees(nodes=37, arcs=46, max_parents=4, max_children=5, min_neighbours=1, max_neighbours=6)
    """
    neighbours = [len(dag.parents_of(node)) + len(dag.children_of(node)) for node in dag.nodes]
    return Degrees(
        nodes=len(dag.nodes),
        arcs=len(dag.edges),
        max_parents=max(len(parents) for parents in dag.parents),
        max_children=max(len(dag.children_of(node)) for node in dag.nodes),
        min_neighbours=min(neighbours),
        max_neighbours=max(neighbours),
    )
