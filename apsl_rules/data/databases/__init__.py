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
    ScanPlan,
    complete_rows,
    describe_duckdb_file,
    duckdb_file,
    group,
    plan_scan,
    select,
    types_set_aside,
    value_of,
)

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
