"""Tables in: every kind of table becomes the same codes, and what cannot be encoded is refused in one sentence."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import duckdb
import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apsl_rules.data import MissingRule, coded_table, count_levels, table
from apsl_rules.data.tables import Table
from apsl_rules.data.values import MISSING_WORDS
from apsl_rules.errors import DataError, InvalidArgumentError, UnknownNodeError
from apsl_rules.names import Node
from support.strategies import LABELS


def is_no_code(word: str) -> bool:
    """Return whether a word is none of those that stand for missing values among numbers."""
    return word.strip().casefold() not in MISSING_WORDS


LEVELS = st.one_of(
    st.integers(-300, 300), st.text(max_size=2).filter(is_no_code), st.booleans(), st.tuples(st.integers(0, 2))
)


def decoded(encoded: Table) -> list[list[Any]]:
    """Read a table back through its level names, None where a value is missing."""
    return [
        [None if code == encoded.cards[place] else encoded.levels[place][code] for code in encoded.codes[place]]
        for place in range(len(encoded.names))
    ]


def object_array(columns: list[list[Any]]) -> npt.NDArray[np.object_]:
    """Put values of any kind, tuples too, into an array, rows by columns."""
    array = np.empty((len(columns[0]), len(columns)), dtype=object)
    for place, column in enumerate(columns):
        for row, value in enumerate(column):
            array[row, place] = value
    return array


# --- properties ----------------------------------------------------------------------------------------------------


@given(st.data())
def test_encoding_round_trips(data: st.DataObject) -> None:
    """Levels give back the original values, codes are dense, and missing values keep their rows.

    Words for missing values, which are missing among numbers, have a test of their own.
    """
    rows = data.draw(st.integers(2, 12))
    cells = st.lists(st.one_of(LEVELS, st.none()), min_size=rows, max_size=rows).filter(
        lambda column: any(value is not None for value in column)
    )
    columns = data.draw(st.lists(cells, min_size=1, max_size=4))
    encoded = coded_table(object_array(columns), missing="testwise")
    assert decoded(encoded) == columns
    for place in range(len(columns)):
        codes = encoded.codes[place]
        assert sorted({int(code) for code in codes if code != encoded.cards[place]}) == list(
            range(encoded.cards[place])
        )
        assert encoded.incomplete[place] == (None in columns[place])


@given(
    st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=3, max_size=3), min_size=1, max_size=3),
    st.sampled_from(["int64", "int8", "uint8", "uint64", "float64"]),
)
def test_integers_of_any_width_and_storage(columns: list[list[int]], storage: str) -> None:
    """Integers are ranked by value at the ends of their range too, alone and in blocks."""
    bits = {"int64": 63, "int8": 7, "uint8": 8, "uint64": 64, "float64": 53}[storage]
    low = -(2**bits) + (storage == "float64") if storage in ("int64", "int8", "float64") else 0
    fitting = [[low + value % (2**bits - low) for value in column] for column in columns]
    encoded = coded_table(
        np.array(fitting).astype(storage).T if storage == "float64" else np.array(fitting, dtype=storage).T
    )
    assert decoded(encoded) == fitting
    assert [list(levels) for levels in encoded.levels] == [sorted(set(column)) for column in fitting]


@given(st.data())
def test_permuting_columns_permutes_the_table(data: st.DataObject) -> None:
    """Each column is encoded by itself: another order of columns gives the same codes in that order."""
    names = data.draw(st.lists(LABELS, min_size=1, max_size=6, unique=True))
    rows = data.draw(st.integers(2, 6))
    matrix = np.array(
        data.draw(
            st.lists(
                st.lists(st.integers(0, 400), min_size=rows, max_size=rows), min_size=len(names), max_size=len(names)
            )
        )
    )
    order = data.draw(st.permutations(range(len(names))))
    straight = coded_table(matrix.T, names=names)
    permuted = coded_table(matrix[order].T, names=[names[place] for place in order])
    assert permuted.names == tuple(names[place] for place in order)
    assert (permuted.codes == straight.codes[order]).all()
    assert permuted.levels == tuple(straight.levels[place] for place in order)
    assert [*map(permuted.fingerprint_of, names)] == [*map(straight.fingerprint_of, names)]


@given(st.lists(LABELS, min_size=1, max_size=6, unique=True))
def test_labels_of_all_kinds_survive(names: list[Node]) -> None:
    """Integer, tuple, spaced, empty and non-ASCII labels are kept as they are."""
    matrix = np.zeros((2, len(names)), dtype=int)
    assert coded_table(matrix, names=names).names == tuple(names)
    frame = pd.DataFrame(matrix)
    frame.columns = pd.Index(names, dtype=object, tupleize_cols=False)
    assert coded_table(frame).names == tuple(names)


# --- kinds of tables -----------------------------------------------------------------------------------------------

FRAME = {
    "word": ["b", "a", "b", "ä b"],
    "number": [3, 1, 3, 7],
    "truth": [True, False, True, True],
    "whole": [2.0, 1.0, 2.0, 1.0],
}
CODES = [[1, 0, 1, 2], [1, 0, 1, 2], [1, 0, 1, 1], [1, 0, 1, 0]]
FRAME_LEVELS = (("a", "b", "ä b"), (1, 3, 7), (False, True), (1, 2))


@pytest.mark.parametrize(
    "source",
    [
        pd.DataFrame(FRAME),
        pd.DataFrame(FRAME).astype({"word": "category"}),
        pd.DataFrame(FRAME).astype(object),
        pd.DataFrame(FRAME).convert_dtypes(),
        pd.DataFrame(FRAME).convert_dtypes(dtype_backend="pyarrow"),
        pd.DataFrame(FRAME).astype({"number": pd.SparseDtype("int64", 1), "whole": "Float64"}),
        pl.DataFrame(FRAME),
        pl.DataFrame(FRAME).lazy(),
        pl.DataFrame(FRAME).cast({"word": pl.Categorical}),
        pa.table(FRAME),
    ],
    ids=["pandas", "category", "object", "nullable", "arrow", "sparse", "polars", "lazy", "categorical", "pyarrow"],
)
def test_kinds_of_frames(source: Any) -> None:
    """The same columns give the same table whatever library holds them."""
    encoded = coded_table(source)
    assert encoded.names == tuple(FRAME)
    assert encoded.codes.tolist() == CODES
    assert encoded.codes.dtype == np.uint8
    assert encoded.levels == FRAME_LEVELS
    assert encoded.cards.tolist() == [3, 3, 2, 2]
    assert not encoded.incomplete.any()


def test_a_database_query_is_a_table() -> None:
    """The result of a query in duckdb is collected and encoded."""
    with duckdb.connect() as database:
        encoded = coded_table(
            database.sql("SELECT * FROM (VALUES ('b', 3), ('a', NULL), ('b', 7))"), missing="testwise"
        )
    assert decoded(encoded) == [["b", "a", "b"], [3, None, 7]]


MISSING: dict[str, list[Any]] = {"word": ["b", None, "b"], "number": [3, None, 1], "truth": [True, None, False]}


@pytest.mark.parametrize(
    "source",
    [
        pd.DataFrame(MISSING),
        pd.DataFrame(MISSING).astype({"word": "category", "number": "Int64", "truth": "boolean"}),
        pd.DataFrame(MISSING).convert_dtypes(dtype_backend="pyarrow"),
        pl.DataFrame(MISSING),
        pl.DataFrame(MISSING).cast({"word": pl.Enum(["b", "z"])}),
        pa.table(MISSING),
        pa.table({**MISSING, "word": pa.array(MISSING["word"]).dictionary_encode()}),
        object_array(list(MISSING.values())),
        object_array([["b", pd.NA, "b"], [3, pd.NA, 1], [True, np.nan, False]]),
    ],
    ids=["pandas", "nullable", "arrow-backed", "polars", "enum", "pyarrow", "dictionary", "array", "NA"],
)
def test_missing_values_in_all_kinds(source: Any) -> None:
    """A missing value is recognised in every kind of table and treated as asked."""
    kept = coded_table(source)
    assert kept.codes.tolist() == [[0, 1, 0], [1, 2, 0], [1, 2, 0]]
    assert kept.cards.tolist() == [1, 2, 2]
    assert kept.incomplete.all()
    assert [note for note in kept.notes if "(1, 1, 1 of 3 rows)" in note]
    level = coded_table(source, missing="level")
    assert level.codes.tolist() == kept.codes.tolist()
    assert level.cards.tolist() == [2, 3, 3]
    assert level.levels == (("b", "missing"), (1, 3, "missing"), (False, True, "missing"))
    assert not level.incomplete.any()
    with pytest.raises(DataError, match=r"missing in columns .* \(1, 1, 1 of 3 rows\); give missing='testwise'"):
        coded_table(source, missing="refuse")


def test_integers_beyond_the_machine() -> None:
    """Integers wider than 64 bits are levels like any others."""
    values = [2**100, 0, 2**100]
    wide = pl.DataFrame({"a": pl.Series(values, dtype=pl.Int128), "b": pl.Series([1, 2, 1], dtype=pl.Int128)})
    for source in (wide, pd.DataFrame({"a": values, "b": [1, 2, 1]})):
        assert coded_table(source).levels == ((0, 2**100), (1, 2))


def test_a_table_is_given_back() -> None:
    """An encoded table passes as it is, and options that would need its source are refused."""
    encoded = coded_table(np.eye(2, dtype=int))
    assert encoded.names == ("X1", "X2")
    assert table(encoded) is encoded
    with pytest.raises(InvalidArgumentError, match="read already, so names= comes too late"):
        table(encoded, names=["a", "b"])


def test_category_order_and_unseen_levels() -> None:
    """Levels seen are sorted; when levels are declared, they keep their order, and unseen ones below the largest."""
    words = pd.Categorical(["mid", "low", "mid"], categories=["mid", "none", "low", "high"])
    frame = pd.DataFrame({"c": words, "i": [4, 0, 4], "f": [2.0, None, 2.0], "w": ["b", "a", "b"]})
    seen = coded_table(frame, missing="testwise")
    assert seen.levels == (("low", "mid"), (0, 4), (2,), ("a", "b"))
    declared = coded_table(frame, missing="testwise", levels="declared")
    assert declared.levels == (("mid", "none", "low"), (0, 1, 2, 3, 4), (0, 1, 2), ("a", "b"))
    assert declared.codes.tolist() == [[0, 2, 0], [4, 0, 4], [2, 3, 2], [1, 0, 1]]
    assert coded_table(frame[["i"]], levels="declared").codes.tolist() == [[4, 0, 4]]
    for block in (pd.DataFrame({"i": [-1, 2]}), pd.DataFrame({"i": [0, 65_535]})):
        with pytest.raises(DataError, match="column 'i' has integers from"):
            coded_table(block, levels="declared")


def test_names_replace_labels() -> None:
    """Names given beside a frame rename its columns, and their number must fit."""
    unhashable: Any = [["a"], ["b"]]
    assert coded_table(pd.DataFrame(FRAME), names="wnth").names == ("w", "n", "t", "h")
    assert coded_table(pl.DataFrame(FRAME), names=range(4)).names == (0, 1, 2, 3)
    with pytest.raises(DataError, match="there are 3 names for 4 columns"):
        coded_table(pd.DataFrame(FRAME), names="wnt")
    with pytest.raises(DataError, match=r"cannot have these names \(.*\); give text"):
        coded_table(np.eye(2), names=unhashable)


def test_a_multiindex_gives_tuples() -> None:
    """Columns with several header levels are named by tuples."""
    frame = pd.DataFrame({("a", 1): [0, 1], ("a", 2): [1, 1]})
    assert coded_table(frame).names == (("a", 1), ("a", 2))


def test_wider_codes_where_levels_need_them() -> None:
    """Up to 255 levels take one byte, more take two, and every column keeps its codes."""
    rows = np.arange(256)
    assert coded_table(np.stack([rows % 255, rows % 2], axis=1)).codes.dtype == np.uint8
    wide = coded_table(np.stack([rows % 2, rows, rows % 3], axis=1))
    assert wide.codes.dtype == np.uint16
    assert (wide.codes == np.stack([rows % 2, rows, rows % 3])).all()
    gap = pd.DataFrame({"a": [*range(255), None]})
    assert coded_table(gap).codes.dtype == np.uint8
    assert coded_table(gap, missing="level").codes.dtype == np.uint16


# --- bad tables ----------------------------------------------------------------------------------------------------


def test_too_many_levels() -> None:
    """65,535 levels are encoded, one more is refused by name and number."""
    rows = np.arange(65_536)
    most = np.stack([rows % 65_535, rows % 2], axis=1)
    assert coded_table(most).cards.tolist() == [65_535, 2]
    with pytest.raises(DataError, match="column 'X1' has 65,536 levels; at most 65,535"):
        coded_table(np.stack([rows, rows % 2], axis=1))
    with pytest.raises(DataError, match="column 'w' has 65,536 levels"):
        coded_table(pd.DataFrame({"w": rows.astype(str)}))


def test_fractions_are_refused_where_levels_are_counted_and_nothing_is_cut() -> None:
    """Fractions are named, also those that are objects, and the sentence says what to do."""
    frame = pd.DataFrame({"a": [0.5, 1.5, 0.5], "b": [1, 2, 3], "c": [0.25, 1e300, 7.0]})
    for source in (frame, frame.astype(object), pl.from_pandas(frame), frame.to_numpy(dtype=object)):
        read = table(source, names=list("abc"), discretize="none")
        with pytest.raises(DataError, match="column 'c' is a number, with discretize='none', and this test"):
            count_levels(read, "none")
        assert count_levels(read).cards.tolist() == [2, 3, 3]
    assert coded_table(frame).levels == ((0.5, 1.5), (1, 2, 3), (0.25, 7.0, 1e300))


def test_columns_of_all_missing() -> None:
    """A column without a single value is set aside under every rule, and refused if the caller wants it."""
    frames = [
        pd.DataFrame({"a": [1, 2], "n": [None, None]}),
        pd.DataFrame({"a": [1, 2], "n": [np.nan, np.nan]}),
        pd.DataFrame({"a": [1, 2], "n": pd.Categorical([None, None])}),
        pl.DataFrame({"a": [1, 2], "n": [None, None]}),
        pa.table({"a": [1, 2], "n": pa.nulls(2)}),
    ]
    for frame in frames:
        for missing in get_args(MissingRule):
            read = table(frame, missing=missing)
            assert read.names == ("a",)
            assert read.notes == ("column 'n' is set aside: all values are missing",)
            with pytest.raises(DataError, match="all values are missing in column 'n'; leave it out"):
                table(frame, missing=missing, kinds={"n": "category"})


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (np.ones((1, 3), dtype=int), "the table has 1 row; at least 2 are needed"),
        (np.ones((0, 3), dtype=int), "the table has 0 rows; at least 2 are needed"),
        (np.ones((3, 0), dtype=int), "the table has no columns"),
        (pd.DataFrame({"a": []}), "the table has 0 rows"),
        (pd.DataFrame(), "the table has no columns"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), "duplicate column names: 'a'"),
        (pa.table([[1, 2], [3, 4]], names=["a", "a"]), "'a' 2 times"),
        (np.ones(3, dtype=int), "the array has 1 dimension and"),
        (np.ones((2, 2), dtype=complex), "holds complex128"),
        (np.ma.masked_array(np.eye(2), mask=np.eye(2, dtype=bool)), "masked arrays are not taken"),
        ([[1, 2], [3, 4]], "cannot take list for a table; give a pandas"),
        (pl.Series([1, 2]), "cannot take Series for a table"),
        (pd.DataFrame({"a": [[1], [2]]}), "column 'a' holds values that cannot be levels"),
        (pl.DataFrame({"a": [[1], [2]]}), "column 'a' holds values that cannot be levels"),
    ],
)
def test_what_is_no_table(source: Any, sentence: str) -> None:
    """Each thing that is no usable table gets its own sentence."""
    with pytest.raises(DataError, match=sentence):
        coded_table(source)


def test_unknown_choices() -> None:
    """A misspelt rule is refused, with the nearest one named."""
    matrix = np.eye(2, dtype=int)
    misspelt: Any = "testwize"
    unknown: Any = "all"
    with pytest.raises(InvalidArgumentError, match="missing='testwize' is not known; did you mean 'testwise'"):
        coded_table(matrix, missing=misspelt)
    with pytest.raises(InvalidArgumentError, match="give one of 'observed', 'declared'"):
        coded_table(matrix, levels=unknown)
    with pytest.raises(UnknownNodeError, match="unknown column in discretize 'x1'; did you mean 'X1'"):
        table(matrix, discretize={"x1": "quantile:2"})


def test_a_level_called_missing() -> None:
    """A level of that name beside missing values would be ambiguous and is refused."""
    frame = pd.DataFrame({"a": ["missing", None, "x"]})
    with pytest.raises(DataError, match="also a level 'missing'"):
        coded_table(frame, missing="level")


# --- start-up ------------------------------------------------------------------------------------------------------


def test_heavy_libraries_stay_out() -> None:
    """Neither the import nor the encoding of an array loads pandas, narwhals or scipy."""
    program = (
        "import sys, numpy, apsl_rules.data as data; data.describe(data.table(numpy.eye(3, dtype=int))); "
        "print([name for name in ('pandas', 'narwhals', 'scipy') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_paths_are_tables(tmp_path: Path) -> None:
    """A path is read by its ending, as text or as a path object."""
    (tmp_path / "d.txt").write_text("0 1\n1 1\n2 0\n")
    assert coded_table(str(tmp_path / "d.txt")).names == ("1", "2")
    assert coded_table(tmp_path / "d.txt", names="ab").names == ("a", "b")
    (tmp_path / "d.csv").write_text("a,b\n1,x\n,y\n1,x\n")
    assert decoded(coded_table(tmp_path / "d.csv", missing="testwise")) == [[1, None, 1], ["x", "y", "x"]]


def test_zero_is_spelt_without_a_sign() -> None:
    """Whichever zero comes first, ranges, levels and intervals name it 0."""
    values = np.array([-0.0, 0.0, 1.5, 2.5, -0.0] * 20)
    for drawn in (values, -values):
        frame = pd.DataFrame({"x": drawn, "y": np.abs(drawn) > 1})
        read = table(frame)
        assert not any(column.detail.startswith("-0 ") or column.detail.endswith(" -0") for column in read.columns)
        for how in ({"discretize": "width:2"}, {"kinds": {"x": "category"}}):
            assert "-0" not in re.split(r"[\s,\[\]()]+", str(count_levels(table(frame, **how)).levels))
            assert "-0.0" not in str(count_levels(table(frame, **how)).levels)


def test_gaps_do_not_change_what_declared_levels_are() -> None:
    """Whole numbers are codes up to the largest with and without gaps, unless they are asked for as numbers."""
    frame = pd.DataFrame({"a": [3, 1, 5, 0] * 10, "b": [0, 1] * 20})
    gaps = frame.astype("Int64")
    gaps.loc[0, "b"] = None
    for kinds, kind, detail in ((None, "category", "6 levels"), ({"*": "number"}, "number", "0 to 5")):
        for rows in (frame, gaps):
            given: Any = kinds
            found = table(rows, levels="declared", kinds=given).columns[0]
            assert (found.kind, found.detail) == (kind, detail)
