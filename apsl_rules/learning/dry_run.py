"""What a run would read of a table in a database, said without reading it."""

from __future__ import annotations

from typing import Any, Unpack

from apsl_rules.data import plan_counting
from apsl_rules.data.databases import (
    ScanPlan,
    describe_duckdb_file,
    duckdb_file,
    is_database,
    is_ibis_table,
    open_database,
    plan_scan,
    types_set_aside,
)
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.learning.request import Request, Settings
from apsl_rules.names import Node, check_target, require_known


def dry_run(source: Any, target: Node, **settings: Unpack[Settings]) -> ScanPlan:
    """Return what ``learn`` would send to a database to open a table, and what the database says of its size.

    Only the catalogue of the database is read. ``source`` is an address or a table of ibis, ``target`` one of its
    columns; of the ``settings``, which are those of ``learn``, ``only`` and ``drop`` leave columns out. ``print`` shows
    the plan.
    """
    file = duckdb_file(source)
    if file is None and not is_database(source) and not is_ibis_table(source):
        message = "a dry run is for tables in databases; give an address such as 'postgres://user@host/database#table'"
        raise InvalidArgumentError(message)
    check_target(target)
    request = Request.of(settings, "dry_run")
    opened = open_database(source) if file is None else describe_duckdb_file(file)
    plan = plan_counting(opened.names, only=request.only, drop=request.drop).without(types_set_aside(opened.table))
    names = [opened.names[place] for place in plan.places]
    require_known(target, names, "target")
    return plan_scan(opened, names)
