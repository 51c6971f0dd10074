"""Tables in databases: their addresses without secrets, connections that only read, and what a run would scan."""

from __future__ import annotations

from apsl_rules.data.databases.connection import (
    DatabaseTable,
    Opened,
    ask,
    duckdb_path,
    is_database,
    is_ibis_table,
    open_database,
    shown_source,
)
from apsl_rules.data.databases.scan import (
    COUNT,
    FIRST_ROWS,
    ScanPlan,
    complete_rows,
    describe_duckdb_file,
    duckdb_file,
    first_rows_of,
    group,
    plan_scan,
    select,
    types_set_aside,
    value_of,
)

__all__ = [
    "COUNT",
    "FIRST_ROWS",
    "DatabaseTable",
    "Opened",
    "ScanPlan",
    "ask",
    "complete_rows",
    "describe_duckdb_file",
    "duckdb_file",
    "duckdb_path",
    "first_rows_of",
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
