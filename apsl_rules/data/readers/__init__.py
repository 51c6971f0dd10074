"""Files of data: CSV, JSON lines, Parquet, Feather, Excel, and the blank-separated integers of benchmark supplements.

Each reader gives the file's contents or one sentence that says what is wrong with it, with the line where that helps.
"""

from apsl_rules.data.readers.paths import TABLE_ENDINGS, AnyPath, FileKind, file_kind, split_sheet
from apsl_rules.data.readers.stored import (
    SharedColumns,
    parquet_rows,
    read_columns,
    read_parquet,
    shared_columns,
    stored_kind,
)
from apsl_rules.data.readers.text import (
    MISSING_FIELDS,
    PlainTable,
    Supplement,
    check_lines,
    read_csv,
    read_graph,
    read_integers,
    read_supplement,
)

__all__ = [
    "MISSING_FIELDS",
    "TABLE_ENDINGS",
    "AnyPath",
    "FileKind",
    "PlainTable",
    "SharedColumns",
    "Supplement",
    "check_lines",
    "file_kind",
    "parquet_rows",
    "read_columns",
    "read_csv",
    "read_graph",
    "read_integers",
    "read_parquet",
    "read_supplement",
    "shared_columns",
    "split_sheet",
    "stored_kind",
]
