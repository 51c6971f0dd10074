"""The ledger of a run, and the policies of published algorithms: findings in turn, the first or the last one wins."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property, partial
from typing import Any, Literal, Self, cast

import attrs

from apsl_rules.errors import RuleError
from apsl_rules.names import count_of, in_order
from apsl_rules.rules.conflicts import Judging, Policy, Settled, needs_settling, settle, settled_marks
from apsl_rules.rules.contradictions import Conflict, Outcome, left_standing, shortest_path
from apsl_rules.rules.engine import Program, compile_rulebook, count_firings, extend, require_positive
from apsl_rules.rules.proof import proof_of, proof_of_reason, shortest_proofs
from apsl_rules.rules.store import Journal, MarkStore, newest
from apsl_rules.rules.vocabulary import Drop, Entry, Fact, Finding, Firing, Nodes, Reason, Relation, Rulebook, arrow


@attrs.frozen(eq=False, slots=False)
class Ledger(ABC):
    """The findings of a run and what follows from them; adding more returns another ledger.

    ``told`` are the findings of each addition, ``policy`` says what becomes of contradictions. ``history`` is the run
    as it went, ``settled`` what is to be believed now.
    """

    _program: Program
    history: MarkStore
    policy: Policy
    told: tuple[tuple[Finding, ...], ...] = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ledger):
            return NotImplemented
        return self is other or (self.history == other.history and self.settled == other.settled)

    def __hash__(self) -> int:
        return hash((Ledger, self.history))

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what a copy is made of: the findings, from which all else follows."""
        return tell_all, (self.rulebook, self.policy, self.told)

    @property
    def rulebook(self) -> Rulebook:
        """Return the rules."""
        return self._program.rulebook

    @property
    def order_dependent(self) -> bool:
        """Return whether the marks depend on the order in which findings came."""
        return self.policy in ("first", "last")

    @property
    def findings(self) -> list[Finding]:
        """Return all that was told, in its order."""
        return [one for findings in self.told for one in findings]

    def rule_use(self) -> dict[str, int]:
        """Return how often each rule fired in the run."""
        return count_firings(self.rulebook, self.history)

    @abstractmethod
    def with_findings(self, findings: Sequence[Finding]) -> tuple[Self, tuple[Firing, ...]]:
        """Return the ledger with more findings, and the firings that they set off."""

    @property
    @abstractmethod
    def settled(self) -> Settled:
        """Return the marks that hold now, and the contradictions met."""

    def marks(self) -> MarkStore:
        """Return the marks that hold now, without the contradictions, whose proofs take their time."""
        return self.settled.store

    def marks_with(self, findings: Sequence[Finding]) -> MarkStore:
        """Return the marks that would hold with more findings."""
        return self.with_findings(findings)[0].marks()

    @abstractmethod
    def proofs(self) -> MarkStore:
        """Return a store of the settled facts with the reasons that proofs are to show."""


def tell_all(rulebook: Rulebook, policy: Policy, told: Iterable[Sequence[Finding]]) -> Ledger:
    """Return the ledger of all findings, told addition by addition."""
    book = ledger(rulebook, policy)
    for findings in told:
        book, _ = book.with_findings(findings)
    return book


def ledger(rulebook: Rulebook, policy: Policy) -> Ledger:
    """Open an empty ledger for a conflict policy."""
    program = compile_rulebook(rulebook)
    match policy:
        case "first" | "last":
            return _Sequential(program, program.start(), policy)
        case "quarantine" | "strongest" | "ranked":
            require_positive(rulebook)
            return _Fixpoint(program, program.start(), policy)


@attrs.frozen(eq=False, slots=False)
class _Fixpoint(Ledger):
    """Judges the whole set of findings whenever it contains contradictions."""

    @property
    def _judging(self) -> Judging:
        return cast("Judging", self.policy)

    def with_findings(self, findings: Sequence[Finding]) -> tuple[Self, tuple[Firing, ...]]:
        outcome = extend(self._program, self.history, findings)
        return type(self)(self._program, outcome.store, self.policy, (*self.told, tuple(findings))), outcome.firings

    @cached_property
    def settled(self) -> Settled:
        if not needs_settling(self.history, self._judging):
            return Settled(self.history, ())
        return settle(self.rulebook, self.findings, self._judging)

    def marks_with(self, findings: Sequence[Finding]) -> MarkStore:
        """Return the marks that would hold, without all that follows from findings which contradict each other."""
        return settled_marks(self.rulebook, [*self.findings, *findings], self._judging)

    def proofs(self) -> MarkStore:
        """Return proofs of least depth: the fixpoint taken once more from all findings together."""
        settled = self.settled.store
        return settled if settled is not self.history else shortest_proofs(self.rulebook, self.findings)


@attrs.frozen(eq=False, slots=False)
class _Sequential(Ledger):
    """Lets arrows overwrite or refuse each other as they come."""

    conflicts: tuple[Conflict, ...] = ()

    def with_findings(self, findings: Sequence[Finding]) -> tuple[Self, tuple[Firing, ...]]:
        keep = cast('Literal["first", "last"]', self.policy)
        overwritten = overwrite(self._program, self.history, findings, keep=keep)
        store = overwritten.store
        met = (*self.conflicts, *(_conflict(store, clash) for clash in overwritten.clashes))
        told = (*self.told, tuple(findings))
        return type(self)(self._program, store, self.policy, told, met), overwritten.firings

    @cached_property
    def settled(self) -> Settled:
        return Settled(self.history, (*self.conflicts, *left_standing(self.history)))

    def marks(self) -> MarkStore:
        return self.history

    def proofs(self) -> MarkStore:
        return self.history


@attrs.frozen(eq=False, slots=False)
class Stated(Ledger):
    """Conclusions from elsewhere, ``believed`` and with proofs ``kept``; the rules are not known here."""

    believed: Settled = attrs.field(kw_only=True)
    kept: MarkStore = attrs.field(kw_only=True)

    def __reduce__(self) -> tuple[Any, ...]:
        make = partial(Stated, believed=self.believed, kept=self.kept)
        return make, (self._program, self.history, self.policy, self.told)

    def rule_use(self) -> dict[str, int]:
        """Return how often each rule fired, by the names in the run."""
        return dict(Counter(entry.rule for entry in self.history.entries if isinstance(entry, Firing)))

    def with_findings(self, findings: Sequence[Finding]) -> tuple[Self, tuple[Firing, ...]]:
        """Refuse more findings."""
        message = f"{count_of(len(findings), 'finding')} cannot be added: the rules are not known here"
        raise RuleError(message)

    @property
    def settled(self) -> Settled:
        """Return what was stated to hold."""
        return self.believed

    def proofs(self) -> MarkStore:
        """Return the proofs that were stated."""
        return self.kept


def _conflict(store: MarkStore, clash: Clash) -> Conflict:
    kept, dropped = clash.kept.fact, clash.dropped.fact
    x, y = in_order(dropped.nodes)
    proofs = (proof_of_reason(store, clash.kept), proof_of_reason(store, clash.dropped))
    further = tuple(proof_of(store, fact) for fact in clash.path_back)
    kind: Literal["opposed", "cycle"] = "opposed" if kept.nodes == dropped.nodes[::-1] else "cycle"
    return Conflict((x, y), kind, Outcome.KEPT, (*proofs, *further), (kept,), (dropped,))


class Events(Journal):
    """A journal in which facts may end, and be taken up again: all events on each fact, with their places."""

    def __init__(self, relations: Iterable[Relation], entries: Iterable[Entry] = ()) -> None:
        self._events: dict[Fact, list[tuple[int, Entry]]] = {}
        super().__init__(relations, entries)

    def held(self, fact: Fact, length: int) -> bool:
        """Return whether the last event on a fact within the first ``length`` entries is not its end."""
        before = (entry for place, entry in reversed(self._events.get(fact, ())) if place < length)
        return not isinstance(next(before, None), Drop | None)

    def reason_before(self, fact: Fact, length: int) -> tuple[int, Reason]:
        """Return the newest reason for which a fact was taken up within the first ``length`` entries, and its place."""
        for place, entry in reversed(self._events[fact]):
            if place < length and not isinstance(entry, Drop):
                return place, entry
        raise KeyError(fact)

    def write(self, entry: Entry) -> bool:
        """Take up a fact or end it; return whether that is new."""
        if not isinstance(entry, Drop):
            return super().write(entry)
        fact = entry.fact
        if not self.holds(fact):
            return False
        self._append(fact, entry)
        for reading in self.relations[fact.relation].readings(fact.nodes):
            self.readings[fact.relation].remove(reading)
            for key_of, rest_of, table in self._look_ups[fact.relation].values():
                table[key_of(reading)].remove(rest_of(reading))
        return True

    def _append(self, fact: Fact, entry: Entry) -> None:
        event = len(self.entries), entry
        if fact in self._events:
            self.entries.append(entry)
            self._events[fact].append(event)
        else:
            super()._append(fact, entry)
            self._events[fact] = [event]


def store_of(relations: Iterable[Relation], entries: Iterable[Entry]) -> MarkStore:
    """Return a store that holds a journal written elsewhere, such as one read from a file."""
    journal = Events(relations)
    for place, entry in enumerate(entries):
        if not journal.write(entry):
            message = f"entry {place} {'drops what is not' if isinstance(entry, Drop) else 'tells again what is'} held"
            raise ValueError(message)
    return newest(journal)


@attrs.frozen
class Clash:
    """Two reasons that cannot both stand: the one kept, and the one dropped because of it.

    ``path_back`` holds the further arrows when it is a directed cycle that was about to close.
    """

    kept: Reason
    dropped: Reason
    path_back: tuple[Fact, ...] = ()


@attrs.frozen
class Overwritten:
    """What a sequence of firings brought: the new state, the firings in order and the clashes met."""

    store: MarkStore
    firings: tuple[Firing, ...]
    clashes: tuple[Clash, ...]


def overwrite(
    program: Program, store: MarkStore, reasons: Iterable[Reason], *, keep: Literal["first", "last"]
) -> Overwritten:
    """Add reasons in their order, then fire rule by rule in the rulebook's order until none can."""
    journal = store.continued()
    if not isinstance(journal, Events):
        journal = Events(journal.relations.values(), journal.entries)
    run = _Sequence(program, journal, keep)
    for reason in reasons:
        run.take(reason)
    run.exhaust()
    return Overwritten(newest(run.journal), tuple(run.firings), tuple(run.clashes))


class _Sequence:
    """The state of one such sequence."""

    def __init__(self, program: Program, journal: Events, keep: Literal["first", "last"]) -> None:
        self.program = program
        self.journal = journal
        self.keep = keep
        self.found: dict[str, list[Nodes]] = {rule.name: [] for rule in program.rulebook.rules}
        self.fired: set[tuple[str, Nodes]] = set()
        self.firings: list[Firing] = []
        self.clashes: list[Clash] = []

    def take(self, reason: Reason) -> bool:
        """Take up a fact unless a clash is decided against it; return whether it is new."""
        fact = reason.fact
        if self.journal.holds(fact) or (fact.relation == arrow.name and not self._prevails(reason)):
            return False
        self.journal.write(reason)
        for rule, found in self.program.matches(self.journal, [fact]).items():
            self.found[rule] += found
        return True

    def _prevails(self, reason: Reason) -> bool:
        """Decide a new arrow against a held opposite one, or against a path back that would make a cycle of it."""
        tail, head = reason.fact.nodes
        against = Fact(arrow.name, (head, tail))
        if self.journal.holds(against):
            held = self._reason(against)
            if self.keep == "first":
                self.clashes.append(Clash(held, reason))
                return False
            self.clashes.append(Clash(reason, held))
            self.journal.write(Drop(against, because=reason))
        elif self.keep == "first":
            back = shortest_path(head, tail, self.journal.readings[arrow.name])
            if back:
                first, *rest = (Fact(arrow.name, step) for step in back)
                self.clashes.append(Clash(self._reason(first), reason, tuple(rest)))
                return False
        return True

    def _reason(self, fact: Fact) -> Reason:
        return self.journal.reason_before(fact, len(self.journal.entries))[1]

    def exhaust(self) -> None:
        """Fire the first rule that has bindings, all of them in the order found, and begin again."""
        while rule := next((name for name, found in self.found.items() if found), None):
            batch, self.found[rule] = self.found[rule], []
            for bindings in batch:
                self._fire(rule, bindings)

    def _fire(self, rule: str, bindings: Nodes) -> None:
        if (rule, bindings) in self.fired:
            return
        for firing in self.program.firings_of(rule, bindings):
            guards = self.program.guards_of(rule, bindings)
            if all(map(self.journal.holds, firing.premises)) and not any(map(self.journal.holds, guards)):
                self.fired.add((rule, bindings))
                if self.take(firing):
                    self.firings.append(firing)
