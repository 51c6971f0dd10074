"""The part: the structure around the target, every arrow with its evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from apsl_rules.data import ColumnKind, earlier
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.knowledge import NOTHING, Knowledge
from apsl_rules.names import Depth, Node, Pair, in_order, inside, require_known
from apsl_rules.notes import Note, differences_in, labels_in, without_secrets
from apsl_rules.oracles import Counts
from apsl_rules.parts.doubt import Fragility, fragility_of
from apsl_rules.parts.probability import Directions
from apsl_rules.parts.shortcuts import Answering, Askable, Exportable, Viewable
from apsl_rules.parts.tables import ROW, alternatives_of, edge_rows
from apsl_rules.rules import (
    Conflict,
    End,
    Fact,
    Finding,
    Firing,
    Ledger,
    Mark,
    MarkStore,
    Proof,
    adjacent,
    arrow,
    conflict,
    discriminates,
    gap,
    head,
    left_open,
    proof_of,
    proof_of_reason,
    settled,
    untested,
)

if TYPE_CHECKING:
    import pandas as pd


@attrs.frozen
class Visit:
    """A visited node, its neighbours, and how long the history was before and after the visit.

    Attributes
    ----------
    node
        The node that was visited.
    neighbours
        Its neighbours.
    begin, end
        How long the history was before the visit and after it.
    """

    node: Node
    neighbours: tuple[Node, ...]
    begin: int
    end: int


def _notes(given: Iterable[str]) -> tuple[Note, ...]:
    return tuple(map(without_secrets, given))


@attrs.frozen(slots=False, repr=False)
class Part(Exportable, Viewable, Answering, Askable):
    """What was learned around a target: every edge with an end at distance at most depth - 1 from it.

    A part is its findings: ``ledger`` has them with the rules, and all conclusions follow. ``knowledge`` was given,
    ``columns`` tell how each column of a table was read. ``support`` has, for each edge of a part that ``stability``
    gave, the share of resamples that show the same mark in the same direction.

    A part is a value: it can be copied and pickled, and parts that were learned alike are equal, whatever time it took.

    Attributes
    ----------
    target, depth
        What was asked for.
    learner, oracle
        The names of the learner and of the test.
    nodes
        All nodes of the source, also those outside the part.
    visits
        The visits in their order.
    distances
        How many edges each known node is away from the target.
    counts
        How many tests were asked.
    ledger
        The findings, the rules, and what follows from them.
    settings
        The settings of the run, by name.
    incomplete
        Why the part is not complete; None if it is.
    notes
        What a reader should know of the table and the run.
    data
        A fingerprint of the data; None for an oracle.
    """

    target: Node
    depth: Depth
    learner: str
    oracle: str
    nodes: tuple[Node, ...]
    visits: tuple[Visit, ...]
    distances: Mapping[Node, int]
    counts: Counts
    ledger: Ledger
    settings: Mapping[str, Any]
    incomplete: str | None = None
    notes: tuple[Note, ...] = attrs.field(default=(), converter=_notes)
    support: Mapping[Pair, float] = attrs.field(factory=dict)
    knowledge: Knowledge = NOTHING
    columns: tuple[ColumnKind, ...] = ()
    data: str | None = attrs.field(default=None, eq=False)

    def __hash__(self) -> int:
        return hash((Part, self.target, self.depth, self.learner, self.nodes, self.store))

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in attrs.fields(Part)}

    @cached_property
    def _inner(self) -> frozenset[Node]:
        return frozenset(node for node, distance in self.distances.items() if inside(self.depth, distance))

    def is_inner(self, node: Node) -> bool:
        """Whether all edges of a node belong to the part: it is at most depth - 1 steps from the target."""
        return node in self._inner

    def _touches(self, pair: tuple[Node, Node] | Pair) -> bool:
        return not self._inner.isdisjoint(pair)

    @cached_property
    def arrows(self) -> frozenset[tuple[Node, Node]]:
        """Return every arrow of the part as (from, to); those with too little evidence are lines instead."""
        return frozenset(pair for pair in self.all_arrows if self._touches(pair))

    @cached_property
    def lines(self) -> frozenset[Pair]:
        """Return every edge of the part without a direction, or with one that is only suggested."""
        return frozenset(pair for pair in self.all_lines if self._touches(pair))

    @cached_property
    def partial(self) -> frozenset[tuple[Node, Node]]:
        """Return every edge x o-> y of the part as (x, y): y is no cause of x, and nothing is known of the end at x."""
        return frozenset(pair for pair in self.store.partial if self._touches(pair))

    @cached_property
    def bidirected(self) -> frozenset[Pair]:
        """Return every edge x <-> y of the part: neither is a cause of the other, so they share a hidden cause."""
        return frozenset(pair for pair in self.store.bidirected if self._touches(pair))

    @cached_property
    def suggested(self) -> Mapping[tuple[Node, Node], float]:
        """Return the directions of lines that are only suggested, as (from, to), each with its probability.

        They are less probable than the setting ``min_direction``, from which on arrows are drawn, but likelier right
        than wrong.
        """
        return {pair: share for pair, share in self.all_suggested.items() if self._touches(pair)}

    @cached_property
    def all_arrows(self) -> frozenset[tuple[Node, Node]]:
        """Return every arrow, also beyond the asked depth."""
        return self.store.arrows.difference(self._undrawn)

    @cached_property
    def all_lines(self) -> frozenset[Pair]:
        """Return every line, also beyond the asked depth."""
        return self.store.lines.union(map(frozenset, self._undrawn))

    @cached_property
    def all_suggested(self) -> Mapping[tuple[Node, Node], float]:
        """Return the directions that are only suggested, also beyond the asked depth."""
        return self._directions.suggested

    @cached_property
    def _undrawn(self) -> Mapping[tuple[Node, Node], float]:
        """Return the directions that follow but are not drawn, suggested or too unlikely for that."""
        return self._directions.undrawn

    @cached_property
    def _directions(self) -> Directions:
        least = self.settings.get("min_direction")
        return Directions(self.store, self.history, lambda: self.proofs, least)

    @cached_property
    def conflicts(self) -> tuple[Conflict, ...]:
        """Return the contradictions on pairs of the part."""
        return tuple(one for one in self.ledger.settled.conflicts if self._touches(one.pair))

    @cached_property
    def outside(self) -> tuple[frozenset[tuple[Node, Node]], frozenset[Pair]]:
        """Return the arrows and lines that were learned but lie beyond the asked depth."""
        return self.all_arrows - self.arrows, self.all_lines - self.lines

    @cached_property
    def edges(self) -> frozenset[Pair]:
        """Return every adjacent pair of the part, whatever its mark."""
        conflicts = (
            pair for pair in self.store.conflicts if self._touches(pair) and adjacent.fact(*pair) in self.store
        )
        directed = map(frozenset, (*self.store.arrows, *self.store.partial))
        drawn = (pair for pair in (*directed, *self.store.bidirected, *self.store.lines) if self._touches(pair))
        return frozenset({*drawn, *conflicts})

    @cached_property
    def doubtful(self) -> frozenset[Pair]:
        """Return the edges that nothing speaks for in the end, such as those that differ from group to group."""
        return frozenset(pair for pair in self.edges if self._directions.is_doubtful(*in_order(pair)))

    @cached_property
    def members(self) -> tuple[Node, ...]:
        """Return the nodes of the part by name: the target and every end of an edge."""
        return in_order({self.target, *(node for pair in self.edges for node in pair)})

    @cached_property
    def labels(self) -> Mapping[Node, str]:
        """Return what the file of the data calls its columns, where it labels them."""
        return labels_in(self.notes)

    @cached_property
    def gaps(self) -> frozenset[Pair]:
        """Return the pairs of nodes of the part that are known to be not adjacent."""
        members = self.members
        return frozenset(
            frozenset((x, y))
            for at, x in enumerate(members)
            for y in members[at + 1 :]
            if self.store.mark(x, y) is Mark.GAP
        )

    @cached_property
    def alternatives(self) -> Mapping[tuple[Node, Node], Mapping[Node, float]]:
        """Return the columns that would serve almost as well as a neighbour, and how many nats behind it each is.

        ``alternatives[x, y]`` has the columns that may be adjacent to x in the place of y, the nearest first.
        """
        return alternatives_of(self)

    @cached_property
    def disputed(self) -> Mapping[Pair, float]:
        """Return the pairs that a graph nearly as good answers otherwise, and how many nats it is behind.

        Told where the starts of a search ended with different graphs.
        """
        return differences_in(self.notes)

    @cached_property
    def layers(self) -> tuple[tuple[Node, ...], ...]:
        """Return the nodes of the part by distance from the target: layer 0 is the target itself."""
        by_distance: dict[int, list[Node]] = {}
        for node in self.members:
            by_distance.setdefault(self.distances[node], []).append(node)
        return tuple(tuple(by_distance[distance]) for distance in sorted(by_distance))

    @cached_property
    def earlier(self) -> Mapping[Node, tuple[Node, int]]:
        """Return the columns of earlier steps, each with the column that it is of and how many steps before."""
        return earlier(self.nodes, self.settings.get("lags", 0))

    @property
    def visited(self) -> tuple[Node, ...]:
        """Return the visited nodes in the order of the visits."""
        return tuple(visit.node for visit in self.visits)

    def mark(self, x: Node, y: Node) -> Mark:
        """Return what is known of a pair: one of the marks in the table of ``docs/reading.md``."""
        self._know_both(x, y)
        return self._mark(x, y)

    def _know_both(self, x: Node, y: Node) -> None:
        self._know(x, y)
        if x == y:
            message = f"{x!r} is named twice; name two different nodes"
            raise InvalidArgumentError(message)

    def end(self, x: Node, y: Node) -> End:
        """Return the mark at x on the edge of x and y: "arrow", "tail", or "circle" where nothing is proved.

        A tail says that x is a cause of y, an arrowhead that it is none.
        """
        self._know_both(x, y)
        mark = self._mark(x, y)
        if not mark.is_edge:
            known = "are not adjacent" if mark is Mark.GAP else "are not known to be adjacent"
            message = f"{x!r} and {y!r} {known}, so there is no end to ask about"
            raise InvalidArgumentError(message)
        return self.store.end(x, y) if mark in (Mark.ARROW, Mark.PARTIAL, Mark.BIDIRECTED) else End.CIRCLE

    @property
    def is_from_data(self) -> bool:
        """Return whether the part rests on data, and not on perfect answers: then tests were made at some alpha."""
        return self.settings.get("alpha") is not None

    @property
    def allows_hidden(self) -> bool:
        """Return whether the part was learned with hidden common causes allowed."""
        return head.name in self.store.relations

    def is_visible(self, x: Node, y: Node) -> bool:
        """Return whether x -> y is proved to be no effect of a hidden cause that x and y share.

        A third node shows it: one that points at x and is not adjacent to y, or that colliders, all of them causes of
        y, join to x. Without hidden causes allowed every arrow is taken to be visible.
        """
        if (x, y) not in self.all_arrows:
            return False
        return not self.allows_hidden or any(fact.nodes[1:] == (x, y) for fact in self.store.facts(discriminates))

    def hidden_causes_at(self, node: Node) -> tuple[Node, ...]:
        """Return the neighbours of a node in the part that may share a hidden cause with it, by name.

        These are all but those with a visible arrow. A part that was learned without hidden causes assumes that there
        are none, and has none to return.
        """
        others = self.neighbours_of(node)
        if not self.allows_hidden:
            return ()
        return tuple(one for one in others if not (self.is_visible(node, one) or self.is_visible(one, node)))

    def _mark(self, x: Node, y: Node) -> Mark:
        mark = self.store.mark(x, y)
        if mark is not Mark.ARROW or self._undrawn.keys().isdisjoint(((x, y), (y, x))):
            return mark
        return Mark.LINE if self.all_suggested.keys().isdisjoint(((x, y), (y, x))) else Mark.SUGGESTED

    def parents_of(self, node: Node) -> tuple[Node, ...]:
        """Return the nodes with an arrow to a node of the part, by name."""
        self._know(node)
        return in_order(x for x, y in self.arrows if y == node)

    def children_of(self, node: Node) -> tuple[Node, ...]:
        """Return the nodes that a node of the part has an arrow to, by name."""
        self._know(node)
        return in_order(y for x, y in self.arrows if x == node)

    def neighbours_of(self, node: Node) -> tuple[Node, ...]:
        """Return the nodes joined to a node by an edge of the part, by name."""
        self._know(node)
        return in_order(other for pair in self.edges if node in pair for other in pair if other != node)

    def _know(self, *nodes: Node) -> None:
        for node in nodes:
            require_known(node, self.nodes, "node")

    @property
    def store(self) -> MarkStore:
        """Return all marks, also those beyond the asked depth."""
        return self.ledger.settled.store

    @property
    def history(self) -> MarkStore:
        """Return the run as it went."""
        return self.ledger.history

    @cached_property
    def proofs(self) -> MarkStore:
        """Return the store of the shortest proofs."""
        return self.ledger.proofs()

    def why(self, x: Node, y: Node) -> Proof:
        """Say what a mark rests on: a conflict with all its sides, an arrow in either direction, a line or a gap.

        It is a proof where tests, perfect answers and what was given decide, and support where a score does. Of a pair
        that could not be tested it says so, and what would help. It prints as a tree down to findings and their
        verdicts, and ``to_json()`` gives it as data. Where scores were asked it says how often an edge with so much
        evidence exists, and how often such a direction is right. It tells of a direction that is only suggested, or
        likelier wrong than right, as of an arrow, and says so. With hidden causes allowed, it is about the mark at x;
        ask about y and x for the other end.
        """
        self._know_both(x, y)
        if conflict.fact(x, y) in self.proofs:
            sides = next(one.proofs for one in self.ledger.settled.conflicts if {*one.pair} == {x, y})
            return attrs.evolve(proof_of(self.proofs, conflict.fact(x, y)), sides=sides)
        for fact in self._provable(x, y):
            if fact in self.proofs:
                proof = proof_of(self.proofs, fact)
                return attrs.evolve(proof, **self._directions.of(fact))
        for fact in (settled.fact(x), settled.fact(y)):
            if fact in self.proofs:
                apart = Firing("not among the neighbours", fact.nodes, (fact,), gap.fact(x, y))
                return proof_of_reason(self.proofs, apart)
        advice = "allow more tests or seconds" if self.incomplete else "ask for a larger depth"
        why = f"neither was visited; {advice}"
        if not {x, y}.isdisjoint(self.visited):
            why = "the search around them ended early; the notes of the part say why"
        message = f"nothing is known of {x!r} and {y!r}: {why}"
        raise InvalidArgumentError(message)

    def edge_probability(self, x: Node, y: Node) -> float | None:
        """Return how often an edge with as much evidence as that of x and y exists, whichever way it points.

        It is None where no scores were asked, and for pairs without an edge. ``docs/reading.md`` says how it was
        measured.
        """
        self._know_both(x, y)
        return self._directions.edge(x, y)

    def direction_probability(self, x: Node, y: Node) -> float | None:
        """Return how often a direction with as much evidence as x -> y is right, given that the edge exists.

        It is None where no scores were asked, and where nothing tells the direction.
        """
        self._know_both(x, y)
        return self._directions.direction(x, y)

    def edge_p(self, x: Node, y: Node) -> float | None:
        """Return the p of the weakest test that found x and y dependent; None where none was asked."""
        self._know_both(x, y)
        return self._directions.weakest_p(x, y)

    def fragile(self) -> tuple[Fragility, ...]:
        """Return at which alpha or lead each arrow falls, the weakest first, by the figures of its shortest proof."""
        return fragility_of(self)

    def _provable(self, x: Node, y: Node) -> tuple[Fact, ...]:
        """Return what can be proved of a pair, the most telling first; of its two ends x comes first."""
        ends = (head.fact(x, y),) if self.allows_hidden else (arrow.fact(y, x),)
        return (arrow.fact(x, y), *ends, adjacent.fact(x, y), gap.fact(x, y), left_open.fact(x, y), untested.fact(x, y))

    @cached_property
    def trace(self) -> tuple[Firing, ...]:
        """Return the firings in the order in which they happened."""
        return tuple(entry for entry in self.history.entries if isinstance(entry, Firing))

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Return the findings in the order in which they came."""
        return tuple(entry for entry in self.history.entries if isinstance(entry, Finding))

    def states(self) -> Iterator[MarkStore]:
        """Replay the run: give every state of the store, from empty to the last."""
        return self.history.states()

    def __repr__(self) -> str:
        state = f", incomplete={self.incomplete!r}" if self.incomplete else ""
        ends = f"bidirected={len(self.bidirected)}, partial={len(self.partial)}, " if self.allows_hidden else ""
        return (
            f"Part(target={self.target!r}, depth={self.depth!r}, nodes={len(self.members)}, "
            f"arrows={len(self.arrows)}, {ends}undirected={len(self.lines)}, conflicts={len(self.conflicts)}, "
            f"tests={self.counts.asked}{state})"
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return the edges as plain rows, one for each.

        These are source, target, mark, probability, direction, p, rule, distance, support and suggested.
        ``probability`` says how often an edge with this much evidence exists, ``direction`` how often the direction
        from source to target is right, if the edge exists; both are None where no scores were asked, and ``direction``
        for a line. ``p`` is the weakest of the tests that found the two ends dependent, None where none was asked: the
        answers were perfect, the edge was given, or scores alone found it. ``rule`` is what oriented the edge.
        ``support`` is the share of resamples that show the same mark, where ``stability`` learned the part, else None.
        ``suggested`` is True for a line with a suggested direction, which goes from source to target.
        """
        return edge_rows(self)

    def to_frame(self) -> pd.DataFrame:
        """Return the edges as a data frame, one row for each; ``rows`` says what the columns mean."""
        import pandas as pd

        return pd.DataFrame(self.rows(), columns=[*ROW])

    def save(self, path: str | Path) -> None:
        """Write the part to a JSON file, whole or not at all; ``load`` and the command line read it."""
        from apsl_rules.parts.file import save_part

        save_part(self, path)

    def summary(self) -> str:
        """Return the answer in one or two sentences: causes and effects with percentages, and what that rests on."""
        from apsl_rules.parts.print_out import summarize

        return summarize(self)

    def picture(self) -> str:
        """Draw the part as text: a tree of layers around the target, with the probability of each edge and arrow."""
        from apsl_rules.parts.picture import draw

        return draw(self)

    def __str__(self) -> str:
        from apsl_rules.parts.print_out import printed

        return printed(self)
