"""Rules as lines of text: what a part file has of its rulebook.

A line has the name, the premises, the guards if there are any, the conclusions and the reason::

    Meek-R1: arrow(X, Y), adjacent(Y, Z), chain(X, Y, Z) => arrow(Y, Z)  # no new V-structure
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import attrs

from apsl_rules.errors import InvalidArgumentError, PartFileError
from apsl_rules.rules import KNOWING, Atom, Relation, Rule, Rulebook, Variable

#: The rules that got another name, by the name in older files.
RENAMED = {"V-non-collider": "V-from-spouse", "V-collider": "V-from-middle"}
_LINE = re.compile(r"(?P<name>.+?): (?P<when>.+?)( unless (?P<unless>.+?))? => (?P<then>.+?)  # (?P<reason>.*)")
_ATOM = re.compile(r"(?P<relation>[^(), ]+)\((?P<variables>[^()]+)\)")


def rule_line(rule: Rule) -> str:
    """Write a rule as a line.

    >>> from apsl_rules.rules import SOUND
    >>> rule_line(SOUND.rules[3])
    'Meek-R2: arrow(X, Y), arrow(Y, Z), adjacent(X, Z) => arrow(X, Z)  # preserve acyclicity'
    """
    unless = f" unless {_atoms_text(rule.unless)}" if rule.unless else ""
    return f"{rule.name}: {_atoms_text(rule.when)}{unless} => {_atoms_text(rule.then)}  # {rule.reason}"


def _atoms_text(atoms: Iterable[Atom]) -> str:
    return ", ".join(f"{one.relation.name}({', '.join(term.name for term in one.variables)})" for one in atoms)


def rulebook_lines(rulebook: Rulebook) -> list[str]:
    """Write the rules of a rulebook as lines; refuse those that could not be read back."""
    relations = {one.name: one for one in rulebook.relations}
    lines = [rule_line(rule) for rule in rulebook.rules]
    for rule, line in zip(rulebook.rules, lines, strict=True):
        if _LINE.fullmatch(line) is None or read_rule(line, relations) != rule:
            message = f"the rule {rule.name!r} cannot be saved: a name or the reason in it has signs of the format"
            raise InvalidArgumentError(message)
    return lines


def read_rule(line: str, relations: Mapping[str, Relation]) -> Rule:
    """Read a rule from its line."""
    found = _LINE.fullmatch(line)
    if found is None:
        message = f"{line!r} is no rule"
        raise PartFileError(message)
    when, unless, then = (_read_atoms(found[key] or "", relations) for key in ("when", "unless", "then"))
    return Rule(found["name"], found["reason"], when, then, unless)


def renamed(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """Return the rules of a file, those of ours that had another name by the name that they have now."""
    ours = {rule.name: rule for rule in KNOWING.rules}
    new = ((rule, attrs.evolve(rule, name=RENAMED.get(rule.name, rule.name))) for rule in rules)
    return tuple(now if now.name in ours and is_same_rule(now, ours[now.name]) else rule for rule, now in new)


def is_same_rule(one: Rule, other: Rule) -> bool:
    """Return whether two rules are the same but for the words of their reasons."""
    return attrs.evolve(one, reason=other.reason) == other


def _read_atoms(text: str, relations: Mapping[str, Relation]) -> tuple[Atom, ...]:
    atoms = [(one["relation"], one["variables"].split(", ")) for one in _ATOM.finditer(text)]
    if ", ".join(f"{name}({', '.join(terms)})" for name, terms in atoms) != text:
        message = f"{text!r} is no list of relations over variables"
        raise PartFileError(message)
    unknown = next((name for name, _ in atoms if name not in relations), None)
    if unknown is not None:
        message = f"a rule has the unknown relation {unknown!r}"
        raise PartFileError(message)
    return tuple(relations[name](*map(Variable, terms)) for name, terms in atoms)
