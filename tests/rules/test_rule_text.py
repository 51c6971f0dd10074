"""Rules as text: what prints is read back, and errors point at the place."""

from __future__ import annotations

import re

import attrs
import pytest
from click.testing import CliRunner

from apsl_rules import learn, network
from apsl_rules.cli.main import apsl
from apsl_rules.errors import RuleError, SpecError
from apsl_rules.plugins import installed, parse_spec
from apsl_rules.rules import R1, SOUND, Rule, Rulebook, by_name
from apsl_rules.rules.vocabulary import WORDS

BOOKS = installed().rulebooks


@pytest.mark.parametrize("book", BOOKS.values(), ids=str)
def test_shipped_rulebooks_are_read_back(book: Rulebook) -> None:
    """Every rule prints as a line that gives the same rule, those for background knowledge too."""
    relations = by_name((*book.relations, *WORDS)).values()
    for rule in (*book.rules, *(book.further or ())):
        assert Rule.parse(str(rule), name=rule.name, reason=rule.reason, relations=relations) == rule


@pytest.mark.parametrize(
    "text",
    [
        "X -> Y, Y -- Z, chain(X, Y, Z)  =>  Y -> Z",
        "X->Y".replace("->", " -> ") + ",Y -- Z , chain( X,Y , Z )=>Y  ->  Z",
        "arrow(X, Y), adjacent(Y, Z), chain(X, Y, Z) => arrow(Y, Z)",
    ],
)
def test_names_and_signs_mean_the_same(text: str) -> None:
    """A relation may stand by its name or as it prints, with blanks as one likes."""
    assert Rule.parse(text, name=R1.name, reason=R1.reason) == R1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("X -> Y, Y ~> Z => Y -> Z", "has 'Y ~> Z', which is no relation; write 'X -> Y', .* (at character 9)"),
        (
            "X -> Y, chian(X, Y, Z) => Y -> Z",
            "has the unknown relation 'chian'; did you mean 'chain'.* (at character 9)",
        ),
        ("X -> Y", "has no '=>'; write the premises, '=>' and the conclusions (at character 7)"),
        ("X -> Y, => Y -> X", "lacks a relation; .* (at character 8)"),
        ("X -> Y => ", "lacks a relation; .* (at character 10)"),
        ("chain(X, Y) => X -> Y", "is wrong: the relation 'chain' relates 3 nodes, not 2 (at character 1)"),
        ("X -> X => X -- X", "is wrong: the relation 'arrow' relates different nodes, .* (at character 1)"),
        ("chain(X, 1, Z) => X -> Z", "has '1' for a variable in .*; variables are words such as X (at character 1)"),
        ("X -> Y unless => Y -> X", "lacks a relation; .* (at character 14)"),
    ],
)
def test_errors_point_at_the_place(text: str, said: str) -> None:
    """The sentence quotes the rule, says what is wrong there and counts the characters before it."""
    pattern = re.escape(said).replace(re.escape(".*"), ".*")
    with pytest.raises(RuleError, match=f"^the rule {re.escape(repr(text))} {pattern}$"):
        Rule.parse(text)


def test_what_no_premise_binds_is_refused_by_name() -> None:
    """The checks of rules hold for those from text."""
    with pytest.raises(RuleError, match="variable 'Z' in a conclusion of rule 'mine' is bound by no premise"):
        Rule.parse("X -> Y => Y -> Z", name="mine")


SPEC = """
name = "apsl-mine"
summary = "V-structures, and a first rule of my own"

[rules]
rulebook = "v"

[[rules.extra]]
name = "Mine"
rule = "X -> Y, Y -- Z, chain(X, Y, Z)  =>  Y -> Z"
reason = "no new V-structure"
"""


class OnlyVStructures:
    """A plugin with the first two rules alone."""

    from apsl_rules import hookimpl

    @hookimpl
    def apsl_rulebooks(self) -> list[Rulebook]:
        """Offer them."""
        return [attrs.evolve(SOUND, name="v", rules=SOUND.rules[:2])]


def test_a_learner_may_carry_a_rule_of_its_own() -> None:
    """A line of a spec fires, is counted by its name, and proves what it concludes."""
    part = learn(network("cancer"), "Xray", learner=parse_spec(SPEC, "mine"), plugins=[OnlyVStructures()])

    assert part.ledger.rule_use()["Mine"] == 2
    assert "Mine" in str(part.why("Cancer", "Xray"))
    assert ("Cancer", "Xray") in part.arrows


def test_a_wrong_rule_of_a_spec_is_named() -> None:
    """The learner's rule is refused with its place; a name that the rulebook has too is refused as well."""
    spec = parse_spec(SPEC.replace("Y -- Z", "Y == Z"), "mine")
    with pytest.raises(RuleError, match=r"has 'Y == Z', which is no relation; .*at character 9"):
        learn(network("cancer"), "Xray", learner=spec, plugins=[OnlyVStructures()])
    with pytest.raises(SpecError, match="mine, rules, extra, item 1 lacks the setting 'rule'"):
        parse_spec(SPEC.replace("rule = ", "rul = ").replace("rul = ", "# "), "mine")
    with pytest.raises(RuleError, match="has two rules named 'V-from-middle'"):
        learn(network("cancer"), "Xray", learner=parse_spec(SPEC.replace("Mine", "V-from-middle"), "mine"),
              plugins=[OnlyVStructures()])  # fmt: skip


def test_the_command_prints_rules_that_can_be_read() -> None:
    """``apsl rules`` lists each rule of each rulebook; an unknown one is refused with the known ones."""
    run = CliRunner().invoke(apsl, ["rules", "sound", "--json"])
    assert run.exit_code == 0
    assert str(R1) in run.output
    refused = CliRunner().invoke(apsl, ["rules", "sund"])
    assert refused.exit_code != 0
