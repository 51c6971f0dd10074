"""Rules as values: premises, guards and conclusions over variables, checked when they are made."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from apsl_rules.errors import RuleError
from apsl_rules.names import nearest
from apsl_rules.rules.facts import RELATIONS, Atom, Relation, Variable, by_name


def _atoms(atoms: Iterable[object]) -> tuple[Atom, ...]:
    """Take relations over variables only."""
    taken = []
    for atom in atoms:
        if not isinstance(atom, Atom):
            message = f"a rule is made of relations over variables, such as arrow(X, Y), not of {atom!r}"
            raise RuleError(message)
        taken.append(atom)
    return tuple(taken)


@attrs.frozen
class Rule:
    """If every premise in ``when`` holds, and nothing in ``unless``, then every conclusion in ``then`` holds.

    Different variables stand for different nodes. A rule without guards is positive: what it concludes stays
    concluded, so a rulebook of positive rules has one least fixpoint whatever the order. Guards (``unless``) exist
    for the literal reading of published algorithms only; a rulebook with guards is order-dependent.

    Attributes
    ----------
    name
        The name.
    reason
        Why the rule holds, in a sentence.
    """

    name: str
    reason: str
    when: tuple[Atom, ...] = attrs.field(converter=_atoms)
    then: tuple[Atom, ...] = attrs.field(converter=_atoms)
    unless: tuple[Atom, ...] = attrs.field(converter=_atoms, default=())

    def __attrs_post_init__(self) -> None:
        if not self.when or not self.then:
            message = f"rule {self.name!r} needs at least one premise and one conclusion"
            raise RuleError(message)
        bound = set(self.variables)
        for part, atoms in (("conclusion", self.then), ("guard", self.unless)):
            for atom in atoms:
                for variable in atom.variables:
                    if variable not in bound:
                        message = (
                            f"variable {variable.name!r} in a {part} of rule {self.name!r} is bound by no premise; "
                            f"the premises bind {', '.join(one.name for one in self.variables)}"
                        )
                        raise RuleError(message)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Return the variables in the order in which the premises name them."""
        return tuple(dict.fromkeys(variable for atom in self.when for variable in atom.variables))


@attrs.frozen
class Rulebook:
    """A named set of rules over known relations; ``further`` are the rules that background knowledge needs besides.

    Attributes
    ----------
    name
        The name.
    rules
        The rules.
    relations
        The relations that they speak of.
    """

    name: str
    rules: tuple[Rule, ...]
    relations: tuple[Relation, ...] = RELATIONS
    further: tuple[Rule, ...] | None = None

    def __attrs_post_init__(self) -> None:
        known = by_name(self.relations)
        names = [rule.name for rule in self.rules]
        for name in names:
            if names.count(name) > 1:
                message = f"rulebook {self.name!r} has two rules named {name!r}; rename one"
                raise RuleError(message)
        for rule in self.rules:
            for atom in (*rule.when, *rule.then, *rule.unless):
                relation = atom.relation
                if known.get(relation.name) != relation:
                    message = (
                        f"rule {rule.name!r} uses the unknown relation {relation.name!r}"
                        f"{nearest(relation.name, known)}; rulebook {self.name!r} must list it among its relations"
                    )
                    raise RuleError(message)

    @property
    def positive(self) -> bool:
        """Return whether no rule has a guard, so that the result cannot depend on any order."""
        return not any(rule.unless for rule in self.rules)

    def with_rules(self, *rules: Rule, name: str | None = None) -> Rulebook:
        """Return a rulebook with further rules."""
        return attrs.evolve(self, name=name or self.name, rules=(*self.rules, *rules))
