"""Tables in: any table as integer codes, what stands out in it, and the content hash of its columns."""

from apsl_rules.data.describe import Description, describe
from apsl_rules.data.fingerprints import array_fingerprint, fingerprint
from apsl_rules.data.levels import LevelRule
from apsl_rules.data.numbers import numeric_matrix
from apsl_rules.data.read_table import MISSING_LEVEL, MissingRule, table
from apsl_rules.data.table import Table

__all__ = [
    "MISSING_LEVEL",
    "Description",
    "LevelRule",
    "MissingRule",
    "Table",
    "array_fingerprint",
    "describe",
    "fingerprint",
    "numeric_matrix",
    "table",
]
