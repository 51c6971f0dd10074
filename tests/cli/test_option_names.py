"""Messages and notes in the words of the command line."""

from __future__ import annotations

import attrs
import click

from apsl_rules import Knowledge, known_dag, learn
from apsl_rules.cli.option_names import with_option_names, with_tier_option
from apsl_rules.cli.output import summary
from apsl_rules.parts import Part


def test_tiers_become_options() -> None:
    """What Python gives as knowledge is an option on the command line, in messages and in notes."""
    note = "'pay -> sex' points at it; say so with tiers (knowledge=Knowledge(tiers=[['age', 'sex'], ...]))"
    assert with_tier_option(note) == "'pay -> sex' points at it; say so with tiers (--tier age,sex --tier ...)"
    assert with_option_names(note, click.Command("learn")) == with_tier_option(note)
    assert with_tier_option("knowledge is 3; give Knowledge(...)") == "knowledge is 3; give Knowledge(...)"


def test_the_summary_of_a_part_offers_the_option() -> None:
    """Notes of a part are printed in the words of the command line."""
    part: Part = learn(known_dag({"a": [], "b": ["a"]}), "b", knowledge=Knowledge())
    noted = attrs.evolve(part, notes=("say so (knowledge=Knowledge(tiers=[['sex'], ...]))",))
    assert "note: say so (--tier sex --tier ...)" in summary(noted)
