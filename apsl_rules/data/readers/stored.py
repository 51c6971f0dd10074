"""Read tables from files that store types: Parquet, Feather, Stata, JSON lines, spreadsheets."""

from __future__ import annotations

import importlib
import importlib.util
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from apsl_rules.data.columns import NOTES
from apsl_rules.data.readers import programs
from apsl_rules.data.readers.paths import AnyPath, FileKind, existing_file, file_kind, open_text, split_sheet
from apsl_rules.data.readers.text import MISSING_FIELDS, read_csv
from apsl_rules.errors import DataError, MissingPackageError
from apsl_rules.names import listing, nearest

if TYPE_CHECKING:
    import pandas as pd


def read_columns(path: AnyPath) -> Any:
    """Read a file of any kind that has named columns as a frame, or as plain columns."""
    reader = _BY_KIND.get(file_kind(path))
    if reader is None:
        message = f"{str(path)!r} is a text file of integers, whose columns have no names; write it as CSV"
        raise DataError(message)
    return reader(path)


def read_json_lines(path: AnyPath) -> pd.DataFrame:
    """Read a file of JSON lines; a key that a line lacks, or null, is a missing value. Blank lines are skipped."""
    import pandas as pd

    file = existing_file(path)
    columns: dict[str, list[Any]] = {}
    rows = 0
    with open_text(file) as handle:
        for number, line in enumerate(handle, 1):
            if line.isspace():
                continue
            for key, value in _record(line, f"line {number} of {str(file)!r}").items():
                column = columns.setdefault(key, [])
                column.extend([None] * (rows - len(column)))
                column.append(value)
            rows += 1
    frame = pd.DataFrame(
        {place: [*column, *[None] * (rows - len(column))] for place, column in enumerate(columns.values())}
    )
    frame.columns = pd.Index(list(columns), dtype=object)
    return frame


def _record(line: str, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line.strip())
    except (ValueError, RecursionError) as error:
        reason = str(error)
        if isinstance(error, json.JSONDecodeError):
            reason = f"{error.msg} at character {error.pos + 1}"
        message = f'{where} is not JSON ({reason}); give one object in each line, such as {{"age": 41, "sex": "f"}}'
        raise DataError(message) from error
    if not isinstance(record, dict):
        message = f"{where} is no object; give the columns by name in every line"
        raise DataError(message)
    for key, value in record.items():
        if isinstance(value, dict | list):
            kind = "an object" if isinstance(value, dict) else "a list"
            message = f"{where} has {kind} in {key!r}; give one value for each column"
            raise DataError(message)
    return record


def _labelled_by_stata(file: Path, names: Iterable[str]) -> pd.DataFrame:
    """Return the columns of a Stata file by their value labels, but for those in which two values share a label."""
    import pandas as pd

    try:
        return pd.read_stata(file)
    except ValueError as error:
        if "not unique" not in str(error):
            raise
    found = {}
    for name in names:
        with suppress(ValueError):
            found[name] = pd.read_stata(file, columns=[name])[name]
    return pd.DataFrame(found)


def read_stata(path: AnyPath) -> pd.DataFrame:
    """Read a Stata file; its missing codes are missing, and where all values have labels these are levels in order."""
    import pandas as pd

    file = existing_file(path)
    try:
        plain = pd.read_stata(file, convert_categoricals=False)
        with pd.read_stata(file, iterator=True) as reader:
            labels = reader.variable_labels()
        labelled = _labelled_by_stata(file, plain.columns)
    except MemoryError:
        raise
    except Exception as error:  # a damaged file raises whatever its parser meets
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        message = f"cannot read the Stata file {str(file)!r} ({reason}); check that it is whole and really .dta"
        raise DataError(message) from error
    for name, kind in labelled.dtypes.items():
        if isinstance(kind, pd.CategoricalDtype) and all(isinstance(one, str) for one in kind.categories):
            plain[name] = labelled[name]
    plain.attrs[NOTES] = programs.kept_labels(plain, labels)
    return plain


_READERS = ("pyarrow", "polars", "duckdb")
_FEATHER_READERS = ("pyarrow", "polars")
_TEXT_BYTES = 16


def read_parquet(path: AnyPath) -> Any:
    """Read a Parquet file with pyarrow, polars or duckdb, whichever is installed; pandas' row labels are left out."""
    file = existing_file(path)
    reader = next((name for name in _READERS if importlib.util.find_spec(name)), None)
    if reader is None:
        message = (
            f"reading the Parquet file {str(file)!r} needs pyarrow, polars or duckdb; pip install 'apsl_rules[parquet]'"
        )
        raise MissingPackageError(message)
    module = importlib.import_module(reader)
    refusals: tuple[type[Exception], ...] = (OSError, ValueError)
    try:
        if reader == "pyarrow":
            frame = importlib.import_module("pyarrow.parquet").read_table(file)
            labels = [name for name in frame.column_names if is_row_label(name)]
            return frame.drop_columns(labels) if labels else frame
        if reader == "polars":
            refusals = (*refusals, module.exceptions.PolarsError)
            frame = module.read_parquet(file)
            return frame.drop([name for name in frame.columns if is_row_label(name)])
        refusals = (*refusals, module.Error)
        frame = module.read_parquet(str(file)).df()
        return frame[[name for name in frame.columns if not is_row_label(name)]]
    except refusals as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        message = f"cannot read the Parquet file {str(file)!r} ({reason}); check that it is whole and really Parquet"
        raise DataError(message) from error


def read_feather(path: AnyPath) -> Any:
    """Read a Feather file with pyarrow or polars, whichever is installed; pandas' row labels are left out."""
    file = existing_file(path)
    reader = next((name for name in _FEATHER_READERS if importlib.util.find_spec(name)), None)
    if reader is None:
        message = f"reading the Feather file {str(file)!r} needs pyarrow; pip install 'apsl_rules[parquet]'"
        raise MissingPackageError(message)
    module = importlib.import_module(reader)
    refusals: tuple[type[Exception], ...] = (OSError, ValueError)
    try:
        if reader == "pyarrow":
            frame = importlib.import_module("pyarrow.feather").read_table(file, memory_map=False)
            labels = [name for name in frame.column_names if is_row_label(name)]
            return frame.drop_columns(labels) if labels else frame
        refusals = (*refusals, module.exceptions.PolarsError)
        frame = module.read_ipc(file, memory_map=False)
        return frame.drop([name for name in frame.columns if is_row_label(name)])
    except refusals as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        message = f"cannot read the Feather file {str(file)!r} ({reason}); check that it is whole and really Feather"
        raise DataError(message) from error


def parquet_names(path: AnyPath) -> tuple[str, ...]:
    """Return the names of the columns of a Parquet file without reading it; pandas' row labels are left out."""
    return tuple(name for name in _metadata(path).schema.to_arrow_schema().names if not is_row_label(name))


@attrs.frozen
class SharedColumns:
    """The names of the columns that several Parquet files have in common, and where each file has them.

    ``stored`` has for each file the names of all that it stores, and ``places`` the place of each column among these.
    ``kinds`` name the type of each column, the same in all files.
    """

    names: tuple[str, ...]
    stored: tuple[tuple[str, ...], ...]
    places: tuple[tuple[int, ...], ...]
    kinds: tuple[str, ...]


def shared_columns(files: Sequence[AnyPath]) -> SharedColumns:
    """Find the columns of Parquet files by name, without reading them; pandas' row labels are left out.

    The order of columns may differ from file to file. Other names than those of the first file, or other types, are
    refused. Text is text, whether it is stored as a dictionary or not.
    """
    schemas = [_metadata(file).schema.to_arrow_schema() for file in files]
    stored = [[(place, name) for place, name in enumerate(one.names) if not is_row_label(name)] for one in schemas]
    names = tuple(name for _, name in stored[0])
    expected = tuple(stored_kind(schemas[0].field(place).type) for place, _ in stored[0])
    places = []
    for file, schema, columns in zip(files, schemas, stored, strict=True):
        found = tuple(name for _, name in columns)
        order = range(len(names)) if found == names else _match_names(files[0], names, file, found)
        at = tuple(columns[number][0] for number in order)
        for name, kind, place in zip(names, expected, at, strict=True):
            found_kind = stored_kind(schema.field(place).type)
            if found_kind != kind:
                message = (
                    f"the column {name!r} holds {found_kind} in {str(file)!r} and {kind} in {str(files[0])!r}; "
                    "write all files with the same types"
                )
                raise DataError(message)
        places.append(at)
    return SharedColumns(names, tuple(tuple(one.names) for one in schemas), tuple(places), expected)


def _match_names(first: AnyPath, names: tuple[str, ...], file: AnyPath, found: tuple[str, ...]) -> list[int]:
    """Return the place of each name among those of another file, which must be the same ones."""
    lacking = [name for name in names if name not in found]
    further = [name for name in found if name not in names]
    if lacking or further or len(names) != len(found):
        what = f"lacks {listing(lacking)}" if lacking else f"has {listing(further or found)} besides"
        message = f"{str(file)!r} has other columns than {str(first)!r}: it {what}; give files with the same columns"
        raise DataError(message)
    return [found.index(name) for name in names]


def stored_kind(kind: Any) -> str:
    """Name the type of a column by its values; text is text, whether it is stored as a dictionary or not."""
    pa = importlib.import_module("pyarrow")
    values = kind.value_type if pa.types.is_dictionary(kind) else kind
    return "text" if pa.types.is_string(values) or pa.types.is_large_string(values) else str(values)


def parquet_rows(path: AnyPath) -> int:
    """Return the number of rows of a Parquet file without reading it."""
    return int(_metadata(path).num_rows)


def parquet_size(path: AnyPath) -> int:
    """Estimate the memory that a Parquet file takes once it is read and encoded, without reading it.

    A cell takes the width of its type, and two bytes more as a code and in bit rows.
    """
    metadata = _metadata(path)
    schema = metadata.schema.to_arrow_schema()
    return int(metadata.num_rows * sum(_width(field.type) + 2 for field in schema))


def _width(kind: Any) -> int:
    """Return the bytes of a value of an Arrow type; text is taken to have some eight letters and a place."""
    try:
        return max(1, int(kind.bit_width) // 8)
    except ValueError:  # of no fixed width
        return _TEXT_BYTES


def is_row_label(name: str) -> bool:
    """Return whether a column holds the row labels that pandas writes beside the table."""
    return name.startswith("__index_level_")


def _metadata(path: AnyPath) -> Any:
    file = existing_file(path)
    try:
        return importlib.import_module("pyarrow.parquet").read_metadata(file)
    except ImportError as error:
        message = f"counting in the Parquet file {str(file)!r} needs pyarrow; pip install 'apsl_rules[parquet]'"
        raise DataError(message) from error
    except (OSError, ValueError) as error:
        message = f"cannot read the Parquet file {str(file)!r} ({error}); check that it is whole and really Parquet"
        raise DataError(message) from error


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


#: The readers of files with named columns.
_BY_KIND: Mapping[FileKind, Callable[[AnyPath], Any]] = {
    "csv": read_csv,
    "tsv": read_csv,
    "parquet": read_parquet,
    "feather": read_feather,
    "arrow": programs.read_arrow,
    "xlsx": read_excel,
    "ods": programs.read_ods,
    "dta": read_stata,
    "sav": programs.read_statistics,
    "zsav": programs.read_statistics,
    "xpt": programs.read_statistics,
    "sas7bdat": programs.read_statistics,
    "jsonl": read_json_lines,
    "json": programs.read_json,
    "sqlite": programs.read_sqlite,
}
