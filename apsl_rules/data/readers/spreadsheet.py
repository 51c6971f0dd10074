"""Sheets of Excel workbooks whose first row names the columns."""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from apsl_rules.data.readers.delimited import MISSING_FIELDS
from apsl_rules.data.readers.paths import AnyPath, existing_file, split_sheet
from apsl_rules.errors import DataError, MissingPackageError
from apsl_rules.names import listing, nearest

if TYPE_CHECKING:
    import pandas as pd

#: What stands for a missing value in a cell: an empty one, and what a CSV file has; Excel's own is "#N/A".
_MISSING = frozenset([*MISSING_FIELDS, "#N/A"])


def read_excel(path: AnyPath) -> pd.DataFrame:
    """Read a sheet of a workbook: ``book.xlsx`` has one sheet with cells, ``book.xlsx#sheet`` names one."""
    name, sheet = split_sheet(path)
    file = existing_file(name)
    try:
        from openpyxl import load_workbook
    except ImportError as error:
        message = f"reading the workbook {str(file)!r} needs openpyxl; pip install 'apsl_rules[excel]'"
        raise MissingPackageError(message) from error
    try:
        with file.open("rb") as handle:
            book = load_workbook(handle, read_only=True, data_only=True)
            rows = {one.title: _rows(one) for one in book.worksheets if sheet in (None, one.title)}
            titles = [one.title for one in book.worksheets]
    except MemoryError:
        raise
    except Exception as error:  # a damaged workbook raises whatever openpyxl and its parser meet
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        message = f"cannot read the workbook {str(file)!r} ({reason}); check that it is whole and really .xlsx"
        raise DataError(message) from error
    if sheet is not None and sheet not in rows:
        hint = nearest(sheet, titles) or f"; there are {listing(titles)}"
        message = f"the workbook {str(file)!r} has no sheet {sheet!r}{hint}"
        raise DataError(message)
    filled = {title: one for title, one in rows.items() if one}
    if not filled:
        message = f"the workbook {str(file)!r} has no cells with values; give a sheet with a header and rows"
        raise DataError(message)
    if len(filled) > 1:
        first = next(iter(filled))
        message = f"the workbook {str(file)!r} has the sheets {listing(list(filled))}; name one, as {name}#{first}"
        raise DataError(message)
    return _frame(next(iter(filled.values())), file)


def _rows(sheet: Any) -> list[tuple[Any, ...]]:
    """Return the rows of a sheet that have a value; what stands for a missing one is None."""
    rows = (tuple(_value(cell) for cell in row) for row in sheet.iter_rows(values_only=True))
    return [row for row in rows if any(cell is not None for cell in row)]


def _value(cell: Any) -> Any:
    return None if isinstance(cell, str) and cell.strip() in _MISSING else cell


def _frame(rows: list[tuple[Any, ...]], file: Path) -> pd.DataFrame:
    """Return the rows below the first as columns with the names of the first."""
    import pandas as pd

    header, *cells = rows
    width = max(len(row) for row in rows)
    filled = [place for place in range(width) if any(place < len(row) and row[place] is not None for row in rows)]
    named = list(takewhile(lambda place: place < len(header) and header[place] is not None, filled))
    if len(named) < len(filled):
        message = (
            f"column {filled[len(named)] + 1} of {str(file)!r} has no name; the first row of the sheet must name every "
            f"column"
        )
        raise DataError(message)
    columns = [[row[place] if place < len(row) else None for row in cells] for place in named]
    frame = pd.DataFrame(dict(enumerate(columns)))
    frame.columns = pd.Index([str(header[place]) for place in named], dtype=object)
    return frame
