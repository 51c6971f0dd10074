"""Join plans: each rule compiled to nested loops, one plan for each premise that a new fact may fill.

The engine joins every new fact once with all that is known. For the rule ``arrow(X, Y), adjacent(Y, Z),
chain(X, Y, Z) => arrow(Y, Z)`` and a new arrow the plan reads::

    def fill(new):
        (v0, v1) = new
        for (_, _, v2) in table_0.get((v0, v1), ()):    # the chains that begin with X, Y
            if (v1, v2) in conclusions[0]: continue     # the arrow is held already
            if (v1, v2) not in table_1: continue        # Y and Z must be adjacent
            emit((v0, v1, v2))

The text is made of numbered variables only; names from rules and nodes never enter it. A fact relates different
nodes, so only variables of different premises are compared with each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeAlias

import attrs

from apsl_rules.rules.facts import Atom, Nodes, Variable
from apsl_rules.rules.journal import Journal, Positions
from apsl_rules.rules.rule import Rule

Emit: TypeAlias = Callable[[Nodes], None]
Fill: TypeAlias = Callable[[Nodes], None]


@attrs.frozen
class Step:
    """One loop or check of a plan: the relation to read and the positions that are bound by then."""

    relation: str
    bound: Positions
    is_check: bool


@attrs.frozen
class Plan:
    """A compiled way to complete a rule from a new fact that fills one of its premises."""

    rule: Rule
    trigger: int
    steps: tuple[Step, ...]
    source: str
    make: Callable[..., Fill]

    def bind(self, journal: Journal, emit: Emit) -> Fill:
        """Attach the plan to the look-up tables of a journal and to a receiver of complete bindings."""
        tables = [
            journal.readings[step.relation] if step.is_check else journal.look_up(step.relation, step.bound)
            for step in self.steps
        ]
        conclusions = [journal.readings[atom.relation.name] for atom in self.rule.then]
        return self.make(emit, tables, conclusions)


def _cost(atom: Atom, bound: set[Variable]) -> tuple[int, int]:
    """Rank the next premise to read: checks first, then what binds the fewest new variables."""
    free = sum(variable not in bound for variable in atom.variables)
    return free, -len(atom.variables)


def _order(premises: Sequence[Atom], bound: set[Variable]) -> list[Atom]:
    """Order the remaining premises so that each is read as soon as it can cut the search."""
    left, ordered, known = list(premises), [], set(bound)
    while left:
        atom = min(left, key=lambda one: _cost(one, known))
        left.remove(atom)
        ordered.append(atom)
        known.update(atom.variables)
    return ordered


@cache
def plans_of(rule: Rule) -> tuple[Plan, ...]:
    """Compile a rule once: a plan for each of its premises."""
    return tuple(_plan(rule, trigger) for trigger in range(len(rule.when)))


def _plan(rule: Rule, trigger: int) -> Plan:
    text = _Text(rule, rule.when[trigger])
    text.skip_what_is_held()
    for atom in _order([one for at, one in enumerate(rule.when) if at != trigger], text.bound):
        text.read(atom)
        text.skip_what_is_held()
    source = text.finished()
    scope: dict[str, Any] = {}
    exec(compile(source, f"<plan of {rule.name!r} from premise {trigger + 1}>", "exec"), scope)  # noqa: S102 - our own text
    return Plan(rule, trigger, tuple(text.steps), source, scope["make"])


class _Text:
    """The text of one plan while it is written, premise by premise."""

    def __init__(self, rule: Rule, first: Atom) -> None:
        self.rule = rule
        self.name = {variable: f"v{number}" for number, variable in enumerate(rule.variables)}
        self.bound = set(first.variables)
        self.steps: list[Step] = []
        self.lines = [f"        {self._tuple(first.variables)} = new"]
        self.margin = "        "
        self.leave = "return"
        self.asked_held = False

    def _tuple(self, variables: Sequence[Variable]) -> str:
        return f"({''.join(self.name[variable] + ', ' for variable in variables)})"

    def _line(self, line: str) -> None:
        self.lines.append(self.margin + line)

    def skip_what_is_held(self) -> None:
        """Write, as soon as the conclusions are bound, that there is nothing to do when all of them are held."""
        if not self.asked_held and all(self.bound.issuperset(head.variables) for head in self.rule.then):
            heads = enumerate(self.rule.then)
            held = " and ".join(f"{self._tuple(head.variables)} in conclusions[{at}]" for at, head in heads)
            self._line(f"if {held}: {self.leave}")
            self.asked_held = True

    def read(self, atom: Atom) -> None:
        """Write the reading of one premise: a membership check when all is bound, a loop otherwise."""
        table = f"table_{len(self.steps)}"
        positions = tuple(at for at, variable in enumerate(atom.variables) if variable in self.bound)
        is_check = len(positions) == len(atom.variables)
        self.steps.append(Step(atom.relation.name, positions, is_check))
        if is_check:
            self._line(f"if {self._tuple(atom.variables)} not in {table}: {self.leave}")
            return
        keys = [atom.variables[at] for at in positions]
        key = self.name[keys[0]] if len(keys) == 1 else self._tuple(keys)
        targets = ["_" if variable in self.bound else self.name[variable] for variable in atom.variables]
        self._line(f"for {', '.join(targets)}, in {table}.get({key}, ()):")
        self.margin, self.leave = self.margin + "    ", "continue"
        others = sorted(self.name[variable] for variable in self.bound if variable not in atom.variables)
        for variable in atom.variables:
            if variable not in self.bound:
                for other in others:
                    self._line(f"if {self.name[variable]} == {other}: continue")
        self.bound.update(atom.variables)

    def finished(self) -> str:
        """Return the whole text: a maker that takes the tables and gives the function that fills in a new fact."""
        self._line(f"emit({self._tuple(self.rule.variables)})")
        tables = [f"    table_{number} = tables[{number}]" for number in range(len(self.steps))]
        head = ["def make(emit, tables, conclusions):", *tables, "    def fill(new):"]
        return "\n".join([*head, *self.lines, "    return fill", ""])
