"""Dates become numbers or one of their parts when asked, wherever they are, and never by themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from apsl_backends.engines.opener import open_dataset
from apsl_rules.data import MixedTable, table
from apsl_rules.errors import DataError, InvalidArgumentError
from support.databases import stored
from support.terminal import apsl_here

DAYS = pd.Timestamp("2023-11-20 13:30") + pd.to_timedelta(np.arange(60) * 77, unit="h")
RANDOM = np.random.default_rng(1)


def visits(text: str | None = None) -> pd.DataFrame:
    """Return visits with dates, as text in a form if one is given."""
    dates: Any = DAYS if text is None else DAYS.strftime(text).to_numpy(object)
    frame = pd.DataFrame({"visit": dates, "cost": RANDOM.normal(size=60).round(2), "kind": ["a", "b", "c"] * 20})
    frame.loc[5, "visit"] = None
    return frame


@pytest.mark.parametrize("text", [None, "%Y-%m-%d %H:%M:%S", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d"])
def test_dates_are_days_or_parts(text: str | None) -> None:
    """A date is a number of days, or its year, month, weekday and so on; a missing one stays missing."""
    frame = visits(text)
    read = table(frame, kinds={"visit": "number"})
    assert isinstance(read, MixedTable)
    expected = (DAYS - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
    with_time = text is None or "%H" in text
    days = np.asarray(expected) if with_time else np.floor(np.asarray(expected))
    assert np.allclose(np.delete(read.values("visit"), 5), np.delete(days, 5), rtol=0, atol=1e-9)
    assert np.isnan(read.values("visit")[5])
    months = table(frame, kinds={"visit": "month"}).categories
    assert months.levels_of("visit") == (1, 2, 3, 4, 5, 11, 12)
    assert [months.levels_of("visit")[code] for code in months.codes_of("visit")[:5]] == [11, 11, 11, 11, 12]
    weekdays = table(frame, kinds={"visit": "weekday"}).categories
    assert weekdays.levels_of("visit")[weekdays.codes_of("visit")[0]] == 1  # a Monday


def test_dates_stay_aside_until_asked_for() -> None:
    """Without a word they are set aside, and the note says both ways to take them."""
    read = table(visits())
    assert "visit" not in read.place
    assert any(
        "{'visit': 'number'}, as days, or as a part of them, as kinds={'visit': 'month'}" in one for one in read.notes
    )


def test_engines_take_the_same_parts(tmp_path: Path) -> None:
    """So do DuckDB, from Parquet and text, Dask and SQLite."""
    frame = visits()
    frame.to_parquet(tmp_path / "visits.parquet")
    frame.to_csv(tmp_path / "visits.csv", index=False)
    sources = [
        (tmp_path / "visits.parquet", "duckdb"),
        (tmp_path / "visits.parquet", "dask"),
        (tmp_path / "visits.csv", "duckdb"),
    ]
    for kind in ("number", "month", "hour", "year"):
        here = table(frame, kinds={"visit": kind})
        for source, counts in [*sources, (stored(frame, "sqlite", tmp_path), None)]:
            there = open_dataset(source, {"counts": counts, "kinds": {"visit": kind}})
            assert there.columns == here.columns
            some = there.thinned()
            assert some is not None
            for name in here.number_names:
                assert np.array_equal(some.values(name), here.values(name), equal_nan=True)
            assert there.number_names == here.number_names


@pytest.mark.parametrize(
    ("values", "kind", "words"),
    [
        (["03/04/2020", "05/06/2020"] * 10, "number", "nobody knows whether the day or the month comes first"),
        (["2020-13-45", "2020-01-02"] * 10, "number", "cannot be read"),
        (["x", "y"] * 10, "month", "holds no dates, so there is no month"),
        ([1.5, 2.5] * 10, "year", "holds no dates, so there is no year"),
    ],
)
def test_what_is_no_date_is_refused(values: list[Any], kind: Any, words: str) -> None:
    """Dates that can be read in two ways, and what is none, end with a sentence."""
    with pytest.raises(DataError, match=words):
        table(pd.DataFrame({"d": values, "z": ["u", "v"] * 10}), kinds={"d": kind})


def test_parts_are_for_columns_by_name() -> None:
    """The star takes no part, and the command line spells parts."""
    with pytest.raises(InvalidArgumentError, match="month"):
        table(visits(), kinds={"*": "month"})


def test_the_command_line_takes_parts(tmp_path: Path) -> None:
    """``--part visit=month`` and ``--number visit`` are typed as the note says."""
    path = tmp_path / "visits.csv"
    visits().to_csv(path, index=False)
    told = apsl_here("describe", str(path))
    assert "--number visit, as days, or as a part of them, as --part visit=month" in told.words
    assert "ordered" not in apsl_here("learn", str(path), "-t", "cost", "--part", "visit=month").out
    wrong = apsl_here("learn", str(path), "-t", "cost", "--part", "visit")
    assert "--part is 'visit'; give a column and a part, such as visit=month" in wrong.err
