"""Tables in: any table as integer codes, what stands out in it, and the content hash of its columns."""

from __future__ import annotations

from apsl_rules.data.columns import Column, labels_of
from apsl_rules.data.describe import Description, describe, find_duplicates
from apsl_rules.data.dictionary_codes import Distinct, dictionary
from apsl_rules.data.example import example_table
from apsl_rules.data.files import FileTable, is_countable, is_left_in_place
from apsl_rules.data.fingerprints import array_fingerprint, fingerprint
from apsl_rules.data.levels import LevelRule
from apsl_rules.data.notes import notes_on, notes_on_counts
from apsl_rules.data.numbers import numeric_matrix
from apsl_rules.data.read_table import MISSING_LEVEL, MissingRule, advice_on_levels, table
from apsl_rules.data.table import Codes, Table

__all__ = [
    "MISSING_LEVEL",
    "Codes",
    "Column",
    "Description",
    "Distinct",
    "FileTable",
    "LevelRule",
    "MissingRule",
    "Table",
    "advice_on_levels",
    "array_fingerprint",
    "describe",
    "dictionary",
    "example_table",
    "find_duplicates",
    "fingerprint",
    "is_countable",
    "is_left_in_place",
    "labels_of",
    "notes_on",
    "notes_on_counts",
    "numeric_matrix",
    "table",
]
