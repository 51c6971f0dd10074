"""Files of other programs, each written by the library that people use: the same table as from CSV, or one sentence."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest

from apsl_rules import Part, effect, learn, load, table
from apsl_rules.data.readers import read_columns
from apsl_rules.errors import DataError, MissingPackageError
from apsl_rules.views.page import report_html
from support.terminal import apsl_here

RANDOM = np.random.default_rng(8)
ROWS = 200
AGE = RANDOM.normal(50, 10, ROWS).round(1)
FRAME = pd.DataFrame(
    {
        "sex": RANDOM.choice(["f", "m"], ROWS),
        "age": AGE,
        "dose": (AGE / 10 + RANDOM.normal(size=ROWS)).round(2),
        "pain": RANDOM.integers(0, 2, ROWS),
    }
)
FRAME.loc[::9, "dose"] = np.nan


def _statistics(name: str, **settings: bool) -> Callable[[Path], Any]:
    return lambda path: getattr(pytest.importorskip("pyreadstat"), name)(FRAME, str(path), **settings)


def _sqlite(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        FRAME.to_sql("t", connection, index=False)
    connection.close()


def _zipped(path: Path) -> None:
    with ZipFile(path, "w") as archive:
        archive.writestr("t.csv", FRAME.to_csv(index=False))


def _stream(path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    rows = pa.Table.from_pandas(FRAME, preserve_index=False)
    with pa.ipc.new_stream(path, rows.schema) as writer:
        writer.write_table(rows)


WRITERS: dict[str, Callable[[Path], Any]] = {
    "t.sav": _statistics("write_sav"),
    "t.zsav": _statistics("write_sav", compress=True),
    "t.xpt": _statistics("write_xport"),
    "t.json": lambda path: FRAME.to_json(path, orient="records"),
    "t.arrow": FRAME.to_feather,
    "stream.arrow": _stream,
    "t.sqlite": _sqlite,
    "t.csv.zip": _zipped,
}


@pytest.mark.parametrize("name", WRITERS)
def test_the_part_is_that_of_the_csv_file(name: str, tmp_path: Path) -> None:
    """Kinds, missing values and the part do not depend on the program that wrote the file."""
    WRITERS[name](tmp_path / name)
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    read, plain = table(tmp_path / name), table(tmp_path / "t.csv")
    assert [(one.name, one.kind, one.missing) for one in read.columns] == [
        (one.name, one.kind, one.missing) for one in plain.columns
    ]
    one, other = (learn(rows, "dose") for rows in (read, plain))
    assert (one.edges, one.arrows, one.lines) == (other.edges, other.arrows, other.lines)
    assert one.neighbours_of("dose") == ("age",)


def test_a_workbook_of_libreoffice_is_read(tmp_path: Path) -> None:
    """A sheet is found in a file of OpenDocument, and a misspelt one gets the nearest."""
    pytest.importorskip("python_calamine")
    cells = "".join(
        "<table:table-row>"
        + "".join(
            f'<table:table-cell office:value-type="float" office:value="{value}"><text:p>{value}</text:p>'
            "</table:table-cell>"
            if not isinstance(value, str)
            else f'<table:table-cell office:value-type="string"><text:p>{value}</text:p></table:table-cell>'
            for value in row
        )
        + "</table:table-row>"
        for row in [list(FRAME.columns), *FRAME.fillna(0).to_numpy().tolist()]
    )
    spaces = " ".join(
        f'xmlns:{one}="urn:oasis:names:tc:opendocument:xmlns:{one}:1.0"' for one in ("office", "table", "text")
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    with ZipFile(tmp_path / "t.ods", "w") as book:
        book.writestr("mimetype", kind)
        book.writestr(
            "content.xml",
            f'<office:document-content {spaces} office:version="1.2"><office:body><office:spreadsheet>'
            f'<table:table table:name="May">{cells}</table:table></office:spreadsheet></office:body>'
            "</office:document-content>",
        )
        book.writestr(
            "META-INF/manifest.xml",
            '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
            f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{kind}"/></manifest:manifest>',
        )
    frame = read_columns(f"{tmp_path / 't.ods'}#May")
    assert list(frame.columns) == list(FRAME.columns)
    assert frame["age"].tolist() == AGE.tolist()
    with pytest.raises(DataError, match="has no sheet 'Mai'; did you mean 'May'"):
        read_columns(f"{tmp_path / 't.ods'}#Mai")


def test_spss_labels_and_declared_codes(tmp_path: Path) -> None:
    """Value labels are levels, codes that the file declares are missing, and a note says so."""
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = FRAME.assign(pain=RANDOM.integers(1, 4, ROWS), income=[99.0, *RANDOM.normal(40, 5, ROWS - 1).round(1)])
    pyreadstat.write_sav(
        frame,
        str(tmp_path / "t.sav"),
        variable_value_labels={"pain": {1: "none", 2: "some", 3: "much"}, "income": {99: "refused"}},
        missing_ranges={"income": [99]},
    )
    read = table(tmp_path / "t.sav")
    assert set(read.categories.levels_of("pain")) == {"none", "some", "much"}
    assert np.isnan(read.values("income")[0])
    (note,) = [one for one in read.notes if "declares codes" in one]
    assert "'income': 99" in note


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("t.sav", "no table", "cannot read the file .*t.sav"),
        ("t.sqlite", "no table", "cannot read the file .*t.sqlite"),
        ("t.arrow", "no table", "cannot read the file .*t.arrow"),
        ("t.json", "[1, 2]", "is no table; give a list of objects"),
        ("t.json", '[{"a": [1]}]', "is no table; give a list of objects"),
        ("t.json", "[", "is not JSON .*; give a list of objects"),
        ("t.csv.zip", "no archive", "cannot read the file .*t.csv.zip"),
    ],
)
def test_a_damaged_file_gets_a_sentence(name: str, content: str, sentence: str, tmp_path: Path) -> None:
    """No error of another library reaches the user as it is."""
    if name == "t.sav":
        pytest.importorskip("pyreadstat")
    (tmp_path / name).write_text(content, "utf-8")
    with pytest.raises(DataError, match=sentence):
        read_columns(tmp_path / name)


def test_tables_of_a_file_are_named(tmp_path: Path) -> None:
    """Of several tables one must be named, and so must an archive have one file."""
    with sqlite3.connect(tmp_path / "t.sqlite") as connection:
        FRAME.to_sql("one", connection, index=False)
        FRAME.head(20).to_sql("two", connection, index=False)
    connection.close()
    assert len(read_columns(f"{tmp_path / 't.sqlite'}#two")) == 20
    with pytest.raises(DataError, match=r"has 2 tables: 'one', 'two'; name one, as .*t\.sqlite#one"):
        read_columns(tmp_path / "t.sqlite")
    with pytest.raises(DataError, match=r"has no table 'tow'; did you mean 'two'"):
        read_columns(f"{tmp_path / 't.sqlite'}#tow")
    with ZipFile(tmp_path / "t.csv.zip", "w") as archive:
        archive.writestr("a.csv", "a\n1\n")
        archive.writestr("b.csv", "a\n1\n")
    with pytest.raises(DataError, match="has 2 files; give one with a single table"):
        read_columns(tmp_path / "t.csv.zip")


@pytest.mark.parametrize(
    ("name", "module", "extra"), [("t.sav", "pyreadstat", "stats"), ("t.ods", "python_calamine", "ods")]
)
def test_a_missing_library_is_named(
    name: str, module: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sentence has the extra to install."""
    (tmp_path / name).write_text("content", "utf-8")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingPackageError, match=rf"pip install 'apsl_rules\[{extra}\]'"):
        read_columns(tmp_path / name)


def test_labels_of_columns_are_kept_and_shown(tmp_path: Path) -> None:
    """What a file of Stata or SPSS calls its columns stands in the summary, effects, the report and descriptions."""
    random = np.random.default_rng(2)
    school = random.integers(8, 18, 300).astype(float)
    frame = pd.DataFrame({"wage": (5 + school + random.normal(0, 2, 300)).round(2), "educ": school})
    frame["noise"] = random.normal(size=300).round(2)
    labels = {"wage": "hourly wage, dollars", "educ": "years of education", "noise": "NOISE"}
    frame.to_stata(tmp_path / "wages.dta", write_index=False, variable_labels=labels)
    pytest.importorskip("pyreadstat").write_sav(frame, str(tmp_path / "wages.sav"), column_labels=labels)
    for name in ("wages.dta", "wages.sav"):
        part = learn(tmp_path / name, "wage")
        assert part.labels == {"wage": "hourly wage, dollars", "educ": "years of education"}
        assert "wage: hourly wage, dollars" in " ".join(str(part).split())
        part.save(tmp_path / "part.json")
        kept = load(tmp_path / "part.json")
        assert isinstance(kept, Part)
        assert kept.labels == part.labels
        assert "educ: years of education" in str(effect(part, "educ", "wage", data=tmp_path / name))
        assert "years of education; " in report_html(part)
        assert "years of education: " in apsl_here("describe", str(tmp_path / name)).words


@pytest.mark.parametrize("form", ["MONNAME3", "MONYY7", "YYQ6", "WORDDATE18", "DATE9"])
def test_days_of_sas_are_dates_whatever_their_format(tmp_path: Path, form: str) -> None:
    """A number with a format of days is a date, and no number of days since 1960."""
    path = tmp_path / "t.xpt"
    days = pd.DataFrame({"month": [12054.0, 12085.0, 12113.0]})
    pytest.importorskip("pyreadstat").write_xport(days, str(path), variable_format={"month": form})
    assert [str(one)[:10] for one in read_columns(path)["month"]] == ["1993-01-01", "1993-02-01", "1993-03-01"]


def test_values_that_share_a_label_of_stata_stay_numbers(tmp_path: Path) -> None:
    """Where two values of a column have one label it keeps its numbers, and other columns keep their labels."""
    path = tmp_path / "t.dta"
    frame = pd.DataFrame({"group": [1, 2, 3, 1], "sex": [0, 1, 1, 0]})
    labels = {"group": {1: "other", 2: "other", 3: "north"}, "sex": {0: "f", 1: "m"}}
    pytest.importorskip("pyreadstat").write_dta(frame, str(path), variable_value_labels=labels)
    read = read_columns(path)
    assert read["group"].tolist() == [1, 2, 3, 1]
    assert read["sex"].tolist() == ["f", "m", "m", "f"]
