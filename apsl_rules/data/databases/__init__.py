"""Tables in databases: their addresses without secrets, connections that only read, and what a run would scan."""

from __future__ import annotations

from apsl_rules.data.databases.address import DatabaseTable, ask, is_database, is_ibis_table, shown_source
from apsl_rules.data.databases.connection import Opened, duckdb_path, open_database
from apsl_rules.data.databases.expressions import COUNT, complete_rows, group, select, types_set_aside, value_of
from apsl_rules.data.databases.scan import ScanPlan, describe_duckdb_file, duckdb_file, plan_scan

__all__ = [
    "COUNT",
    "DatabaseTable",
    "Opened",
    "ScanPlan",
    "ask",
    "complete_rows",
    "describe_duckdb_file",
    "duckdb_file",
    "duckdb_path",
    "group",
    "is_database",
    "is_ibis_table",
    "open_database",
    "plan_scan",
    "select",
    "shown_source",
    "types_set_aside",
    "value_of",
]
