"""Whether a database returns rows in the same order whatever columns are asked for.

Columns that are read one after the other can be set side by side only then. Sums in the order in which rows are stored
have the same bits as those in memory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from apsl_rules.data.databases import Opened


def keeps_order(opened: Opened) -> bool:
    """Return whether a table is stored, in an engine that reads it in its order, with nothing that reorders rows."""
    import ibis.expr.operations as ops

    look = _LOOKS.get(opened.engine)
    operation = opened.table.op()
    while opened.engine != "sqlite" and isinstance(operation, ops.Filter | ops.Project | ops.DropColumns):
        operation = operation.parent
    if look is None or not isinstance(operation, ops.PhysicalTable):
        return False
    return isinstance(operation, ops.InMemoryTable) or look(opened.backend, operation)


def _in_sqlite(backend: Any, operation: Any) -> bool:
    """Return whether a table has row numbers; a view has none."""
    wanted = "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?"
    found = backend.con.execute(wanted, [operation.name]).fetchone()
    return found is not None and "without rowid" not in " ".join(found[0].casefold().split())


def _in_postgres(backend: Any, operation: Any) -> bool:
    """Return whether a table is stored: an ordinary one, a materialised view, or one in partitions."""
    schema = operation.namespace.database or backend.current_database
    wanted = (
        "SELECT c.relkind FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace "
        "WHERE s.nspname = %s AND c.relname = %s"
    )
    found = backend.con.execute(wanted, [schema, operation.name]).fetchone()
    return found is not None and found[0] in ("r", "m", "p", b"r", b"m", b"p")


def _in_duckdb(backend: Any, operation: Any) -> bool:
    """Return whether nothing in the plan of a table, or of a view of it, moves rows, and the engine keeps them."""
    (keeps,) = backend.con.execute("SELECT current_setting('preserve_insertion_order')").fetchone()
    wanted = f"EXPLAIN (FORMAT json) {backend.compile(operation.to_expr())}"
    ((_, plan),) = backend.con.execute(wanted).fetchall()
    return bool(keeps) and not any(map(_moves, _names_of(json.loads(plan))))


def _names_of(plan: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the names of the steps of a plan of DuckDB, such as "HASH_JOIN"."""
    for step in plan:
        yield step["name"].replace("_", " ")
        yield from _names_of(step["children"])


def _in_polars(backend: Any, operation: Any) -> bool:
    frame = backend.compile(operation.to_expr())
    return not _reorders(frame.explain(optimized=False))


def _in_datafusion(backend: Any, operation: Any) -> bool:
    plan = backend.con.sql(backend.compile(operation.to_expr())).logical_plan()
    return not _reorders(plan.display_indent())


def _reorders(plan: str) -> bool:
    """Return whether the plan of a query, a step in each line, has one after which rows may come in another order."""
    return any(_moves(_ARGUMENTS.split(line)[0]) for line in plan.splitlines())


def _moves(step: str) -> bool:
    """Return whether a step may move rows; the kind of a join stands before it, as in "INNER JOIN"."""
    return any(word.startswith(_MOVING) for word in step.casefold().split())


#: How the names of steps begin that move rows, and what stands between the name of a step and its arguments.
_MOVING = ("join", "aggregate", "group", "unique", "distinct", "union", "except", "intersect", "window", "sort",
           "order", "top", "sample", "product", "explode", "unnest")  # fmt: skip
_ARGUMENTS = re.compile(r"[:\[(]")
_LOOKS: dict[str, Callable[[Any, Any], bool]] = {
    "datafusion": _in_datafusion,
    "duckdb": _in_duckdb,
    "polars": _in_polars,
    "postgres": _in_postgres,
    "sqlite": _in_sqlite,
}
