"""Files of data: CSV, Parquet, and the blank-separated integers of the benchmark supplements.

Each reader gives the file's contents or one sentence that says what is wrong with it, with the line where that helps.
"""

from apsl_rules.data.readers.delimited import MISSING_FIELDS, read_csv
from apsl_rules.data.readers.integers import Supplement, read_graph, read_integers, read_supplement
from apsl_rules.data.readers.parquet import read_parquet
from apsl_rules.data.readers.paths import AnyPath, FileKind, file_kind

__all__ = [
    "MISSING_FIELDS",
    "AnyPath",
    "FileKind",
    "Supplement",
    "file_kind",
    "read_csv",
    "read_graph",
    "read_integers",
    "read_parquet",
    "read_supplement",
]
