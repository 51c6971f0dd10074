"""Join plans: how a new fact that fills one premise of a rule is completed to bindings of the whole rule.

There is a plan for each premise. For ``arrow(X, Y), adjacent(Y, Z), chain(X, Y, Z) => arrow(Y, Z)`` and a new arrow it
takes rows (X, Y), lengthens them to (X, Y, Z) by the chains that begin with X, Y, leaves out the rows whose conclusion
is held already, and keeps those where Y and Z are adjacent. A plan ends at the first step that leaves no rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TypeAlias

import attrs

from apsl_rules.rules.facts import Atom, Nodes, Variable
from apsl_rules.rules.journal import Journal, Pick, Positions, picker
from apsl_rules.rules.rule import Rule


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
