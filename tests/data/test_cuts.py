"""Cutting continuous columns: full intervals, ties together, the same answer every time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apsl_rules import learn
from apsl_rules.data import MixedTable, Table, count_levels, table
from apsl_rules.data.values import Cut, Method, cut_points, intervals, parse_cut
from apsl_rules.errors import DataError, InvalidArgumentError
from support.counted import essence

VALUES = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=40)
CUTS = st.builds(Cut, st.sampled_from(["quantile", "width"]), st.integers(2, 7))


@given(VALUES, CUTS)
def test_intervals_keep_order_and_ties(values: list[float], cut: Cut) -> None:
    """Codes rise with the values, equal values share one, every level is used, and there are no more than asked."""
    array = np.array(values)
    codes, names = intervals(array, cut)
    ordered = codes[np.argsort(array, kind="stable")]
    assert (np.diff(ordered) >= 0).all()
    assert {len(set(codes[array == value])) for value in values} == {1}
    assert set(codes.tolist()) == set(range(len(names)))
    assert len(names) <= cut.bins
    assert len(set(names)) == len(names)


@given(st.lists(st.integers(0, 10_000), min_size=2, max_size=60, unique=True), st.integers(2, 5))
def test_quantiles_fill_evenly_without_ties(values: list[int], bins: int) -> None:
    """Without ties the intervals differ by at most one in the number of values they hold."""
    codes, _ = intervals(np.array(values, dtype=float), Cut("quantile", bins))
    filled = np.bincount(codes, minlength=min(bins, len(values)))
    assert filled.max() - filled.min() <= 1


@pytest.mark.parametrize("method", ["quantile", "width"])
def test_order_of_rows_does_not_matter(method: Method) -> None:
    """Shuffled rows give the same limits."""
    values = np.random.default_rng(1).normal(size=200)
    assert (cut_points(values, Cut(method, 4)) == cut_points(values[::-1].copy(), Cut(method, 4))).all()


def test_known_limits() -> None:
    """Small columns are cut where a reader would cut them, and the intervals are readable."""
    assert intervals(np.array([1.5, 2.5, 3.5, 4.5, 5.5, 6.5]), Cut("quantile", 3))[1] == (
        "[1.5, 2.5]",
        "(2.5, 4.5]",
        "(4.5, 6.5]",
    )
    codes, names = intervals(np.array([0.0, 0.1, 0.2, 10.0]), Cut("width", 5))
    assert codes.tolist() == [0, 0, 0, 1]
    assert names == ("[0, 2]", "(2, 10]")
    assert intervals(np.array([0.5, 0.5]), Cut("quantile", 3))[1] == ("0.5",)
    near = intervals(np.array([1.0000001, 1.0000002, 1.0000003]), Cut("quantile", 3))[1]
    assert near == ("[1.0000001, 1.0000001]", "(1.0000001, 1.0000002]", "(1.0000002, 1.0000003]")


def test_extreme_values_do_not_overflow() -> None:
    """The widest range of floats is cut without a warning."""
    codes, _ = intervals(np.array([-1.7e308, 0.0, 1.7e308]), Cut("width", 2))
    assert codes.tolist() == [0, 0, 1]


def test_tables_are_cut_where_asked() -> None:
    """A text cuts numbers, a mapping the named columns in its own way; missing rows stay missing."""
    frame = pd.DataFrame({"f": [0.5, 1.5, None, 9.5], "i": [1, 2, 3, 400], "w": list("abab")})
    plain = count_levels(
        table(frame, discretize={"*": "quantile:2", "i": "none"}, kinds={"f": "number", "i": "category"})
    )
    assert plain.codes.tolist() == [[0, 0, 2, 1], [0, 1, 2, 3], [0, 1, 0, 1]]
    assert plain.levels[0] == ("[0.5, 1.5]", "(1.5, 9.5]")
    named = count_levels(table(frame, discretize={"f": "width:3", "i": "quantile:2"}, missing="testwise"))
    assert named.codes.tolist() == [[0, 0, 2, 1], [0, 0, 1, 1], [0, 1, 0, 1]]
    mixed = table(frame, discretize={"i": "quantile:2"}, missing="testwise")
    assert isinstance(mixed, MixedTable)
    assert mixed.number_names == ("f",)
    rest = count_levels(mixed)
    assert rest.codes.tolist() == [[0, 1, 3, 2], [0, 0, 1, 1], [0, 1, 0, 1]]
    assert [note for note in rest.notes if "column 'f' cut into 3 intervals" in note]
    with pytest.raises(DataError, match="column 'w' holds labels, and only numbers can be cut"):
        table(frame, discretize={"w": "quantile:2"}, missing="testwise")
    with pytest.raises(DataError, match="column 'f' has infinite values"):
        table(pd.DataFrame({"f": [0.5, np.inf]}), discretize="width:2")


def test_numbers_are_cut_for_tests_that_count() -> None:
    """Fractions and whole numbers with many values become three intervals, with a note; others stay."""
    rows = np.arange(200)
    frame = pd.DataFrame({"price": rows * 7, "share": rows / 8, "grade": rows % 10, "code": rows // 26 + 1})
    cut = count_levels(table(frame))

    assert cut.cards.tolist() == [3, 3, 10, 8]
    assert np.bincount(cut.codes[0]).tolist() == [67, 67, 66]
    told = "columns 'price', 'share' cut into 3 intervals with about as many rows each"
    assert cut.notes == (f"{told}; choose other cuts with discretize=",)
    assert table(frame[["grade", "code"]]).notes == ()
    asked = table(frame, discretize="quantile:4")
    assert isinstance(asked, Table)
    assert asked.cards.tolist() == [4, 4, 10, 8]
    assert asked.notes == ()
    assert table(frame, discretize={"*": "quantile:4", "share": "none"}).names == tuple(frame.columns)


def test_declared_codes_are_never_cut_unasked() -> None:
    """Integers that are codes by the caller's word stay codes."""
    assert count_levels(table(np.arange(100)[:, None], levels="declared")).cards.tolist() == [100]


@pytest.mark.parametrize("values", [2, 10, 11, 41])
def test_whole_numbers_with_few_values_stay_levels(values: int) -> None:
    """Up to ten whole numbers are levels; more are a number, which is cut where levels are counted."""
    cut = count_levels(table((np.arange(1000) % values)[:, None]))

    assert cut.cards.tolist() == [values if values <= 10 else 3]


@pytest.mark.slow
@pytest.mark.parametrize("source", ["duckdb", "dask"])
def test_counts_from_elsewhere_cut_the_same(source: str, tmp_path: Path) -> None:
    """DuckDB and Dask cut the same columns at the same values, and say so."""
    random = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"price": random.integers(0, 900, 600), "share": random.random(600), "bin": random.integers(0, 2, 600)}
    )
    frame.loc[::7, "share"] = np.nan
    frame.to_parquet(tmp_path / "rows.parquet")
    here = learn(frame, "bin", learner="apsl", oracle="gsquare")
    there = learn(tmp_path / "rows.parquet", "bin", learner="apsl", oracle="gsquare", counts=source)

    assert any("cut" in note for note in here.notes)
    assert essence(there) == essence(here)


@pytest.mark.parametrize(
    "text", ["quantile", "quantile:1", "quantile:x", "kmeans:3", "width:-2", "width:99999", "", ":3"]
)
def test_unknown_ways_to_cut(text: str) -> None:
    """Anything but a known method with a number from 2 on is refused, showing what was given."""
    with pytest.raises(InvalidArgumentError, match=f"cannot discretise by '{text}'; give 'quantile:k' or 'width:k'"):
        parse_cut(text)


def test_what_is_no_text() -> None:
    """A bare number says nothing about how to cut and is refused like an unknown way."""
    number: Any = 3
    with pytest.raises(InvalidArgumentError, match="cannot discretise by 3; give 'quantile:k'"):
        table(np.eye(2), discretize=number)


@pytest.mark.parametrize("low", [10, 48, 52, 90])
def test_two_values_stay_two_however_uneven(low: int) -> None:
    """A cut into halves keeps a column of two values apart, whichever of them is more frequent."""
    values = np.array([0.5] * low + [1.5] * (100 - low))

    codes, names = intervals(values, Cut("quantile", 2))

    assert len(names) == 2
    assert codes.tolist() == [0] * low + [1] * (100 - low)
