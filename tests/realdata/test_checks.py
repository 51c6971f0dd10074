"""Checks on real tables that do not need a true graph: shuffled columns, other orders, and few rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from apsl_rules import learn
from support.real_tables import TABLES, RealTable, marks, named

SMALL = [one for one in TABLES if not one.is_large]
UNGROUPED = [one for one in SMALL if "--weights" not in one.options]


@pytest.mark.parametrize("real", UNGROUPED, ids=str)
def test_a_shuffled_column_is_no_neighbour(real: RealTable) -> None:
    """A copy of the nearest column with its rows in another order depends on nothing."""
    frame = real.frame
    near = next(name for name in frame.columns if name in real.groups[0])
    for seed in (1, 2):
        shuffled = np.random.default_rng(seed).permutation(frame[near].to_numpy())
        part = learn(frame.assign(shuffled=shuffled), real.target, **real.settings)

        assert "shuffled" not in part.neighbours_of(real.target)


@pytest.mark.parametrize("real", SMALL, ids=str)
def test_order_changes_nothing(real: RealTable) -> None:
    """Columns from last to first and rows in another order give the same arrows, lines and probabilities."""
    frame = real.frame
    turned = frame[frame.columns[::-1]].sample(frac=1, random_state=7).reset_index(drop=True)

    assert marks(learn(turned, real.target, **real.settings)) == marks(learn(frame, real.target, **real.settings))


@pytest.mark.slow
@pytest.mark.parametrize("real", [one for one in TABLES if one.is_large], ids=str)
def test_order_changes_nothing_in_large_tables(real: RealTable) -> None:
    """The same where a part takes a second, and a shuffled column is no neighbour there either."""
    frame = real.frame
    near = next(name for name in frame.columns if name in real.groups[0])
    wider = frame.assign(shuffled=np.random.default_rng(1).permutation(frame[near].to_numpy()))
    part = learn(wider, real.target)

    assert "shuffled" not in part.neighbours_of(real.target)
    assert marks(learn(wider[wider.columns[::-1]], real.target)) == marks(part)


def test_a_target_without_variation_has_an_empty_part() -> None:
    """Of the first thirty bank customers nobody defaults, so nothing can be learned of it, and one sentence says so."""
    part = learn(named("Default", "default").frame.head(30), "default")

    assert not part.edges
    assert "the part is empty: nothing can be learned of 'default', since it has only one value" in part.notes


@pytest.mark.parametrize("real", [one for one in UNGROUPED if one.name != "Default"], ids=str)
def test_thirty_rows_say_what_can_be_known(real: RealTable) -> None:
    """Thirty rows of any table are learned from, with a note on what they cannot show; an empty part says why."""
    part = learn(real.frame.sample(n=min(30, len(real.frame)), random_state=1), real.target, **real.settings)
    rows = min(30, len(real.frame))

    few = [
        note for note in part.notes if note.startswith(f"{rows} rows are few: edges are found only if they are strong")
    ]
    assert len(few) == 1
    assert "a correlation below about 0." in few[0]
    empty = [note for note in part.notes if note.startswith("the part is empty: ")]
    assert len(empty) == (not part.edges)


def holed(frame: pd.DataFrame, columns: list[str], share: float, seed: int = 3) -> pd.DataFrame:
    """Return a table without a share of the values of some columns."""
    gone = np.random.default_rng(seed).random((len(frame), len(columns))) < share
    return frame.assign(**{name: frame[name].mask(gone[:, at]) for at, name in enumerate(columns)})


HOLED = [
    (named("airquality", "Ozone"), ["Temp", "Wind"], "Temp"),
    (named("penguins", "body_mass_g"), ["flipper_length_mm", "species", "sex"], "flipper_length_mm"),
    (named("Salaries", "salary"), ["rank", "discipline", "yrs.service", "salary"], "rank"),
    (named("Boston", "medv"), ["lstat", "rm", "medv", "crim", "nox"], "lstat"),
    (named("Carseats", "Sales"), ["Price", "ShelveLoc", "Sales", "Age"], "ShelveLoc"),
]


@pytest.mark.parametrize(
    ("real", "columns", "near"), HOLED, ids=lambda one: str(one) if isinstance(one, RealTable) else ""
)
def test_a_fifth_of_the_values_may_be_missing(real: RealTable, columns: list[str], near: str) -> None:
    """The part is learned all the same, and one note names the columns and how much of each is missing."""
    frame = holed(real.frame, columns, 0.2)
    part = learn(frame, real.target)
    (note,) = (one for one in part.notes if one.startswith("values are missing in"))

    assert near in part.neighbours_of(real.target)
    gone = frame.isna().sum()
    for name in columns:
        assert repr(name) in note
        assert f"{gone[name]:,}" in note
    assert {column.name: column.missing for column in part.columns if column.missing} == gone[gone > 0].to_dict()
    assert learn(frame, real.target, missing="complete").notes != part.notes
