"""Parquet and Feather files, read with whichever library is installed."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from typing import Any

import attrs

from apsl_rules.data.readers.paths import AnyPath, existing_file
from apsl_rules.errors import DataError, MissingPackageError
from apsl_rules.names import listing

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
