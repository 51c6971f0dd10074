"""The append-only record behind all states of a run, and the look-up tables that keep step with its end."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import itemgetter
from threading import Lock
from typing import Any, TypeAlias

import attrs

from apsl_rules.names import Node
from apsl_rules.rules.facts import Fact, Nodes, Reason, Relation, adjacent, arrow

LookUp: TypeAlias = dict[Any, list[Nodes]]
Positions: TypeAlias = tuple[int, ...]

_EDGES = (adjacent.name, arrow.name)


def _no_key(_nodes: Nodes) -> Nodes:
    """Stand in for the getter of no positions: all readings share one key."""
    return ()


@attrs.frozen
class Drop:
    """An entry that ends a fact, since the given reason overwrote it."""

    fact: Fact
    because: Reason


Entry: TypeAlias = Reason | Drop


class Journal:
    """Entries in order, with indexes by fact, by relation and by node.

    ``places`` has the place of the first entry on each fact, and ``later`` the places after it for the few facts that
    were dropped; a fact is held while an odd number of its entries lies behind. Whoever reads an older state while
    somebody writes looks at earlier places only, and these never change.
    """

    def __init__(self, relations: Iterable[Relation]) -> None:
        self.relations = {relation.name: relation for relation in relations}
        self.entries: list[Entry] = []
        self.places: dict[Fact, int] = {}
        self.later: dict[Fact, list[int]] = {}
        self.facts: dict[str, list[Fact]] = {name: [] for name in self.relations}
        self.edges: dict[Node, list[Fact]] = {}
        self.readings: dict[str, set[Nodes]] = {name: set() for name in self.relations}
        self._look_ups: dict[str, dict[Positions, tuple[Callable[[Nodes], Any], LookUp]]] = {
            name: {} for name in self.relations
        }
        self._owner = Lock()

    def __getstate__(self) -> tuple[tuple[Relation, ...], tuple[Entry, ...]]:
        """Return what a copy is made of: the relations and the entries; all else follows from them."""
        return tuple(self.relations.values()), tuple(self.entries)

    def __setstate__(self, state: tuple[tuple[Relation, ...], tuple[Entry, ...]]) -> None:
        relations, entries = state
        Journal.__init__(self, relations)
        for entry in entries:
            self.write(entry)

    def held(self, fact: Fact, length: int) -> bool:
        """Return whether a fact is held after the first ``length`` entries."""
        place = self.places.get(fact)
        if place is None or place >= length:
            return False
        later = self.later.get(fact)
        return later is None or sum(one < length for one in later) % 2 == 0

    def reason_before(self, fact: Fact, length: int) -> tuple[int, Reason]:
        """Return the newest reason for which a fact was taken up within the first ``length`` entries, and its place."""
        for place in (*reversed(self.later.get(fact, ())), self.places[fact]):
            if place < length and not isinstance(entry := self.entries[place], Drop):
                return place, entry
        raise KeyError(fact)

    def claim(self, length: int) -> Journal:
        """Return a journal that ends after ``length`` entries and has no other writer: this one, or a copy."""
        if self._owner.acquire(blocking=False):
            if len(self.entries) == length:
                return self
            self._owner.release()
        copy = Journal(self.relations.values())
        for entry in self.entries[:length]:
            copy.write(entry)
        return copy.claim(length)

    def release(self) -> None:
        """End the writing."""
        self._owner.release()

    def _append(self, fact: Fact, entry: Entry) -> None:
        place = len(self.entries)
        self.entries.append(entry)
        if fact in self.places:
            self.later.setdefault(fact, []).append(place)
            return
        self.places[fact] = place
        self.facts[fact.relation].append(fact)
        if fact.relation in _EDGES:
            for node in fact.nodes:
                self.edges.setdefault(node, []).append(fact)

    def write(self, entry: Entry) -> None:
        """Append an entry of either kind."""
        if isinstance(entry, Drop):
            self.drop(entry)
        else:
            self.take_up(entry)

    def take_up(self, reason: Reason) -> None:
        """Append a fact with its reason and bring the tables up to date."""
        fact = reason.fact
        self._append(fact, reason)
        relation, nodes = fact
        readings = self.relations[relation].readings(nodes)
        self.readings[relation].update(readings)
        for key_of, table in self._look_ups[relation].values():
            for reading in readings:
                table.setdefault(key_of(reading), []).append(reading)

    def drop(self, entry: Drop) -> None:
        """Append the end of a fact and bring the tables up to date."""
        fact = entry.fact
        self._append(fact, entry)
        for reading in self.relations[fact.relation].readings(fact.nodes):
            self.readings[fact.relation].remove(reading)
            for key_of, table in self._look_ups[fact.relation].values():
                table[key_of(reading)].remove(reading)

    def look_up(self, relation: str, positions: Positions) -> LookUp:
        """Return a table from the nodes at some positions to all readings with them there; made once, then kept."""
        tables = self._look_ups[relation]
        if positions not in tables:
            key_of: Callable[[Nodes], Any] = itemgetter(*positions) if positions else _no_key
            table: LookUp = {}
            tables[positions] = key_of, table
            for fact in self.facts[relation]:
                if self.held(fact, len(self.entries)):
                    for reading in self.relations[relation].readings(fact.nodes):
                        table.setdefault(key_of(reading), []).append(reading)
        return tables[positions][1]


@attrs.frozen
class Writer:
    """The one who may write to a journal for now."""

    journal: Journal

    def holds(self, fact: Fact) -> bool:
        """Return whether a fact is held at the end of the journal."""
        return fact.nodes in self.journal.readings[fact.relation]

    def reason(self, fact: Fact) -> Reason:
        """Return the reason for a fact that is held."""
        return self.journal.reason_before(fact, len(self.journal.entries))[1]

    def add(self, reason: Reason) -> bool:
        """Take up a fact for a reason, unless it is held already; return whether it is new."""
        fact = reason.fact
        if fact.nodes in self.journal.readings[fact.relation]:
            return False
        self.journal.take_up(reason)
        return True

    def drop(self, fact: Fact, *, because: Reason) -> None:
        """Record that a reason overwrites a fact that is held."""
        self.journal.drop(Drop(fact, because))
