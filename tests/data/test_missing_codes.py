"""Words and numbers that stand for missing values: read so, or named with the option that does it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from apsl_backends.engines.opener import open_dataset
from apsl_rules import learn, load, table
from apsl_rules.errors import ApslError
from apsl_rules.learning import ask_again
from apsl_rules.plugins import load_plugins
from support.terminal import apsl_here

ROWS = 240
_RANDOM = np.random.default_rng(7)
AGE = _RANDOM.integers(18, 91, ROWS)
WAGE = (AGE * 2 + _RANDOM.normal(0, 9, ROWS)).round(2)
SEX = _RANDOM.choice(["f", "m"], ROWS)


def _frame(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame({"age": AGE, "wage": WAGE, "sex": SEX} | columns)


def _with(values: Any, places: slice, code: Any) -> list[Any]:
    changed = list(values)
    changed[places] = [code] * len(changed[places])
    return changed


@pytest.mark.parametrize("word", [".", "NA", "n/a", "-", "?", "", "N/A", " . "])
def test_words_among_numbers_are_missing(word: str, tmp_path: Path) -> None:
    """A file with such a word in a column of numbers is the same table as one with gaps, and a note names the word."""
    gaps, words = _with(WAGE, slice(12), None), _with(map(str, WAGE), slice(12), word)
    _frame(wage=gaps).to_csv(tmp_path / "gaps.csv", index=False)
    _frame(wage=words).to_csv(tmp_path / "words.csv", index=False)
    plain, read = table(tmp_path / "gaps.csv"), table(tmp_path / "words.csv")

    assert read.columns == plain.columns
    assert read.columns[1].kind == "number"
    assert read.columns[1].missing == 12
    told = [note for note in read.notes if "read as missing values" in note]
    assert len(told) == (word not in {"NA", ""})  # the reader of CSV files knows these
    assert all(repr(word) in note for note in told)


def test_a_few_odd_words_are_named() -> None:
    """Words in few rows of a number are missing values and named; with a kind they are levels; many make a category."""
    odd = _with(map(str, WAGE), slice(4), "refused")
    read = table(_frame(wage=odd))

    assert (read.columns[1].kind, read.columns[1].missing) == ("number", 4)
    assert any("'wage': 'refused' in 4 rows; give kinds={'wage': 'category'}" in note for note in read.notes)
    assert table(_frame(wage=odd), kinds={"wage": "category"}).columns[1].missing == 0
    assert table(_frame(wage=_with(map(str, WAGE // 10), slice(40), "refused"))).columns[1].kind == "category"


def test_words_among_labels_stay_levels() -> None:
    """Only among numbers is a dash known to be no level."""
    assert table(_frame(sex=_with(SEX, slice(30), "-"))).columns[2].detail == "3 levels"
    assert table(_frame(sex=_with(SEX, slice(30), "-")), na={"sex": "-"}).columns[2].missing == 30


@pytest.mark.parametrize("code", [999, 9999, -9, -1, -99])
def test_codes_far_outside_are_named_and_kept(code: int) -> None:
    """A usual code far outside the rest is a value until the caller says otherwise, and a note has the argument."""
    frame = _frame(age=_with(AGE, slice(9), code))
    read = table(frame)

    assert read.columns[0].missing == 0
    assert sum("may stand for missing values" in note for note in read.notes) == 1
    assert any(f"{code} in 'age'" in note and f"give na={{'age': {code}}} if so" in note for note in read.notes)
    told = table(frame, na={"age": code})
    assert told.columns[0].missing == 9
    assert told.columns == table(frame, na=code).columns == table(frame, na=[code, "never"]).columns
    assert not any("may stand" in note for note in told.notes)


def test_usual_values_are_no_codes() -> None:
    """Percent up to 99, temperatures below 0, signs and amounts among others are not suspected."""
    percent = _RANDOM.integers(0, 100, ROWS)
    percent[0] = 99
    cold = np.append(_RANDOM.integers(-20, 30, ROWS - 2), [-9, -1])
    sign = _RANDOM.choice([-1, 0, 1], ROWS)
    amount = np.append(_RANDOM.integers(0, 5000, ROWS - 1), 999)
    frame = _frame(percent=percent, cold=cold, sign=sign, amount=amount)
    assert not any("may stand" in note for note in table(frame).notes)


def test_codes_of_categories_and_scales_are_named() -> None:
    """Small codes are looked at too, although whole blocks of them are read at once."""
    likes = _with(_RANDOM.integers(1, 6, ROWS), slice(5), 99)
    is_ill = _with(_RANDOM.integers(0, 2, ROWS), slice(7), -9)
    frame = _frame(likes=likes, is_ill=is_ill)
    assert any("99 in 'likes', -9 in 'is_ill'" in note for note in table(frame).notes)
    read = {one.name: one for one in table(frame, na={"likes": 99, "is_ill": "-9"}).columns}
    assert (read["likes"].detail, read["likes"].missing) == ("5 levels, 1 to 5", 5)
    assert (read["is_ill"].kind, read["is_ill"].detail, read["is_ill"].missing) == ("category", "2 levels", 7)


@pytest.mark.parametrize("counts", ["duckdb", "dask"])
def test_every_engine_reads_alike(counts: str, tmp_path: Path) -> None:
    """Kinds, missing values, notes and figures are those of the table in memory, with codes named and not."""
    frame = _frame(age=_with(AGE, slice(9), 999), wage=_with(map(str, WAGE), slice(6), "n/a"))
    frame.to_parquet(tmp_path / "t.parquet")
    for na in (None, {"age": 999}):
        here, there = (
            open_dataset(tmp_path / "t.parquet", {"na": na, "counts": how, "weights": None})
            for how in ("memory", counts)
        )
        assert there.columns == here.columns
        assert [str(note) for note in here.notes if "missing" in note] == [
            str(note) for note in there.notes if "missing" in note
        ]
        parts = [learn(tmp_path / "t.parquet", "wage", na=na, counts=how) for how in ("memory", counts)]
        assert parts[0].picture() == parts[1].picture()


def test_the_part_keeps_the_codes(tmp_path: Path) -> None:
    """A saved part is verified on data read with the same codes."""
    frame = _frame(age=_with(AGE, slice(9), 999))
    learn(frame, "wage", na={"age": 999}).save(tmp_path / "part.json")
    part: Any = load(tmp_path / "part.json")
    assert part.settings["na"] == {"age": [999]}
    again = ask_again(part, frame, load_plugins(()))
    assert again.tests > 0
    assert again.faults == ()


@pytest.mark.parametrize("na", [{"ags": 999}, True, [None], {"age": object()}, float("nan"), b"x"])
def test_wrong_codes_get_one_sentence(na: Any) -> None:
    """Unknown columns and what is neither a word nor a number are refused."""
    with pytest.raises(ApslError, match="na"):
        table(_frame(), na=na)


def test_the_option_names_columns_or_all(tmp_path: Path) -> None:
    """``--na`` is repeated for several codes; the note spells what can be typed, and typing it settles it."""
    path = tmp_path / "t.csv"
    _frame(age=_with(_with(AGE, slice(9), 999), slice(9, 12), -9)).to_csv(path, index=False)
    named = apsl_here("describe", str(path))
    assert "--na age=-9 --na age=999" in named.out + named.err
    for options in (["--na", "age=999", "--na", "age=-9"], ["--na", "999", "--na", "-9"], []):
        done = apsl_here("describe", str(path), *options)
        assert done.code == 0
        assert ("12 missing" in done.out or "5.0% missing" in done.out) == bool(options)
    assert "unknown column in --na 'agee'" in apsl_here("describe", str(path), "--na", "agee=9").err


def test_numbers_of_rows_with_gaps_are_no_weights() -> None:
    """A column with missing values is refused as weights, so no note offers it, wherever it is read as codes."""
    frame = pd.DataFrame(
        {"count": ["4", ".", "1", ".", "."], "y": [True, False, True, False, True], "z": list("abcde")}
    )
    assert not any("looks like the number of rows" in note for note in table(frame).notes)


def test_a_code_below_zero_is_named_among_fractions_too() -> None:
    """A code that is the only value below 0 is named in a column of amounts, as in one of counts."""
    wage = [-9.0 if at % 9 == 1 else value for at, value in enumerate(np.abs(WAGE) + 0.5)]
    (note,) = (one for one in table(_frame(pay=wage)).notes if "may stand for missing" in one)
    assert "-9 in 'pay'" in note
    assert not any("may stand for missing" in one for one in table(_frame(pay=[-9.0, *(np.abs(WAGE) + 0.5)[1:]])).notes)
