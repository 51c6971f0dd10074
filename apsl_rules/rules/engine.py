"""Fire rules to a fixpoint: join their premises, round by round, so that each proof is a shortest one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import islice
from typing import TypeAlias

import attrs

from apsl_rules.errors import RuleError
from apsl_rules.rules.store import Journal, MarkStore, Pick, Positions, newest, picker
from apsl_rules.rules.vocabulary import Atom, Fact, Firing, Nodes, Reason, Relation, Rule, Rulebook, Variable, fact_key


@attrs.frozen
class Check:
    """Keeps the rows for which a premise holds."""

    relation: str
    key: Pick

    def __call__(self, rows: Sequence[Nodes], journal: Journal) -> list[Nodes]:
        """Return the rows that pass."""
        key, held = self.key, journal.readings[self.relation]
        return [row for row in rows if key(row) in held]


@attrs.frozen
class Loop:
    """Lengthens rows by the nodes that stand with them in a premise; ``bound`` are its positions known by then."""

    relation: str
    bound: Positions
    key: Pick
    has_others: bool

    def __call__(self, rows: Sequence[Nodes], journal: Journal) -> list[Nodes]:
        """Return the longer rows; different variables stand for different nodes."""
        key, rest_of = self.key, journal.look_up(self.relation, self.bound)
        if not self.has_others:  # a fact relates different nodes
            return [row + rest for row in rows for rest in rest_of.get(key(row), ())]
        return [
            row + rest for row in rows for rest in rest_of.get(key(row), ()) if not any(map(row.__contains__, rest))
        ]


@attrs.frozen
class Unheld:
    """Leaves out the rows whose conclusions are all held."""

    heads: tuple[tuple[str, Pick], ...]

    def __call__(self, rows: Sequence[Nodes], journal: Journal) -> list[Nodes]:
        """Return the rows that can conclude something."""
        heads = [(key, journal.readings[relation]) for relation, key in self.heads]
        if len(heads) == 1:
            ((key, held),) = heads
            return [row for row in rows if key(row) not in held]
        return [row for row in rows if not all(key(row) in held for key, held in heads)]


Step: TypeAlias = Check | Loop | Unheld


@attrs.frozen
class Plan:
    """The steps from rows of new readings of one premise, the trigger, to bindings of the rule.

    ``needs`` names the relations of the other premises: without a fact of each there is no binding.
    """

    rule: Rule
    trigger: int
    steps: tuple[Step, ...]
    in_order: Pick
    needs: tuple[str, ...]

    def bindings(self, rows: Sequence[Nodes], journal: Journal) -> Iterator[Nodes]:
        """Join new readings with all that a journal holds."""
        for step in self.steps:
            if not rows:
                break
            rows = step(rows, journal)
        return map(self.in_order, rows)


@cache
def plans_of(rule: Rule) -> tuple[Plan, ...]:
    """Compile a rule once: a plan for each of its premises."""
    return tuple(_plan(rule, trigger) for trigger in range(len(rule.when)))


def _plan(rule: Rule, trigger: int) -> Plan:
    known = list(rule.when[trigger].variables)
    unasked = {variable for head in rule.then for variable in head.variables}
    left = [atom for at, atom in enumerate(rule.when) if at != trigger]
    needs = tuple({atom.relation.name: None for atom in left})
    steps: list[Step] = []

    def pick(variables: Iterable[Variable]) -> Pick:
        return picker(tuple(map(known.index, variables)))

    def cost(atom: Atom) -> tuple[int, int]:
        """Rank the next premise to read: checks first, then what binds the fewest new variables."""
        return sum(variable not in known for variable in atom.variables), -len(atom.variables)

    while True:
        if unasked and unasked.issubset(known):
            steps.append(Unheld(tuple((head.relation.name, pick(head.variables)) for head in rule.then)))
            unasked = set()
        if not left:
            return Plan(rule, trigger, tuple(steps), pick(rule.variables), needs)
        atom = min(left, key=cost)
        left.remove(atom)
        bound = tuple(at for at, variable in enumerate(atom.variables) if variable in known)
        key = pick(atom.variables[at] for at in bound)
        if len(bound) == len(atom.variables):
            steps.append(Check(atom.relation.name, key))
        else:
            steps.append(Loop(atom.relation.name, bound, key, has_others=not set(known) <= set(atom.variables)))
            known += [variable for variable in atom.variables if variable not in known]


_Picks: TypeAlias = tuple[tuple[Relation, Pick], ...]
Stop: TypeAlias = Callable[[Journal, Sequence[Fact]], bool]


@attrs.frozen
class Extension:
    """What an extension brought: the new state, the firings in order, and how many of them each round had.

    One that was ``stopped`` ends before the fixpoint, with the round after which it was.
    """

    store: MarkStore
    firings: tuple[Firing, ...]
    rounds: tuple[int, ...]
    stopped: bool = False

    def depths(self) -> dict[Fact, int]:
        """Return the depth of the proof of each derived fact: the round that concluded it."""
        deep: dict[Fact, int] = {}
        firings = iter(self.firings)
        for depth, size in enumerate(self.rounds, start=1):
            deep.update((firing.fact, depth) for firing in islice(firings, size))
        return deep


@attrs.frozen
class _Shape:
    """The atoms of a rule, each as its relation and what picks its nodes from a binding."""

    when: _Picks
    then: _Picks
    unless: _Picks


def _shape(rule: Rule) -> _Shape:
    place = rule.variables.index

    def picks(atoms: Iterable[Atom]) -> _Picks:
        return tuple((atom.relation, picker(tuple(map(place, atom.variables)))) for atom in atoms)

    return _Shape(picks(rule.when), picks(rule.then), picks(rule.unless))


def _instances(picks: _Picks, bindings: Nodes) -> list[Fact]:
    return [relation.fact(*pick(bindings)) for relation, pick in picks]


@attrs.frozen
class Program:
    """A rulebook ready to run: the plans of its rules by the relation of the new fact that they begin with."""

    rulebook: Rulebook
    plans: Mapping[str, tuple[Plan, ...]]
    shapes: Mapping[str, _Shape]

    def start(self) -> MarkStore:
        """Return an empty store for this rulebook."""
        return MarkStore(self.rulebook.relations)

    def firings_of(self, rule: str, bindings: Nodes) -> list[Firing]:
        """Spell out a complete binding of a rule as firings, one for each conclusion."""
        shape = self.shapes[rule]
        premises = tuple(_instances(shape.when, bindings))
        return [Firing(rule, bindings, premises, fact) for fact in _instances(shape.then, bindings)]

    def guards_of(self, rule: str, bindings: Nodes) -> list[Fact]:
        """Spell out the facts that must not be held for a complete binding to fire."""
        return _instances(self.shapes[rule].unless, bindings)

    def matches(self, journal: Journal, facts: Iterable[Fact]) -> dict[str, list[Nodes]]:
        """Join new facts with all that a journal holds; return the bindings found for each rule."""
        fresh: dict[str, list[Nodes]] = {}
        for relation, nodes in facts:
            if relation in self.plans:
                fresh.setdefault(relation, []).extend(journal.relations[relation].readings(nodes))
        found: dict[str, list[Nodes]] = {rule.name: [] for rule in self.rulebook.rules}
        for relation, readings in fresh.items():
            for plan in self.plans[relation]:
                if all(map(journal.readings.__getitem__, plan.needs)):
                    found[plan.rule.name] += plan.bindings(readings, journal)
        return found


@lru_cache(maxsize=64)
def compile_rulebook(rulebook: Rulebook) -> Program:
    """Return the program of a rulebook; equal rulebooks share one."""
    plans: dict[str, list[Plan]] = {}
    for plan in (plan for rule in rulebook.rules for plan in plans_of(rule)):
        plans.setdefault(plan.rule.when[plan.trigger].relation.name, []).append(plan)
    shapes = {rule.name: _shape(rule) for rule in rulebook.rules}
    return Program(rulebook, {relation: tuple(ours) for relation, ours in plans.items()}, shapes)


def require_positive(rulebook: Rulebook) -> None:
    """Refuse a rulebook whose result would depend on the order of the findings."""
    if not rulebook.positive:
        message = (
            f"rulebook {rulebook.name!r} has guards and so no fixpoint that is free of order; "
            "use the conflict policy 'first' or 'last' with it"
        )
        raise RuleError(message)


def extend(
    program: Program,
    store: MarkStore,
    reasons: Iterable[Reason],
    blocked: Collection[Fact] = frozenset(),
    stop: Stop | None = None,
) -> Extension:
    """Add reasons and take the rules to their least fixpoint; facts in ``blocked`` are neither told nor concluded.

    Fed to an empty store, the depth of each proof is the smallest there is. ``stop`` is asked with the new facts of
    each round whether to go no further.
    """
    require_positive(program.rulebook)
    journal = store.continued()
    fresh = [reason.fact for reason in reasons if reason.fact not in blocked and journal.write(reason)]
    firings: list[Firing] = []
    rounds: list[int] = []
    while fresh:
        if stop is not None and stop(journal, fresh):
            return Extension(newest(journal), tuple(firings), tuple(rounds), stopped=True)
        concluded = _conclusions(program, journal, fresh, blocked)
        for firing in concluded:
            journal.write(firing)
        firings += concluded
        rounds.append(len(concluded))
        fresh = [firing.fact for firing in concluded]
    return Extension(newest(journal), tuple(firings), tuple(rounds))


def _conclusions(program: Program, journal: Journal, fresh: Iterable[Fact], blocked: Collection[Fact]) -> list[Firing]:
    """Return one firing for each fact that new facts lead to, by name; which one does not depend on any order."""
    chosen: dict[Fact, Firing] = {}
    for rule, found in program.matches(journal, fresh).items():
        for bindings in dict.fromkeys(found):
            for firing in program.firings_of(rule, bindings):
                fact = firing.fact
                if fact in blocked or journal.holds(fact):
                    continue
                rival = chosen.get(fact)
                if rival is None or _firing_key(firing) < _firing_key(rival):
                    chosen[fact] = firing
    return [chosen[fact] for fact in sorted(chosen, key=fact_key)]


def _firing_key(firing: Firing) -> tuple[object, ...]:
    return (firing.rule, tuple(fact_key(premise) for premise in firing.premises))


def count_firings(rulebook: Rulebook, store: MarkStore) -> dict[str, int]:
    """Return how often each rule of a rulebook fired on the way to a store."""
    fired = Counter(entry.rule for entry in store.entries if isinstance(entry, Firing))
    return {rule.name: fired[rule.name] for rule in rulebook.rules}
