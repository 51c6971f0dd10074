"""A graph by its marks alone: what every export takes and every import gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import attrs

from apsl_rules.cycles import cyclic_groups
from apsl_rules.errors import GraphError, GraphFormatError
from apsl_rules.graphs import Dag
from apsl_rules.names import Node, Pair, chosen, count_of, in_order, order_key
from apsl_rules.notes import argument
from apsl_rules.parts.shortcuts import Exportable, OpenEdges
from apsl_rules.rules import End, Mark
from apsl_rules.showing import NotebookView

if TYPE_CHECKING:
    import pandas as pd


Arrow: TypeAlias = tuple[Node, Node]

#: The marks that an edge can have without hidden causes, and with them.
MARKS = (Mark.ARROW, Mark.LINE, Mark.CONFLICT)
MARKS_WITH_HIDDEN = (Mark.ARROW, Mark.PARTIAL, Mark.BIDIRECTED, Mark.LINE, Mark.CONFLICT)

#: The ends of an edge with hidden causes, at its source and at its target; nothing is proved of a conflict.
ENDS: Mapping[Mark, tuple[End, End]] = {
    Mark.ARROW: (End.TAIL, End.ARROW),
    Mark.PARTIAL: (End.CIRCLE, End.ARROW),
    Mark.BIDIRECTED: (End.ARROW, End.ARROW),
    Mark.LINE: (End.CIRCLE, End.CIRCLE),
    Mark.CONFLICT: (End.CIRCLE, End.CIRCLE),
}


#: The columns of the table of edges.
_ROW = ("source", "target", "mark", "probability", "direction", "suggested")


@attrs.frozen
class Edge:
    """An edge with its mark; an arrow, partial or not, goes from ``source`` to ``target``, others name ends in order.

    A line with a suggested direction names its ends along it; ``suggested`` is the probability of that direction.
    ``probability`` is that of the edge itself, and ``direction`` that of the direction from source to target, given
    that the edge exists; both are None where they are not known.

    Attributes
    ----------
    mark
        Its mark.
    """

    source: Node
    target: Node
    mark: Mark
    suggested: float | None = None
    probability: float | None = None
    direction: float | None = None


def undirected_edge(pair: Pair, mark: Mark, suggested: Mapping[Arrow, float] | None = None) -> Edge:
    """Return an edge that names its ends in order, or along a suggested direction."""
    x, y = in_order(pair)
    for way in ((x, y), (y, x)):
        if suggested and way in suggested:
            return Edge(*way, mark, suggested[way])
    return Edge(x, y, mark)


def _nodes(given: Iterable[Node]) -> tuple[Node, ...]:
    return tuple(given)


def _arrows(given: Iterable[Iterable[Node]]) -> frozenset[Arrow]:
    found = set()
    for one in given:
        arrow = tuple(one)
        if len(arrow) != 2:  # noqa: PLR2004 - an arrow has two ends
            _refuse(f"{arrow!r} is no arrow; give pairs (from, to)")
        found.add(arrow)
    return frozenset(found)


def _pairs(given: Iterable[Iterable[Node]]) -> frozenset[Pair]:
    found = set()
    for one in given:
        pair = frozenset(one)
        if len(pair) != 2:  # noqa: PLR2004 - an edge has two ends
            _refuse(f"{one!r} is no edge; give two different nodes")
        found.add(pair)
    return frozenset(found)


@attrs.frozen(slots=False, repr=False)
class MarkedGraph(Exportable, NotebookView):
    """Nodes, arrows (from, to), lines and conflicts; two graphs are equal whatever the order of their nodes.

    A conflict is an edge whose direction the findings contradict. A pair of nodes has one mark at most. Directed
    cycles are allowed, since other tools and some policies leave them. ``suggested`` has the directions (from, to) of
    lines for which there is some evidence, each with its probability. ``probabilities`` has that of each edge, and
    ``directions`` that of each direction (from, to), given that the edge exists, where they are known. ``open_pairs``
    may have an edge that is not drawn: nothing keeps them apart. Graphs that differ only there are equal.

    ``hidden`` says that common causes may be hidden, so that each end of an edge has a mark of its own: ``partial`` are
    edges x o-> y as (x, y), ``bidirected`` those with two arrowheads, and a line has two circles.

    Attributes
    ----------
    nodes
        The nodes.
    arrows
        The arrows as (from, to).
    lines, conflicts
        The edges without a direction, and those whose direction is contradicted, each as a set of two nodes.

    Examples
    --------
    >>> MarkedGraph("abc", arrows=[("a", "b")], lines=["bc"])
    <MarkedGraph of 3 nodes, 1 arrow, 1 line and 0 conflicts>
    """

    nodes: tuple[Node, ...] = attrs.field(converter=_nodes, eq=frozenset)
    arrows: frozenset[Arrow] = attrs.field(default=frozenset(), converter=_arrows)
    lines: frozenset[Pair] = attrs.field(default=frozenset(), converter=_pairs)
    conflicts: frozenset[Pair] = attrs.field(default=frozenset(), converter=_pairs)
    suggested: Mapping[Arrow, float] = attrs.field(factory=dict, eq=False)
    partial: frozenset[Arrow] = attrs.field(default=frozenset(), converter=_arrows)
    bidirected: frozenset[Pair] = attrs.field(default=frozenset(), converter=_pairs)
    hidden: bool = attrs.field()

    probabilities: Mapping[Pair, float] = attrs.field(factory=dict, eq=False, kw_only=True)
    directions: Mapping[Arrow, float] = attrs.field(factory=dict, eq=False, kw_only=True)
    open_pairs: frozenset[Pair] = attrs.field(default=frozenset(), converter=_pairs, eq=False, kw_only=True)

    @hidden.default
    def _has_ends(self) -> bool:
        return bool(self.partial or self.bidirected)

    def __attrs_post_init__(self) -> None:
        if self._has_ends() and not self.hidden:
            _refuse(
                "partial and bidirected edges are those of a graph with hidden causes; give "
                f"{argument('hidden', value=True)}"
            )
        for node, count in Counter(self.nodes).items():
            if count > 1:
                _refuse(f"the node {node!r} is given twice; name each node once")
        self._check_pairs()
        for x, y in self.suggested:
            if frozenset((x, y)) not in self.lines:
                _refuse(f"the direction from {x!r} to {y!r} is suggested, but they are not joined by a line")

    def _check_pairs(self) -> None:
        """Refuse edges to unknown nodes, and pairs with two marks."""
        known = frozenset(self.nodes)
        marks: dict[Pair, str] = {}
        drawn = chain(
            ((frozenset(arrow), f"an arrow from {arrow[0]!r}") for arrow in sorted(self.arrows, key=_way)),
            ((frozenset(edge), f"an edge from {edge[0]!r}") for edge in sorted(self.partial, key=_way)),
            ((pair, "two arrowheads") for pair in sorted(self.bidirected, key=_ends)),
            ((line, "a line") for line in sorted(self.lines, key=_ends)),
            ((pair, "a conflict") for pair in sorted(self.conflicts, key=_ends)),
        )
        for pair, what in drawn:
            x, *rest = in_order(pair)
            if not rest:
                _refuse(f"the node {x!r} is joined to itself; remove that edge")
            for node in (x, *rest):
                if node not in known:
                    _refuse(f"the edge of {x!r} and {rest[0]!r} names {node!r}, which is not among the nodes")
            if pair in marks:
                _refuse(f"{x!r} and {rest[0]!r} have both {marks[pair]} and {what}; give each pair one mark")
            marks[pair] = what

    @classmethod
    def of_edges(
        cls, nodes: Iterable[Node], edges: Iterable[tuple[Node, Node, Mark]], *, hidden: bool = False
    ) -> MarkedGraph:
        """Make a graph from edges one by one; ends that are not among the nodes join them in the order met.

        It is one with ``hidden`` causes if that is said, or if an edge is partial or bidirected.
        """
        listed = list(edges)
        everyone = dict.fromkeys([*nodes, *(node for x, y, _ in listed for node in (x, y))])
        by_mark: dict[Mark, list[Arrow]] = {mark: [] for mark in MARKS_WITH_HIDDEN}
        for x, y, mark in listed:
            by_mark[mark].append((x, y))
        return cls(
            everyone,
            by_mark[Mark.ARROW],
            by_mark[Mark.LINE],
            by_mark[Mark.CONFLICT],
            partial=by_mark[Mark.PARTIAL],
            bidirected=by_mark[Mark.BIDIRECTED],
            hidden=hidden or bool(by_mark[Mark.PARTIAL] or by_mark[Mark.BIDIRECTED]),
        )

    def __repr__(self) -> str:
        further = f"{len(self.partial)} partial and {len(self.bidirected)} bidirected edges, " if self.hidden else ""
        return (
            f"<MarkedGraph of {count_of(len(self.nodes), 'node')}, {count_of(len(self.arrows), 'arrow')}, {further}"
            f"{count_of(len(self.lines), 'line')} and {count_of(len(self.conflicts), 'conflict')}>"
        )

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """Return all edges with their marks, by the names of their ends."""
        found = [Edge(x, y, Mark.ARROW) for x, y in self.arrows]
        found += [Edge(x, y, Mark.PARTIAL) for x, y in self.partial]
        drawn = ((self.bidirected, Mark.BIDIRECTED), (self.lines, Mark.LINE), (self.conflicts, Mark.CONFLICT))
        for pairs, mark in drawn:
            found += [undirected_edge(pair, mark, self.suggested) for pair in pairs]
        return tuple(map(self._with_figures, sorted(found, key=lambda edge: _ends((edge.source, edge.target)))))

    def _with_figures(self, edge: Edge) -> Edge:
        way = edge.source, edge.target
        direction = self.directions.get(way, edge.suggested)
        return attrs.evolve(edge, probability=self.probabilities.get(frozenset(way)), direction=direction)

    def rows(self) -> list[dict[str, Any]]:
        """Return the edges as plain rows: source, target, mark, probability, direction and suggested.

        ``probability`` is that of the edge, ``direction`` that of the direction from source to target, where they are
        known. ``suggested`` is the probability of the direction from source to target, for a line with a suggested
        direction, else None.
        """
        return [{name: getattr(edge, name) for name in _ROW} | {"mark": str(edge.mark)} for edge in self.edges]

    def to_frame(self) -> pd.DataFrame:
        """Return the edges as a data frame, one row for each; ``rows`` says what the columns mean."""
        import pandas as pd

        return pd.DataFrame(self.rows(), columns=list(_ROW))

    def directed(self) -> Dag:
        """Return a graph with a direction for every line and conflict, without new V-structures but at open pairs.

        Suggested directions are taken where they close no circle, the others chosen by name. Where lines close a circle
        of four nodes or more some V-structure is new; then as few are as each step allows.
        """
        from apsl_rules.graphs import extension

        self.refuse_hidden()
        circles = cyclic_groups([*self.arrows, *self.suggested])
        taken = {way for way in self.suggested if not any({*way} <= one for one in circles)}
        open_edges = (self.lines | self.conflicts).difference(map(frozenset, taken))
        return extension(self.nodes, self.arrows | taken, open_edges, self.open_pairs, strict=False)

    def dag(self) -> Dag:
        """Return the graph as one that is known, if all its edges are arrows."""
        self.refuse_hidden()
        if self.lines or self.conflicts:
            x, y = in_order(min(self.lines | self.conflicts, key=_ends))
            _refuse(
                f"the direction between {x!r} and {y!r} is open, so this is no known graph; give each edge a "
                "direction, as graph.directed() does"
            )
        return Dag({node: in_order(x for x, y in self.arrows if y == node) for node in self.nodes})

    def refuse_hidden(self) -> None:
        """Refuse a graph with hidden causes where all edges must be arrows: nothing says what the causes are."""
        if self.hidden:
            _refuse(
                "this graph allows hidden causes, so its edges are not all arrows between its nodes; take a format "
                "with marks at both ends (dot, dagitty, tetrad, graph-json, ...), or learn without hidden causes"
            )


def mark_named(name: Any, x: Node, y: Node) -> Mark:
    """Return the mark of a name that another tool wrote at an edge."""
    if name not in MARKS_WITH_HIDDEN:
        message = f"the edge of {x!r} and {y!r} has the mark {name!r}; marks are {', '.join(MARKS_WITH_HIDDEN)}"
        raise GraphFormatError(message)
    return Mark(name)


def edge_with_ends(x: Node, y: Node, at_x: End, at_y: End) -> tuple[Node, Node, Mark]:
    """Return the edge of two nodes with a mark at each end, as a graph with hidden causes has it."""
    found = {ends: mark for mark, ends in ENDS.items() if mark is not Mark.CONFLICT}
    for one, other, ends in ((x, y, (at_x, at_y)), (y, x, (at_y, at_x))):
        if ends in found:
            return one, other, found[ends]
    message = (
        f"the edge of {x!r} and {y!r} has a tail and {'a circle' if End.CIRCLE in (at_x, at_y) else 'another tail'}; "
        "such edges say that rows were selected, and are not read"
    )
    raise GraphFormatError(message)


def _ends(pair: Iterable[Node]) -> tuple[Any, ...]:
    return tuple(order_key(node) for node in in_order(pair))


def _way(arrow: Arrow) -> tuple[Any, ...]:
    return tuple(map(order_key, arrow))


def _refuse(message: str) -> NoReturn:
    raise GraphError(message)


def arrows_only(graph: MarkedGraph, open_edges: OpenEdges, what: str) -> Dag:
    """Return a graph whose edges are all arrows: refuse undirected edges and conflicts, or direct them."""
    chosen("open_edges", open_edges, ("refuse", "direct"))
    graph.refuse_hidden()
    if open_edges == "direct":
        return graph.directed()
    for pairs, mark in ((graph.lines, "undirected edge"), (graph.conflicts, "conflict")):
        if pairs:
            x, y = min(map(in_order, pairs), key=str)
            message = (
                f"{what} knows arrows only, and this graph has {count_of(len(pairs), mark)}, such as {x!r} and {y!r}; "
                f"give {argument('open_edges', 'direct')} to let names decide their direction"
            )
            raise GraphError(message)
    return graph.dag()
