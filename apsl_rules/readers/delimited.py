"""Comma- and tab-separated files whose first line names the columns."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from apsl_rules.errors import DataError
from apsl_rules.readers.files import AnyPath, existing_file, file_kind, open_text

if TYPE_CHECKING:
    import pandas as pd

MISSING_FIELDS = ("", "NA", "NaN", "nan", "<NA>", "null", "NULL")
"""What stands for a missing value in a CSV file; "None" does not, because it is the name of a level in known data."""


def read_csv(path: AnyPath) -> pd.DataFrame:
    """Read a file of comma- or tab-separated fields whose first line names the columns; blank lines are skipped."""
    import pandas as pd

    file = existing_file(path)
    separator = "\t" if file_kind(file) == "tsv" else ","
    _check_widths(file, separator)
    with open_text(file) as handle:
        header = next(csv.reader(handle, delimiter=separator))
        try:
            frame = pd.read_csv(
                handle,
                sep=separator,
                header=None,
                names=range(len(header)),
                index_col=False,
                keep_default_na=False,
                na_values=list(MISSING_FIELDS),
                low_memory=False,
            )
        except pd.errors.ParserError as error:
            message = f"cannot read the file {str(file)!r} ({error}); check its quotation marks"
            raise DataError(message) from error
    frame.columns = pd.Index(header, dtype=object)
    return frame


def _check_widths(file: Path, separator: str) -> None:
    """Refuse a file whose lines have different numbers of fields, and columns without a name."""
    with open_text(file) as handle:
        try:
            rows = csv.reader(handle, delimiter=separator)
            header, first = next(rows, []), next(rows, [])
        except csv.Error as error:
            message = f"cannot read the header of {str(file)!r} ({error}); give column names in the first line"
            raise DataError(message) from error
        if not any(name.strip() for name in header):
            message = f"the first line of {str(file)!r} is blank; it must name the columns"
            raise DataError(message)
        if not all(name.strip() for name in header):
            place = next(place for place, name in enumerate(header, 1) if not name.strip())
            message = (
                f"column {place} of {str(file)!r} has no name; name it, or, if it holds the row numbers that pandas "
                f"adds, write the file with index=False"
            )
            raise DataError(message)
        both = set(header[0].strip(";\t|,")) & set("".join(first))
        other = next((one for one in (";", "\t", "|", ",") if one != separator and one in both), None)
        if len(header) == 1 and other is not None:
            kind = "tab" if separator == "\t" else "comma"
            message = (
                f"the file {str(file)!r} has one column {header[0]!r}; write it with a {kind} between the fields, "
                f"as the end of its name says, not with {other!r}"
            )
            raise DataError(message)
    with open_text(file) as handle:
        for line, fields in _field_counts(handle, separator):
            if fields not in (0, len(header)):
                message = (
                    f"line {line} of {str(file)!r} has {fields} fields where the header has {len(header)}; "
                    f"make every line as long as the header"
                )
                raise DataError(message)


def _field_counts(handle: TextIO, separator: str) -> Iterator[tuple[int, int]]:
    """Count the fields of each line: by counting separators up to the first quotation mark, by parsing after it."""
    for number, line in enumerate(handle, 1):
        if '"' in line:
            rows = csv.reader(chain([line], handle), delimiter=separator)
            for row in rows:
                yield number + rows.line_num - 1, len(row)
            return
        yield number, line.count(separator) + 1 if line.strip("\r\n") else 0
