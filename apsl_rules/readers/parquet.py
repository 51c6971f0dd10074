"""Parquet files, read with whichever library is installed."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from apsl_rules.errors import DataError
from apsl_rules.readers.files import AnyPath, existing_file

_READERS = ("pyarrow", "polars", "duckdb")
_TEXT_BYTES = 16


def read_parquet(path: AnyPath) -> Any:
    """Read a Parquet file with pyarrow, polars or duckdb, whichever is installed; pandas' row labels are left out."""
    file = existing_file(path)
    reader = next((name for name in _READERS if importlib.util.find_spec(name)), None)
    if reader is None:
        message = f"reading the Parquet file {str(file)!r} needs pyarrow, polars or duckdb; pip install pyarrow"
        raise DataError(message)
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


def parquet_names(path: AnyPath, *, row_labels: bool = False) -> tuple[str, ...]:
    """Give the names of the columns of a Parquet file without reading it, and those of pandas' row labels if asked."""
    names = _metadata(path).schema.to_arrow_schema().names
    return tuple(name for name in names if row_labels or not is_row_label(name))


def parquet_size(path: AnyPath) -> int:
    """Estimate the memory that a Parquet file takes once it is read and encoded, without reading it.

    A cell takes the width of its type, and two bytes more as a code and in bit rows.
    """
    metadata = _metadata(path)
    schema = metadata.schema.to_arrow_schema()
    return int(metadata.num_rows * sum(_width(field.type) + 2 for field in schema))


def _width(kind: Any) -> int:
    """Give the bytes of a value of an Arrow type; text is taken to have some eight letters and a place."""
    try:
        return max(1, int(kind.bit_width) // 8)
    except ValueError:  # of no fixed width
        return _TEXT_BYTES


def is_row_label(name: str) -> bool:
    """Say whether a column holds the row labels that pandas writes beside the table."""
    return name.startswith("__index_level_")


def _metadata(path: AnyPath) -> Any:
    file = existing_file(path)
    try:
        return importlib.import_module("pyarrow.parquet").read_metadata(file)
    except ImportError as error:
        message = f"counting in the Parquet file {str(file)!r} needs pyarrow; pip install pyarrow"
        raise DataError(message) from error
    except (OSError, ValueError) as error:
        message = f"cannot read the Parquet file {str(file)!r} ({error}); check that it is whole and really Parquet"
        raise DataError(message) from error
