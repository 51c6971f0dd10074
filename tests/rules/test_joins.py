"""Compiled rules: the loops that new facts run, and what stands for what."""

from __future__ import annotations

import ast
import gc
import weakref

import attrs
import pytest

from apsl_rules.evidence.evidence import Evidence
from apsl_rules.rules.engine import compile_rulebook, extend
from apsl_rules.rules.rulebooks import KNOWING, PAG, SOUND, knowing
from apsl_rules.rules.vocabulary import RELATIONS, Finding, Relation, Rule, Rulebook, Variable, adjacent, arrow, settled

X, Y, Z = (Variable(name) for name in "XYZ")

FROM_A_CHAIN = """
def chain_is_new(fresh, log, found):
    arrow = log.held['arrow']
    adjacent = log.held['adjacent']
    if arrow and adjacent:  # Meek-R1
        for (X, Y, Z) in fresh:
            if (Y, Z) not in arrow:
                if (X, Y) in arrow:
                    if (Y, Z) in adjacent:
                        found((('arrow', (Y, Z)), 0, (X, Y, Z)))
"""


@pytest.mark.parametrize("rulebook", [SOUND, KNOWING, PAG, knowing(PAG)], ids=lambda one: one.name)
def test_there_is_a_loop_for_each_premise(rulebook: Rulebook) -> None:
    """Whichever premise a new fact fills, each rule is tried."""
    program = compile_rulebook(rulebook)
    functions = ast.parse(program.source).body
    first = [line.partition(" = ")[0].strip() for line in program.source.splitlines() if " in fresh:" in line]

    assert len(functions) == len({atom.relation for rule in rulebook.rules for atom in rule.when})
    assert len(first) == sum(len(rule.when) for rule in rulebook.rules)


def test_loops_check_before_they_go_through_facts() -> None:
    """From a new chain all of R1 is bound, so nothing is left to go through."""
    program = compile_rulebook(Rulebook("first", tuple(rule for rule in SOUND.rules if rule.name == "Meek-R1")))

    assert FROM_A_CHAIN.strip() in program.source


def test_equal_rulebooks_share_a_program() -> None:
    """A rulebook made anew is not compiled anew."""
    again = Rulebook(SOUND.name, tuple(attrs.evolve(rule) for rule in SOUND.rules))

    assert compile_rulebook(again) is compile_rulebook(SOUND)


def test_programs_are_not_kept_for_good() -> None:
    """Rulebooks made in a loop leave memory again."""
    first = weakref.ref(compile_rulebook(SOUND.with_rules(name="made 0")).loops["arrow"])
    for number in range(1, 70):
        compile_rulebook(SOUND.with_rules(name=f"made {number}"))
    gc.collect()

    assert first() is None


@pytest.mark.parametrize(
    ("relation", "variable"),
    [
        ("is near", "X"),
        ("class", "lambda"),
        ("log", "found"),
        ("X", "X"),
        ("arrow_0", "arrow"),
        ("ﬁ", "fi"),
        ("near\nfar", "x'y"),
        ("__debug__", "None"),
        ("", ""),
        ("word_1", "word 1"),
    ],
)
def test_relations_and_variables_have_any_names(relation: str, variable: str) -> None:
    """Words of Python, words of the engine and what is no word at all: the rules conclude the same."""
    told = [Finding(arrow.fact(*pair), Evidence("test")) for pair in ("ab", "bc", "cd", "ce", "ac")]
    found = []
    for name, first in ((relation, variable), ("near", "X")):
        near, odd, other = Relation(name, 2, "near", symmetric=True), Variable(first), Variable(first + "'")
        rules = (
            Rule("first\nrule", "", when=[arrow(odd, other), arrow(other, Z)], then=[near(odd, Z)]),
            Rule("second rule", "", when=[near(odd, other), near(other, Z)], then=[adjacent(odd, Z)]),
        )
        program = compile_rulebook(Rulebook("odd", rules, (*RELATIONS, near)))
        store = extend(program, program.start(), told).store
        found.append([{fact.nodes for fact in store.facts(one)} for one in (near, adjacent)])

    assert found[0] == found[1]
    assert all(found[0])


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
