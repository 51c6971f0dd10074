"""Compiled rules: in which order premises are read, and what stands for what."""

from __future__ import annotations

import attrs
import pytest

from apsl_rules.evidence.evidence import Evidence
from apsl_rules.rules.engine import Check, Plan, Unheld, compile_rulebook, extend, plans_of
from apsl_rules.rules.rulebooks import KNOWING, R1, R3
from apsl_rules.rules.vocabulary import RELATIONS, Finding, Relation, Rule, Rulebook, Variable, adjacent, arrow, settled

X, Y, Z = (Variable(name) for name in "XYZ")


def reads(plan: Plan) -> list[tuple[str, bool]]:
    """Return the premises that a plan reads, each with whether it is a mere check."""
    return [(step.relation, isinstance(step, Check)) for step in plan.steps if not isinstance(step, Unheld)]


@pytest.mark.parametrize("rule", KNOWING.rules, ids=lambda rule: rule.name)
def test_there_is_a_plan_for_each_premise(rule: Rule) -> None:
    """Whichever premise a new fact fills, the others are all read."""
    plans = plans_of(rule)

    assert [plan.trigger for plan in plans] == list(range(len(rule.when)))
    assert all(len(reads(plan)) == len(rule.when) - 1 for plan in plans)


def test_plans_check_before_they_loop() -> None:
    """From a new chain all of R1 is bound, so nothing is left to loop over."""
    from_arrow, from_edge, from_chain = plans_of(R1)

    assert all(is_check for _, is_check in reads(from_chain))
    assert reads(from_arrow) == [("chain", False), ("adjacent", True)]
    assert reads(from_edge) == [("chain", False), ("arrow", True)]


def test_the_longest_rule_reads_one_premise_at_a_time() -> None:
    """Each step of R3 binds at most one new variable, and every premise is read."""
    for plan in plans_of(R3):
        assert sorted(relation for relation, _ in reads(plan)) == sorted(
            atom.relation.name for at, atom in enumerate(R3.when) if at != plan.trigger
        )


def test_a_rule_is_compiled_once() -> None:
    """Equal rules share their plans."""
    assert plans_of(attrs.evolve(R1)) is plans_of(R1)


def test_different_variables_stand_for_different_nodes() -> None:
    """A way of two arrows does not lead back to its own beginning."""
    rule = Rule("way", "", when=[arrow(X, Y), arrow(Y, Z)], then=[adjacent(X, Z)])
    program = compile_rulebook(Rulebook("ways", (rule,)))
    findings = [Finding(arrow.fact(*pair), Evidence("test")) for pair in ("ab", "ba", "bc")]

    outcome = extend(program, program.start(), findings)

    assert [firing.fact for firing in outcome.firings] == [adjacent.fact("a", "c")]


def test_premises_need_not_share_variables() -> None:
    """Two premises about different nodes are joined in all ways."""
    meets = Relation("meets", 2, "{0} meets {1}", symmetric=True)
    rule = Rule("meeting", "", when=[settled(X), settled(Y)], then=[meets(X, Y)])
    program = compile_rulebook(Rulebook("meetings", (rule,), (*RELATIONS, meets)))

    outcome = extend(program, program.start(), [Finding(settled.fact(node), Evidence("test")) for node in "abc"])

    assert [firing.fact.nodes for firing in outcome.firings] == [("a", "b"), ("a", "c"), ("b", "c")]
