"""The immutable store of facts, and the journal of how each came about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from operator import itemgetter
from typing import Any, TypeAlias

import attrs

from apsl_rules.names import Node, Pair, in_order
from apsl_rules.rules.vocabulary import (
    RELATIONS,
    Entry,
    Fact,
    Nodes,
    Reason,
    Relation,
    adjacent,
    arrow,
    conflict,
    gap,
    head,
    settled,
    untested,
)

LookUp: TypeAlias = dict[Nodes, list[Nodes]]
Pick: TypeAlias = Callable[[Nodes], Nodes]
Positions: TypeAlias = tuple[int, ...]

_EDGES = (adjacent.name, arrow.name)


def picker(positions: Positions) -> Pick:
    """Return a function that picks the nodes at some positions, as a tuple whatever their number."""
    if len(positions) > 1:
        return itemgetter(*positions)
    return itemgetter(slice(positions[0], positions[0] + 1) if positions else slice(0))


class Journal:
    """Reasons in the order in which facts were taken up, with indexes by fact, by relation and by node.

    Entries are only ever appended: whoever reads an older state while somebody writes looks at earlier places, which
    never change. ``readings`` has every order in which a fact held at the end can be read.
    """

    def __init__(self, relations: Iterable[Relation], entries: Iterable[Any] = ()) -> None:
        self.relations = {relation.name: relation for relation in relations}
        self.entries: list[Any] = []
        self.places: dict[Fact, int] = {}
        self.facts: dict[str, list[Fact]] = {name: [] for name in self.relations}
        self.edges: dict[Node, list[Fact]] = {}
        self.readings: dict[str, set[Nodes]] = {name: set() for name in self.relations}
        self._look_ups: dict[str, dict[Positions, tuple[Pick, Pick, LookUp]]] = {name: {} for name in self.relations}
        for entry in entries:
            self.write(entry)

    def __reduce__(self) -> tuple[type[Journal], tuple[tuple[Relation, ...], tuple[Entry, ...]]]:
        """Return what a copy is made of: the relations and the entries; all else follows from them."""
        return type(self), (tuple(self.relations.values()), tuple(self.entries))

    def first(self, length: int) -> Journal:
        """Return a journal of its own that ends after ``length`` entries."""
        return type(self)(self.relations.values(), self.entries[:length])

    # --- reading -----------------------------------------------------------------------------------------------------

    def holds(self, fact: Fact) -> bool:
        """Return whether a fact is held at the end."""
        return fact.nodes in self.readings[fact.relation]

    def held(self, fact: Fact, length: int) -> bool:
        """Return whether a fact is held after the first ``length`` entries."""
        return self.places.get(fact, length) < length

    def reason_before(self, fact: Fact, length: int) -> tuple[int, Reason]:
        """Return the newest reason for which a fact was taken up within the first ``length`` entries, and its place."""
        place = self.places[fact]
        if place >= length:
            raise KeyError(fact)
        return place, self.entries[place]

    def look_up(self, relation: str, positions: Positions) -> LookUp:
        """Return a table from the nodes at some positions of a relation to the nodes that stand with them elsewhere."""
        tables = self._look_ups[relation]
        if positions not in tables:
            others = tuple(at for at in range(self.relations[relation].arity) if at not in positions)
            key_of, rest_of, table = tables[positions] = picker(positions), picker(others), {}
            for fact in self.facts[relation]:
                if self.holds(fact):
                    for reading in self.relations[relation].readings(fact.nodes):
                        table.setdefault(key_of(reading), []).append(rest_of(reading))
        return tables[positions][2]

    # --- writing -----------------------------------------------------------------------------------------------------

    def write(self, entry: Reason) -> bool:
        """Take up a fact for a reason, unless it is held already; return whether it is new."""
        fact = entry.fact
        relation, nodes = fact
        if nodes in self.readings[relation]:
            return False
        self._append(fact, entry)
        readings = self.relations[relation].readings(nodes)
        self.readings[relation].update(readings)
        for key_of, rest_of, table in self._look_ups[relation].values():
            for reading in readings:
                table.setdefault(key_of(reading), []).append(rest_of(reading))
        return True

    def take_back(self, length: int) -> None:
        """Forget all entries but the first ``length``, of which none dropped a fact; no state behind them is left."""
        for entry in reversed(self.entries[length:]):
            relation, nodes = fact = entry.fact
            del self.places[fact]
            self.facts[relation].pop()
            readings = self.relations[relation].readings(nodes)
            self.readings[relation].difference_update(readings)
            for key_of, _, table in self._look_ups[relation].values():
                for reading in readings:
                    table[key_of(reading)].pop()
            if relation in _EDGES:
                for node in nodes:
                    self.edges[node].pop()
        del self.entries[length:]

    def _append(self, fact: Fact, entry: Entry) -> None:
        self.entries.append(entry)
        self.places[fact] = len(self.entries) - 1
        self.facts[fact.relation].append(fact)
        if fact.relation in _EDGES:
            for node in fact.nodes:
                self.edges.setdefault(node, []).append(fact)


class Mark(StrEnum):
    """What is known of a pair of nodes.

    With hidden causes allowed an arrowhead need not have a tail at its other end: nothing is known of that end
    (``PARTIAL``), or it has an arrowhead too (``BIDIRECTED``).
    """

    UNKNOWN = "unknown"
    GAP = "gap"
    LINE = "line"
    PARTIAL = "partial"
    BIDIRECTED = "bidirected"
    ARROW = "arrow"
    CONFLICT = "conflict"

    @property
    def is_open(self) -> bool:
        """Return whether it is the mark of an edge with an end of which nothing is known."""
        return self in (Mark.LINE, Mark.PARTIAL)


class End(StrEnum):
    """What is known of one end of an edge; nothing is proved of a circle."""

    ARROW = "arrow"
    TAIL = "tail"
    CIRCLE = "circle"


@attrs.frozen(init=False, repr=False, eq=False)
class MarkStore:
    """An immutable set of facts with a reason for each, read as marks on pairs of nodes.

    Stores are equal when they were written alike: the same facts for the same reasons, in the same order.
    ``_unclaimed`` has the journal until somebody continues it from here; only one can take it, so none has two writers.
    """

    _journal: Journal
    _length: int
    _unclaimed: list[Journal]

    def __init__(self, relations: Iterable[Relation] = RELATIONS) -> None:
        journal = Journal(relations)
        self.__attrs_init__(journal, 0, [journal])

    def __len__(self) -> int:
        return self._length

    def __repr__(self) -> str:
        return f"MarkStore(arrows={len(self.arrows)}, lines={len(self.lines)}, entries={self._length})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MarkStore):
            return NotImplemented
        if self is other:
            return True
        return len(self) == len(other) and self.relations == other.relations and self.entries == other.entries

    def __hash__(self) -> int:
        return hash((MarkStore, self._length))

    def __contains__(self, fact: Fact) -> bool:
        return self._journal.held(fact, self._length)

    @property
    def relations(self) -> Mapping[str, Relation]:
        """Return the relations that facts here may have, by name."""
        return self._journal.relations

    @property
    def entries(self) -> Sequence[Entry]:
        """Return the journal up to this state, in the order of writing."""
        return self._journal.entries[: self._length]

    def states(self) -> Iterator[MarkStore]:
        """Replay: give every state from the empty one to this one, all sharing one journal."""
        for length in range(self._length + 1):
            yield _view(self._journal, length, [])

    def facts(self, relation: Relation) -> tuple[Fact, ...]:
        """Return the facts of one relation, in the order in which they came."""
        return tuple(fact for fact in self._journal.facts.get(relation.name, ()) if fact in self)

    def reason(self, fact: Fact) -> Reason:
        """Return the newest reason for a fact that is held here."""
        return self._journal.reason_before(fact, self._length)[1]

    def reason_before(self, fact: Fact, place: int) -> tuple[int, Reason]:
        """Return the newest reason for a fact among the first entries, and its place; it may be dropped since."""
        return self._journal.reason_before(fact, min(place, self._length))

    def with_reasons(self, reasons: Iterable[Reason]) -> MarkStore:
        """Return a store that also holds the facts of these reasons; a fact already held keeps its reason."""
        journal = self.continued()
        for reason in reasons:
            journal.write(reason)
        return newest(journal)

    def taken_back(self, length: int) -> MarkStore:
        """Return the state after the first ``length`` entries, and give up this one, which must not be read again."""
        journal = self.continued()
        journal.take_back(length)
        return newest(journal)

    def continued(self) -> Journal:
        """Return a journal that ends with this state and that nobody else writes to: its own, or a copy."""
        try:
            return self._unclaimed.pop()
        except IndexError:
            return self._journal.first(self._length)

    # --- reading the facts as marks on pairs -------------------------------------------------------------------

    def mark(self, x: Node, y: Node) -> Mark:
        """Return what is known of a pair; ``has_arrow`` tells the direction of an arrow.

        A node whose neighbours are all known is apart from every other node, except from those it could not be tested
        against.
        """
        if self.relates(conflict, x, y):
            return Mark.CONFLICT
        if self.relates(arrow, x, y) or self.relates(arrow, y, x):
            return Mark.ARROW
        if heads := self.relates(head, x, y) + self.relates(head, y, x):
            return Mark.PARTIAL if heads == 1 else Mark.BIDIRECTED
        if self.relates(adjacent, x, y):
            return Mark.LINE
        is_settled = self.relates(settled, x) or self.relates(settled, y)
        is_gap = self.relates(gap, x, y) or (is_settled and not self.relates(untested, x, y))
        return Mark.GAP if is_gap else Mark.UNKNOWN

    def relates(self, relation: Relation, *nodes: Node) -> bool:
        """Return whether a fact about nodes is held here; the end of the journal answers for the newest store."""
        is_held = nodes in self._journal.readings.get(relation.name, ())
        if self._length == len(self._journal.entries):  # looked at last: somebody may be writing
            return is_held
        return relation.fact(*nodes) in self

    def has_arrow(self, x: Node, y: Node) -> bool:
        """Return whether x -> y is held."""
        return self.relates(arrow, x, y)

    def has_mark(self, x: Node, y: Node) -> bool:
        """Return whether something is held of an end of an edge."""
        return any(self.relates(one, *pair) for one in (arrow, head) for pair in ((x, y), (y, x)))

    def end(self, x: Node, y: Node) -> End:
        """Return the mark at x on the edge of x and y."""
        if self.relates(conflict, x, y):
            return End.CIRCLE
        if self.relates(arrow, x, y):
            return End.TAIL
        return End.ARROW if self.relates(head, x, y) or self.relates(arrow, y, x) else End.CIRCLE

    @property
    def arrows(self) -> frozenset[tuple[Node, Node]]:
        """Return every arrow as (from, to), except on pairs in conflict."""
        blocked = self.conflicts
        pairs = (fact.nodes for fact in self.facts(arrow))
        return frozenset((x, y) for x, y in pairs if frozenset((x, y)) not in blocked)

    @property
    def lines(self) -> frozenset[Pair]:
        """Return every adjacent pair whose direction is open: nothing is known of either end."""
        oriented = {frozenset(fact.nodes) for fact in (*self.facts(arrow), *self.facts(head))} | self.conflicts
        return frozenset(frozenset(fact.nodes) for fact in self.facts(adjacent)) - oriented

    @property
    def partial(self) -> frozenset[tuple[Node, Node]]:
        """Return every pair with an arrowhead at the second node and nothing known of the first: (x, y) for x o-> y."""
        ends = (fact.nodes[::-1] for fact in self.facts(head))
        return frozenset((x, y) for x, y in ends if self.mark(x, y) is Mark.PARTIAL)

    @property
    def bidirected(self) -> frozenset[Pair]:
        """Return every pair with arrowheads at both ends."""
        pairs = (fact.nodes for fact in self.facts(head))
        return frozenset(frozenset(pair) for pair in pairs if self.mark(*pair) is Mark.BIDIRECTED)

    @property
    def conflicts(self) -> frozenset[Pair]:
        """Return every pair on which findings contradict each other."""
        return frozenset(frozenset(fact.nodes) for fact in self.facts(conflict))

    def neighbours_of(self, node: Node) -> tuple[Node, ...]:
        """Return the nodes known to be adjacent to a node, whatever the direction, by name."""
        found = {
            other for fact in self._journal.edges.get(node, ()) if fact in self for other in fact.nodes if other != node
        }
        return in_order(found)


def _view(journal: Journal, length: int, unclaimed: list[Journal]) -> MarkStore:
    store = MarkStore.__new__(MarkStore)
    store.__attrs_init__(journal, length, unclaimed)
    return store


def newest(journal: Journal) -> MarkStore:
    """Return the store of all that a journal holds; whoever writes to it hands it over."""
    return _view(journal, len(journal.entries), [journal])
