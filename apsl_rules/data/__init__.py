"""Tables in: any table as integer codes, what stands out in it, and the content hash of its columns."""

from apsl_rules.coded import Table
from apsl_rules.data.description import Description, describe
from apsl_rules.data.encode import LevelRule
from apsl_rules.data.fingerprints import array_fingerprint, fingerprint
from apsl_rules.data.numeric import numeric_matrix
from apsl_rules.data.tables import MISSING_LEVEL, MissingRule, table

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
