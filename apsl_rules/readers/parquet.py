"""Parquet files, read with whichever library is installed."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from apsl_rules.errors import DataError
from apsl_rules.readers.files import AnyPath, existing_file

_READERS = ("pyarrow", "polars", "duckdb")


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
            labels = [name for name in frame.column_names if name.startswith("__index_level_")]
            return frame.drop_columns(labels) if labels else frame
        if reader == "polars":
            refusals = (*refusals, module.exceptions.PolarsError)
            frame = module.read_parquet(file)
            return frame.drop([name for name in frame.columns if name.startswith("__index_level_")])
        refusals = (*refusals, module.Error)
        frame = module.read_parquet(str(file)).df()
        return frame[[name for name in frame.columns if not name.startswith("__index_level_")]]
    except refusals as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        message = f"cannot read the Parquet file {str(file)!r} ({reason}); check that it is whole and really Parquet"
        raise DataError(message) from error
