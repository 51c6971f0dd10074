"""Tables in databases: their addresses without secrets, connections that only read, and what a run would scan."""

from __future__ import annotations

from apsl_rules.data.databases.address import DatabaseTable, ask, is_database, is_ibis_table, shown_source
from apsl_rules.data.databases.connection import Opened, duckdb_path, open_database
from apsl_rules.data.databases.expressions import COUNT, complete_rows, group, select, value_of
from apsl_rules.data.databases.scan import ScanPlan, plan_scan

__all__ = [
    "COUNT",
    "DatabaseTable",
    "Opened",
    "ScanPlan",
    "ask",
    "complete_rows",
    "duckdb_path",
    "group",
    "is_database",
    "is_ibis_table",
    "open_database",
    "plan_scan",
    "select",
    "shown_source",
    "value_of",
]
