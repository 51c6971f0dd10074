"""How the results of ibis expressions are read from each engine, as Arrow tables, and whether rows keep their order.

Some engines have a reader of their own: SQLite, since ibis takes its integers through floats, PostgreSQL, whose binary
results take half the time of text, and DuckDB and DataFusion for rows in order. Columns that are read one after the
other can be set side by side only where a database returns rows in the same order whatever columns are asked for; then
sums have the same bits as those in memory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime, time
from typing import Any

from apsl_backends.engines.duckdb import batches_of
from apsl_rules.data.databases import Opened

_BATCH = 1 << 16


def read_any(expression: Any) -> Iterator[Any]:
    """Read as ibis does."""
    import pyarrow as pa

    with expression.to_pyarrow_batches(chunk_size=_BATCH) as reader:
        for batch in reader:
            yield pa.Table.from_batches([batch])


def read_duckdb(backend: Any, expression: Any) -> Iterator[Any]:
    """Read as DuckDB offers it; what ibis calls is gone from DuckDB 2."""
    import pyarrow as pa

    reader = batches_of(backend.con.sql(backend.compile(expression)), _BATCH)
    try:
        for batch in reader:
            yield pa.Table.from_batches([batch])
    finally:
        reader.close()


def read_datafusion(backend: Any, expression: Any) -> Iterator[Any]:
    """Read in one thread, since several return the parts of a file as they come."""
    setting = "datafusion.execution.target_partitions"
    (before,) = backend.con.sql(f"SHOW {setting}").collect()[0].column(1).to_pylist()
    backend.con.sql(f"SET {setting} = 1").collect()
    try:
        yield from read_any(expression)
    finally:
        backend.con.sql(f"SET {setting} = {before}").collect()


def read_postgres(backend: Any, expression: Any, schema: Any, *, in_order: bool) -> Iterator[Any]:
    """Read in binary; rows in their order through a cursor of one process that looks at no index.

    A scan of a large table would otherwise begin where the scan of another session is.
    """
    statement, connection = backend.compile(expression), backend.con
    with connection.transaction(force_rollback=True):  # which takes back the settings, too
        if not in_order:
            yield decoded(_table_of(connection.execute(statement, binary=True).fetchall(), schema))
            return
        for setting in ("enable_indexscan", "enable_indexonlyscan", "enable_bitmapscan", "synchronize_seqscans"):
            connection.execute(f"SET LOCAL {setting} = off")
        with connection.cursor(name="apsl_rows") as cursor:  # never in parallel
            cursor.execute(statement, binary=True)
            while rows := cursor.fetchmany(_BATCH):
                yield decoded(_table_of(rows, schema))


def decoded(found: Any) -> Any:
    """Return text that came as its bytes as text; a column of other bytes is never asked for."""
    import pyarrow as pa

    for number, field in enumerate(found.schema):
        if pa.types.is_binary(field.type):
            found = found.set_column(number, field.name, found.column(number).cast(pa.string()))
    return found


def read_sqlite(backend: Any, expression: Any, schema: Any) -> Iterator[Any]:
    """Read through a cursor of SQLite itself."""
    cursor = backend.con.execute(backend.compile(expression))
    try:
        while rows := cursor.fetchmany(_BATCH):
            yield _table_of(rows, schema)
    finally:
        cursor.close()


def _table_of(rows: Sequence[tuple[Any, ...]], schema: Any) -> Any:
    """Return rows of Python values as an Arrow table."""
    import pyarrow as pa

    columns = zip(*rows, strict=True) if rows else ([] for _ in schema)
    return pa.table([_array(values, field.type) for values, field in zip(columns, schema, strict=True)], schema=schema)


def _array(values: Sequence[Any], kind: Any) -> Any:
    import pyarrow as pa

    with suppress(pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array(values, kind)
    return pa.array([None if value is None else _converted(value, kind) for value in values], kind)


def _converted(value: Any, kind: Any) -> Any:
    """Return a value of SQLite, which knows neither truth values nor dates, as what its column was declared to hold."""
    import pyarrow as pa

    if pa.types.is_boolean(kind) and value in (0, 1):
        return bool(value)
    if pa.types.is_timestamp(kind) and isinstance(value, str):
        return datetime.fromisoformat(value)
    if pa.types.is_date(kind) and isinstance(value, str):
        return date.fromisoformat(value)
    if pa.types.is_time(kind) and isinstance(value, str):
        return time.fromisoformat(value)
    if pa.types.is_large_string(kind) or pa.types.is_string(kind):
        return str(value)
    return value


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
