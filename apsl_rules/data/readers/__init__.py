"""Files of data: CSV, JSON lines, Parquet, Feather, Stata, Excel, and the integers of benchmark supplements.

Each reader gives the file's contents or one sentence that says what is wrong with it, with the line where that helps.
"""

from apsl_rules.data.readers.paths import (
    TABLE_ENDINGS,
    AnyPath,
    FileKind,
    existing_file,
    file_kind,
    is_folder,
    split_sheet,
)
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
    check_lines,
    read_csv,
    read_integers,
)

__all__ = [
    "MISSING_FIELDS",
    "TABLE_ENDINGS",
    "AnyPath",
    "FileKind",
    "PlainTable",
    "SharedColumns",
    "check_lines",
    "existing_file",
    "file_kind",
    "is_folder",
    "parquet_rows",
    "read_columns",
    "read_csv",
    "read_integers",
    "read_parquet",
    "shared_columns",
    "split_sheet",
    "stored_kind",
]
