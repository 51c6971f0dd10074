"""Rules and rulebooks: what is refused when they are made, and how the refusal reads."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from apsl_published.plugin import PAPER
from apsl_rules.errors import RuleError
from apsl_rules.rules.rulebooks import KNOWING, R1, SOUND
from apsl_rules.rules.vocabulary import RELATIONS, Relation, Rule, Rulebook, Variable, adjacent, arrow, gap

X, Y, Z = (Variable(name) for name in "XYZ")


def test_a_conclusion_may_not_bring_a_new_variable() -> None:
    """The message names variable, rule, and what the premises bind."""
    with pytest.raises(
        RuleError, match="variable 'Z' in a conclusion of rule 'leap' is bound by no premise; the premises bind X, Y"
    ):
        Rule("leap", "", when=[arrow(X, Y)], then=[arrow(Y, Z)])


def test_a_guard_may_not_bring_a_new_variable() -> None:
    """Guards are asked of nodes that are known by then."""
    with pytest.raises(RuleError, match="variable 'Z' in a guard of rule 'wait' is bound by no premise"):
        Rule("wait", "", when=[arrow(X, Y)], unless=[adjacent(Y, Z)], then=[arrow(Y, X)])


@pytest.mark.parametrize("part", ["when", "then"])
def test_a_rule_needs_a_premise_and_a_conclusion(part: str) -> None:
    """A rule from nothing or to nothing is refused."""
    atoms: dict[str, Any] = {"when": [arrow(X, Y)], "then": [arrow(Y, X)]} | {part: []}

    with pytest.raises(RuleError, match="rule 'empty' needs at least one premise and one conclusion"):
        Rule("empty", "", **atoms)


@pytest.mark.parametrize("stranger", ["X -> Y", arrow, arrow.fact("a", "b"), X])
def test_a_rule_is_made_of_atoms_only(stranger: object) -> None:
    """Text, bare relations, facts and variables are refused with an example of what is wanted."""
    with pytest.raises(RuleError, match=r"a rule is made of relations over variables, such as arrow\(X, Y\), not of"):
        Rule("odd", "", when=[stranger], then=[arrow(X, Y)])


def test_a_rulebook_knows_its_relations() -> None:
    """An unknown relation is named, with the nearest known one."""
    arow = Relation("arow", 2, "{0} -> {1}")
    rule = Rule("slip", "", when=[arow(X, Y)], then=[arrow(Y, X)])

    with pytest.raises(
        RuleError, match=r"rule 'slip' uses the unknown relation 'arow'; did you mean 'arrow'\?; rulebook 'mine' must"
    ):
        Rulebook("mine", (rule,))


def test_a_relation_of_a_known_name_must_be_the_known_one() -> None:
    """A relation with the name of another but a different shape is refused too."""
    other = Relation("arrow", 3, "{0} {1} {2}")
    rule = Rule("slip", "", when=[other(X, Y, Z)], then=[adjacent(X, Y)])

    with pytest.raises(RuleError, match="rule 'slip' uses the unknown relation 'arrow'"):
        Rulebook("mine", (rule,))
    with pytest.raises(RuleError, match="two relations share the name 'arrow'"):
        Rulebook("mine", (rule,), (*RELATIONS, other))


def test_a_rulebook_may_bring_relations_of_its_own() -> None:
    """Listed among the relations, a new one can be used in rules."""
    knows = Relation("knows", 2, "{0} knows {1}")

    rulebook = Rulebook("mine", (Rule("told", "", when=[knows(X, Y)], then=[arrow(X, Y)]),), (*RELATIONS, knows))

    assert rulebook.positive


def test_two_rules_of_one_name_are_refused() -> None:
    """Proofs name rules, so names must be unique."""
    with pytest.raises(RuleError, match="rulebook 'sound' has two rules named 'Meek-R1'; rename one"):
        SOUND.with_rules(SOUND.rules[2])


def test_only_rules_without_guards_are_positive() -> None:
    """The sound rulebooks are free of order, the paper's is not."""
    assert SOUND.positive
    assert KNOWING.positive
    assert not PAPER.positive


def test_rules_are_values() -> None:
    """Rules made alike are equal, and none can be changed."""
    one, other = (Rule("turn", "", when=[arrow(X, Y)], then=[gap(X, Y)]) for _ in range(2))
    changed: Any = one

    assert one == other
    assert hash(one) == hash(other)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        changed.name = "other"


def test_variables_come_in_the_order_of_the_premises() -> None:
    """The places of a binding are those in which the premises first name the variables."""
    rule = Rule("any", "", when=[arrow(Z, X), arrow(X, Y)], then=[arrow(Z, Y)])

    assert [variable.name for variable in rule.variables] == ["Z", "X", "Y"]


def test_a_rule_prints_as_a_sentence() -> None:
    """Premises, guards and conclusions read as facts do, with the variables for nodes."""
    guarded = Rule("guarded", "", when=[adjacent(X, Y)], unless=[arrow(Y, X)], then=[arrow(X, Y)])

    assert str(R1) == "X -> Y, Y -- Z, Y no collider between X and Z  =>  Y -> Z"
    assert str(guarded) == "X -- Y  unless  Y -> X  =>  X -> Y"
