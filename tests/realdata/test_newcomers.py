"""What a newcomer tries on real tables: a description first, and words that are wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.real_tables import RealTable, csv_of, named
from support.terminal import apsl_here

TEN = [
    named("birthwt", "low"),
    named("airquality", "Ozone"),
    named("Cars93", "Price"),
    named("Titanic", "Survived"),
    named("mpg", "hwy"),
    named("Chile", "vote"),
    named("msleep", "sleep_total"),
    named("ncbirths", "weight"),
    named("Auto", "mpg"),
    named("Wage", "wage"),
]


def written(real: RealTable, folder: Path) -> str:
    """Write a table and return the path of its file."""
    path = folder / f"{real.name}.csv"
    path.write_text(csv_of(real.frame), "utf-8")
    return str(path)


def unwrapped(text: str) -> str:
    """Return lines that were broken at the width of the terminal as they were."""
    return re.sub(r"\n +", " ", text)


@pytest.mark.parametrize("real", TEN, ids=str)
def test_a_description_has_every_column(real: RealTable, tmp_path: Path) -> None:
    """There is a line for each column with its kind, and one for each thing that stands out, without Python in it."""
    done = apsl_here("describe", written(real, tmp_path))
    lines = unwrapped(done.out).splitlines()
    frame = real.frame
    defined = "".join(line for line in lines if line.startswith(f"if {real.target} is the target: "))

    assert (done.code, done.err) == (0, "")
    assert lines[0].startswith(f"{len(frame):,} rows, ")
    assert [line.split("  ")[0] for line in lines[1 : len(frame.columns) + 1]] == [*frame.columns]
    for name, line in zip(frame.columns, lines[1:], strict=False):
        is_kept = "--keep" in real.options and name in real.options
        is_aside = is_kept or (name in real.aside and name not in real.options)
        is_defined = name != real.target and f"'{name}'" in defined
        assert ("  set aside  " in line or is_defined) == is_aside
        assert ("missing" in line) == bool(frame[name].isna().any())
    assert " 0.0%" not in done.out
    assert "kinds=" not in done.out


def test_derived_columns_are_described(tmp_path: Path) -> None:
    """Cuts, logarithms and sums of real tables are named for each target that they define."""
    told = {
        ("birthwt", "low"): "if low is the target: 'bwt' is what 'low' is cut from (at about 2509)",
        ("Cars93", "Price"): "'Max.Price' is in 'Price' = 0.5 · ('Min.Price' + 'Max.Price')",
        ("ncbirths", "weight"): "if weight is the target: 'lowbirthweight' is cut from 'weight' (at about 5.53)",
        ("msleep", "sleep_total"): "if sleep_total is the target: 'awake' is 24.0052 - 'sleep_total'",
        ("Wage", "wage"): "if wage is the target: 'logwage' is log('wage')",
    }
    for (name, target), sentence in told.items():
        assert sentence in unwrapped(apsl_here("describe", written(named(name, target), tmp_path)).out)


WRONG = [
    ("birthwt", "low", "lwo", "rownames", "Freq"),
    ("airquality", "Ozone", "ozone", "rownames", "weight"),
    ("Cars93", "Price", "Prize", "Make", "count"),
    ("Titanic", "Survived", "survived", "rownames", "freq"),
    ("Wage", "wage", "wages", "rownames", "n"),
    ("msleep", "sleep_total", "sleeptotal", "name", "wt"),
]


@pytest.mark.parametrize(("name", "target", "misspelt", "aside", "weights"), WRONG)
def test_wrong_words_get_one_sentence(
    name: str, target: str, misspelt: str, aside: str, weights: str, tmp_path: Path
) -> None:
    """A target that is not there or was set aside and weights that are not there are refused, with what to do."""
    file = written(named(name, target), tmp_path)
    unknown = apsl_here("learn", file, "--target", misspelt)
    unused = apsl_here("learn", file, "--target", aside)
    absent = apsl_here("learn", file, "--target", target, "--weights", weights)

    for done in (unknown, unused, absent):
        assert (done.code, done.out) == (1, "")
        assert len(done.err.splitlines()) == 1
    assert unknown.err.startswith(f"apsl: unknown target {misspelt!r}; did you mean ")
    assert unused.err.startswith(f"apsl: the target cannot be learned: column {aside!r} was set aside: it")
    assert absent.err.startswith(f"apsl: unknown column in --weights {weights!r}; ")
    assert "the columns are 'rownames'" in absent.err or "did you mean" in absent.err


def test_a_single_column_has_no_neighbours(tmp_path: Path) -> None:
    """Where only the target is read the part is empty, and says so."""
    done = apsl_here("learn", written(named("birthwt", "low"), tmp_path), "--target", "low", "--only", "low")

    assert done.code == 0
    assert done.out.startswith("low: no column is kept: there is no other column than 'low'.")
