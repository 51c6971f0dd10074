"""Notes on a part from data: assumptions, odd arrows, empty parts and few rows."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
import pandas as pd
import pytest

from apsl_rules import Dag, Knowledge, learn, network
from apsl_rules.data import ColumnKind
from apsl_rules.evidence import Evidence, Verdict
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.learning.notes import finding_of, is_hardly_an_effect, notes_on_part
from apsl_rules.learning.settings import Request
from apsl_rules.learning.source import open_data
from apsl_rules.oracles import Asker, complete_oracle
from apsl_rules.parts import Part
from apsl_rules.parts.file import parse_part, part_json
from apsl_rules.rules import untested


def starting(notes: Sequence[str], words: str) -> list[str]:
    """Return the notes that begin with some words."""
    return [note for note in notes if note.startswith(words)]


def collider(rows: int, effect: str) -> pd.DataFrame:
    """Make two causes and their common effect."""
    random = np.random.default_rng(5)
    one, other = random.integers(0, 2, rows), random.integers(0, 2, rows)
    made = np.where(random.random(rows) < 0.05, random.integers(0, 2, rows), one | other)
    frame = pd.DataFrame({"salary": one, "job": other, effect: made})
    return frame.replace({0: "no", 1: "yes"})


def independent(rows: int, levels: int = 2) -> pd.DataFrame:
    """Make columns that have nothing to do with each other."""
    random = np.random.default_rng(8)
    return pd.DataFrame({name: [f"v{one}" for one in random.integers(0, levels, rows)] for name in "abcd"})


def test_a_part_says_on_what_its_arrows_rest() -> None:
    """It does so once; a part of a known graph rests on nothing."""
    part = learn(sample(network("cancer"), 2000, seed=1), "Cancer", hidden="excluded")
    notes = starting(part.notes, "arrows assume ")
    (note,) = notes
    assert note.startswith("arrows assume no hidden common causes, faithfulness and independent rows; ")
    assert note.endswith("; tests look for relations of any form between categories")
    assert not starting(learn(network("cancer"), "Cancer").notes, "arrows assume ")


@pytest.mark.parametrize(
    "name",
    [
        "sex",
        "Sex",
        "GENDER",
        "mother_age",
        "age.at.visit",
        "birthYear",
        "year of birth",
        "patientRace",
        "DOB",
        "ageYears",
        "black",
        "Female",
    ],
)
def test_names_that_are_hardly_effects(name: str) -> None:
    """Whole words count, whatever separates them; the names of groups of people count alone."""
    assert is_hardly_an_effect(name)


@pytest.mark.parametrize(
    "name", ["wage", "stage", "package", "birth weight", "trace", "Essex", "black market", "", 3, ("sex", 1)]
)
def test_names_that_may_be_effects(name: object) -> None:
    """Parts of words do not count, nor do labels other than text."""
    assert not is_hardly_an_effect(name)


def test_an_arrow_into_sex_offers_tiers() -> None:
    """The note names the arrows; tiers that name the column silence it."""
    frame = collider(2000, "sex")
    part = learn(frame, "sex", hidden="excluded")
    assert part.parents_of("sex") == ("job", "salary")
    (note,) = starting(part.notes, "'job -> sex', 'salary -> sex' point at a column that is hardly an effect; ")
    assert note.endswith("say what comes first with tiers (knowledge=Knowledge(tiers=[['sex'], ...]))")
    told = learn(frame, "sex", knowledge=Knowledge(tiers=[["sex"], ["salary", "job"]]), hidden="excluded")
    assert not [note for note in told.notes if "hardly" in note]
    assert not [note for note in learn(collider(2000, "wage"), "wage", hidden="excluded").notes if "hardly" in note]


def test_a_suggested_arrow_into_age_is_named_too() -> None:
    """What is only suggested may mislead as well."""
    part = learn(collider(2000, "age"), "age", min_direction=1.0, hidden="excluded")
    assert part.suggested
    assert starting(part.notes, "'job -> age', 'salary -> age' point at")


def test_an_empty_part_says_why() -> None:
    """Nothing depends on the target, with what could not be seen."""
    part = learn(independent(1000), "a", hidden="excluded")
    assert not part.edges
    (note,) = starting(part.notes, "the part is empty: nothing depends on 'a' at this level of evidence ")
    assert note.endswith("(1,000 rows; a correlation below about 0.06 goes unseen at alpha 0.05)")
    assert not starting(part.notes, "arrows assume")


def test_an_empty_part_of_untested_columns_says_so() -> None:
    """Where no test was possible, that is the reason."""
    part = learn(independent(300, levels=40), "a", learner="apsl")
    assert starting(part.notes, "the part is empty: 'a' could not be tested against 3 of 3 other columns")


def test_few_rows_are_said_to_be_few() -> None:
    """Below a hundred rows the part says what can be known, empty or not."""
    part = learn(independent(40), "a", hidden="excluded")
    assert starting(part.notes, "the part is empty: 40 rows are too few to show that anything depends on 'a'")
    (note,) = starting(part.notes, "40 rows are few")
    assert "a correlation below about 0.31 goes unseen at alpha 0.05" in note
    assert "directions are hardly ever determined" in note
    assert not starting(learn(independent(100), "a", hidden="excluded").notes, "100 rows are few")


def test_rows_and_columns_come_from_the_source() -> None:
    """Tables, numbers for Fisher's z and known graphs tell their rows, or that there are none."""
    request = Request.of({})
    assert open_data(independent(40), request).row_count == 40
    assert open_data(Dag({"a": [], "b": ["a"]}), request).row_count is None
    numbers = pd.DataFrame(np.random.default_rng(1).normal(size=(60, 2)), columns=["x", "y"])
    assert open_data(numbers, Request.of({"oracle": "fisherz"})).row_count == 60


def with_columns(part: Part) -> Part:
    """Return a part with kinds of columns, one of them set aside."""
    kinds = (ColumnKind("salary", "number", "3 values", 2), ColumnKind("id", "set aside", "identifier"))
    return attrs.evolve(part, columns=kinds)


def test_columns_are_saved_with_a_part() -> None:
    """A file keeps them; one from before has none."""
    part = with_columns(learn(collider(500, "wage"), "wage", hidden="excluded"))
    assert parse_part(part_json(part), "saved").columns == part.columns
    assert parse_part(part_json(part), "saved") == part
    assert '"columns"' not in part_json(learn(network("cancer"), "Cancer"))


def test_moments_do_not_count_cells() -> None:
    """A test on moments needs rows, not fewer levels."""

    class Moments:
        """An oracle that cannot test anything."""

        name, nodes, perfect = "moments", ("a", "b"), False

        def verdict(self, x: str, y: str, given: tuple[str, ...]) -> Verdict:
            return Verdict(x, y, given, "unreliable", "Λ")

    asker = Asker(complete_oracle(Moments()), origin="a test")
    finding = finding_of(Verdict("a", "b", (), "unreliable", "Λ"), asker)
    assert finding.fact == untested.fact("a", "b")
    expected = "a test needs more rows than it has columns; more rows or fewer columns would help"
    assert finding.evidence == Evidence("moments", finding.evidence.verdicts, expected)


def test_notes_need_no_rows() -> None:
    """Where the number of rows is not known, nothing is said of it."""
    part = learn(independent(1000), "a", hidden="excluded")
    assert [*notes_on_part(part, None)] == ["the part is empty: nothing depends on 'a' at this level of evidence"]


@pytest.mark.parametrize("alpha", [1e-17, 1e-300, 5e-324])
def test_an_empty_part_at_the_smallest_level_says_so(alpha: float) -> None:
    """A level that vanishes beside 1 still has a weakest correlation that it shows."""
    draw = np.random.default_rng(1)
    part = learn(pd.DataFrame(draw.normal(size=(200, 3)), columns=list("abc")), "a", alpha=alpha, hidden="excluded")
    assert not part.edges
    assert any(f"goes unseen at alpha {alpha:g}" in note for note in part.notes)


def test_a_time_that_may_be_cut_short_is_told() -> None:
    """A time and whether its event was seen, at the target, get a note on censored rows; other tables do not."""
    random = np.random.default_rng(34)
    dose, age = random.normal(size=(2, 300)).round(2)
    time = np.round(np.exp(dose + random.normal(size=300)), 2)
    frame = pd.DataFrame({"dose": dose, "years": age, "futime": time, "dead": random.integers(0, 2, 300)})
    told = [note for note in learn(frame, "futime").notes if note.code == "survival"]
    assert [note.fields["columns"] for note in told] == [["futime", "dead"]]
    assert "cut short" in told[0]
    assert not [note for note in learn(frame, "years").notes if note.code == "survival"]
    renamed = frame.rename(columns={"dead": "left"})
    assert not [note for note in learn(renamed, "futime").notes if note.code == "survival"]
