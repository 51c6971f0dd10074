"""Learner specs: what a TOML file may say, and how a mistake in it is refused."""

from __future__ import annotations

import attrs
import pytest

from apsl_rules import learn
from apsl_rules.errors import SpecError
from apsl_rules.plugins.manager import installed
from apsl_rules.plugins.offers import FindingSpec, FrontierSpec, NeighbourSpec, RuleSpec, Spec, parse_spec
from apsl_rules.plugins.offers import TestSpec as TestsSpec
from support.graphs import MICRO

HEAD = 'name = "mine"\nsummary = "my own"\n'


def test_a_short_spec_has_sound_defaults() -> None:
    """Only name and summary are needed; all else is as in ``apsl``."""
    spec = parse_spec(HEAD, "spec mine")

    assert spec == Spec("mine", "my own", "local")
    assert attrs.evolve(spec, name="apsl", summary="") == attrs.evolve(installed().learners["apsl"].spec, summary="")


def test_every_setting_is_read() -> None:
    """Values that differ from the defaults arrive where they belong."""
    text = HEAD + (
        'kind = "other"\n'
        '[neighbours]\nfinder = "mmpc"\nsymmetry = "none"\nunreliable = "dependent"\n'
        '[findings]\nspouses = "search"\ncolliders = "stored-first"\nchains = false\nunreliable = "accept"\n'
        '[rules]\nrulebook = "paper"\nconflicts = "last"\n'
        '[frontier]\norder = "column"\n'
        "[tests]\nalpha = 0.05\nmax_conditioning = 2\n"
        '[options]\nown = [1, "two"]\n'
    )

    assert parse_spec(text, "spec mine") == Spec(
        "mine",
        "my own",
        "other",
        NeighbourSpec("mmpc", "none", "dependent"),
        FindingSpec("search", "stored-first", chains=False, unreliable="accept"),
        RuleSpec("paper", "last"),
        FrontierSpec("column"),
        TestsSpec(0.05, 2),
        {"own": [1, "two"]},
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('[rules]\nrulebok = "sound"', "spec mine, rules has the unknown setting 'rulebok'; did you mean 'rulebook'?"),
        ('nme = "x"', "spec mine has the unknown setting 'nme'; did you mean 'name'?; known are name, summary"),
        ('[neighbours]\nsymmetry = "bth"', "spec mine, neighbours, symmetry is 'bth'; did you mean 'both'?; allowed"),
        ("[neighbours]\nsymmetry = true", "spec mine, neighbours, symmetry is True; allowed are 'both', 'none'"),
        ("[neighbours]\nfinder = 3", "spec mine, neighbours, finder must be str, not 3"),
        ('[findings]\nchains = "yes"', "spec mine, findings, chains must be bool, not 'yes'"),
        ("[findings]\nchains = 1", "spec mine, findings, chains must be bool, not 1"),
        ("[tests]\nmax_conditioning = true", "spec mine, tests, max_conditioning must be int, not True"),
        ("[tests]\nmax_conditioning = 2.5", "spec mine, tests, max_conditioning must be int, not 2.5"),
        ('[tests]\nalpha = "small"', "spec mine, tests, alpha must be float, not 'small'"),
        ('rules = "sound"', "spec mine, rules must be a table, not 'sound'"),
        ("options = 1", "spec mine, options must be dict, not 1"),
        ('[rules]\nconflicts = "lst"', "spec mine, rules, conflicts is 'lst'; did you mean 'last'?"),
        ("[rules", "spec mine is not valid TOML:"),
    ],
)
def test_a_mistake_in_a_spec_gets_one_sentence(text: str, sentence: str) -> None:
    """The message names the spec, the table, the key, the value and what is allowed."""
    with pytest.raises(SpecError) as error:
        parse_spec(HEAD + text, "spec mine")

    assert str(error.value).startswith(sentence)


@pytest.mark.parametrize("line", HEAD.splitlines())
def test_a_spec_needs_name_and_summary(line: str) -> None:
    """What is missing is named."""
    missing = line.partition(" ")[0]

    with pytest.raises(SpecError, match=f"spec mine lacks the setting '{missing}'"):
        parse_spec(HEAD.replace(line, ""), "spec mine")


def test_a_whole_number_is_a_number() -> None:
    """Where a number with a point is wanted, one without is understood."""
    assert parse_spec(f"{HEAD}[tests]\nalpha = 1", "spec mine").tests.alpha == 1.0


def test_a_spec_decides_how_a_part_is_learned() -> None:
    """The same run from a spec and from the name of the learner that it copies."""
    spec = installed().learners["apsl-paper"].spec

    assert learn(MICRO["N1"], "t", learner=spec).arrows == learn(MICRO["N1"], "t", learner="apsl-paper").arrows
    assert learn(MICRO["N1"], "t", learner=spec).learner == "apsl-paper"


def test_each_difference_between_paper_and_sound_matters() -> None:
    """On N1 the paper's rules err; with the sound ones and chains, the same frontier learns the true arrow."""
    paper = installed().learners["apsl-paper"].spec
    cured = attrs.evolve(
        paper,
        rules=RuleSpec("sound", "quarantine"),
        findings=FindingSpec("stored", "stored", chains=True),
        neighbours=NeighbourSpec(symmetry="both"),
    )

    assert ("t", "b") in learn(MICRO["N1"], "t", learner=paper).arrows
    assert ("b", "t") in learn(MICRO["N1"], "t", learner=cured).arrows


@pytest.mark.parametrize(
    ("findings", "left_out"),
    [
        (FindingSpec(), set()),
        (FindingSpec(spouses="none"), {"spouse"}),
        (FindingSpec(colliders="none"), {"collider"}),
        (FindingSpec(chains=False), {"chain"}),
        (FindingSpec(spouses="none", colliders="none"), {"spouse", "collider", "chain", "gap"}),
    ],
)
def test_each_step_can_be_left_out(findings: FindingSpec, left_out: set[str]) -> None:
    """What a spec leaves out is not told to the rules; the edges are found all the same."""
    spec = attrs.evolve(installed().learners["apsl"].spec, findings=findings)

    part = learn(MICRO["N8"], "D", depth="max", learner=spec)
    told = {finding.fact.relation for finding in part.findings}

    assert told == {"settled", "adjacent", "gap", "spouse", "collider", "chain"} - left_out
    assert part.edges == {frozenset(edge) for edge in MICRO["N8"].edges}
