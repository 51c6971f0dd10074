"""Read what other programs store: SPSS and SAS files, OpenDocument sheets, JSON documents, Arrow and SQLite files."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from apsl_rules.data.columns import NOTES
from apsl_rules.data.readers.paths import AnyPath, existing_file, file_kind, open_text, split_sheet
from apsl_rules.errors import DataError, MissingPackageError
from apsl_rules.names import count_of, listing, nearest
from apsl_rules.notes import Note, note_on_labels

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    import pandas as pd

_FEW = 4
#: Formats of SAS for days that pyreadstat would leave as the days since 1960.
_DATES_OF_SAS = [
    *("DAY", "DOWNAME", "JULDAY", "JULIAN", "MMYY", "MONNAME", "MONTH", "MONYY", "NENGO", "QTR", "QTRR", "WEEKDATX"),
    *("WEEKDAY", "WEEKU", "WEEKV", "WEEKW", "WORDDATE", "WORDDATX", "YEAR", "YYMM", "YYMON", "YYQ", "YYQR"),
]


def read_statistics(path: AnyPath) -> pd.DataFrame:
    """Read a file of SPSS or SAS: declared missing codes are missing, and full value labels are levels in order."""
    file = existing_file(path)
    kind = file_kind(path)
    is_spss = kind in {"sav", "zsav"}
    try:
        import pyreadstat
    except ImportError as error:
        program = "SPSS" if is_spss else "SAS"
        message = f"reading the {program} file {str(file)!r} needs pyreadstat; pip install 'apsl_rules[stats]'"
        raise MissingPackageError(message) from error
    reader = "read_sav" if is_spss else {"xpt": "read_xport", "sas7bdat": "read_sas7bdat"}[kind]
    read = getattr(pyreadstat, reader)
    dates: dict[str, list[str]] = {}
    if not is_spss:  # older versions of pyreadstat compare formats with their width
        forms = _read(lambda: read(str(file), metadataonly=True), file)[1].original_variable_types.values()
        dates["extra_date_formats"] = [one for one in forms if one and one.rstrip("0123456789.") in _DATES_OF_SAS]
    found: tuple[pd.DataFrame, Any] = _read(lambda: read(str(file), **dates), file)
    frame, meta = found
    for name, labels in meta.variable_value_labels.items():
        frame[name] = _labelled(frame[name], labels)
    if is_spss:  # says which codes are declared only where it is to keep them
        meta = pyreadstat.read_sav(str(file), metadataonly=True, user_missing=True)[1]
    kept = kept_labels(frame, dict(zip(meta.column_names, meta.column_labels, strict=True)))
    declared = {name: codes for name, codes in (meta.missing_ranges or {}).items() if codes}
    if declared:
        told = "; ".join(f"{name!r}: {_codes(codes)}" for name, codes in declared.items())
        words = f"the file {file.name!r} declares codes for missing values, which are read as missing: {told}"
        kept = (*kept, Note(words, "declared missing", columns=[*declared]))
    frame.attrs[NOTES] = kept
    return frame


def kept_labels(frame: pd.DataFrame, labels: Mapping[str, str | None]) -> tuple[Note, ...]:
    """Return the note on the labels that a file gives its columns, if they say more than the names."""
    told = {name: text.strip() for name, text in labels.items() if name in frame.columns and text and text.strip()}
    told = {name: text for name, text in told.items() if text.casefold() != name.casefold()}
    return (note_on_labels(told),) if told else ()


def _codes(ranges: list[dict[str, Any]]) -> str:
    """Return declared codes for missing values in words."""
    told = [
        f"{_plain(one['lo'])}" if one["lo"] == one["hi"] else f"{_plain(one['lo'])} to {_plain(one['hi'])}"
        for one in ranges
    ]
    return ", ".join(told)


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else repr(value)


def _labelled(values: pd.Series[Any], labels: dict[Any, str]) -> pd.Series[Any]:
    """Return a column by the labels of its values, in the order of these, or as it is where a value has none."""
    import pandas as pd

    there = set(values.dropna().unique().tolist())
    if not there or not there <= set(labels) or len(set(labels.values())) < len(labels):
        return values
    ordered = sorted(labels, key=lambda value: (isinstance(value, str), value))
    named = values.map(labels, na_action="ignore")
    return pd.Series(pd.Categorical(named, [labels[value] for value in ordered]), index=values.index)


def read_ods(path: AnyPath) -> pd.DataFrame:
    """Read a sheet of an OpenDocument workbook: ``book.ods`` has one with cells, ``book.ods#sheet`` names one."""
    import pandas as pd

    name, sheet = split_sheet(path)
    file = existing_file(name)
    try:
        importlib.import_module("python_calamine")
    except ImportError as error:
        message = f"reading the workbook {str(file)!r} needs python-calamine; pip install 'apsl_rules[ods]'"
        raise MissingPackageError(message) from error
    sheets = _read(lambda: pd.read_excel(file, sheet_name=None, engine="calamine"), file)
    filled = {title: one for title, one in sheets.items() if len(one.columns)}
    return _chosen(filled, sheet, name, "sheet")


def read_json(path: AnyPath) -> pd.DataFrame:
    """Read a JSON document: a list of objects, or an object with a list for each column."""
    import pandas as pd

    file = existing_file(path)
    advice = 'give a list of objects, such as [{"age": 41}], or an object with a list for each column'
    with open_text(file) as handle:
        try:
            data = json.load(handle)
        except (ValueError, RecursionError) as error:
            message = f"{str(file)!r} is not JSON ({error}); {advice}"
            raise DataError(message) from error
    rows = isinstance(data, list) and all(isinstance(one, dict) for one in data)
    columns = isinstance(data, dict) and len({len(one) for one in data.values() if isinstance(one, list)}) == 1
    cells = [value for one in (data if rows else data.values() if columns else ()) for value in _cells(one)]
    if not cells or any(isinstance(value, dict | list) for value in cells):
        message = f"{str(file)!r} is no table; {advice}"
        raise DataError(message)
    return pd.DataFrame(data)


def _cells(line: Any) -> list[Any]:
    """Return the values of a row or a column of a JSON document."""
    return [*line.values()] if isinstance(line, dict) else line if isinstance(line, list) else [[line]]


def read_arrow(path: AnyPath) -> Any:
    """Read an Arrow file, or a stream of Arrow batches."""
    file = existing_file(path)
    try:
        pa = importlib.import_module("pyarrow")
        ipc = importlib.import_module("pyarrow.ipc")
    except ImportError as error:
        message = f"reading the Arrow file {str(file)!r} needs pyarrow; pip install 'apsl_rules[parquet]'"
        raise MissingPackageError(message) from error
    content = pa.BufferReader(file.read_bytes())
    with file.open("rb") as handle:
        is_file = handle.read(6) == b"ARROW1"
    return _read(lambda: (ipc.open_file if is_file else ipc.open_stream)(content).read_all(), file)


def read_sqlite(path: AnyPath) -> pd.DataFrame:
    """Read a table of an SQLite file: ``rows.sqlite`` has one, ``rows.sqlite#table`` names one."""
    import sqlite3

    import pandas as pd

    name, table = split_sheet(path)
    file = existing_file(name)

    def read() -> dict[str, pd.DataFrame]:
        with closing(sqlite3.connect(f"file:{quote(str(file))}?mode=ro", uri=True)) as connection:
            listed = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
            names = [one for (one,) in connection.execute(f"{listed} ORDER BY name")]
            wanted = [one for one in names if table in (None, one)]
            if table is None and len(names) > 1:
                return dict.fromkeys(names, pd.DataFrame())
            return {one: _rows_of(connection, one) for one in wanted} or dict.fromkeys(names, pd.DataFrame())

    return _chosen(_read(read, file), table, name, "table")


def _rows_of(connection: sqlite3.Connection, table: str) -> pd.DataFrame:
    import pandas as pd

    quoted = table.replace('"', '""')
    cursor = connection.execute(f'SELECT * FROM "{quoted}"')  # noqa: S608 - quoted
    rows = cursor.fetchall()
    return pd.DataFrame(rows, columns=pd.Index([one[0] for one in cursor.description], dtype=object))


def _chosen(found: dict[str, pd.DataFrame], wanted: str | None, file: str, what: str) -> pd.DataFrame:
    """Return the table that a path names after its file, or the only one."""
    if wanted is not None and wanted not in found:
        hint = nearest(wanted, found) or f"; there {'is' if len(found) == 1 else 'are'} {listing([*found])}"
        message = f"the file {file!r} has no {what} {wanted!r}{hint}"
        raise DataError(message)
    if wanted is None and len(found) != 1:
        told = f"{count_of(len(found), what)}{': ' * bool(found)}{listing([*found][:_FEW]) if found else ''}"
        advice = f"name one, as {file}#{next(iter(found))}" if found else "give one with rows"
        message = f"the file {file!r} has {told}; {advice}"
        raise DataError(message)
    return found[wanted if wanted is not None else next(iter(found))]


def _read(read: Callable[[], Any], file: Path) -> Any:
    """Return what a reader of another library gives, or say that the file is damaged."""
    try:
        return read()
    except MemoryError:
        raise
    except Exception as error:  # a damaged file raises whatever its parser meets
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        message = f"cannot read the file {str(file)!r} ({reason}); check that it is whole and what its name says"
        raise DataError(message) from error
