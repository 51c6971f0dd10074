"""Rules carried out one by one, arrows replacing arrows: how published procedures run, order and all.

Guards are asked at the moment of firing, each binding fires once, and of two opposite arrows the first or the last
stays. The result depends on the order of the findings; parts learned this way say so.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import attrs

from apsl_rules.rules.cycles import way
from apsl_rules.rules.engine import Engine
from apsl_rules.rules.facts import Fact, Firing, Nodes, Reason, arrow
from apsl_rules.rules.journal import Writer
from apsl_rules.rules.rule import Rule
from apsl_rules.rules.store import MarkStore, writer_view


@attrs.frozen
class Clash:
    """Two reasons that cannot both stand: the one kept, and the one dropped because of it.

    ``way_back`` holds the further arrows when it is a directed cycle that was about to close.
    """

    kept: Reason
    dropped: Reason
    way_back: tuple[Fact, ...] = ()


@attrs.frozen
class Overwritten:
    """What a sequence of firings brought: the new state, the firings in order and the clashes met."""

    store: MarkStore
    firings: tuple[Firing, ...]
    clashes: tuple[Clash, ...]


def overwrite(
    engine: Engine, store: MarkStore, reasons: Iterable[Reason], *, keep: Literal["first", "last"]
) -> Overwritten:
    """Add reasons in their order, then fire rule by rule in the rulebook's order until none can."""
    with store.writing() as writer:
        run = _Sequence(engine, writer, keep)
        for reason in reasons:
            run.take(reason)
        run.exhaust()
        return Overwritten(writer_view(writer), tuple(run.firings), tuple(run.clashes))


class _Sequence:
    """The state of one such sequence."""

    def __init__(self, engine: Engine, writer: Writer, keep: Literal["first", "last"]) -> None:
        self.engine = engine
        self.writer = writer
        self.keep = keep
        self.matching = engine.matching(writer.journal)
        self.fired: set[tuple[str, Nodes]] = set()
        self.firings: list[Firing] = []
        self.clashes: list[Clash] = []

    def take(self, reason: Reason) -> bool:
        """Take up a fact unless a clash is decided against it; return whether it is new."""
        fact = reason.fact
        if self.writer.holds(fact):
            return False
        if fact.relation == arrow.name and not self._prevails(reason):
            return False
        self.writer.add(reason)
        self.matching.match([fact], self.engine.costs)
        return True

    def _prevails(self, reason: Reason) -> bool:
        """Decide a new arrow against a held opposite one, or against a way back that would make a cycle of it."""
        tail, head = reason.fact.nodes
        against = Fact(arrow.name, (head, tail))
        if self.writer.holds(against):
            held = self.writer.reason(against)
            if self.keep == "first":
                self.clashes.append(Clash(held, reason))
                return False
            self.clashes.append(Clash(reason, held))
            self.writer.drop(against, because=reason)
        elif self.keep == "first":
            back = way(head, tail, self.writer.journal.readings[arrow.name])
            if back:
                first, *rest = (Fact(arrow.name, step) for step in back)
                self.clashes.append(Clash(self.writer.reason(first), reason, tuple(rest)))
                return False
        return True

    def exhaust(self) -> None:
        """Fire the first rule that has bindings, all of them in the order found, and begin again."""
        rules = self.engine.rulebook.rules
        while rule := next((one for one in rules if self.matching.found[one.name]), None):
            found = self.matching.found[rule.name]
            batch = list(found)
            found.clear()
            for bindings in batch:
                self._fire(rule, bindings)

    def _fire(self, rule: Rule, bindings: Nodes) -> None:
        if (rule.name, bindings) in self.fired:
            return
        for firing in self.engine.firings_of(rule, bindings):
            if all(self.writer.holds(premise) for premise in firing.premises) and not self._guarded(rule, bindings):
                self.fired.add((rule.name, bindings))
                if self.take(firing):
                    self.engine.costs[rule.name].firings += 1
                    self.firings.append(firing)

    def _guarded(self, rule: Rule, bindings: Nodes) -> bool:
        return any(self.writer.holds(fact) for fact in self.engine.guards_of(rule, bindings))
