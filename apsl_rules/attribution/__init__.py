"""Why a number moved between two tables: what is made differently, what passed that on, and what did not change."""

from __future__ import annotations

from apsl_rules.attribution.result import ColumnMove, Moved
from apsl_rules.attribution.run import moved
from apsl_rules.attribution.two_tables import TwoTables

__all__ = ["ColumnMove", "Moved", "TwoTables", "moved"]
