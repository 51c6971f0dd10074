"""The append-only record behind all states of a run, and the look-up tables that keep step with its end."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Any, TypeAlias

from apsl_rules.names import Node
from apsl_rules.rules.facts import Entry, Fact, Nodes, Reason, Relation, adjacent, arrow

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
