"""A whole graph from its parts: marks, edges, files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import attrs

from apsl_rules._documents import label, node_of
from apsl_rules._files import write_text
from apsl_rules.errors import GraphError, PartFileError
from apsl_rules.graphs import AncestralGraph, Cpdag, Dag, Pdag, cpdag, extension, is_networkx
from apsl_rules.graphs.networks import Network
from apsl_rules.names import Node, Pair, in_order, require_known
from apsl_rules.notes import Note, argument
from apsl_rules.parts.file import part_json, part_of_data, read_document
from apsl_rules.parts.marked_graph import Arrow, Edge, MarkedGraph, edge_with_ends, undirected_edge
from apsl_rules.parts.part import Part
from apsl_rules.parts.shortcuts import Exportable, graph_from_networkx
from apsl_rules.parts.tables import ROW, edge_row
from apsl_rules.rules import Conflict, End, Mark, MarkStore, Proof, adjacent, found_distances, gap, left_open, untested
from apsl_rules.showing import NotebookView

if TYPE_CHECKING:
    import pandas as pd


def graph_of(source: object) -> MarkedGraph:
    """Return the marks of a part, a learned graph, a CPDAG, a known graph, a network or a networkx graph.

    Of a part those inside the asked depth are taken, with the nodes that they join.

    >>> from apsl_rules.graphs import Dag
    >>> [(edge.source, edge.target, edge.mark) for edge in graph_of(Dag({"a": [], "b": ["a"]})).edges]
    [('a', 'b', <Mark.ARROW: 'arrow'>)]
    """
    if isinstance(source, MarkedGraph):
        return source
    if isinstance(source, Part):
        drawn = source.lines | source.bidirected | {frozenset(pair) for pair in (*source.arrows, *source.partial)}
        return MarkedGraph(
            source.members,
            source.arrows,
            source.lines,
            source.edges - drawn,
            source.suggested,
            source.partial,
            source.bidirected,
            source.allows_hidden,
            open_pairs=_not_apart(source),
            **_probabilities(source, map(tuple, source.edges)),
        )
    if isinstance(source, LearnedGraph):
        return _of_parts(source)
    if is_networkx(source):
        return graph_from_networkx(source)
    known = _of_known(source.dag if isinstance(source, Network) else source)
    if known is not None:
        return known
    message = (
        f"a {type(source).__name__} has no marks to write; give a part, a learned graph, a known graph "
        "(Dag(...)), a network, a networkx graph or a MarkedGraph"
    )
    raise GraphError(message)


def _of_parts(learned: LearnedGraph) -> MarkedGraph:
    """Join what several runs know of the asked pairs; where two of them draw a pair differently, it is a conflict."""
    joined = []
    suggested: dict[Arrow, float] = {}
    for pair, edges_drawn in learned.drawn.items():
        if not learned.is_asked(pair):
            continue
        edge = next(iter(edges_drawn)) if len(edges_drawn) == 1 else undirected_edge(pair, Mark.CONFLICT)
        way = (edge.source, edge.target)
        if edge.mark is Mark.ARROW and way not in learned.arrows:
            suggested |= {one: share for one, share in learned.suggested.items() if one == way}
            edge = attrs.evolve(edge, mark=Mark.LINE)
        joined.append((*way, edge.mark))
    graph = MarkedGraph.of_edges(learned.nodes, joined, hidden=learned.allows_hidden)
    return attrs.evolve(
        graph,
        suggested=suggested,
        open_pairs=_left_open(learned.parts),
        **_probabilities(learned, (edge[:2] for edge in joined)),
    )


def _not_apart(part: Part) -> frozenset[Pair]:
    """Return the pairs of neighbours of one node that no finding of a part keeps apart, and that it does not draw."""
    near: dict[Node, set[Node]] = {}
    for x, y in map(tuple, part.edges):
        near.setdefault(x, set()).add(y)
        near.setdefault(y, set()).add(x)
    pairs = {frozenset(pair) for around in near.values() for pair in combinations(around, 2)}
    return frozenset(pair for pair in pairs - part.edges if gap.fact(*pair) not in part.store)


def _left_open(parts: Iterable[Part]) -> frozenset[Pair]:
    """Return the pairs that some part leaves open, or could not test."""
    told = (fact for part in parts for relation in (left_open, untested) for fact in part.store.facts(relation))
    return frozenset(frozenset(fact.nodes) for fact in told)


def _probabilities(source: Part | LearnedGraph, pairs: Iterable[Sequence[Node]]) -> dict[str, Any]:
    """Return the probabilities of edges, and of the directions that are drawn or suggested, as fields of a graph."""
    ways = [(x, y) for x, y in pairs]
    edges = {frozenset((x, y)): source.edge_probability(x, y) for x, y in ways}
    pointing = source.arrows.union(source.suggested)
    both = [way for x, y in ways for way in ((x, y), (y, x)) if way in pointing]
    directions = {way: source.direction_probability(*way) for way in both}
    return {
        "probabilities": {pair: share for pair, share in edges.items() if share is not None},
        "directions": {way: share for way, share in directions.items() if share is not None},
    }


def _of_known(source: object) -> MarkedGraph | None:
    """Return the marks of a known graph, or of what independences determine of one."""
    if isinstance(source, Pdag):
        return MarkedGraph(source.nodes, source.arrows, source.lines)
    if isinstance(source, Dag):
        return MarkedGraph(source.nodes, source.edges)
    return _of_ends(source) if isinstance(source, AncestralGraph) else None


def _of_ends(graph: AncestralGraph) -> MarkedGraph:
    """Return the marks of a MAG or a PAG."""
    edges = []
    for x, y in map(in_order, graph.skeleton):
        ends = End(graph.ends[x, y]), End(graph.ends[y, x])
        edges.append(edge_with_ends(x, y, *ends))
    return MarkedGraph.of_edges(graph.nodes, edges, hidden=True)


@attrs.frozen(slots=False, repr=False)
class LearnedGraph(Exportable, NotebookView):
    """What was learned of all nodes, every arrow with its evidence; ``parts`` are the runs that it is made of.

    ``asked`` has the pairs whose edges belong to the graph, if not all do: runs tell of edges further out as well.

    Attributes
    ----------
    learner
        The name of the learner.
    nodes
        All nodes, also those without an edge.
    incomplete
        Why the graph is not complete; None if it is.
    """

    learner: str
    nodes: tuple[Node, ...]
    parts: tuple[Part, ...]
    incomplete: str | None = None
    asked: frozenset[Pair] | None = None

    def __repr__(self) -> str:
        state = f", incomplete={self.incomplete!r}" if self.incomplete else ""
        ends = f"bidirected={len(self.bidirected)}, partial={len(self.partial)}, " if self.allows_hidden else ""
        return (
            f"LearnedGraph(learner={self.learner!r}, nodes={len(self.nodes)}, arrows={len(self.arrows)}, "
            f"{ends}undirected={len(self.lines)}, conflicts={len(self.conflicts)}{state})"
        )

    @cached_property
    def arrows(self) -> frozenset[tuple[Node, Node]]:
        """Return every arrow as (from, to); those with too little evidence are lines instead."""
        return frozenset(one for part in self.parts for one in part.all_arrows if self._is_drawn(one))

    @cached_property
    def lines(self) -> frozenset[Pair]:
        """Return every edge without a direction, or with one that is only suggested."""
        found = frozenset(one for part in self.parts for one in part.store.lines if self._is_drawn(one))
        return found.union(map(frozenset, self._proved - self.arrows))

    @property
    def allows_hidden(self) -> bool:
        """Return whether the graph was learned with hidden common causes allowed."""
        return any(part.allows_hidden for part in self.parts)

    @cached_property
    def partial(self) -> frozenset[tuple[Node, Node]]:
        """Return every edge x o-> y as (x, y): y is no cause of x, and nothing is known of the end at x."""
        return frozenset(one for part in self.parts for one in part.store.partial if self._is_drawn(one))

    @cached_property
    def bidirected(self) -> frozenset[Pair]:
        """Return every edge x <-> y: neither is a cause of the other, so they share a hidden cause."""
        return frozenset(one for part in self.parts for one in part.store.bidirected if self._is_drawn(one))

    def end(self, x: Node, y: Node) -> End:
        """Return the mark at x on the edge of x and y: "arrow", "tail", or "circle" where nothing is proved."""
        end = self._part_with(x, y).end(x, y)
        return End.CIRCLE if frozenset((x, y)) in self._torn else end

    @cached_property
    def suggested(self) -> Mapping[tuple[Node, Node], float]:
        """Return the directions of lines that are only suggested, as (from, to), each with its probability."""
        found = [(one, share) for part in self.parts for one, share in part.all_suggested.items()]
        return {one: share for one, share in found if self._is_drawn(one) and one not in self.arrows}

    @cached_property
    def _proved(self) -> frozenset[tuple[Node, Node]]:
        """Return every arrow that was proved, drawn or only suggested."""
        return frozenset(one for part in self.parts for one in part.store.arrows if self._is_drawn(one))

    @cached_property
    def conflicts(self) -> tuple[Conflict, ...]:
        """Return the contradictions met."""
        return tuple(one for part in self.parts for one in part.ledger.settled.conflicts if self.is_asked(one.pair))

    @cached_property
    def drawn(self) -> Mapping[Pair, frozenset[Edge]]:
        """Return every edge as the runs draw it, by its pair: one that all draw alike, or several."""
        found: dict[Pair, set[Edge]] = {}
        for part in self.parts:
            for edge in _edges_of(part.store):
                found.setdefault(frozenset((edge.source, edge.target)), set()).add(edge)
        return {pair: frozenset(edges) for pair, edges in found.items()}

    @cached_property
    def _drawn_by(self) -> Mapping[Pair, int]:
        """Return for each edge the place of the first run that draws it."""
        found: dict[Pair, int] = {}
        for place, part in enumerate(self.parts):
            for edge in _edges_of(part.store):
                found.setdefault(frozenset((edge.source, edge.target)), place)
        return found

    @cached_property
    def _torn(self) -> frozenset[Pair]:
        """Return the pairs that two runs draw differently."""
        return frozenset(pair for pair, edges in self.drawn.items() if len(edges) > 1)

    def _is_drawn(self, pair: Iterable[Node]) -> bool:
        """Return whether an edge that a run draws is one of the graph as it is drawn there."""
        ends = frozenset(pair)
        return self.is_asked(ends) and ends not in self._torn

    def is_asked(self, pair: Iterable[Node]) -> bool:
        """Return whether an edge of two nodes would belong to the graph."""
        return self.asked is None or frozenset(pair) in self.asked

    @property
    def notes(self) -> tuple[Note, ...]:
        """Return the notes on the table and on the run."""
        return tuple(dict.fromkeys(note for part in self.parts for note in part.notes))

    def mark(self, x: Node, y: Node) -> Mark:
        """Return what is known of a pair, as ``Part.mark`` does.

        An edge that one run draws is one, whatever the others say; where two draw it differently, it is a conflict.
        """
        mark = self._part_with(x, y).mark(x, y)
        return Mark.CONFLICT if frozenset((x, y)) in self._torn else mark

    def why(self, x: Node, y: Node) -> Proof:
        """Prove what is known of a pair."""
        return self._part_with(x, y).why(x, y)

    def edge_probability(self, x: Node, y: Node) -> float | None:
        """Return how often an edge with as much evidence as that of x and y exists; None where it is not known."""
        return self._part_with(x, y).edge_probability(x, y)

    def direction_probability(self, x: Node, y: Node) -> float | None:
        """Return how often a direction with as much evidence as x -> y is right; None where it is not known."""
        return self._part_with(x, y).direction_probability(x, y)

    def rows(self) -> list[dict[str, Any]]:
        """Return the edges as plain rows, one for each; ``Part.rows`` says what each value means.

        There is no ``distance``, since a graph has no target.
        """
        rows = []
        for edge in self.graph().edges:
            row = edge_row(self._part_with(edge.source, edge.target), edge.source, edge.target)
            rows.append({**row, "mark": str(edge.mark), "distance": None, "suggested": edge.suggested is not None})
        return rows

    def to_frame(self) -> pd.DataFrame:
        """Return the edges as a data frame, one row for each; ``Part.rows`` says what the columns mean."""
        import pandas as pd

        return pd.DataFrame(self.rows(), columns=[*ROW])

    def part_around(self, target: Node) -> Part:
        """Return the connected piece with a node as a part of depth "max" around it, with the same proofs.

        It has all that the run learned, also what lies beyond the depth that the parts of a union were asked for.
        """
        require_known(target, self.nodes, "target")
        part = self._part_with(target, target)
        distances = found_distances(part.ledger, target, part.knowledge)
        return attrs.evolve(part, target=target, depth="max", distances=distances, support={})

    def save(self, path: str | Path) -> None:
        """Write the graph with all proofs to a JSON file, whole or not at all; ``load_graph`` reads it.

        The union of parts is no run of its own: save the parts.
        """
        if self.asked is not None:
            message = "this graph is the union of parts; save these instead, such as parts['A'].save('A.json')"
            raise GraphError(message)

        save_graph(self, path)

    def report(
        self, path: str | Path, *, target: Node | None = None, data: Any = None, values: bool = True, **reading: Any
    ) -> None:
        """Write the connected piece with a node as one HTML file, as ``part.report`` does.

        Without a ``target`` it is the node with the most edges, so the report has the piece around that one.
        """
        if target is None:
            degrees = Counter(node for edge in self.graph().edges for node in (edge.source, edge.target))
            target = max(in_order(self.nodes), key=lambda node: degrees[node])
        self.part_around(target).report(path, data=data, values=values, **reading)

    def dag(self) -> Dag:
        """Return a graph of the class that was learned: all that is proved is taken, other open edges go by name.

        A method that proves all its arrows gives its own graph back.
        """
        if self.allows_hidden:
            message = (
                f"a graph with hidden causes is no graph of arrows; learn with {argument('hidden', 'excluded')} to "
                "get one"
            )
            raise GraphError(message)
        torn = frozenset(pair for part in self.parts for pair in part.store.conflicts if self.is_asked(pair))
        torn |= frozenset(filter(self.is_asked, self._torn))
        open_edges = (self.lines | torn).difference(map(frozenset, self._proved))
        return extension(self.nodes, self._proved, open_edges, _left_open(self.parts))

    def cpdag(self) -> Cpdag:
        """Return the CPDAG: what independences alone determine of the graph."""
        return cpdag(self.dag())

    def _part_with(self, x: Node, y: Node) -> Part:
        """Return the first run that draws the edge of two nodes, otherwise the first that visited one of them."""
        for node in (x, y):
            require_known(node, self.nodes, "node")
        pair = frozenset((x, y))
        if pair in self._drawn_by:
            return self.parts[self._drawn_by[pair]]
        return next((part for part in self.parts if x in part.visited or y in part.visited), self.parts[0])


def _edges_of(store: MarkStore) -> Iterator[Edge]:
    """Return the edges that a run draws."""
    yield from (Edge(x, y, Mark.ARROW) for x, y in store.arrows)
    yield from (Edge(x, y, Mark.PARTIAL) for x, y in store.partial)
    drawn = ((store.bidirected, Mark.BIDIRECTED), (store.lines, Mark.LINE))
    yield from (undirected_edge(pair, mark) for pairs, mark in drawn for pair in pairs)
    conflicts = (pair for pair in store.conflicts if adjacent.fact(*pair) in store)
    yield from (undirected_edge(pair, Mark.CONFLICT) for pair in conflicts)


FORMAT = "apsl_rules learned graph"
VERSION = 1


def save_graph(graph: LearnedGraph, path: str | Path) -> None:
    """Write a learned graph to a file, whole or not at all."""
    write_text(path, graph_text(graph))


def graph_text(graph: LearnedGraph) -> str:
    """Return a learned graph as JSON text: the same text for the same run, every time."""
    head = {
        "format": FORMAT,
        "version": VERSION,
        "learner": graph.learner,
        "nodes": [label(node) for node in graph.nodes],
        "incomplete": graph.incomplete,
    }
    begin = json.dumps(head, ensure_ascii=False, separators=(",", ":"))[:-1]
    parts = ",".join(part_json(part).rstrip() for part in graph.parts)
    return f'{begin},"parts":[{parts}]}}\n'


def load_graph(path: str | Path) -> LearnedGraph:
    """Read a learned graph that ``graph.save`` wrote from the file at ``path``."""
    data = read_document(path, "graph file")
    return graph_of_data(data, str(path))


def graph_of_data(data: Any, origin: str) -> LearnedGraph:
    """Return the graph that the JSON document of a file describes."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        _refuse(f"{origin!r} is no file of a learned graph; save one with graph.save()")
    if data.get("version") != VERSION:
        _refuse(f"{origin!r} has graph format version {data.get('version')!r}; this program reads version {VERSION}")
    listed = data.get("parts")
    if not isinstance(listed, list) or not listed:
        _refuse(f"{origin!r} is a damaged graph file: it has no parts")
    parts = tuple(part_of_data(one, origin) for one in listed)
    try:
        nodes = tuple(node_of(one) for one in data["nodes"])
        learner, incomplete = data["learner"], data["incomplete"]
    except (KeyError, TypeError, PartFileError) as error:
        message = f"{origin!r} is a damaged graph file: its nodes or its learner cannot be read"
        raise PartFileError(message) from error
    if not isinstance(learner, str) or not isinstance(incomplete, str | None):
        _refuse(f"{origin!r} is a damaged graph file: its learner or what is incomplete is no text")
    if any(in_order(part.nodes) != in_order(nodes) for part in parts):
        _refuse(f"{origin!r} is a damaged graph file: its parts have other nodes than it")
    return LearnedGraph(learner, nodes, parts, incomplete)


def _refuse(message: str) -> NoReturn:
    raise PartFileError(message)
