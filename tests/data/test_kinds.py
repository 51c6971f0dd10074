"""Kinds of columns: what is a category, what a number, and what is set aside and why."""

from __future__ import annotations

import ast
from typing import Any, get_args

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apsl_rules import learn
from apsl_rules.data import (
    ColumnKind,
    ColumnSummary,
    Kind,
    MixedTable,
    Table,
    count_levels,
    infer_kind,
    table,
)
from apsl_rules.data.columns import labels_of, numbers, summarise
from apsl_rules.data.kinds import ColumnType, is_id_name
from apsl_rules.errors import DataError, InvalidArgumentError, UnknownNodeError
from apsl_rules.parts.file import parse_part, part_json

ROWS = np.arange(60)


def kinds_of(frame: Any, **options: Any) -> dict[Any, str]:
    """Return the kind of each column of a table."""
    return {one.name: one.kind for one in table(frame, **options).columns}


COLUMNS: dict[str, tuple[Any, str]] = {
    "text": (np.array(["red", "blue", "green"])[ROWS % 3], "category"),
    "truth": (ROWS % 2 == 0, "category"),
    "declared": (pd.Categorical(np.array(["low", "high"])[ROWS % 2]), "category"),
    "grade": (ROWS % 10, "category"),
    "two": (np.where(ROWS % 3, 0.25, 1.75), "category"),
    "codes": (ROWS % 4 + 1.0, "category"),
    "yes": (np.array(["yes", "no"])[ROWS % 2], "category"),
    "none": (np.array(["None", "some"])[ROWS % 2], "category"),
    "units": (np.array([f"{one} kg" for one in range(5)])[ROWS % 5], "category"),
    "age": (18 + ROWS * 7 % 50, "number"),
    "year": (1960 + ROWS, "number"),
    "thirds": (ROWS % 3 / 3, "number"),
    "weight": (ROWS * 1.37, "number"),
    "price": (1000 + ROWS * 37 % 61, "number"),
    "unknown": (np.where(ROWS % 9, (ROWS * 7 % 31).astype(str), "?"), "number"),
    "constant": (np.full(60, 3), "set aside"),
    "empty": (np.full(60, np.nan), "set aside"),
    "rownames": (ROWS + 1, "set aside"),
    "PassengerId": (7000 + ROWS * 3, "set aside"),
    "name": ([f"person {one}" for one in ROWS], "set aside"),
    "essay": ([f"a long text without an end, about matter {one % 40}, in words" for one in ROWS], "set aside"),
    "day": (pd.date_range("2024-01-01", periods=60), "set aside"),
    "day text": ([f"2024-02-{one % 28 + 1:02d}" for one in ROWS], "set aside"),
    "clock": ([f"{one % 24:02d}:30" for one in ROWS], "set aside"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_each_column_gets_its_kind(name: str) -> None:
    """Text, few whole numbers and two values are categories, other numbers are numbers, the rest is set aside."""
    values, kind = COLUMNS[name]
    frame = pd.DataFrame({name: values, "other": ROWS % 2})

    assert kinds_of(frame)[name] == kind
    assert (name in table(frame).names) == (kind != "set aside")
    if name != "declared":
        assert kinds_of(pl.from_pandas(frame))[name] == kind


def test_columns_that_are_set_aside_are_named_with_the_way_back() -> None:
    """Notes name the column, the reason and what takes it back; a target among them is refused in these words."""
    frame = pd.DataFrame({name: COLUMNS[name][0] for name in ("rownames", "name", "day", "constant", "grade")})
    read = table(frame)
    notes = " | ".join(read.notes)

    assert read.names == ("grade",)
    assert "take it back with kinds={'name': 'category'}" in notes
    assert "take it back with kinds={'rownames': 'number'}" in notes
    assert "column 'day' is set aside: it holds dates or times" in notes
    assert "column 'constant' was set aside: it has only one value" in str(read.why_not("constant"))
    assert read.why_not("grade") is None
    assert read.why_not("nothing") is None
    dropped = table(frame, drop=["day"]).why_not("day")
    assert dropped == "column 'day' was left out as asked; take it out of drop=, or put it into only="


def test_kinds_can_be_chosen() -> None:
    """A kind by name counts more than what is inferred, and a star stands for all columns without a name."""
    frame = pd.DataFrame({name: COLUMNS[name][0] for name in ("rownames", "name", "day", "grade", "age", "truth")})
    chosen: dict[Any, Kind] = {"rownames": "number", "name": "category", "day": "number", "grade": "number"}
    read = table(frame, kinds={**chosen, "truth": "number", "age": "set aside"})

    assert isinstance(read, MixedTable)
    assert read.number_names == ("rownames", "day", "grade", "truth")
    assert read.numbers[1, :2].tolist() == [19723, 19724]
    assert read.categories.names == ("name",)
    everything = table(frame, kinds={"*": "category", "age": "number"})
    assert isinstance(everything, MixedTable)
    assert everything.categories.names == ("rownames", "name", "day", "grade", "truth")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"kinds": {"name": "number"}}, "column 'name' holds labels, which are no numbers"),
        ({"kinds": {"constant": "number"}}, "column 'constant' has only one value, so it cannot be a number"),
        ({"discretize": {"name": "quantile:3"}}, "column 'name' holds labels, and only numbers can be cut"),
    ],
)
def test_what_a_column_cannot_be_is_refused(options: dict[str, Any], sentence: str) -> None:
    """A kind that does not fit the values is refused by name."""
    frame = pd.DataFrame({name: COLUMNS[name][0] for name in ("name", "constant", "grade")})
    with pytest.raises(DataError, match=sentence):
        table(frame, **options)


def test_wrong_names_and_kinds_are_refused() -> None:
    """A misspelt column or kind is refused with the nearest one."""
    frame = pd.DataFrame({"grade": ROWS % 3})
    wrong: Any = {"grade": "nummber"}
    with pytest.raises(InvalidArgumentError, match="did you mean 'number'"):
        table(frame, kinds=wrong)
    for option in ({"kinds": {"grad": "number"}}, {"drop": ["grad"]}, {"only": ["grad"]}, {"weights": "grad"}):
        read: Any = option
        with pytest.raises(UnknownNodeError, match=r"unknown column in .* 'grad'; did you mean 'grade'"):
            table(frame, **read)
    with pytest.raises(InvalidArgumentError, match="no column is left"):
        table(frame, drop=["grade"])


def test_tables_of_codes_stay_categories() -> None:
    """Among many columns of codes a few with more than ten values are categories too; beside numbers they are not."""
    codes = np.random.default_rng(4).integers(0, 3, (500, 20))
    codes[:, 7] = np.arange(500) % 21
    read = table(codes)
    assert isinstance(read, Table)
    assert read.cards[7] == 21
    beside_age = np.column_stack([codes, 20 + np.arange(500) % 60])
    assert kinds_of(beside_age)["X8"] == "number"


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=60), st.booleans())
def test_kinds_do_not_depend_on_order_or_storage(values: list[int], as_floats: bool) -> None:
    """Any order of rows and any storage of the same numbers gives the same kind."""
    array = np.array(values, dtype=float if as_floats else int)
    frames = [array, array[::-1], np.sort(array)]
    kinds = {infer_kind(summarise(numbers(one), "x")).kind for one in frames}
    assert len(kinds) == 1
    assert kinds == {infer_kind(summarise(labels_of(values, "x"), "x")).kind}


@given(
    st.sampled_from(get_args(ColumnType)),
    st.integers(0, 50),
    st.integers(0, 50),
    st.booleans(),
)
def test_every_summary_has_a_kind(kind: ColumnType, present: int, missing: int, whole: bool) -> None:
    """No summary is without a kind, and nothing that never varies is a variable."""
    for distinct in {min(present, 1), min(present, 2), present}:
        summary = ColumnSummary("x", kind, present, distinct, missing, distinct == present, whole, 0, 9)
        found = infer_kind(summary)
        assert found.kind in get_args(Kind)
        assert found.missing == missing
        if distinct <= 1:
            assert found.kind == "set aside"


def test_distinct_values_with_rows_give_the_same_kind() -> None:
    """A source that knows only the distinct values and their rows infers what a table in memory does."""
    for name, (values, kind) in COLUMNS.items():
        objects = pd.Series(values).astype(object)
        column = labels_of(list(objects), name)
        codes, levels = pd.factorize(objects.to_numpy(), use_na_sentinel=False)
        distinct = labels_of(list(levels), name)
        alike = {
            infer_kind(summarise(one, name, rows)).kind
            for one, rows in ((column, None), (distinct, np.bincount(codes)))
        }
        assert len(alike) == 1, (name, kind)


def test_short_scales_are_ordered() -> None:
    """Four to ten whole values are an ordered scale, three a category, also where long blocks are read at once."""
    air = [80, 80, 75, 62, 62, 62, 62, 62, 58, 58, 58, 58, 58, 58, 50, 50, 50, 50, 50, 56, 70]
    assert kinds_of(
        pd.DataFrame({"air": air, "cylinders": [4, 6, 8] * 7, "carburettors": [1, 2, 3, 4, 6, 7, 8] * 3})
    ) == {"air": "ordered", "cylinders": "category", "carburettors": "ordered"}
    for rows in (1, 20):
        several = {f"air {place}": air * rows for place in range(3)} | {"likert": [1, 2, 3, 4, 5, 5, 1] * 3 * rows}
        assert set(kinds_of(pd.DataFrame(several)).values()) == {"ordered"}
        assert set(kinds_of(pd.DataFrame(several), kinds={"*": "category"}).values()) == {"category"}


def test_a_scale_among_codes_alone_is_a_code() -> None:
    """Where all columns that are used are small codes all are categories; a text, a number or a kind says otherwise."""
    likert, codes = [1, 2, 3, 4, 5, 5, 1] * 30, [0, 1, 0, 1, 2, 2] * 35
    frame = pd.DataFrame({"likert": likert, "code": codes, "id": range(100, 310)})
    assert kinds_of(frame) == {"likert": "category", "code": "category", "id": "set aside"}
    assert kinds_of(frame, kinds={"id": "number"})["likert"] == "ordered"
    assert kinds_of(frame.assign(word=["p", "q"] * 105))["likert"] == "ordered"
    assert kinds_of(frame, kinds={"likert": "ordered"})["likert"] == "ordered"


def test_an_ordered_column_is_a_number_that_is_counted_by_its_levels() -> None:
    """It is read as a number; where levels are counted it is not cut, and missing values may be a level of it."""
    frame = pd.DataFrame({"likert": [1, 2, 3, 4, 5, 5, 1] * 30, "word": ["p", "q"] * 105})
    read = table(frame)
    assert read.number_names == ("likert",)
    assert read.columns[0] == ColumnKind("likert", "ordered", "5 levels, 1 to 5")
    counted = count_levels(read, "none")
    assert counted.levels_of("likert") == (1, 2, 3, 4, 5)
    assert counted.columns[0] == ColumnKind("likert", "category", "5 levels")
    assert table(frame, discretize="quantile:3").categories.levels_of("likert") == (1, 2, 3, 4, 5)
    gaps = frame.assign(likert=frame["likert"].where(frame.index % 9 > 0))
    assert table(gaps, missing="level").categories.levels_of("likert")[-1] == "missing"
    assert table(gaps, missing="complete").columns[0].kind == "ordered"


def test_levels_with_an_order_can_be_ordered() -> None:
    """A category whose levels have an order may be read by the places of these; labels without one are refused."""
    levels = ["low", "mid", "high", "top"]
    size = pd.Categorical(["low", "top", "mid", "high"] * 10, levels, ordered=True)
    frame = pd.DataFrame({"size": size, "x": [0.5, 1.5] * 20})
    assert table(frame, kinds={"size": "ordered"}).values("size").tolist()[:4] == [0, 3, 1, 2]
    assert table(frame).columns[0].kind == "category"
    with pytest.raises(DataError, match="labels without an order"):
        table(frame.astype({"size": str}), kinds={"size": "ordered"})


def test_codes_that_nobody_used_leave_a_table_of_codes() -> None:
    """In a table of codes a column whose first codes were never drawn is a category like all others."""
    codes = np.random.default_rng(4).integers(0, 3, (500, 20))
    codes[:, 7] = 4 + np.arange(500) % 6
    read = table(codes)
    assert isinstance(read, Table)
    assert read.cards[7] == 6


def test_an_identifier_of_grouped_rows_is_set_aside() -> None:
    """Row numbers and names of a grouped table are set aside although the weights repeat them; other columns stay."""
    grouped = {"rownames": np.arange(12) + 1, "state": list("abcdefghijkl"), "dose": np.arange(12) % 4 + 5}
    frame = pd.DataFrame({**grouped, "n": [3, 4, 0] * 4})
    read = table(frame, weights="n")
    assert read.names == ("dose",)
    assert [note.split(":")[0] for note in read.notes] == [
        f"column {one!r} is set aside" for one in ("rownames", "state")
    ]
    kept = table(frame, weights="n", kinds={"rownames": "number"})
    assert kept.names == ("rownames", "dose")


def test_names_of_identifiers() -> None:
    """Names that end in the word id are those of identifiers; words that only end in these letters are not."""
    assert all(map(is_id_name, ["id", "ID", "customer_id", "userId", "row", "rownames", "case id", "Index"]))
    assert not any(map(is_id_name, ["acid", "paid", "age", "width", "grid", "idea", "rainbow", 7]))


def test_all_problems_are_told_at_once() -> None:
    """A table with several faults is refused once, with all of them."""
    frame = pd.DataFrame({"a": [1.5, np.inf, 2.5, 3.5], "b": [None, "x", "y", "x"], "c": list("wxyz")})
    with pytest.raises(DataError) as caught:
        table(frame, kinds={"c": "number"}, missing="refuse")
    told = str(caught.value)
    assert told.startswith("3 problems with the table: (1) ")
    for part in ("column 'a' has infinite values", "column 'c' holds labels", "values are missing in column 'b'"):
        assert part in told


def test_crowded_categories_are_noted() -> None:
    """A category with few rows for each level stays one, with a note."""
    words = [f"model {one // 2}" for one in ROWS]
    read = table(pd.DataFrame({"model": words, "other": ROWS % 2}))
    assert read.names == ("model", "other")
    assert any("'model' has so many levels that few rows are left for each" in note for note in read.notes)


def test_numbers_stored_as_text_come_back_as_numbers() -> None:
    """The advice for them gives the part of the numbers."""
    draw = np.random.default_rng(1)
    a = draw.normal(size=200)
    frame = pd.DataFrame({"a": a, "b": a + draw.normal(size=200) / 2})
    with pytest.raises(
        DataError, match="each holds numbers as text, nearly all different; take them back with"
    ) as refused:
        learn(frame.astype(str), "a")
    kinds = ast.literal_eval(str(refused.value).rpartition("kinds=")[2])
    assert learn(frame.astype(str), "a", kinds=kinds).edges == learn(frame, "a").edges != frozenset()


@pytest.mark.parametrize("name", [float("nan"), pd.Timestamp("2020-01-01"), pd.NaT, b"x", frozenset("x"), ("a", 1j)])
def test_a_name_that_no_file_can_hold_is_refused_at_once(name: Any) -> None:
    """A part is never learned that could not be saved."""
    frame = pd.DataFrame([[0, 1], [1, 0], [1, 1]])
    frame.columns = pd.Index(["a", name], dtype=object, tupleize_cols=False)
    with pytest.raises(DataError, match="the columns cannot be called"):
        learn(frame, "a")


def test_a_whole_number_of_numpy_is_a_name_that_is_saved() -> None:
    """It is written as the number that it is."""
    frame = pd.DataFrame([[0, 1], [1, 0], [1, 1]])
    frame.columns = pd.Index(["a", np.int64(3)], dtype=object)
    assert parse_part(part_json(learn(frame, "a")), "part.json").nodes == ("a", 3)


def test_rising_whole_numbers_are_an_identifier_only_by_name() -> None:
    """All-different whole numbers count the rows, identify them by name, or are numbers like others."""
    rows = np.arange(40)
    shuffled = np.random.default_rng(2).permutation(40)
    frame = pd.DataFrame(
        {
            "customer_id": rows * 3 + 7,
            "place": rows + 1,
            "home": shuffled,
            "year": rows + 1,
            "day_no": rows,
            "season": rows + 1980,
            "stamp": rows * 60 + 5,
            "income": shuffled * 137 + 900,
            "price_index": rows * 2 + 90,
            "y": rows % 7 + 0.5,
        }
    )
    read = table(frame)
    assert isinstance(read, MixedTable)
    assert {one.name for one in read.columns if one.kind == "set aside"} == {"customer_id", "place", "home"}
    assert [note.partition(";")[0] for note in read.notes] == [
        "column 'customer_id' is set aside: its whole numbers are all different, as those of an identifier",
        "columns 'place', 'home' are set aside: their whole numbers count the rows",
    ]
