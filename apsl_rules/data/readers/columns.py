"""Any file that holds a table of named columns, read into memory by what its name ends in."""

from __future__ import annotations

from typing import Any

from apsl_rules.data.readers.delimited import read_csv
from apsl_rules.data.readers.parquet import read_feather, read_parquet
from apsl_rules.data.readers.paths import AnyPath, file_kind
from apsl_rules.errors import DataError


def read_columns(path: AnyPath) -> Any:
    """Read a CSV, TSV, JSON lines, Parquet, Feather or Excel file as a frame, or as plain columns."""
    match file_kind(path):
        case "csv" | "tsv":
            return read_csv(path)
        case "parquet":
            return read_parquet(path)
        case "feather":
            return read_feather(path)
        case "xlsx":
            from apsl_rules.data.readers.spreadsheet import read_excel

            return read_excel(path)
        case "jsonl":
            from apsl_rules.data.readers.json_lines import read_json_lines

            return read_json_lines(path)
        case "txt":
            message = f"{str(path)!r} is a text file of integers, whose columns have no names; write it as CSV"
            raise DataError(message)
