"""What is known and why: a log of facts with their reasons, in numbers, and the immutable states of it.

Nodes are numbers in the order of their names, so sorting numbers is sorting names. A row of the log is a fact and the
reason for it::

    relation   numbers    rule      why
    adjacent   (3, 7)     None      evidence                            a finding
    chain      (1, 3, 7)  None      evidence
    arrow      (3, 7)     Meek-R1   (1, 3, 7), what stood for X, Y, Z   a firing

A firing is its rule and what stood for the variables; its premises are read off the rule. ``Fact``, ``Finding`` and
``Firing`` are views, made when somebody looks.

A ``State`` is the first rows of a log. Whatever is written comes behind them, so all states of a run share one log.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Self, TypeAlias, cast

import attrs

from apsl_rules.names import Node, in_order, order_key
from apsl_rules.rules.vocabulary import (
    RELATIONS,
    Atom,
    Drop,
    Entry,
    Fact,
    Finding,
    Firing,
    Nodes,
    Reason,
    Relation,
    Rule,
    adjacent,
    arrow,
    by_name,
)

#: Nodes by number.
Numbers: TypeAlias = tuple[int, ...]
#: A fact as a row has it: its relation, and its nodes by number.
Told: TypeAlias = tuple[str, Numbers]
#: A relation, the nodes, and why: a rule with what stood for its variables; or no rule, with evidence, or with the drop
#: that ends the fact.
Row: TypeAlias = tuple[str, Numbers, Any, Any]
Table: TypeAlias = dict[Any, list[Any]]

_EDGES = (adjacent.name, arrow.name)
#: The number of no node.
NOBODY = -(1 << 200)
#: How far numbers are apart once labels came late.
_ROOM = 1 << 40


def instances(atoms: Iterable[Atom], rule: Rule, bindings: Numbers) -> list[Told]:
    """Return atoms of a rule as facts, given what stands for its variables."""
    number = dict(zip(rule.variables, bindings, strict=True))
    found = []
    for atom in atoms:
        numbers = tuple([number[one] for one in atom.variables])
        found.append((atom.relation.name, min(numbers, numbers[::-1]) if atom.relation.symmetric else numbers))
    return found


class Names:
    """The labels of nodes by number; numbers go by name.

    They have ``room`` between them, so that labels that come late get numbers and all others keep theirs.
    """

    __slots__ = ("_numbers", "labels", "number")

    def __init__(self, labels: Iterable[Node] = (), room: int = 1) -> None:
        self.labels: dict[int, Node] = {at * room: one for at, one in enumerate(in_order(dict.fromkeys(labels)))}
        self.number = {label: number for number, label in self.labels.items()}
        self._numbers = [*self.labels]

    def numbers(self, nodes: Iterable[Node]) -> Numbers:
        """Return the numbers of nodes."""
        return tuple([self.number[node] for node in nodes])

    def nodes(self, numbers: Numbers) -> Nodes:
        """Return the labels of numbers."""
        return tuple([self.labels[one] for one in numbers])

    def add(self, labels: Iterable[Node]) -> bool:
        """Give numbers to labels that come late; return whether there was room for all."""
        for label in {one: None for one in labels if one not in self.number}:
            at = bisect_left(self._numbers, order_key(label), key=lambda one: order_key(self.labels[one]))
            low = self._numbers[at - 1] if at else self._numbers[0] - 2 * _ROOM if self._numbers else 0
            number = (low + self._numbers[at]) // 2 if at < len(self._numbers) else low + _ROOM
            if number == low:
                return False
            self.labels[number] = label
            self.number[label] = number
            self._numbers.insert(at, number)
        return True


class Log:
    """Facts in the order in which they were taken up, each with its reason; the rows never change.

    ``held`` has, by relation, the place of every reading of the facts that are held at the end; ``tables`` are indexes
    of these for the joins. ``dropped`` says of facts that ended from which place to which they were held, which only
    the policies of published algorithms bring about. A reader of an older state looks at earlier places only, so it may
    look while somebody writes.
    """

    __slots__ = ("_tables", "dropped", "edges", "held", "names", "places", "relations", "rows")

    def __init__(self, relations: Mapping[str, Relation], names: Names, rows: Iterable[Row] = ()) -> None:
        self.relations, self.names = relations, names
        self.rows: list[Row] = []
        self.held: dict[str, dict[Numbers, int]] = {name: {} for name in relations}
        #: The places of the facts of each relation, and the facts that make a node a neighbour, by node.
        self.places: dict[str, list[int]] = {name: [] for name in relations}
        self.edges: dict[int, list[tuple[str, Numbers]]] = {}
        self.dropped: dict[Told, list[tuple[int, int]]] = {}
        self._tables: dict[str, dict[Numbers, tuple[Callable[..., Any], Callable[..., Any], Table]]] = {
            name: {} for name in relations
        }
        rows = list(rows)
        if not any(isinstance(row[3], Drop) for row in rows):
            self.write(rows)
        else:
            for row in rows:
                self.drop(row) if isinstance(row[3], Drop) else self.write([row])

    def __len__(self) -> int:
        return len(self.rows)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what a copy is made of: relations, names and rows; all else follows."""
        return type(self), (self.relations, self.names, self.rows)

    def copy(self, length: int, labels: Iterable[Node] = ()) -> Log:
        """Return a log of its own that ends after ``length`` rows, whose numbers have room for further labels."""
        old = self.names.labels
        names = Names([*old.values(), *labels], _ROOM)
        new = {number: names.number[label] for number, label in old.items()}.__getitem__
        rows = (
            (relation, tuple(map(new, numbers)), rule, why if rule is None else tuple(map(new, why)))
            for relation, numbers, rule, why in self.rows[:length]
        )
        return Log(self.relations, names, rows)

    # --- writing -----------------------------------------------------------------------------------------------------

    def write(self, rows: Iterable[Row]) -> dict[str, list[Numbers]]:
        """Take up the facts that are not held; return all readings of these by relation."""
        fresh: dict[str, list[Numbers]] = {}
        place = len(self.rows)
        for row in rows:
            relation, numbers, _, _ = row
            held = self.held[relation]
            if numbers in held:
                continue
            readings = (numbers, numbers[::-1]) if self.relations[relation].symmetric else (numbers,)
            self.rows.append(row)
            self.places[relation].append(place)
            for one in readings:
                held[one] = place
            place += 1
            for key_of, rest_of, table in self._tables[relation].values():
                for one in readings:
                    table.setdefault(key_of(one), []).append(rest_of(one))
            if relation in _EDGES:
                for node in numbers:
                    self.edges.setdefault(node, []).append((relation, numbers))
            fresh.setdefault(relation, []).extend(readings)
        return fresh

    def drop(self, row: Row) -> None:
        """End a fact that is held."""
        relation, numbers, _, _ = row
        span = self.held[relation][numbers], len(self.rows)
        self.dropped.setdefault((relation, numbers), []).append(span)
        self.rows.append(row)
        for one in self._readings(relation, numbers):
            del self.held[relation][one]
            for key_of, rest_of, table in self._tables[relation].values():
                table[key_of(one)].remove(rest_of(one))

    def take_back(self, length: int) -> None:
        """Forget all rows but the first ones, none of which was a drop; no state behind them may be left."""
        for relation, numbers, _, _ in reversed(self.rows[length:]):
            self.places[relation].pop()
            for one in self._readings(relation, numbers):
                del self.held[relation][one]
                for key_of, _, table in self._tables[relation].values():
                    table[key_of(one)].pop()
            if relation in _EDGES:
                for node in numbers:
                    self.edges[node].pop()
        del self.rows[length:]

    def _readings(self, relation: str, numbers: Numbers) -> tuple[Numbers, ...]:
        return (numbers, numbers[::-1]) if self.relations[relation].symmetric else (numbers,)

    def table(self, relation: str, positions: Numbers) -> Table:
        """Return an index from the nodes at some positions of a relation to those at the others.

        One node stands for itself, several for a tuple. Only who writes may ask.
        """
        tables = self._tables[relation]
        if positions not in tables:
            others = [at for at in range(self.relations[relation].arity) if at not in positions]
            key_of: Callable[..., Any] = itemgetter(*positions) if positions else lambda _: ()
            _, rest_of, table = tables[positions] = key_of, itemgetter(*others), {}
            for numbers in self.held[relation]:
                table.setdefault(key_of(numbers), []).append(rest_of(numbers))
        return tables[positions][2]

    # --- views -------------------------------------------------------------------------------------------------------

    def row(self, entry: Finding | Drop) -> Row:
        """Return a finding or a drop as a row; KeyError if it names an unknown node."""
        relation, nodes = entry.fact
        why = entry.evidence if isinstance(entry, Finding) else entry
        return relation, self.names.numbers(nodes), None, why

    def fact(self, place: int) -> Fact:
        """Return the fact of a row."""
        relation, numbers, _, _ = self.rows[place]
        return Fact(relation, self.names.nodes(numbers))

    def entry(self, place: int) -> Entry:
        """Return the finding, the firing or the drop at a place."""
        return self.view(self.rows[place])

    def view(self, row: Row) -> Entry:
        """Return a row as a finding, a firing or a drop."""
        relation, numbers, rule, why = row
        if isinstance(why, Drop):
            return why
        nodes = self.names.nodes
        if rule is None:
            return Finding(Fact(relation, nodes(numbers)), why)
        premises = [Fact(name, nodes(ones)) for name, ones in instances(rule.when, rule, why)]
        return Firing(rule.name, nodes(why), tuple(premises), Fact(relation, nodes(numbers)))

    def premises(self, place: int) -> list[int]:
        """Return the places of what a row was concluded from; a finding has none."""
        _, _, rule, why = self.rows[place]
        return [] if rule is None else self._places(instances(rule.when, rule, why), place)

    def places_of(self, facts: Iterable[Fact], length: int) -> list[int]:
        """Return where facts were taken up last within the first rows; KeyError if one never was."""
        return self._places([(one.relation, self.names.numbers(one.nodes)) for one in facts], length)

    def _places(self, told: Iterable[Told], length: int) -> list[int]:
        found = []
        for relation, numbers in told:
            place = self.held[relation].get(numbers, length)
            if place >= length:
                spans = self.dropped.get((relation, numbers), ())
                place = next((begin for begin, _ in reversed(spans) if begin < length), length)
            if place >= length:
                raise KeyError(Fact(relation, self.names.nodes(numbers)))
            found.append(place)
        return found


class Entries(Sequence[Entry]):
    """The rows of a log between two places, each made into a finding, a firing or a drop when it is looked at."""

    __slots__ = ("_log", "_places")

    def __init__(self, log: Log, begin: int, end: int) -> None:
        self._log, self._places = log, range(begin, end)

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, index: Any) -> Any:
        found = self._places[index]
        return [*map(self._log.entry, found)] if isinstance(index, slice) else self._log.entry(found)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and [*self] == [*other]

    __hash__ = None  # type: ignore[assignment]  # as of a list


@attrs.frozen(repr=False, eq=False)
class State:
    """An immutable set of facts with a reason for each: the first ``length`` rows of a ``log``.

    States are equal when they were written alike: the same facts for the same reasons, in the same order.
    ``_unclaimed`` has the log until somebody continues it from here; only one can take it, so none has two writers.
    """

    log: Log = attrs.field(factory=lambda: Log(by_name(RELATIONS), Names()))
    length: int = 0
    _unclaimed: list[Log] = attrs.field(factory=list)

    @classmethod
    def newest(cls, log: Log) -> Self:
        """Return the state of all that a log holds; who writes to it hands it over."""
        return cls(log, len(log), [log])

    def __len__(self) -> int:
        return self.length

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        if self is other:
            return True
        return len(self) == len(other) and self.relations == other.relations and self.entries == other.entries

    def __hash__(self) -> int:
        return hash((State, self.length))

    def __contains__(self, fact: Fact) -> bool:
        number = self.log.names.number
        numbers = tuple([number.get(node, NOBODY) for node in fact.nodes])
        return fact.relation in self.log.held and self.holds(fact.relation, numbers)

    def holds(self, relation: str, numbers: Numbers) -> bool:
        """Return whether a fact is held here, in any reading."""
        length = self.length
        if self.log.held[relation].get(numbers, length) < length:
            return True
        if not self.log.dropped:
            return False
        readings = (numbers, numbers[::-1]) if self.relations[relation].symmetric else (numbers,)
        spans = [span for one in readings for span in self.log.dropped.get((relation, one), ())]
        return any(begin < length <= end for begin, end in spans)

    @property
    def relations(self) -> Mapping[str, Relation]:
        """Return the relations that facts here may have, by name."""
        return self.log.relations

    @property
    def entries(self) -> Sequence[Entry]:
        """Return the log up to this state; each entry is made when it is looked at."""
        return Entries(self.log, 0, self.length)

    def states(self) -> Iterator[Self]:
        """Replay: give every state from the empty one to this one, all sharing one log."""
        return (type(self)(self.log, length) for length in range(self.length + 1))

    def firings(self, begin: int = 0) -> tuple[Firing, ...]:
        """Return the firings since a place, in order."""
        log = self.log
        return tuple([cast("Firing", log.entry(at)) for at in range(begin, self.length) if log.rows[at][2] is not None])

    def rows(self, relation: Relation) -> list[Numbers]:
        """Return the facts of one relation, in the order in which they came."""
        log, places = self.log, self.log.places.get(relation.name, [])
        found = [log.rows[place][1] for place in places[: bisect_left(places, self.length)]]
        return [one for one in dict.fromkeys(found) if self.holds(relation.name, one)] if log.dropped else found

    def facts(self, relation: Relation) -> tuple[Fact, ...]:
        """Return the facts of one relation, in the order in which they came."""
        return tuple([Fact(relation.name, self.log.names.nodes(one)) for one in self.rows(relation)])

    def reason(self, fact: Fact) -> Reason:
        """Return the newest reason for a fact that is held here."""
        return self.reason_before(fact, self.length)[1]

    def reason_before(self, fact: Fact, place: int) -> tuple[int, Reason]:
        """Return the newest reason for a fact among the first entries, and its place; it may be dropped since."""
        (at,) = self.log.places_of([fact], min(place, self.length))
        return at, cast("Reason", self.log.entry(at))

    def with_reasons(self, reasons: Iterable[Finding]) -> Self:
        """Return a state that also holds the facts of these findings; a fact already held keeps its reason."""
        log, rows = self.continued(list(reasons))
        log.write(rows)
        return self.newest(log)

    def taken_back(self, length: int) -> Self:
        """Return the state after the first entries, and give up this one, which must not be read again."""
        log, _ = self.continued()
        log.take_back(length)
        return self.newest(log)

    def continued(self, entries: Sequence[Finding | Drop] = ()) -> tuple[Log, list[Row]]:
        """Return a log that ends with this state and that nobody else writes to, and entries as rows for it."""
        try:
            log = self._unclaimed.pop()
        except IndexError:
            log = self.log.copy(self.length)
        try:
            return log, [*map(log.row, entries)]
        except KeyError:
            late = [node for one in entries for node in one.fact.nodes]
            log = log if log.names.add(late) else log.copy(len(log), late)
            return log, [*map(log.row, entries)]
