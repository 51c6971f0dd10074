"""Files of data: CSV, JSON lines, Parquet, Feather, Excel, and the blank-separated integers of benchmark supplements.

Each reader gives the file's contents or one sentence that says what is wrong with it, with the line where that helps.
"""

from apsl_rules.data.readers.columns import read_columns
from apsl_rules.data.readers.delimited import MISSING_FIELDS, check_lines, read_csv
from apsl_rules.data.readers.integers import Supplement, read_graph, read_integers, read_supplement
from apsl_rules.data.readers.parquet import SharedColumns, parquet_rows, read_parquet, shared_columns, stored_kind
from apsl_rules.data.readers.paths import TABLE_ENDINGS, AnyPath, FileKind, file_kind, split_sheet
from apsl_rules.data.readers.plain import PlainTable

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
