"""Files of spreadsheets in Europe: separators, decimal commas, marks of thousands and encodings, with one note."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from apsl_rules import learn, table
from apsl_rules.data.readers import read_columns
from apsl_rules.errors import DataError
from support.terminal import apsl_here

ROWS = 200
_RANDOM = np.random.default_rng(3)
SIZE = _RANDOM.uniform(20, 250, ROWS).round(2)
PRICE = (SIZE * 2500 + _RANDOM.normal(0, 40_000, ROWS)).round(2)
FRAME = pd.DataFrame({"größe": SIZE, "preis": PRICE, "ort": _RANDOM.choice(["Köln", "Fürth", "Bern"], ROWS)})


def _german(number: float) -> str:
    return f"{number:,.2f}".translate(str.maketrans(",.", ".,"))


WRITTEN = {
    "decimal comma": ({"sep": ";", "decimal": ","}, "utf-8", "semicolons between the fields, decimal commas"),
    "excel": ({"sep": ";", "decimal": ","}, "cp1252", "semicolons .*, decimal commas, the encoding cp1252"),
    "tabs": ({"sep": "\t"}, "utf-8", "tabs between the fields"),
    "latin": ({"sep": ","}, "latin-1", "with the encoding cp1252"),
    "unicode": ({"sep": "\t"}, "utf-16", "tabs between the fields, the encoding utf-16"),
    "bars": ({"sep": "|"}, "utf-8", "bars between the fields"),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_the_table_is_that_of_the_plain_file(name: str, tmp_path: Path) -> None:
    """However a file is written, its columns are those of the plain file, and one note says what was assumed."""
    how, encoding, told = WRITTEN[name]
    FRAME.to_csv(tmp_path / "plain.csv", index=False)
    FRAME.to_csv(tmp_path / "odd.csv", index=False, encoding=encoding, **how)  # type: ignore[call-overload]
    plain, odd = table(tmp_path / "plain.csv"), table(tmp_path / "odd.csv")

    assert odd.columns == plain.columns
    assert np.array_equal(odd.numbers, plain.numbers)  # type: ignore[union-attr]
    assert odd.categories.levels == plain.categories.levels
    (note,) = set(map(str, odd.notes)) - set(map(str, plain.notes))
    assert re.search(told, note)


def test_marks_of_thousands(tmp_path: Path) -> None:
    """Points before three digits are marks where commas are decimal; commas in quoted fields are where points are."""
    german = FRAME.assign(preis=PRICE.round(2)).map(lambda one: _german(one) if isinstance(one, float) else one)
    german.to_csv(tmp_path / "german.csv", index=False, sep=";")
    english = FRAME.map(lambda one: f"{one:,.2f}" if isinstance(one, float) else one)
    english.to_csv(tmp_path / "english.csv", index=False)
    whole = pd.DataFrame({"a": SIZE, "b": [f"{int(one):,}".replace(",", ".") for one in PRICE]})
    whole.to_csv(tmp_path / "whole.csv", index=False, sep=";", decimal=",")

    for name in ("german.csv", "english.csv"):
        read = table(tmp_path / name)
        assert np.array_equal(read.numbers, [SIZE, PRICE])  # type: ignore[union-attr]
        assert any("marks of thousands" in note for note in read.notes)
    assert np.array_equal(table(tmp_path / "whole.csv").numbers[1], PRICE.astype(int))  # type: ignore[union-attr]


def test_points_stay_decimal_where_they_cannot_be_marks(tmp_path: Path) -> None:
    """Fractions below one and with two digits are no thousands, and neither are dates."""
    frame = pd.DataFrame({"a": ["0.125", "1.500", "2.25", "3.375"] * 20, "b": ["1,5", "2,25", ".", "4"] * 20})
    frame["day"] = ["12.05.2020", "13.05.2020", "14.05.2020", "15.05.2021"] * 20
    frame.to_csv(tmp_path / "t.csv", index=False, sep=";")
    read = table(tmp_path / "t.csv")

    assert [one.kind for one in read.columns] == ["number", "number", "set aside"]
    assert read.columns[0].detail == "0.125 to 3.375"
    assert (read.columns[1].detail, read.columns[1].missing) == ("1.5 to 4", 20)


def test_codes_with_commas_stay_labels(tmp_path: Path) -> None:
    """Lists of numbers are labels."""
    pd.DataFrame({"a": ["1,2", "1,2,3", "2", "x,1"] * 9, "b": range(36)}).to_csv(tmp_path / "t.csv", index=False)
    assert table(tmp_path / "t.csv").columns[0].detail == "4 levels"


def test_a_part_is_the_same_at_the_command_line(tmp_path: Path) -> None:
    """The first command on such a file gives the part of the plain file, and says how the file was read."""
    FRAME.to_csv(tmp_path / "t.csv", index=False, sep=";", decimal=",", encoding="cp1252")
    done = apsl_here("learn", str(tmp_path / "t.csv"), "-t", "preis", "--notes")
    assert done.code == 0
    told = " ".join(done.out.split())
    assert "note: the file 't.csv' was read with semicolons between the fields, decimal commas" in told
    assert learn(FRAME, "preis").picture() in done.out


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    """A file of bytes is not taken for one in another encoding."""
    (tmp_path / "t.csv").write_bytes(b"a,b\n\x00\x01,\xe9\n2,3\n")
    with pytest.raises(DataError, match="is not UTF-8 text"):
        read_columns(tmp_path / "t.csv")


def test_a_comma_in_the_header_of_a_file_with_semicolons(tmp_path: Path) -> None:
    """A name with a comma is no sign of commas between the fields where the lines do not agree on these."""
    path = tmp_path / "t.csv"
    path.write_text("height, cm;age\n170,5;30\n168,25;41\n181;20\n")
    read = read_columns(path)
    assert tuple(read.columns) == ("height, cm", "age")
