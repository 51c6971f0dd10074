"""Excel, Feather and JSON lines: the same table as from CSV, or one sentence."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pandas as pd
import pytest

from apsl_rules import table
from apsl_rules.data import FileTable, describe
from apsl_rules.data.readers import read_columns
from apsl_rules.errors import DataError, MissingPackageError

FRAME = pd.DataFrame(
    {
        "sex": ["f", "m", "f", None] * 30,
        "age": [20.5, 31.0, float("nan"), 44.25] * 30,
        "visits": [*range(60), *range(60)],
        "smoker": [True, False, False, True] * 30,
        "blood pressure": ["high", "low", None, "low"] * 30,
    }
)
WRITERS: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "t.xlsx": lambda frame, path: frame.to_excel(path, index=False),
    "t.feather": lambda frame, path: frame.to_feather(path),
    "t.jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    "t.jsonl.gz": lambda frame, path: frame.to_json(path, orient="records", lines=True, compression="gzip"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_table_is_the_same_in_every_file(name: str, tmp_path: Path) -> None:
    """Kinds, levels, missing values and notes are those of the CSV file."""
    WRITERS[name](FRAME, tmp_path / name)
    FRAME.to_csv(tmp_path / "t.csv", index=False)

    assert str(describe(table(tmp_path / name))) == str(describe(table(tmp_path / "t.csv")))


def test_a_cell_says_na_for_a_missing_value(tmp_path: Path) -> None:
    """What stands for a missing value in a CSV file does so in a workbook, and so does Excel's own."""
    pd.DataFrame({"a": ["x", "NA", "#N/A", "y"], "b": [1, 2, 3, 4]}).to_excel(tmp_path / "t.xlsx", index=False)
    assert read_columns(tmp_path / "t.xlsx")["a"].isna().tolist() == [False, True, True, False]


def test_a_sheet_is_named_where_there_are_several(tmp_path: Path) -> None:
    """A workbook with two tables is refused until one is named; a misspelt sheet gets the nearest."""
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as book:
        FRAME.to_excel(book, sheet_name="May", index=False)
        FRAME.iloc[:10].to_excel(book, sheet_name="in June", index=False)
        pd.DataFrame().to_excel(book, sheet_name="empty")

    assert len(read_columns(f"{path}#May")) == 120
    assert len(read_columns(f"{path}#in June")) == 10
    with pytest.raises(DataError, match=r"has the sheets 'May', 'in June'; name one, as .*book\.xlsx#May"):
        read_columns(path)
    with pytest.raises(DataError, match="has no sheet 'Mai'; did you mean 'May'"):
        read_columns(f"{path}#Mai")
    with pytest.raises(DataError, match="has no cells with values"):
        read_columns(f"{path}#empty")


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("t.jsonl", '{"a": 1}\n{"a": \n', "line 2 of .* is not JSON .*; give one object in each line"),
        ("t.jsonl", '{"a": 1}\n[1]\n', "line 2 of .* is no object; give the columns by name"),
        ("t.jsonl", '{"a": 1}\n{"a": [2]}\n', "line 2 of .* has a list in 'a'; give one value"),
        ("t.xlsx", "no workbook", "cannot read the workbook .*; check that it is whole and really .xlsx"),
        ("t.dta", "no table", "cannot read the Stata file .*; check that it is whole and really .dta"),
        ("t.feather", "no table", "cannot read the Feather file .*; check that it is whole and really Feather"),
    ],
)
def test_a_broken_file_gets_a_sentence(name: str, content: str, sentence: str, tmp_path: Path) -> None:
    """The sentence says what is wrong, and in which line where there are lines."""
    (tmp_path / name).write_text(content, "utf-8")
    with pytest.raises(DataError, match=sentence):
        read_columns(tmp_path / name)


def test_a_column_without_a_name_is_refused(tmp_path: Path) -> None:
    """The first row of a sheet names every column that has values."""
    pd.DataFrame([["a", None], [1, 2], [3, 4]]).to_excel(tmp_path / "t.xlsx", header=False, index=False)
    with pytest.raises(DataError, match=r"column 2 of .* has no name; the first row of the sheet must name"):
        read_columns(tmp_path / "t.xlsx")


def test_a_damaged_workbook_is_refused_in_a_sentence(tmp_path: Path) -> None:
    """A file within the workbook that ends in the middle is no internal error."""
    WRITERS["t.xlsx"](FRAME, tmp_path / "t.xlsx")
    with ZipFile(tmp_path / "t.xlsx") as book:
        files = {name: book.read(name) for name in book.namelist()}
    for damaged in ("xl/worksheets/sheet1.xml", "xl/workbook.xml", "[Content_Types].xml"):
        with ZipFile(tmp_path / "damaged.xlsx", "w") as book:
            for name, content in files.items():
                book.writestr(name, content[: len(content) // 2] if name == damaged else content)
        with pytest.raises(DataError, match=r"cannot read the workbook .*; check that it is whole"):
            read_columns(tmp_path / "damaged.xlsx")


def test_columns_with_one_name_are_refused(tmp_path: Path) -> None:
    """No column is renamed silently."""
    pd.DataFrame([["a", "a"], [1, 2], [3, 4]]).to_excel(tmp_path / "t.xlsx", header=False, index=False)
    with pytest.raises(DataError, match="duplicate column names: 'a'"):
        table(tmp_path / "t.xlsx")


def test_keys_that_come_late_are_missing_before(tmp_path: Path) -> None:
    """JSON lines may leave keys out."""
    (tmp_path / "t.jsonl").write_text('{"a": 1}\n\n{"b": "x", "a": 2}\n{"b": "y"}\n', "utf-8")
    frame = read_columns(tmp_path / "t.jsonl")

    assert list(frame.columns) == ["a", "b"]
    assert frame["b"].isna().tolist() == [True, False, False]
    assert frame["a"].isna().tolist() == [False, False, True]


@pytest.mark.parametrize(("name", "extra"), [("t.xlsx", "excel"), ("t.feather", "parquet")])
def test_a_missing_library_is_named_with_its_extra(
    name: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the library that reads a file the sentence says what to install."""
    WRITERS[name](FRAME, tmp_path / name)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    find = importlib.util.find_spec
    hidden = ("pyarrow", "polars")
    monkeypatch.setattr(importlib.util, "find_spec", lambda one: None if one in hidden else find(one))
    with pytest.raises(MissingPackageError, match=rf"pip install 'apsl_rules\[{extra}\]'"):
        read_columns(tmp_path / name)


def test_what_is_counted_in_place_is_csv_or_parquet(tmp_path: Path) -> None:
    """A workbook that is to be left in place is refused with what to do."""
    WRITERS["t.xlsx"](FRAME, tmp_path / "t.xlsx")
    with pytest.raises(DataError, match="is an Excel workbook, which is counted in memory only"):
        _ = FileTable(tmp_path / "t.xlsx").kind


def test_a_stata_file_keeps_its_labels_and_missing_codes(tmp_path: Path) -> None:
    """Fully labelled values are levels in the order of the values; scales with labels at some values are numbers."""
    frame = pd.DataFrame(
        {
            "grade": [3, 1, 2, 3] * 20,
            "trust": [1, 2, 7, 99] * 20,
            "wage": [1.5, float("nan"), 3.25, 4.0] * 20,
            "sex": ["f", "m", "m", "f"] * 20,
        }
    )
    labels: Any = {"grade": {1: "low", 2: "middle", 3: "high"}, "trust": {1: "never", 7: "always", 99: "no answer"}}
    frame.to_stata(tmp_path / "t.dta", write_index=False, value_labels=labels)
    read = table(tmp_path / "t.dta")
    kinds = {one.name: (one.kind, one.missing) for one in read.columns}

    assert kinds == {
        "grade": ("category", 0),
        "trust": ("ordered", 0),
        "wage": ("number", 20),
        "sex": ("category", 0),
    }
    assert read.categories.levels[0] == ("high", "low", "middle")
    declared = table(tmp_path / "t.dta", only=["grade"], levels="declared").categories
    assert declared.levels == (("low", "middle", "high"),)
    assert any("99 in 'trust' may stand for missing values" in note for note in read.notes)
