"""The fixpoint engine: joins each new fact once with all that is known, until no rule adds anything.

It knows rules and facts, nothing of statistics or graphs. ``extend`` takes positive rules to their one least
fixpoint in synchronous rounds, so that each fact gets a proof of the smallest depth, and ties are broken by name:
the result depends on the set of facts alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import islice
from time import perf_counter

import attrs

from apsl_rules.errors import RuleError
from apsl_rules.rules.facts import Fact, Firing, Nodes, Reason, Relation, fact_key
from apsl_rules.rules.joins import Fill, Plan, plans_of
from apsl_rules.rules.journal import Journal, Writer
from apsl_rules.rules.rule import Rule, Rulebook
from apsl_rules.rules.store import MarkStore, writer_view


@attrs.frozen
class Outcome:
    """What an extension brought: the new state, the firings in order, and how many of them each round had."""

    store: MarkStore
    firings: tuple[Firing, ...]
    rounds: tuple[int, ...]

    def depths(self) -> dict[Fact, int]:
        """Return the depth of the proof of each derived fact: the round that concluded it."""
        deep: dict[Fact, int] = {}
        firings = iter(self.firings)
        for depth, size in enumerate(self.rounds, start=1):
            deep.update((firing.fact, depth) for firing in islice(firings, size))
        return deep


@attrs.define
class RuleCost:
    """How often a rule fired and how many seconds its plans took."""

    firings: int = 0
    seconds: float = 0.0


class _Shape:
    """The atoms of a rule with their places in a binding, worked out once."""

    def __init__(self, rule: Rule) -> None:
        place = {variable: at for at, variable in enumerate(rule.variables)}
        self.when, self.then, self.unless = (
            [(atom.relation, [place[variable] for variable in atom.variables]) for atom in atoms]
            for atoms in (rule.when, rule.then, rule.unless)
        )


def _instances(atoms: list[tuple[Relation, list[int]]], bindings: Nodes) -> list[Fact]:
    return [relation.fact(*[bindings[place] for place in places]) for relation, places in atoms]


def firing_key(firing: Firing) -> tuple[object, ...]:
    """Return the order in which one of several firings for a fact is preferred, whatever the order of the rules."""
    return (firing.rule, tuple(fact_key(premise) for premise in firing.premises))


class Engine:
    """Fires the rules of a rulebook on stores."""

    def __init__(self, rulebook: Rulebook) -> None:
        self.rulebook = rulebook
        self.costs = {rule.name: RuleCost() for rule in rulebook.rules}
        self._shapes = {rule.name: _Shape(rule) for rule in rulebook.rules}
        self._plans = [plan for rule in rulebook.rules for plan in plans_of(rule)]
        self._matching: Matching | None = None

    def start(self) -> MarkStore:
        """Return an empty store for this rulebook."""
        return MarkStore(self.rulebook.relations)

    def firings_of(self, rule: Rule, bindings: Nodes) -> list[Firing]:
        """Spell out a complete binding of a rule as firings, one for each conclusion."""
        shape = self._shapes[rule.name]
        premises = tuple(_instances(shape.when, bindings))
        return [Firing(rule.name, bindings, premises, fact) for fact in _instances(shape.then, bindings)]

    def guards_of(self, rule: Rule, bindings: Nodes) -> list[Fact]:
        """Spell out the facts that must not be held for a complete binding to fire."""
        return _instances(self._shapes[rule.name].unless, bindings)

    def matching(self, journal: Journal) -> Matching:
        """Return the plans bound to a journal, bound anew only when it is another journal than last time."""
        if self._matching is None or self._matching.journal is not journal:
            self._matching = Matching(self._plans, journal)
        return self._matching

    def require_positive(self) -> None:
        """Refuse a rulebook whose result would depend on the order of the findings."""
        if not self.rulebook.positive:
            message = (
                f"rulebook {self.rulebook.name!r} has guards and so no fixpoint that is free of order; "
                "use the conflict policy 'first' or 'last' with it"
            )
            raise RuleError(message)

    def extend(
        self, store: MarkStore, reasons: Iterable[Reason], *, blocked: Collection[Fact] = frozenset()
    ) -> Outcome:
        """Add reasons and take the rules to their least fixpoint; facts in ``blocked`` are neither told nor concluded.

        Fed to an empty store, the depth of each proof is the smallest there is.
        """
        self.require_positive()
        with store.writing() as writer:
            run = _Round(self, writer, blocked)
            fresh = [reason.fact for reason in reasons if reason.fact not in blocked and writer.add(reason)]
            while fresh:
                fresh = run.step(fresh)
            return Outcome(writer_view(writer), tuple(run.firings), tuple(run.rounds))


class Matching:
    """The plans of a rulebook bound to a journal, and the bindings that they have completed."""

    def __init__(self, plans: Iterable[Plan], journal: Journal) -> None:
        self.journal = journal
        self.found: dict[str, list[Nodes]] = {}
        self.fills: dict[str, list[tuple[str, Fill]]] = {}
        for plan in plans:
            found = self.found.setdefault(plan.rule.name, [])
            relation = plan.rule.when[plan.trigger].relation.name
            self.fills.setdefault(relation, []).append((plan.rule.name, plan.bind(journal, found.append)))

    def match(self, facts: Collection[Fact], costs: Mapping[str, RuleCost]) -> None:
        """Join new facts with all that is known, one rule at a time."""
        by_relation: dict[str, list[Nodes]] = {}
        for relation, nodes in facts:
            if relation in self.fills:
                by_relation.setdefault(relation, []).extend(self.journal.relations[relation].readings(nodes))
        for relation, readings in by_relation.items():
            for rule, fill in self.fills[relation]:
                begun = perf_counter()
                for reading in readings:
                    fill(reading)
                costs[rule].seconds += perf_counter() - begun


class _Round:
    """Synchronous rounds of positive rules: what round k concludes uses only what was known before it."""

    def __init__(self, engine: Engine, writer: Writer, blocked: Collection[Fact]) -> None:
        self.engine = engine
        self.writer = writer
        self.blocked = blocked
        self.matching = engine.matching(writer.journal)
        self.firings: list[Firing] = []
        self.rounds: list[int] = []

    def step(self, fresh: Collection[Fact]) -> list[Fact]:
        """Carry out one round and give the facts that it concluded."""
        self.matching.match(fresh, self.engine.costs)
        chosen: dict[Fact, Firing] = {}
        for rule in self.engine.rulebook.rules:
            found = self.matching.found[rule.name]
            for bindings in found:
                for firing in self.engine.firings_of(rule, bindings):
                    fact = firing.fact
                    if fact in self.blocked or self.writer.holds(fact):
                        continue
                    rival = chosen.get(fact)
                    if rival is None or (rival != firing and firing_key(firing) < firing_key(rival)):
                        chosen[fact] = firing
            found.clear()
        concluded = sorted(chosen, key=fact_key)
        for fact in concluded:
            firing = chosen[fact]
            self.writer.add(firing)
            self.engine.costs[firing.rule].firings += 1
            self.firings.append(firing)
        self.rounds.append(len(concluded))
        return concluded
