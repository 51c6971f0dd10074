"""Files of plain fields: read without pandas, to the same table."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apsl_rules.data import Table, table
from apsl_rules.data.readers import MISSING_FIELDS, PlainTable, read_csv
from apsl_rules.data.readers.dialect import Dialect
from apsl_rules.data.readers.text import read_frame, read_header, read_plain
from apsl_rules.data.sources import open_source
from apsl_rules.errors import ApslError

WHOLE = st.integers(-12, 12).map(str)
LONG = st.from_regex(r"-?[0-9]{1,20}", fullmatch=True)
FRACTIONS = st.from_regex(r"-?[0-9]{1,16}\.[0-9]{1,18}(e-?[0-9]{1,2})?", fullmatch=True)
ODD_NUMBERS = st.sampled_from(
    ["+1", "007", "-0", "-0.0", "1.", ".5", "1e3", "1E400", "0x1f", "1_000", "inf", "-Infinity", "9" * 19]
)
BOOLS = st.sampled_from(["true", "false", "True", "False", "TRUE", "FALSE"])
ODD_BOOLS = st.sampled_from(["tRue", "yes", "T", "F", "0", "1"])
MISSING = st.sampled_from(MISSING_FIELDS)
WORDS = st.sampled_from(
    ["low", "very high", "Ünder", "None", "n/a", "N", "i", "nano", "infinite", "e5", "a-b", "x1", "愛"]
)
ODD_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=',\r\n"'), max_size=4)
KINDS = (WHOLE, LONG, FRACTIONS, ODD_NUMBERS, BOOLS, ODD_BOOLS, WORDS, ODD_TEXT)


@st.composite
def columns(draw: st.DrawFn) -> list[list[str]]:
    """Draw columns of one or two kinds of fields, with missing ones or without."""
    rows = draw(st.integers(1, 6))

    def column() -> list[str]:
        kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=2))
        fields = st.one_of(*kinds, *([MISSING] if draw(st.booleans()) else []))
        return draw(st.lists(fields, min_size=rows, max_size=rows))

    return [column() for _ in range(draw(st.integers(1, 4)))]


def outcome(source: Any, **options: Any) -> Any:
    """Return everything about a table, or the sentence that refuses it."""
    try:
        made = table(source, **options)
    except ApslError as error:
        return str(error)
    coded = made if isinstance(made, Table) else made.categories
    types = [[type(level) for level in levels] for levels in coded.levels]
    numbers = [] if isinstance(made, Table) else [row.tobytes() for row in made.numbers]
    codes = coded.codes.tolist(), coded.codes.dtype, coded.levels, types, coded.incomplete.tolist()
    return made.names, codes, numbers, made.columns, made.notes


def columns_of(source: Any) -> list[Any]:
    """Return what each column of an opened source holds, to the last bit."""
    try:
        opened = open_source(source)
    except ApslError as error:
        return [str(error)]
    found: list[Any] = []
    for place in range(len(opened.names)):
        for key, value in zip(("a", "b", "c"), _fields(opened.column(place)), strict=False):
            found.append((place, key, value))
    block = opened.integers(0, len(opened.names))
    return [*found, None if block is None else (block.dtype, block.tolist())]


def _fields(column: Any) -> list[Any]:
    if hasattr(column, "levels"):
        return [column.codes.tolist(), [(type(one), one) for one in column.levels], column.declared]
    values = np.where(column.missing, 0, column.values).astype(column.values.dtype)
    return [values.dtype, values.tobytes(), column.missing.tolist()]


def both(folder: Path, text: str, name: str = "d.csv") -> tuple[PlainTable | None, Any]:
    """Read a file without pandas, if it can be, and with it."""
    path = folder / name
    path.write_bytes(text.encode())
    separator = "\t" if name.endswith(".tsv") else ","
    header = read_header(path, separator)
    dialect = Dialect(separator)
    return read_plain(path, dialect, header, MISSING_FIELDS), read_frame(path, dialect, header)


@settings(max_examples=400)
@given(columns(), st.sampled_from(["\n", "\r\n"]), st.booleans(), st.sampled_from("\t,"), st.sets(st.integers(0, 3)))
def test_a_plain_file_gives_the_table_that_pandas_gives(
    tmp_path_factory: pytest.TempPathFactory,
    made: list[list[str]],
    end: str,
    last: bool,
    separator: str,
    quoted: set[int],
) -> None:
    """Whatever is read without pandas is the same: types, missing values, levels, order, notes and refusals."""
    rows = [[f"c{place}" for place in range(len(made))], *map(list, zip(*made, strict=True))]
    rows = [[f'"{field}"' if place in quoted else field for place, field in enumerate(row)] for row in rows]
    if any(separator in field for row in rows for field in row if field[:1] != '"'):
        return
    text = end.join(separator.join(row) for row in rows) + end * last
    name = "d.tsv" if separator == "\t" else "d.csv"
    plain, frame = both(tmp_path_factory.mktemp("plain"), text, name)
    if plain is None:
        return
    assert columns_of(plain) == columns_of(frame)
    assert outcome(plain) == outcome(frame)
    assert outcome(plain, missing="level", levels="declared") == outcome(frame, missing="level", levels="declared")
    assert outcome(plain, discretize="none", missing="refuse") == outcome(frame, discretize="none", missing="refuse")


@given(st.lists(FRACTIONS, min_size=2, max_size=50), st.lists(st.integers(-(10**15) + 1, 10**15 - 1), max_size=20))
def test_numbers_are_the_same_to_the_last_bit(
    tmp_path_factory: pytest.TempPathFactory, fractions: list[str], whole: list[int]
) -> None:
    """Fractions and whole numbers of up to fifteen digits are read as pandas reads them."""
    text = "\n".join(["x", *fractions, *map(str, whole)])
    plain, frame = both(tmp_path_factory.mktemp("numbers"), text)
    if plain is not None:
        assert columns_of(plain) == columns_of(frame)


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,x\n2,y\n",
        "a,b\r\n1,x\r\n\r\n2,y",
        "a,b\n1,\nNA,y\n3,z\n",
        "a\n1\n\n2\n",
        "\ufeffa,b\n0.25,true\n-1.5,False\n",
        "größe,b c\nvery high,None\nlow,e5\n",
        '"a","b c"\n"1","x, y"\n"2",""\n',
        "a,b\n0.123456789012345678,1e-05\n-12345.678901234,2E+10\n",
    ],
)
def test_common_files_are_plain(tmp_path: Path, text: str) -> None:
    """Integers, fractions, bools, text and gaps need no pandas, with any end of lines and a byte-order mark."""
    plain, frame = both(tmp_path, text)

    assert plain is not None
    assert columns_of(plain) == columns_of(frame)


@pytest.mark.parametrize(
    "text",
    [
        'a,b\n1,"x ""1"""\n2,y\n',
        'a,b\n1,"x\ny"\n2,y\n',
        'a,b\n1, "x"\n2,y\n',
        "a,b\n1,x\r2,y\r",
        "a,b\n1, x\n2,y\n",
        "a\n \n1\n2\n",
        "a,b\n1e500,x\n2,y\n",
        "a,b\n1234567890123456,x\n2,y\n",
        "a,b\ntrue,x\n,y\n",
        "a,b\n1\0,x\n2,y\n",
        "a,b\n#,x\n-,y\n",
    ],
)
def test_what_is_not_plain_is_left_to_pandas(tmp_path: Path, text: str) -> None:
    """Quotes within fields, blanks, long numbers, large exponents, gaps among bools and signs are for pandas."""
    assert both(tmp_path, text)[0] is None


def test_a_large_file_is_left_to_pandas(tmp_path: Path) -> None:
    """There pandas takes less time, with its import."""
    path = tmp_path / "d.csv"
    path.write_text("a\n" + "1\n2\n" * 2**19 + "1\n", "utf-8")

    assert not isinstance(read_csv(path), PlainTable)


def test_a_plain_file_needs_no_pandas(tmp_path: Path) -> None:
    """Neither pandas nor narwhals nor scipy is imported to read a plain file, or one with quoted words."""
    path = tmp_path / "d.csv"
    path.write_text('"a","b"\n1,"x"\n2,"y"\n1,\n', "utf-8")
    program = (
        "import sys; from apsl_rules import table; print(table(sys.argv[1]).levels); "
        "print([name for name in ('pandas', 'narwhals', 'scipy', 'pyarrow') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    assert run.stdout == "((1, 2), ('x', 'y'))\n[]\n"
