"""What names of columns say of the order of causes."""

from __future__ import annotations

import tomllib
from collections import Counter
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apsl_rules.data.sources import example_table
from apsl_rules.directions import read_names, shipped_names, stages, words_of
from apsl_rules.directions.hints import MOST_LEVELS
from apsl_rules.errors import InvalidArgumentError
from support.real_tables import TABLES


@pytest.mark.parametrize(
    ("name", "levels", "what"),
    [
        ("Sex", 2, "sex"),
        ("sex", None, None),
        ("isFemale", 2, "sex"),
        ("mother_age", None, "age"),
        ("age.65", 2, "age"),
        ("agefirstbirth", None, None),
        ("birthYear", None, "birth"),
        ("birth weight", None, None),
        ("black", 2, "origin"),
        ("percentBlack", None, None),
        ("black", 40, None),
        ("day", None, "time"),
        ("day7", None, None),
        ("treatment", 2, None),
        ("arm", 3, "lot"),
        ("Geschlecht", 2, "sex"),
        ("Année", None, "time"),
        ("edad", None, "age"),
        ("性别", 2, "sex"),
        ("年龄", None, "age"),
        ("wage", None, None),
        (7, 2, None),
    ],
)
def test_columns_that_nothing_causes_are_known_by_name(name: object, levels: int | None, what: str | None) -> None:
    """A name counts as a whole or by a word; a share of a population or a later measurement does not."""
    group = shipped_names().group_of(name, levels)
    assert (group and group.what) == what


def test_every_word_is_there_for_a_reason_in_five_languages() -> None:
    """Each group of the shipped list says why, and no word stands in two groups."""
    text = (files("apsl_specs") / "names" / "columns.toml").read_text("utf-8")
    groups = tomllib.loads(text)["first"]
    assert all(group["reason"] for group in groups)
    assert all(
        {"en", "de", "fr", "es", "zh"} <= set(group.get("word", {}) | group.get("whole", {})) for group in groups
    )
    listed = [word for group in shipped_names().first for word in group.word | group.whole]
    assert len(listed) == len(set(listed))


@pytest.mark.slow
@pytest.mark.release
def test_what_the_list_matches_in_real_tables_is_counted() -> None:
    """Of 624 columns of 66 tables 60 come first by name; the table that is shipped has none."""
    found: dict[tuple[str, str], str] = {}
    for one in TABLES:
        for name in one.frame.columns:
            column = one.frame[name]
            is_number = column.dtype.kind in "fi" and column.nunique() > MOST_LEVELS
            group = shipped_names().group_of(name, None if is_number else int(column.nunique()))
            if group:
                found[one.name, name] = group.what
    assert Counter(found.values()) == {"age": 22, "sex": 20, "time": 8, "origin": 6, "place": 4}
    clinic = example_table().read_text("utf-8").partition("\n")[0].split(",")
    assert [name for name in clinic if shipped_names().group_of(name, 2)] == []


@given(st.text(max_size=30))
def test_any_name_can_be_read(name: str) -> None:
    """No name raises, and its words are small letters or digits."""
    assert all(word == word.casefold() for word in words_of(name))
    shipped_names().group_of(name, 2)


def test_stages_are_years_of_one_stem() -> None:
    """Years in two or four digits order columns of one stem; other numbers do not, and other stems neither."""
    columns = ["re74", "re75", "re78", "x1", "x2", "visit", "visit2", "gdp1990", "gdp2000", "pop2000"]
    assert stages(columns) == [
        ("gdp1990", "gdp2000"),
        ("re74", "re75"),
        ("re74", "re78"),
        ("re75", "re78"),
    ]


def test_a_list_of_ones_own_replaces_the_shipped_one(tmp_path: Path) -> None:
    """A list has the same form; names that it does not have are free."""
    path = tmp_path / "names.toml"
    path.write_text('[[first]]\nwhat = "ward"\nreason = "wards are assigned"\nwhole.en = ["ward"]\n', "utf-8")
    own = read_names(path)
    group = own.group_of("Ward", None)
    assert group is not None
    assert group.reason == "wards are assigned"
    assert own.group_of("sex", 2) is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[frist]]\n", "unknown key 'frist'; did you mean 'first'"),
        ('[[first]]\nwhat = "x"\n', "no group of names"),
        ('[[first]]\nwhat = "x"\nreason = "y"\nword = ["x"]\n', "lists of words by language"),
        ("first = [", "cannot be read"),
    ],
)
def test_a_list_in_another_form_is_refused(text: str, told: str, tmp_path: Path) -> None:
    """The sentence names the file and what it should have."""
    path = tmp_path / "names.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(InvalidArgumentError, match=told):
        read_names(path)
