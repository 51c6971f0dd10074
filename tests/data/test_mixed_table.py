"""Tables with numbers: what is read into them, weights, missing values, cuts, and the way to levels."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apsl_rules import learn
from apsl_rules.data import MixedTable, Table, coded_table, count_levels, table
from apsl_rules.errors import DataError, InvalidArgumentError

FRAME = pd.DataFrame(
    {
        "sex": ["f", "m", "f", "m", "f", "m"] * 5,
        "age": [20, 31, None, 47, 52, 66] * 5,
        "wage": np.arange(30) * 1.5,
        "town": ["a", "b", None, "a", "b", "c"] * 5,
    }
)


def mixed(source: Any, **options: Any) -> MixedTable:
    """Read a table that has numbers."""
    read = table(source, **options)
    assert isinstance(read, MixedTable)
    return read


def test_numbers_stay_numbers() -> None:
    """Categories become codes and numbers stay, in the order of the source; missing values are NaN."""
    read = mixed(FRAME.assign(age=FRAME["age"] + np.arange(30)))

    assert read.names == ("sex", "age", "wage", "town")
    assert read.number_names == ("age", "wage")
    assert read.categories.names == ("sex", "town")
    assert read.rows == 30
    assert read.is_number.tolist() == [False, True, True, False]
    assert read.incomplete.tolist() == [False, True, False, True]
    assert np.isnan(read.numbers[0]).sum() == 5
    assert read.numbers[1].tolist() == FRAME["wage"].tolist()
    assert not read.numbers.flags.writeable
    assert [one.missing for one in read.columns] == [0, 5, 0, 5]
    assert any("missing in columns 'age', 'town' (5, 5 of 30 rows)" in note for note in read.notes)
    assert table(read) is read
    with pytest.raises(InvalidArgumentError, match="the table was read already, so kinds= comes too late"):
        table(read, kinds={"age": "category"})
    assert pickle.loads(pickle.dumps(read)).names == read.names  # noqa: S301 - our own bytes


@given(st.lists(st.lists(st.floats(-1e6, 1e6), min_size=12, max_size=12, unique=True), min_size=1, max_size=5))
def test_values_come_back_as_they_were(columns: list[list[float]]) -> None:
    """Every number is kept to the last bit, whatever stands beside it."""
    frame = pd.DataFrame({f"n{place}": column for place, column in enumerate(columns)} | {"c": list("ab") * 6})
    asked: dict[Any, Any] = {f"n{place}": "number" for place in range(len(columns))}
    read = mixed(frame, kinds=asked)
    assert read.numbers.tolist() == columns


def test_very_many_numbers_keep_their_places() -> None:
    """Numbers beyond the first block, and between categories, stand in the order of the source."""
    random = np.random.default_rng(5)
    matrix = random.normal(size=(30, 2100))
    matrix[:, ::7] = random.integers(0, 2, (30, 300))
    read = mixed(matrix)
    assert read.numbers.shape == (1800, 30)
    for name in ("X2", "X1500", "X2098"):
        assert read.numbers[read.number_names.index(name)].tolist() == matrix[:, int(name[1:]) - 1].tolist()
    assert len(read.categories.names) == 300


# --- missing values ------------------------------------------------------------------------------------------------


def test_complete_rows_alone() -> None:
    """With ``complete`` only rows without a gap in the columns that stay are kept, and a note says so."""
    frame = FRAME.assign(age=FRAME["age"] + np.arange(30), empty=np.nan)
    read = mixed(frame, missing="complete")
    assert read.rows == 25
    assert not read.incomplete.any()
    assert read.number_names == ("age", "wage")
    assert any("only the 25 complete rows of 30 are used" in note for note in read.notes)
    assert mixed(frame, missing="complete", drop=["town", "age"]).rows == 30
    frame.loc[3:, "town"] = None
    with pytest.raises(DataError, match="only 2 rows of 30 are complete, which is too few; give missing='testwise'"):
        table(frame, missing="complete")


def test_missing_values_as_a_level_cut_numbers() -> None:
    """With ``level`` a number with gaps is cut, so that missing values can be one of its levels; a note says so."""
    read = mixed(FRAME.assign(age=FRAME["age"] + np.arange(30)), missing="level")
    assert read.number_names == ("wage",)
    assert read.categories.levels[read.categories.place["age"]][-1] == "missing"
    assert any("column 'age' cut into 3 intervals" in note for note in read.notes)


# --- weights -------------------------------------------------------------------------------------------------------

GROUPED = pd.DataFrame(
    {"sex": ["f", "f", "m", "m"], "alive": ["no", "yes", "no", "yes"], "Freq": [126, 344, 1364, 367]}
)


def test_weights_repeat_rows() -> None:
    """A grouped table with weights is the same as the table of all rows; the weights are no variable."""
    whole = GROUPED.loc[GROUPED.index.repeat(GROUPED["Freq"]), ["sex", "alive"]]
    read = table(GROUPED, weights="Freq")
    assert isinstance(read, Table)
    assert read.names == ("sex", "alive")
    assert read.codes.tolist() == coded_table(whole).codes.tolist()
    assert learn(GROUPED, "alive", weights="Freq").neighbours_of("alive") == ("sex",)
    with pytest.raises(DataError, match="column 'Freq' says how many rows each row stands for, so it is no variable"):
        learn(GROUPED, "Freq", weights="Freq")


def test_grouped_rows_are_noticed() -> None:
    """A column of counts beside categories whose combinations all differ gets a note that offers weights."""
    assert any("give weights='Freq'" in note for note in table(GROUPED).notes)
    assert not any("weights" in note for note in table(pd.concat([GROUPED, GROUPED])).notes)
    assert not any("weights" in note for note in table(GROUPED.rename(columns={"Freq": "pay"})).notes)


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        ([1, -1, 2, 3], "it has negative values"),
        ([1, 1.5, 2, 3], "it has fractions"),
        ([1, None, 2, 3], "it has missing values"),
        (["a", "b", "c", "d"], "it holds labels"),
        ([1, 10**8, 2, 3], "stand for 100,000,006 rows; at most 100,000,000 can be read"),
        ([0, 1, 0, 0], "stand for 1 row; at least 2 are needed"),
    ],
)
def test_wrong_weights_are_refused(weights: list[Any], sentence: str) -> None:
    """Weights that say no number of rows, or too many, are refused in words."""
    with pytest.raises(DataError, match=sentence):
        table(GROUPED.assign(Freq=weights), weights="Freq")


def test_rows_of_no_weight_leave_no_level() -> None:
    """A level that stands only in rows of weight 0 is none."""
    read = table(GROUPED.assign(Freq=[3, 2, 0, 0]), weights="Freq", kinds={"sex": "category"})
    assert isinstance(read, Table)
    assert read.levels == (("f",), ("no", "yes"))


# --- cuts ----------------------------------------------------------------------------------------------------------


def test_a_default_and_exceptions_combine() -> None:
    """A star cuts all numbers, names cut theirs otherwise, and none leaves a number as it is."""
    frame = pd.DataFrame({name: np.arange(60) * step for name, step in (("a", 0.3), ("b", 0.7), ("c", 1.1))})
    read = mixed(frame, discretize={"*": "quantile:3", "b": "quantile:5", "c": "none"})
    assert read.number_names == ("c",)
    assert read.categories.cards.tolist() == [3, 5]
    assert read.notes == ()
    both = table(frame, discretize={"*": "quantile:4"})
    assert isinstance(both, Table)
    assert both.cards.tolist() == [4, 4, 4]


def test_levels_are_counted_in_what_is_cut() -> None:
    """Tests that count levels cut numbers with a note; the codes are those of a table read with that cut."""
    read = mixed(FRAME.assign(age=FRAME["age"] + np.arange(30)))
    cut = count_levels(read)
    asked = table(FRAME.assign(age=FRAME["age"] + np.arange(30)), discretize="quantile:3")
    assert isinstance(asked, Table)
    assert cut.codes.tolist() == asked.codes.tolist()
    assert cut.levels == asked.levels
    assert cut.incomplete.tolist() == asked.incomplete.tolist()
    assert any("columns 'age', 'wage' cut into 3 intervals" in note for note in cut.notes)
    part = learn(read, "wage", oracle="gsquare")
    assert any("cut into 3 intervals" in note for note in part.notes)


# --- files ---------------------------------------------------------------------------------------------------------


def test_row_names_of_other_programs_are_set_aside(tmp_path: Path) -> None:
    """A first column without a name, as R and pandas write it, is read and set aside."""
    path = tmp_path / "rows.csv"
    FRAME.to_csv(path)
    read = mixed(path)
    assert read.names == ("sex", "age", "wage", "town")
    assert "rownames" in [one.name for one in read.columns]
    quoted = tmp_path / "cars.csv"
    quoted.write_text('"","mpg","cyl"\n' + "".join(f'"car {one}",{20 + one / 8},{one % 3}\n' for one in range(40)))
    assert mixed(quoted).names == ("mpg", "cyl")


def test_none_is_a_level_and_a_question_mark_is_missing_among_numbers(tmp_path: Path) -> None:
    """Known words keep their meaning: None names a level, ? is missing where all else is a number."""
    path = tmp_path / "words.csv"
    rows = [
        f"{'None' if at % 2 else 'Some'},{'?' if at % 5 == 0 else at * 1.5},{'?' if at % 3 else 'x'}"
        for at in range(60)
    ]
    path.write_text("\n".join(["word,figure,mark", *rows]) + "\n", "utf-8")
    read = mixed(path)
    assert read.categories.levels == (("None", "Some"), ("?", "x"))
    assert read.number_names == ("figure",)
    assert np.isnan(read.numbers[0]).sum() == 12


@pytest.mark.parametrize("counts", ["duckdb", "dask"])
def test_kinds_are_the_same_where_rows_stay_in_files(counts: str, tmp_path: Path) -> None:
    """DuckDB and Dask set aside, drop and take the same columns as memory, and learn the same part."""
    random = np.random.default_rng(8)
    x = random.integers(0, 2, 300)
    frame = pd.DataFrame(
        {
            "id": np.arange(300),
            "x": x,
            "y": np.where(random.random(300) < 0.9, x, 1 - x),
            "same": "k",
            "name": [f"n{one}" for one in range(300)],
            "score": x * 2 + random.normal(size=300),
            "z": random.integers(0, 3, 300),
        }
    )
    path = tmp_path / "rows.parquet"
    frame.to_parquet(path)
    here = learn(path, "y", oracle="gsquare", drop=["z"])
    there = learn(path, "y", oracle="gsquare", drop=["z"], counts=counts)
    assert set(there.neighbours_of("y")) == set(here.neighbours_of("y")) == {"x"}
    aside = [note for note in here.notes if "set aside" in note]
    assert len(aside) == 3
    assert [note for note in there.notes if "set aside" in note] == aside
    with pytest.raises(DataError, match="column 'name' was set aside: its labels are nearly all different"):
        learn(path, "name", oracle="gsquare", counts=counts)
    with pytest.raises(InvalidArgumentError, match="needs the table in memory"):
        learn(path, "y", oracle="gsquare", counts=counts, weights="z")
