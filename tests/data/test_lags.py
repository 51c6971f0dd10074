"""Rows in time: columns of earlier steps against a reference that looks up each time, and what is said and refused."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apsl_rules import table
from apsl_rules.data import Labels
from apsl_rules.data.times import times_of
from apsl_rules.errors import ApslError
from apsl_rules.notes import Note


@st.composite
def panels(draw: Any) -> tuple[pd.DataFrame, int]:
    """Draw rows of a few units at whole times with few gaps, in any order, and a number of lags."""
    units = draw(st.integers(2, 3))
    rows = []
    for unit in range(units):
        length = draw(st.integers(20, 40))
        gone = draw(st.sets(st.integers(0, length - 1), max_size=1))
        rows += [(f"u{unit}", at) for at in range(length) if at not in gone]
    order = draw(st.permutations(range(len(rows))))
    frame = pd.DataFrame([rows[one] for one in order], columns=["unit", "at"])
    seed = draw(st.integers(0, 1000))
    frame["x"] = np.random.default_rng(seed).normal(size=len(frame))
    frame["c"] = np.random.default_rng(seed + 1).choice(["a", "b", "c"], len(frame))
    return frame, draw(st.integers(1, 3))


@given(panels())
@settings(max_examples=40, deadline=None)
def test_earlier_steps_are_those_of_the_same_unit_so_many_steps_before(drawn: tuple[pd.DataFrame, int]) -> None:
    """Each row has what a look-up by unit and time finds, and rows that lack one of the steps are left out."""
    frame, lags = drawn
    read = table(frame, time="at", groups="unit", lags=lags)
    rows = zip(frame["unit"], frame["at"], frame["x"], frame["c"], strict=True)
    known = {(unit, at): (x, c) for unit, at, x, c in rows}
    wanted = []
    for unit, at in sorted(known):
        before = [known[unit, at - lag] for lag in range(lags + 1) if (unit, at - lag) in known]
        if len(before) == lags + 1:
            wanted.append([value for one in before for value in one])
    codes = read.categories
    found = []
    for row in range(read.rows):
        line = []
        for lag in range(lags + 1):
            ending = f"[t-{lag}]" if lag else ""
            line.append(read.values(f"x{ending}")[row])
            line.append(codes.levels_of(f"c{ending}")[codes.codes_of(f"c{ending}")[row]])
        found.append(line)
    assert sorted(found) == sorted(wanted)
    assert "at" not in read.names


def series(**columns: Any) -> pd.DataFrame:
    """Return a table of days with a walk and whatever is given."""
    walk = np.random.default_rng(1).normal(size=60).cumsum()
    return pd.DataFrame({"day": pd.date_range("2024-01-01", periods=60), "walk": walk, **columns})


def told(read: Any) -> Note:
    """Return what is said of the time of a table."""
    note: Note = read.in_time
    return note


def test_what_is_told_of_steps_and_gaps() -> None:
    """Regular steps are named, gaps are counted, and steps that differ give a warning."""
    whole = series(noise=np.random.default_rng(2).normal(size=60))
    assert "in steps of 1 day" in told(table(whole, time="day"))
    assert told(table(whole, time="day")).fields["kept"] == 59

    gap = told(table(whole.drop(index=[20, 40]), time="day"))
    assert gap.fields["gaps"] == 2
    assert gap.fields["kept"] == 58 - 3
    assert gap.severity == "info"

    odd = whole.assign(day=whole.day + pd.to_timedelta(np.arange(60) ** 2, unit="D"))
    note = told(table(odd, time="day"))
    assert note.severity == "warning"
    assert "from 2 days to 118 days" in note
    assert note.fields["kept"] == 59


@pytest.mark.parametrize(
    ("levels", "unit", "step"),
    [
        (["2024-01", "2024-02", "2024-04"], "month", "1 month"),
        (["2024Q1", "2024-Q2", "2024Q4"], "month", "3 months"),
        (["01.12.2024", "13.12.2024", "25.12.2024"], "day", "12 days"),
        (["12/01/2024", "12/13/2024", "12/25/2024"], "day", "12 days"),
        (["2024-01-01 10:00", "2024-01-01 11:00", "2024-01-01 13:00"], "day", "1 hour"),
        ([date(2024, 1, 1) + timedelta(7 * week) for week in (0, 1, 3)], "day", "7 days"),
        (list(pd.period_range("2024-01", periods=3, freq="Q")), "month", "3 months"),
    ],
)
def test_spellings_of_times(levels: list[Any], unit: str, step: str) -> None:
    """Dates, months, quarters and periods are read; a step is spelt in their unit."""
    times = times_of(["when"], [Labels(np.arange(len(levels)), tuple(levels))])
    assert times.unit == unit
    assert times.spell(float(np.diff(times.values)[0])) == step


def test_month_ends_are_a_month_apart() -> None:
    """Months have different lengths; the last days of months, banking days or not, are one step apart."""
    for frequency in ("ME", "BME"):
        days = pd.date_range("2020-01-01", periods=60, freq=frequency)
        assert "in steps of 1 month" in told(table(series(noise=np.arange(60) % 7 * 1.5).assign(day=days), time="day"))


def test_several_columns_say_the_time_together() -> None:
    """A year and a quarter are one time; the turn of the year is no gap."""
    frame = series().drop(columns="day").assign(year=2000 + np.arange(60) // 4, quarter=np.arange(60) % 4 + 1)
    note = told(table(frame.sample(frac=1, random_state=1), time=["year", "quarter"]))
    assert (note.fields["gaps"], note.fields["kept"]) == (0, 59)
    assert note.severity == "info"


def test_a_level_order_is_a_time() -> None:
    """The levels of a declared category follow one another."""
    waves = pd.Categorical(np.repeat(["first", "second", "third"], 20), ["first", "second", "third"], ordered=True)
    frame = series(pupil=np.tile(np.arange(20), 3)).assign(day=waves)
    assert told(table(frame, time="day", groups="pupil")).fields["kept"] == 40


def test_columns_of_earlier_steps_are_read_as_the_columns_are() -> None:
    """Kinds, cuts and codes for missing values hold for both; what never varies in a group has no earlier step."""
    random = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "unit": np.repeat(["a", "b", "c"], 30),
            "at": np.tile(np.arange(30), 3),
            "size": np.repeat([1.5, 2.5, 7.25], 30),
            "x": np.where(random.random(90) < 0.1, -99, random.normal(size=90)),
            "y": random.normal(size=90),
        }
    )
    read = table(frame, time="at", groups="unit", na={"x": -99}, discretize={"y": "quantile:3"})
    assert "size[t-1]" not in read.names
    assert np.nanmin(read.values("x[t-1]")) > -10
    assert len(read.categories.levels_of("y[t-1]")) == 3
    only = table(frame, time="at", groups="unit", only=["y", "x[t-1]"])
    assert set(only.names) == {"y", "x[t-1]"}


@pytest.mark.parametrize(
    ("frame", "settings", "words"),
    [
        (series(), {"time": "date"}, "column in time 'date'|unknown column in time"),
        (series(), {"time": "day", "lags": 60}, "lags=60 leaves 0 rows of 60.*60 rows; give fewer lags"),
        (series(text=["early"] * 60), {"time": "text"}, "'text' does not say when rows were: 'early' is no date"),
        (series().assign(day="2024-01-01"), {"time": "day"}, "59 rows of 60 have the same 'day' as another; take one"),
        (
            pd.concat([series(unit="a"), series(unit="b")]),
            {"time": "day"},
            "60 rows of 120 have the same 'day' as another; give groups='unit', which tells such rows apart",
        ),
        (series(**{"walk[t-1]": 1.5 * np.arange(60)}), {"time": "day"}, "has a column 'walk\\[t-1\\]' already"),
        (series(n=[1] * 60), {"time": "day", "weights": "n"}, "leave weights out, or leave time out"),
    ],
)
def test_refusals_of_times(frame: pd.DataFrame, settings: dict[str, Any], words: str) -> None:
    """Each wrong input gets one sentence."""
    with pytest.raises(ApslError, match=words):
        table(frame, **settings)


def test_times_are_sorted_whatever_the_zone() -> None:
    """Times with zones are compared as moments."""
    early, late = "2024-01-01 12:00+02:00", "2024-01-01 11:00+00:00"
    times = times_of(["when"], [Labels(np.arange(2), (early, late))])
    assert times.spell(float(times.steps(np.zeros(2, np.int64))[0])) == "1 hour"


def test_keys_in_a_dictionary_are_no_time() -> None:
    """A dictionary has its levels in the order of the rows, which says nothing of when these were."""
    random = np.random.default_rng(3)
    walk = np.cumsum(random.normal(size=200))
    keys = pa.array([f"k{one}" for one in random.permutation(200)]).dictionary_encode()
    frame = pa.table({"a b": keys, "x": walk})
    assert not any("follow one another" in note for note in table(frame, groups="auto").notes)
