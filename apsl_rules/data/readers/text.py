"""Read tables from text files: plain lines, delimited fields, and rows of integers."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import nullcontext, suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.columns import Column, Labels, Numbers, PandasFrame, labels_or_numbers, numbers, whole_numbers
from apsl_rules.data.readers.dialect import Dialect, Spelling, find_separator, other_encoding, plain_numbers
from apsl_rules.data.readers.paths import UTF_8, AnyPath, existing_file, file_kind, open_bytes, open_text
from apsl_rules.errors import DataError
from apsl_rules.names import Node, count_of
from apsl_rules.stopping import Flag, heeding

if TYPE_CHECKING:
    import pandas as pd


#: The most characters of a file that are read here; pandas reads more of them in less time, with its import.
_MOST = 2**21
#: So few digits are exact as a float.
_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,14})")
_FRACTION = re.compile(r"-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?")
#: Older versions of pandas round long numbers in a way of their own unless they are told not to.
_PANDAS_ROUNDS = 3
_BOOLS = {spelt: word == "true" for word in ("true", "false") for spelt in (word, word.upper(), word.title())}
#: Words that are numbers or truth values to some programs.
_AMBIGUOUS = re.compile(r"(true|false|nan|inf|infinity)", re.IGNORECASE)

#: So many different words at most stand among numbers with a decimal comma.
_MOST_WORDS = 4

PlainColumn = npt.NDArray[np.generic] | Labels


@attrs.frozen(eq=False)
class PlainTable:
    """The columns of a file of plain fields: arrays of integers, floats or bools, or labels."""

    names: tuple[Node, ...]
    values: tuple[PlainColumn, ...]
    rows: int
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[Node, ...]:
        """Return the names, as a frame does."""
        return self.names

    def column(self, place: int) -> Column:
        """Return one column."""
        values = self.values[place]
        if isinstance(values, Labels):
            return values
        if values.dtype.kind == "b":
            return Labels(values.astype(np.intp), (False, True), declared=True)
        return numbers(values)

    def integers(self, start: int, stop: int) -> npt.NDArray[np.integer[Any]] | None:
        """Return a run of columns as the rows of one integer array, where all have plain numbers."""
        run = [values for values in self.values[start:stop] if not isinstance(values, Labels)]
        if len(run) < stop - start or any(values.dtype.kind == "b" for values in run):
            return None
        return whole_numbers(np.stack(run))


def read_plain(file: Path, dialect: Dialect, header: Sequence[str], missing: Sequence[str]) -> PlainTable | None:
    """Read a file whose lines are known to be as long as the header, or return None when a field is not plain."""
    separator = dialect.separator
    with open_text(file, dialect.encoding) as handle:
        text = handle.read(_MOST + 1)
    if len(text) > _MOST or "\0" in text or "\ufeff" in text:
        return None
    text = text.replace("\r\n", "\n")
    first, *rows = _rows(text, separator) or [[]]
    if not rows or "\r" in text or len(first) != len(header):
        return None
    columns = []
    for fields in zip(*rows, strict=True):
        column = _column(fields, frozenset(missing))
        if column is None:
            return None
        columns.append(column)
    return PlainTable(tuple(header), tuple(columns), len(rows))


def _rows(text: str, separator: str) -> list[list[str]] | None:
    """Return the fields of each line, or None where quotation marks stand anywhere but around whole fields."""
    lines = [line for line in text.split("\n") if line]
    if '"' not in text:
        return [line.split(separator) for line in lines]
    try:
        rows = [*csv.reader((line + "\n" for line in lines), delimiter=separator, strict=True)]
    except csv.Error:
        return None
    return None if any('"' in field or "\n" in field for row in rows for field in row) else rows


def _column(fields: Sequence[str], missing: frozenset[str]) -> PlainColumn | None:
    """Return the values of a column, or None when they are not plain."""
    distinct = dict.fromkeys(fields)
    levels = [field for field in distinct if field not in missing]
    if any(field != field.strip() for field in levels):
        return None
    place = dict.fromkeys(distinct, -1) | {level: number for number, level in enumerate(levels)}
    codes = np.fromiter(map(place.__getitem__, fields), dtype=np.intp, count=len(fields))
    gaps = len(levels) < len(distinct)
    if levels and not gaps and all(field in _BOOLS for field in levels):
        return np.array([_BOOLS[field] for field in levels])[codes]
    if all(_WHOLE.fullmatch(field) for field in levels) and not gaps:
        return np.array([int(field) for field in levels], dtype=np.int64)[codes]
    if all(_WHOLE.fullmatch(field) or _FRACTION.fullmatch(field) for field in levels):
        return np.array([*map(float, levels), np.nan])[codes]  # the code -1 finds the last
    if any(field[0].isalpha() and not _AMBIGUOUS.fullmatch(field) for field in levels):
        column = labels_or_numbers(codes, levels)
        return column if isinstance(column, Labels) else None
    return None


MISSING_FIELDS = ("", "NA", "NaN", "nan", "<NA>", "null", "NULL")
"""What stands for a missing value in a CSV file; "None" does not, because it is the name of a level in known data."""

ROW_NAMES = "rownames"
"""What a first column without a name is called: R and pandas write the names or numbers of rows there."""

_PLAINER = "put quotation marks around whole fields only, and double those within"


def read_csv(path: AnyPath) -> PlainTable | pd.DataFrame:
    """Read a file of delimited fields whose first line names the columns; blank lines are skipped.

    A file that is not UTF-8, or whose fields have other separators than the end of its name says, is read as it is
    written, and a note says how.
    """
    file = existing_file(path)
    try:
        return _read_csv(file, UTF_8)
    except DataError as error:
        encoding = other_encoding(file) if isinstance(error.__cause__, UnicodeDecodeError) else None
        if encoding is None:
            raise
        return _read_csv(file, encoding)


def _read_csv(file: Path, encoding: str) -> PlainTable | pd.DataFrame:
    usual = "\t" if file_kind(file) == "tsv" else ","
    dialect = Dialect(find_separator(file, usual, encoding), encoding)
    separator = dialect.separator
    header = read_header(file, separator, encoding)
    rows = _rows_if_even(file, dialect, len(header))
    if rows is None:
        check_lines(file, separator, len(header), encoding=encoding)
    plain = None if rows else read_plain(file, dialect, header, MISSING_FIELDS)
    if plain is not None:
        return attrs.evolve(plain, notes=dialect.note(file, usual, ()))
    frame = None
    with suppress(DataError) if rows else nullcontext():
        frame = read_frame(file, dialect, header)
    if rows and (frame is None or len(frame) != rows or frame.iloc[:, -1].isna().any()):
        check_lines(file, separator, len(header), encoding=encoding)  # a short line ends with missing values
    frame = read_frame(file, dialect, header) if frame is None else frame
    spelt = _respell(frame, file, dialect, header)
    if not spelt and dialect == Dialect(usual):
        return frame
    return attrs.evolve(_as_plain(frame), notes=dialect.note(file, usual, spelt))


def _rows_if_even(file: Path, dialect: Dialect, width: int) -> int | None:
    """Return the rows of a large file if it has as many separators as lines of equal length would have.

    None stands for small files, and for those with quotation marks or other line ends, whose lines must be looked at.
    """
    breaks, returns, between, last = 0, 0, 0, b""
    with open_bytes(file) as handle:
        if dialect.encoding == "utf-16" or width < 2 or file.stat().st_size <= _MOST:  # noqa: PLR2004 - no separator
            return None
        while block := handle.read(_MOST):
            if b'"' in block:
                return None
            found = np.frombuffer(block, np.uint8)
            breaks, returns = breaks + int(np.count_nonzero(found == ord("\n"))), returns + block.count(b"\r")
            between, last = between + int(np.count_nonzero(found == ord(dialect.separator))), block[-1:]
    lines = breaks + (last != b"\n")
    return lines - 1 if returns in {0, breaks} and between == (width - 1) * lines else None


def _respell(frame: pd.DataFrame, file: Path, dialect: Dialect, header: list[str]) -> list[str]:
    """Make numbers of those with a decimal comma or marks of thousands, and return what was found of these."""
    import pandas as pd

    comma_first = dialect.separator != ","
    texts = [place for place, kind in enumerate(frame.dtypes) if pd.api.types.is_string_dtype(kind)]
    found = {place: _spelling(frame.iloc[:, place], comma_first=comma_first) for place in texts}
    if any(one is not None and one.has_comma for one in found.values()):
        # A point in another column then marks thousands, where it may.
        whole = read_frame(file, dialect, header, as_text=True)
        for place in (place for place, kind in enumerate(frame.dtypes) if kind.kind == "f"):
            one = _spelling(whole.iloc[:, place], comma_first=True)
            if one is not None and one.has_comma:
                found[place] = one
                frame.isetitem(place, whole.iloc[:, place].array)
    spelt = {place: one for place, one in found.items() if one is not None}
    for place, one in spelt.items():
        values = frame.iloc[:, place].map(lambda field, plain=one.plain: plain.get(field, field), na_action="ignore")
        with suppress(ValueError):  # of words among the numbers, which are missing values
            values = pd.to_numeric(values)
        frame.isetitem(place, values.array)
    commas = ["decimal commas"] if any(one.has_comma for one in spelt.values()) else []
    return [*commas, *(["marks of thousands"] if any(one.has_marks for one in spelt.values()) else [])]


def _spelling(column: pd.Series[Any], *, comma_first: bool) -> Spelling | None:
    """Return how the numbers of a column of text are spelt, if all but a few words are numbers."""
    fields = [str(field) for field in column.dropna().unique()]
    with_digits = [field for field in fields if any(map(str.isdecimal, field))]
    if not with_digits or len(fields) - len(with_digits) > _MOST_WORDS:
        return None
    return plain_numbers(with_digits, comma_first=comma_first)


def _as_plain(frame: pd.DataFrame) -> PlainTable:
    """Return a frame as plain columns, which can carry notes."""
    opened = PandasFrame(frame, tuple(frame.columns))
    columns = [opened.column(place) for place in range(len(opened.names))]
    values = tuple(one if isinstance(one, Labels) else _with_gaps(one) for one in columns)
    return PlainTable(opened.names, values, len(frame))


def _with_gaps(column: Numbers) -> npt.NDArray[Any]:
    values = column.values  # noqa: PD011 - an array
    return np.where(column.missing, np.nan, values) if column.missing.any() else values


def read_frame(file: Path, dialect: Dialect, header: list[str], *, as_text: bool = False) -> pd.DataFrame:
    """Read a file whose lines are known to be as long as the header by pandas."""
    import pandas as pd

    rounds = int(pd.__version__.partition(".")[0]) >= _PANDAS_ROUNDS
    exactly: dict[str, Any] = {} if rounds else {"float_precision": "round_trip"}

    def read(_flag: Flag) -> pd.DataFrame:
        with open_text(file, dialect.encoding) as handle:
            next(csv.reader(handle, delimiter=dialect.separator))
            frame: pd.DataFrame = pd.read_csv(
                handle,
                sep=dialect.separator,
                header=None,
                names=range(len(header)),
                index_col=False,
                keep_default_na=False,
                na_values=list(MISSING_FIELDS),
                low_memory=False,
                dtype=str if as_text else None,
                **exactly,
            )
            return frame

    try:
        frame = heeding(read)  # an interrupt within the parser is an error of its own, or a crash
    except pd.errors.ParserError as error:
        message = f"cannot read the file {str(file)!r} ({error}); check its quotation marks"
        raise DataError(message) from error
    frame.columns = pd.Index(header, dtype=object)
    return frame


@attrs.frozen
class Lines:
    """The outcome of a pass over a file of fields: its rows without the header, and whether its line ends differ."""

    rows: int
    mixed: bool


def read_header(file: Path, separator: str, encoding: str = UTF_8) -> list[str]:
    """Return the names in the first line, and refuse a header without names or with another separator."""
    with open_text(file, encoding) as handle:
        is_quoted = handle.read(1) == '"'  # then a separator in the name is meant
        handle.seek(0)
        try:
            rows = csv.reader(handle, delimiter=separator)
            header, first = next(rows, []), next(rows, [])
        except csv.Error as error:
            message = f"cannot read the header of {str(file)!r} ({error}); give column names in the first line"
            raise DataError(message) from error
    if not any(name.strip() for name in header):
        message = f"the first line of {str(file)!r} is blank; it must name the columns"
        raise DataError(message)
    if not header[0].strip() and ROW_NAMES not in header:
        header[0] = ROW_NAMES
    if not all(name.strip() for name in header):
        place = next(place for place, name in enumerate(header, 1) if not name.strip())
        message = f"column {place} of {str(file)!r} has no name; give every column a name"
        raise DataError(message)
    both = set(header[0].strip(";\t|,")) & set("".join(first))
    other = next((one for one in (";", "\t", "|", ",") if one != separator and one in both), None)
    if len(header) == 1 and other is not None and not is_quoted:
        kind = "tab" if separator == "\t" else "comma"
        message = (
            f"the file {str(file)!r} has one column {header[0]!r}; write it with a {kind} between the fields, "
            f"as the end of its name says, not with {other!r}, or let it be counted in memory"
        )
        raise DataError(message)
    return header


def check_lines(file: Path, separator: str, width: int, *, plain: bool = False, encoding: str = UTF_8) -> Lines:
    """Refuse a file whose lines have another number of fields than the header; blank lines do not count.

    If it must be ``plain``, quotation marks that programs read differently are refused, too.
    """
    rows = -1
    with open_text(file, encoding) as handle:
        for line, fields in _field_counts(handle, separator, str(file), plain=plain):
            if fields not in (0, width):
                message = (
                    f"line {line} of {str(file)!r} has {count_of(fields, 'field')} where the header has {width}; "
                    f"make every line as long as the header"
                )
                raise DataError(message)
            rows += fields > 0
        return Lines(rows, isinstance(handle.newlines, tuple))


def _field_counts(handle: TextIO, separator: str, name: str, *, plain: bool) -> Iterator[tuple[int, int]]:
    """Count the fields of each line: by counting separators up to the first quotation mark, by parsing after it."""
    for number, line in enumerate(handle, 1):
        if '"' in line:
            yield from _count_fields(chain([line], handle), number, separator, name, plain=plain)
            return
        yield number, line.count(separator) + 1 if line.strip("\r\n") else 0


def _count_fields(
    lines: Iterator[str], start: int, separator: str, name: str, *, plain: bool
) -> Iterator[tuple[int, int]]:
    """Count the fields of each row from a certain line on by parsing; a row has the number of its first line."""
    rows = csv.reader(lines, delimiter=separator, strict=plain)
    while True:
        line = start + rows.line_num
        try:
            row = next(rows, None)
        except csv.Error as error:
            message = f"line {line} of {name!r} cannot be read ({error}); {_PLAINER}"
            raise DataError(message) from error
        if row is None:
            return
        if plain and (odd := next((one for one in row if one[:1].isspace() and one.lstrip()[:1] == '"'), None)):
            message = f"line {line} of {name!r} has the field {odd[:40]!r}; {_PLAINER}"
            raise DataError(message)
        yield line, len(row)


def read_integers(path: AnyPath) -> npt.NDArray[np.int64]:
    """Read a matrix of blank-separated integers without a header, one row in each line."""
    file = existing_file(path)
    with open_text(file) as handle:
        lines = [(number, line) for number, line in enumerate(handle, 1) if not line.isspace()]
    if not lines:
        message = f"the file {str(file)!r} is empty; give lines of blank-separated integers"
        raise DataError(message)
    width = len(lines[0][1].split())
    matrix = np.empty((len(lines), width), dtype=np.int64)
    for row, (number, line) in enumerate(lines):
        words = line.split()
        if len(words) != width:
            message = (
                f"line {number} of {str(file)!r} has {count_of(len(words), 'value')} where the first line has {width}; "
                f"make all lines equally long"
            )
            raise DataError(message)
        try:
            matrix[row] = words
        except (ValueError, OverflowError) as error:
            message = (
                f"line {number} of {str(file)!r} is not whole numbers with blanks between them, as .txt has them; "
                f"name a table with a header .csv or .tsv"
            )
            raise DataError(message) from error
    return matrix
