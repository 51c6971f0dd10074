"""Part files of version 1: the run as a list of entries, with what holds and the proofs written out.

Such a file does not name its policy, and has a finding that was told twice with better evidence only in its proofs. The
rules are fired again from all findings in it, and the run, the facts, the proofs and the conflicts must come out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Self

import attrs

from apsl_rules.errors import RuleError
from apsl_rules.evidence import evidence_of
from apsl_rules.names import count_of, in_order, listing
from apsl_rules.parts.file import UNCHECKED, Frame, Reader, found_distances, known_rulebooks
from apsl_rules.parts.part import Part, Visit
from apsl_rules.parts.rule_lines import RENAMED
from apsl_rules.rules import (
    POLICIES,
    Conflict,
    Drop,
    Entry,
    Fact,
    Finding,
    Firing,
    Ledger,
    Log,
    MarkStore,
    Names,
    Outcome,
    Policy,
    Proof,
    Reason,
    Relation,
    Rulebook,
    Settled,
    Step,
    by_name,
    compile_rulebook,
    tell_all,
    untested,
)


class Version1(Reader):
    """Turns the data of a file of version 1 into a part."""

    def __init__(self, data: dict[str, Any], frame: Frame | None = None) -> None:
        super().__init__(data, frame)
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
        stated = self._stated(visits)
        book = self._rebuilt(stated)
        distances = found_distances(book, self.node(data["target"]), self.frame.knowledge)
        part = self.with_ledger(book, tuple(visits), distances, (UNCHECKED,) if book is stated else ())
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
        return Firing(
            RENAMED.get(data["rule"], data["rule"]),
            self.nodes(data["bindings"]),
            tuple(map(self.fact, data["premises"])),
            fact,
        )

    def _conflict(self, data: dict[str, Any]) -> Conflict:
        x, y = self.nodes(data["pair"])
        proofs = tuple(self._proof(one) for one in data["proofs"])
        kept, dropped = (tuple(map(self.fact, data.get(key, ()))) for key in ("kept", "dropped"))
        outcome = Outcome(data["outcome"]) if "dropped" in data else Outcome.STANDING
        return Conflict((x, y), data["kind"], outcome, proofs, kept, dropped)

    def _proof(self, data: list[dict[str, Any]]) -> Proof:
        reasons = [(self._reason(one["reason"]), one) for one in data]
        return Proof(tuple(Step(reason.fact, one["text"], reason, tuple(one["premises"])) for reason, one in reasons))

    def _stated(self, visits: Sequence[Visit]) -> Stated:
        """Return the conclusions as the file has them; a finding that the history lacks goes with the last visit."""
        data = self.data
        history = store_of(self.relations, self._history)
        store = history
        if data["store"] is not None:
            store = store_of(self.relations, [self._entry(one) for one in data["store"]])
        proofs = store_of(self.relations, [self._entry(one) for one in data["proofs"]])
        conflicts = tuple(self._conflict(one) for one in data["conflicts"])
        told = [tuple(_findings(self._history[one.begin : one.end])) for one in visits]
        steps = (step.reason for one in conflicts for proof in one.proofs for step in proof.steps)
        known = {id(one.evidence) for findings in told for one in findings}
        further = [one for one in _findings([*store.entries, *proofs.entries, *steps]) if id(one.evidence) not in known]
        if told:
            told[-1] += tuple(one for one in dict.fromkeys(further) if one.fact.relation != "conflict")
        policy: Policy = "last" if data["order_dependent"] else "quarantine"
        nobody = compile_rulebook(Rulebook("unknown", (), tuple(self.relations)))
        return Stated(nobody, history, policy, tuple(told), believed=Settled(store, conflicts), kept=proofs)

    def _rebuilt(self, stated: Stated) -> Ledger:
        """Return the ledger of the rules and the policy that lead to what is stated."""
        names = tuple(RENAMED.get(name, name) for name in self.data["rule_use"])
        books = [book for book in known_rulebooks() if tuple(rule.name for rule in book.rules) == names]
        if not books:
            return stated
        policies = [one for one in POLICIES if (one in ("first", "last")) == stated.order_dependent]
        for book in books:
            for policy in policies if book.positive else [one for one in policies if one in ("first", "last")]:
                rebuilt = tell_all(book, policy, stated.told)
                if _agree(rebuilt, stated):
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


@attrs.frozen(eq=False, slots=False)
class Stated(Ledger):
    """Conclusions from elsewhere, ``believed`` and with proofs ``kept``; the rules are not known here."""

    believed: Settled = attrs.field(kw_only=True)
    kept: MarkStore = attrs.field(kw_only=True)

    def __reduce__(self) -> tuple[Any, ...]:
        make = partial(Stated, believed=self.believed, kept=self.kept)
        return make, (self.program, self.history, self.policy, self.told)

    def rule_use(self) -> dict[str, int]:
        """Return how often each rule fired, by the names in the run."""
        return dict(Counter(firing.rule for firing in self.history.firings()))

    def with_findings(self, findings: Sequence[Finding]) -> Self:
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


def store_of(relations: Iterable[Relation], entries: Sequence[Entry]) -> MarkStore:
    """Return a store that holds entries of a file; firings stay as they are, whatever rules are known here."""
    log = Log(by_name(relations), Names(node for one in entries for node in one.fact.nodes))
    for place, entry in enumerate(entries):
        row = log.row(entry)
        is_held, drops = row[1] in log.held[row[0]], isinstance(entry, Drop)
        if is_held is not drops:
            message = f"entry {place} {'drops what is not' if drops else 'tells again what is'} held"
            raise ValueError(message)
        log.drop(row) if drops else log.write([row])
    return MarkStore.newest(log)


def _findings(entries: Sequence[Any]) -> Iterator[Finding]:
    return (one for one in entries if isinstance(one, Finding))


def _agree(rebuilt: Ledger, stated: Stated) -> bool:
    """Return whether the run, the facts, the proofs and the conflicts of two ledgers are the same."""
    if rebuilt.history.entries != stated.history.entries or _facts(rebuilt.marks()) != _facts(stated.believed.store):
        return False
    mine, theirs = rebuilt.settled.conflicts, stated.believed.conflicts
    if sorted(map(_outline, mine)) != sorted(map(_outline, theirs)):
        return False
    return rebuilt.order_dependent or _reasons(rebuilt.proofs()) == _reasons(stated.kept)


def _facts(store: MarkStore) -> set[Fact]:
    return {fact for relation in store.relations.values() for fact in store.facts(relation)}


def _reasons(store: MarkStore) -> dict[Fact, Reason]:
    """Return why each fact holds, but for marks of conflicts, whose words changed."""
    return {fact: store.reason(fact) for fact in _facts(store) if fact.relation != "conflict"}


def _outline(one: Conflict) -> str:
    return repr((one.pair, one.kind, [proof.fact for proof in one.proofs]))
