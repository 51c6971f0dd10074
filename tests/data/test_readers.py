"""Files: CSV, Parquet and integer text are read as they are, and each fault has its sentence."""

from __future__ import annotations

import csv
import gzip
import importlib.util
import io
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apsl_rules import learn
from apsl_rules.data import coded_table, table
from apsl_rules.data.readers import MISSING_FIELDS, file_kind, read_csv, read_integers, read_parquet
from apsl_rules.data.readers.text import _field_counts
from apsl_rules.errors import ApslError, DataError, MissingPackageError

FIELDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=4).filter(
    lambda text: text not in MISSING_FIELDS and not text.isspace()
)


def write(path: Path, content: str | bytes) -> Path:
    """Write a file, packed when its name says so."""
    raw = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)
    return path


# --- CSV -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["d.csv", "d.csv.gz", "d.tsv", "d.tsv.gz", "D.CSV"])
def test_delimited_files(tmp_path: Path, name: str) -> None:
    """Packed or not, with commas or tabs, the columns and their kinds are the same."""
    text = 'heart rate,größe,n\nlow,True,1\n\n"a,b",False,2\n'
    content = (
        text if "sv" not in name or "csv" in name.lower() else "heart rate\tgröße\tn\nlow\tTrue\t1\n\na,b\tFalse\t2\n"
    )
    encoded = coded_table(read_csv(write(tmp_path / name, content)))
    assert encoded.names == ("heart rate", "größe", "n")
    assert encoded.levels == (("a,b", "low"), (False, True), (1, 2))
    assert encoded.codes.tolist() == [[1, 0], [1, 0], [0, 1]]


def test_missing_fields(tmp_path: Path) -> None:
    """Empty and NA fields are missing; "None" is a level like any other."""
    path = write(tmp_path / "d.csv", "a,b\nNone,1\nNA,2\nx,\n")
    encoded = coded_table(path, missing="testwise")
    assert encoded.levels == (("None", "x"), (1, 2))
    assert encoded.incomplete.all()
    with pytest.raises(DataError, match=r"values are missing in columns 'a', 'b' \(1, 1 of 3 rows\)"):
        coded_table(path, missing="refuse")


@given(
    st.integers(1, 3).flatmap(
        lambda width: st.lists(st.lists(FIELDS, min_size=width, max_size=width), min_size=2, max_size=5)
    )
)
def test_fields_are_counted_as_the_csv_module_counts(rows: list[list[str]]) -> None:
    """Quotes, separators inside them and odd characters do not mislead the check of line lengths."""
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerows(rows)
    counts = [fields for _, fields in _field_counts(io.StringIO(buffer.getvalue(), newline=""), ",", "", plain=False)]
    assert counts == [len(row) for row in rows]


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("d.csv", "", "is empty"),
        ("d.csv.gz", "", "first line .* is blank"),
        ("d.csv", "\n1,2\n", "first line .* is blank"),
        ("d.csv", "a,b\n", "the table has 0 rows; at least 2"),
        ("d.csv", "a,b\n1,2\n", "the table has 1 row; at least 2"),
        ("d.csv", "a,b\n1,2\n3\n4,5\n", "line 3 of .* has 1 field where the header has 2"),
        ("d.csv", "a,b\n1,2\n3,4,5\n", "line 3 of .* has 3 fields where the header has 2"),
        ("d.csv", 'a,b\n"1",2\n"3\n3",4\n5\n', "line 5 of .* has 1 field where the header has 2"),
        ("d.csv", 'a,b\n1,"x\n2,3\n', "EOF inside string .* check its quotation marks"),
        ("d.csv", "a,a\n1,2\n3,4\n", "duplicate column names: 'a'"),
        ("d.csv", "a,,b\n0,2,1\n1,4,0\n", "column 2 of .* has no name; give every column a name"),
        ("d.csv", b"a,b\n\x00,\xe9\n2,3\n", "is not UTF-8 text .it has the byte 0xe9.; save it as UTF-8"),
        ("d.csv", "a,b\n,\n,\n", "no column is left to learn from: .* all values are missing"),
        ("d.dat", "a,b\n", "cannot tell what kind of file"),
        ("d.parquet.gz", "a,b\n", "cannot tell what kind of file"),
    ],
)
def test_bad_delimited_files(tmp_path: Path, name: str, content: str | bytes, sentence: str) -> None:
    """Each fault of a file is told in one sentence, with the line where there is one."""
    with pytest.raises(DataError, match=sentence):
        coded_table(write(tmp_path / name, content))


def test_a_broken_packed_file(tmp_path: Path) -> None:
    """A file that is not packed as its name says, or is cut short, cannot be read."""
    for content in (b"a,b\n1,2\n", gzip.compress(b"a,b\n" + b"1,2\n" * 1000)[:-12]):
        (tmp_path / "d.csv.gz").write_bytes(content)
        with pytest.raises(DataError, match=r"cannot read the file .* check that it is whole"):
            coded_table(tmp_path / "d.csv.gz")


@pytest.mark.parametrize("name", ["d.csv", "d.txt", "d.parquet"])
def test_missing_files_and_folders(tmp_path: Path, name: str) -> None:
    """A path that leads nowhere or to a folder is told so."""
    with pytest.raises(DataError, match=r"there is no file '.*'; check the path"):
        coded_table(tmp_path / name)
    (tmp_path / name).mkdir()
    with pytest.raises(DataError, match="is a folder; give a file"):
        coded_table(tmp_path / name)


# --- Parquet -------------------------------------------------------------------------------------------------------

PARQUET = {"c": ["x", "y", "x"], "n": [1, 2, 1], "b": [True, False, False]}


def only(monkeypatch: pytest.MonkeyPatch, *installed: str) -> None:
    """Hide the Parquet readers that are not named."""
    real = importlib.util.find_spec

    def find_spec(name: str, package: str | None = None) -> ModuleSpec | None:
        hidden = name in ("pyarrow", "polars", "duckdb") and name not in installed
        return None if hidden else real(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", find_spec)


@pytest.mark.parametrize("reader", ["pyarrow", "polars", "duckdb"])
def test_parquet_with_each_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: str) -> None:
    """Whichever library reads it, the table is the same; row labels of pandas are no column."""
    only(monkeypatch, reader)
    pd.DataFrame(PARQUET, index=[7, 8, 9]).to_parquet(tmp_path / "d.parquet")
    encoded = coded_table(tmp_path / "d.parquet")
    assert encoded.names == ("c", "n", "b")
    assert encoded.codes.tolist() == [[0, 1, 0], [0, 1, 0], [1, 0, 0]]


@pytest.mark.parametrize("reader", ["pyarrow", "polars", "duckdb"])
def test_unreadable_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: str) -> None:
    """What is not Parquet, or is cut short, is refused with the file's name."""
    only(monkeypatch, reader)
    pq.write_table(pa.table(PARQUET), tmp_path / "whole.parquet")
    whole = (tmp_path / "whole.parquet").read_bytes()
    for content in (b"c,n\n1,2\n", whole[:-20], whole[:40] + bytes(len(whole) - 40)):
        (tmp_path / "d.parquet").write_bytes(content)
        with pytest.raises(DataError, match=r"cannot read the Parquet file '.*d\.parquet' \(.*really Parquet"):
            read_parquet(tmp_path / "d.parquet")


def test_parquet_without_a_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a library that reads Parquet the sentence says what to install."""
    only(monkeypatch)
    pq.write_table(pa.table(PARQUET), tmp_path / "d.parquet")
    with pytest.raises(MissingPackageError, match=r"needs pyarrow, polars or duckdb; .*'apsl_rules\[parquet\]'"):
        coded_table(tmp_path / "d.parquet")


# --- integer text --------------------------------------------------------------------------------------------------


def test_integer_text(tmp_path: Path) -> None:
    """Blank-separated integers are a matrix, whatever the blanks."""
    path = write(tmp_path / "d.txt", "0  1 -2\n\n 3\t4 5 \r\n")
    assert read_integers(path).tolist() == [[0, 1, -2], [3, 4, 5]]
    assert read_integers(write(tmp_path / "d.txt.gz", "7 8")).tolist() == [[7, 8]]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (" \n\n", "is empty"),
        ("1 2\n3\n", "line 2 of .* has 1 value where the first line has 2"),
        ("1 2\n\n3 x\n", "line 3 of .* is not whole numbers with blanks between them"),
        ("a b\n1 2\n", "line 1 of .* name a table with a header .csv or .tsv"),
        ("1 2.5\n1 2\n", "line 1 of .* is not whole numbers with blanks between them"),
        ("1 99999999999999999999\n", "line 1 of .* is not whole numbers with blanks between them"),
    ],
)
def test_bad_integer_text(tmp_path: Path, content: str, sentence: str) -> None:
    """What is not a matrix of integers is refused with the line."""
    with pytest.raises(DataError, match=sentence):
        read_integers(write(tmp_path / "d.txt", content))


def test_kinds_by_ending() -> None:
    """The kind of a file is told by its ending in any case."""
    kinds: dict[str, Any] = {"a.csv": "csv", "a.TSV.gz": "tsv", "x.y.parquet": "parquet", "b.txt": "txt"}
    kinds |= {"a.XLSX": "xlsx", "a.xlsx#May": "xlsx", "a.feather": "feather", "a.jsonl.gz": "jsonl"}
    assert {name: file_kind(name) for name in kinds} == kinds


def test_a_wide_csv_round_trips(tmp_path: Path) -> None:
    """A file written by pandas comes back with the same codes."""
    matrix = np.random.default_rng(5).integers(0, 4, (60, 300))
    frame = pd.DataFrame(matrix, columns=[f"v{place}" for place in range(300)])
    frame.to_csv(tmp_path / "w.csv", index=False)
    assert (coded_table(tmp_path / "w.csv").codes == coded_table(frame).codes).all()


@pytest.mark.parametrize("form", ["{}", "{}.csv", "{}/a.csv", "{}.xlsx#a", "{}.duckdb#a", "*{}.csv", "sqlite:///{}#a"])
def test_a_name_too_long_for_the_system_is_no_file(form: str) -> None:
    """What cannot be looked up is refused like what is not there."""
    with pytest.raises(ApslError):
        learn(form.format("x" * 100_000), "a")


@pytest.mark.parametrize(
    ("odd", "told"),
    [
        ({70_000: "1,2,3"}, "line 70001 .* has 3 fields where the header has 4"),
        ({70_000: "1,2,3", 70_001: "1,2,3,4,5"}, "line 70001 .* has 3 fields where the header has 4"),
        ({70_001: "1,2,3,4,5", 70_005: "1,2,"}, "line 70002 .* has 5 fields where the header has 4"),
        ({70_000: '"1,2,3,4'}, "line|quotation"),
    ],
    ids=["short", "short before long", "long before short", "an open quotation mark"],
)
def test_uneven_lines_of_large_files_are_refused(tmp_path: Path, odd: dict[int, str], told: str) -> None:
    """A large file is not read line by line where the numbers of its separators fit, and no odd line goes through."""
    lines = ["a,b,c,d", *(f"{at % 7},{at % 5}.5,x{at % 3},{at % 11}" for at in range(1, 200_000))]
    for at, line in odd.items():
        lines[at] = line
    path = tmp_path / "large.csv"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError, match=told):
        table(path)


def test_large_files_with_gaps_at_the_end_of_lines_are_read(tmp_path: Path) -> None:
    """Missing values in the last column, line ends of Windows and no last line end are no odd lines."""
    lines = ["a,b,c,d", *(f"{at % 7},{at % 5}.5,x{at % 3},{'' if at % 9 else at % 11}" for at in range(1, 200_000))]
    path = tmp_path / "large.csv"
    path.write_bytes("\r\n".join(lines).encode())
    read = table(path)
    assert read.rows == 199_999
    assert int(read.missing[read.place["d"]]) == sum(bool(at % 9) for at in range(1, 200_000))
