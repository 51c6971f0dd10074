"""The policies of published algorithms: findings are taken up in turn, and the first or the last arrow wins.

The result depends on the order of the findings, and rules may have guards. An arrow that is overwritten is dropped, and
the log says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Literal, Self, cast

import attrs

from apsl_rules.cycles import shortest_path
from apsl_rules.rules import (
    Conflict,
    Drop,
    Finding,
    Ledger,
    Log,
    MarkStore,
    Numbers,
    Outcome,
    Reason,
    Row,
    Rule,
    Settled,
    Told,
    arrow,
    closed_cycles,
    instances,
    proof_at,
    proof_of_reason,
    torn_edges,
)


@attrs.frozen(eq=False, slots=False)
class Sequential(Ledger):
    """Lets arrows overwrite or refuse each other as they come."""

    conflicts: tuple[Conflict, ...] = ()

    def with_findings(self, findings: Sequence[Finding]) -> Self:
        """Return the ledger after more findings were taken up in turn."""
        log, rows = self.history.continued(findings)
        turns = _Turns(self.program.rulebook.rules, self, log)
        for row in rows:
            turns.take(row)
        turns.exhaust()
        store = MarkStore.newest(log)
        met = (*self.conflicts, *(one.report(store) for one in turns.clashes))
        return type(self)(self.program, store, self.policy, (*self.told, tuple(findings)), met)

    @cached_property
    def settled(self) -> Settled:
        """Return the marks that are left, with the clashes and what stands although it contradicts itself."""
        return Settled(self.history, (*self.conflicts, *_left_standing(self.history)))

    def marks(self) -> MarkStore:
        """Return the run, which has the marks that are left."""
        return self.history

    def proofs(self) -> MarkStore:
        """Return the run, which has the only proofs there are."""
        return self.history


def _left_standing(store: MarkStore) -> list[Conflict]:
    """Return the directed cycles and contradicted edges that a run left as they are."""
    found = (*torn_edges(store), *closed_cycles(store, sorted(store.rows(arrow))))
    return [attrs.evolve(one, outcome=Outcome.STANDING, dropped=()) for side in found for one in side.report(())]


@attrs.frozen
class Clash:
    """Two reasons that cannot both stand: the one kept, and the one dropped because of it.

    ``path_back`` holds the places of further arrows when it is a directed cycle that was about to close.
    """

    kept: Reason
    dropped: Reason
    path_back: tuple[int, ...] = ()

    def report(self, store: MarkStore) -> Conflict:
        """Return the conflict, with the proofs of all sides."""
        kept, dropped = self.kept.fact, self.dropped.fact
        x, y = store.log.names.nodes(tuple(sorted(store.log.names.numbers(dropped.nodes))))
        proofs = (proof_of_reason(store, self.kept), proof_of_reason(store, self.dropped))
        further = tuple(proof_at(store, place) for place in self.path_back)
        kind: Literal["opposed", "cycle"] = "opposed" if kept.nodes == dropped.nodes[::-1] else "cycle"
        return Conflict((x, y), kind, Outcome.KEPT, (*proofs, *further), (kept,), (dropped,))


class _Turns:
    """Findings and firings taken up in turn, until no rule can fire."""

    def __init__(self, rules: Sequence[Rule], book: Ledger, log: Log) -> None:
        self.book, self.log, self.clashes = book, log, list[Clash]()
        self._found: dict[Rule, list[Numbers]] = {rule: [] for rule in rules}
        self._fired: set[tuple[str, Numbers]] = set()

    def take(self, row: Row) -> None:
        """Take up a fact unless a clash is decided against it, and look which rules can fire then."""
        relation, numbers, _, _ = row
        if numbers in self.log.held[relation] or (relation == arrow.name and not self._prevails(row)):
            return
        program = self.book.program
        for _, number, bindings in program.matches(self.log, self.log.write([row])):
            self._found[program.rules[number]].append(bindings)

    def _prevails(self, row: Row) -> bool:
        """Decide a new arrow against a held opposite one, or against a path back that would make a cycle of it."""
        tail, end = row[1]
        held = self.log.held[arrow.name]
        against = held.get((end, tail))
        if against is not None and self.book.policy == "last":
            reason = cast("Reason", self.log.view(row))
            self.clashes.append(Clash(reason, self._reason(against)))
            self.log.drop((arrow.name, (end, tail), None, Drop(self.log.fact(against), reason)))
        if self.book.policy == "last":
            return True
        back = [(end, tail)] if against is not None else shortest_path(end, tail, held)
        if back:
            first, *rest = (held[step] for step in back)
            self.clashes.append(Clash(self._reason(first), cast("Reason", self.log.view(row)), tuple(rest)))
        return not back

    def _reason(self, place: int) -> Reason:
        return cast("Reason", self.log.entry(place))

    def exhaust(self) -> None:
        """Fire the first rule that has bindings, all of them in the order found, and begin again."""
        while rule := next((rule for rule, found in self._found.items() if found), None):
            batch, self._found[rule] = self._found[rule], []
            for bindings in batch:
                self._fire(rule, bindings)

    def _fire(self, rule: Rule, bindings: Numbers) -> None:
        if (rule.name, bindings) in self._fired:
            return
        premises, guards = instances(rule.when, rule, bindings), instances(rule.unless, rule, bindings)
        for relation, numbers in instances(rule.then, rule, bindings):
            if all(map(self._holds, premises)) and not any(map(self._holds, guards)):
                self._fired.add((rule.name, bindings))
                self.take((relation, numbers, rule, bindings))

    def _holds(self, told: Told) -> bool:
        relation, numbers = told
        return numbers in self.log.held[relation]
