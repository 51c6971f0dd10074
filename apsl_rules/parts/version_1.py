"""Part files of version 1: the run as a list of entries, with what holds and the proofs written out.

Such a file names neither its rules nor its policy, and has a finding that was told twice with better evidence only in
its proofs. The installed rules are fired again from all findings in it, and everything that it states must come out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from apsl_rules.evidence import evidence_of
from apsl_rules.names import Node, in_order, listing
from apsl_rules.notes import EMPTY, Note, empty_note
from apsl_rules.parts.conclusions import RENAMED
from apsl_rules.parts.file import Frame, Reader, known_rulebooks
from apsl_rules.parts.part import Part, Visit
from apsl_rules.rules import (
    POLICIES,
    Drop,
    Entry,
    Fact,
    Finding,
    Firing,
    Ledger,
    Reason,
    found_distances,
    ledger,
    untested,
)


class Version1(Reader):
    """Turns the data of a file of version 1 into a part."""

    def __init__(self, data: dict[str, Any], frame: Frame | None = None) -> None:
        super().__init__({**data, "notes": [*map(_note, data["notes"])]}, frame)
        if untested.name not in {one.name for one in self.relations}:  # from before pairs could be untested
            self.relations.append(untested)
        self._history: list[Entry] = []
        self._history = [self._entry(one) for one in data["history"]]

    def part(self) -> Part:
        """Return the part, with its ledger rebuilt."""
        data = self.data
        visits = [
            Visit(self.node(one["node"]), self.nodes(one["neighbours"]), one["begin"], one["end"])
            for one in data["visits"]
        ]
        ends = [0, *(visit.end for visit in visits)]
        if ends != [*(visit.begin for visit in visits), len(self._history)] or ends != sorted(ends):
            message = "the visits do not make up the history"
            raise ValueError(message)
        book = self._rebuilt([tuple(_findings(self._history[one.begin : one.end])) for one in visits])
        distances = found_distances(book, self.node(data["target"]), self.frame.knowledge)
        part = self.with_ledger(book, tuple(visits), distances)
        if data["nodes"] is not None:  # no record of a journal
            self._check_marks(part)
        return part

    def _entry(self, data: dict[str, Any]) -> Entry:
        if "drops" in data:
            return Drop(self.fact(data["drops"]), self._reason(data["because"]))
        return self._reason(data)

    def _reason(self, data: dict[str, Any]) -> Reason:
        if "place" in data:
            entry: Entry = self._history[data["place"]]
            if not isinstance(entry, Finding):
                message = f"entry {data['place']} of the history is no finding"
                raise ValueError(message)
            return entry
        fact = self.fact(data["fact"])
        if "evidence" in data:
            evidence = evidence_of(data["evidence"])
            nodes = {node for one in evidence.verdicts for node in (one.x, one.y, *one.given)}
            if not nodes <= self.frame.numbers.of.keys():
                message = f"a test of {listing(in_order(nodes))} is reported, but these are no nodes of the part"
                raise ValueError(message)
            return Finding(fact, evidence)
        rule, premises = RENAMED.get(data["rule"], data["rule"]), tuple(map(self.fact, data["premises"]))
        return Firing(rule, self.nodes(data["bindings"]), premises, fact)

    def _rebuilt(self, told: list[tuple[Finding, ...]]) -> Ledger:
        """Return the ledger of the rules and the policy that lead to all that is stated."""
        data = self.data
        names = tuple(RENAMED.get(name, name) for name in data["rule_use"])
        known_books = (book for book in known_rulebooks() if book.positive or data["order_dependent"])
        books = [book for book in known_books if tuple(rule.name for rule in book.rules) == names]
        if not books:
            message = "its rules are those of no rulebook that is installed; install the plugin that has them"
            raise ValueError(message)
        proofs = [self._entry(one) for one in data["proofs"]]
        held = self._history if data["store"] is None else [self._entry(one) for one in data["store"]]
        sides = [
            [[self._reason(step["reason"]) for step in proof] for proof in one["proofs"]] for one in data["conflicts"]
        ]
        steps = (step for conflict in sides for proof in conflict for step in proof)
        known = {id(one.evidence) for findings in told for one in findings}
        further = dict.fromkeys(one for one in _findings([*held, *proofs, *steps]) if id(one.evidence) not in known)
        if told:  # what the history lacks goes with the last visit
            told[-1] += tuple(one for one in further if one.fact.relation != "conflict")
        stated = (
            self._history,
            _held(held),
            sorted(
                _outline(self.nodes(one["pair"]), one["kind"], [proof[-1].fact for proof in some])
                for one, some in zip(data["conflicts"], sides, strict=True)
            ),
        )
        reasons = {one.fact: one for one in proofs if one.fact.relation != "conflict"}
        policies = [one for one in POLICIES if (one in ("first", "last")) == data["order_dependent"]]
        for rebuilt in (ledger(book, policy, told) for book in books for policy in policies):
            if _conclusions(rebuilt) == stated and (rebuilt.order_dependent or _reasons(rebuilt) == reasons):
                return rebuilt
        message = "its conclusions do not follow from its findings"
        raise ValueError(message)

    def _check_marks(self, part: Part) -> None:
        """Refuse edges and distances of the part other than those that the facts and the depth give."""
        data, places = self.data, self.frame.numbers.places
        drawn = {
            "arrows": sorted(map(places, part.arrows)),
            "lines": sorted(sorted(places(pair)) for pair in part.lines),
            "partial": sorted(map(places, part.partial)),
            "bidirected": sorted(sorted(places(pair)) for pair in part.bidirected),
        }
        for key, right in drawn.items():
            if data.get(key, []) != right:
                message = f"the {key} are not those that its facts give"
                raise ValueError(message)
        if dict(part.distances) != {self.node(number): distance for number, distance in data["distances"]}:
            message = "the distances are not those over the edges found"
            raise ValueError(message)


def _note(words: str) -> Note:
    """Return a note of version 1, which has words alone."""
    return empty_note(words.removeprefix(EMPTY)) if words.startswith(EMPTY) else Note(words)


def _findings(entries: Iterable[Entry]) -> list[Finding]:
    return [one for one in entries if isinstance(one, Finding)]


def _conclusions(book: Ledger) -> tuple[list[Entry], set[Fact], list[str]]:
    """Return the run of a ledger, the facts that hold, and the contradictions in outline."""
    conflicts = sorted(
        _outline(one.pair, one.kind, [proof.fact for proof in one.proofs]) for one in book.settled.conflicts
    )
    return list(book.history.entries), _held(book.marks().entries), conflicts


def _held(entries: Iterable[Entry]) -> set[Fact]:
    """Return the facts that hold after some entries."""
    facts = set[Fact]()
    for place, entry in enumerate(entries):
        drops = isinstance(entry, Drop)
        if (entry.fact in facts) is not drops:
            message = f"entry {place} {'drops what is not' if drops else 'tells again what is'} held"
            raise ValueError(message)
        facts.symmetric_difference_update((entry.fact,))
    return facts


def _reasons(book: Ledger) -> dict[Fact, Reason]:
    """Return why each fact holds, but for marks of conflicts, whose words changed."""
    store = book.proofs()
    return {fact: store.reason(fact) for fact in _held(store.entries) if fact.relation != "conflict"}


def _outline(pair: Sequence[Node], kind: str, sides: Sequence[Fact]) -> str:
    return repr(([*pair], kind, [*sides]))
