"""Expressions on a table of a database, and the plan of what a run would read of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from os import PathLike
from typing import Any

import attrs

from apsl_rules.data.databases.connection import DatabaseTable, Opened, ask, duckdb_path, is_database
from apsl_rules.data.files import FileTable, is_left_in_place
from apsl_rules.errors import DataError
from apsl_rules.names import Node, count_of, spell_bytes

#: What the number of rows is called in results.
COUNT = "n"


def value_of(table: Any, name: Node) -> Any:
    """Return a column as values that can be levels or numbers.

    Decimal numbers become floats, as they do in memory, and rare types text.
    """
    column = table[name]
    kind = column.type()
    if kind.is_decimal():
        return column.cast("float64")
    if kind.is_numeric() or kind.is_boolean() or kind.is_string() or kind.is_temporal():
        return column
    if _is_neither(kind):
        message = f"column {name!r} holds {kind}, which has no levels and is no number; leave it out (drop)"
        raise DataError(message)
    return column.cast("string")


def _is_neither(kind: Any) -> bool:
    """Return whether values of a type are neither levels nor numbers."""
    return bool(kind.is_nested() or kind.is_json() or kind.is_binary() or kind.is_geospatial())


def types_set_aside(table: Any) -> dict[int, str]:
    """Return the types of those columns, by place, whose values are neither levels nor numbers."""
    kinds = (table[name].type() for name in table.columns)
    return {place: type(kind).__name__.lower() for place, kind in enumerate(kinds) if _is_neither(kind)}


def select(table: Any, values: Mapping[int, Any]) -> Any:
    """Return some columns under names of our own."""
    return table.select(**{f"c{place}": value for place, value in values.items()})


def group(table: Any, values: Mapping[int, Any], most: int | None = None) -> Any:
    """Return the combinations of some columns that occur, each with its number of rows, but no more than one above."""
    chosen = select(table, values)
    keys = [f"c{place}" for place in values]
    found = chosen.group_by(keys).agg(**{COUNT: chosen.count()})
    return found if most is None else found.limit(most + 1)


def complete_rows(table: Any, missing: Mapping[int, Any], sets: Sequence[Sequence[int]]) -> Any:
    """Return for each set of columns the number of rows in which none of them is missing."""
    import ibis

    counts = {}
    for number, places in enumerate(sets):
        gone = [missing[place] for place in places]
        counts[f"c{number}"] = ibis.or_(*gone).ifelse(0, 1).sum()
    return table.agg(**counts)


#: The rows that a run looks at first.
FIRST_ROWS = 10_000


@attrs.frozen
class ScanPlan:
    """What opening a table would send to its database, and what the database says that this would read.

    ``origin`` names the table, ``engine`` the database, and ``columns`` are the names and types of the columns that
    would be read. ``rows`` is the number of rows that the catalogue of the database has, ``size`` the bytes of the
    table there, and ``billed`` the bytes that the engine says it would bill for ``statements``; each is None where it
    does not say.
    """

    origin: str
    engine: str
    columns: tuple[tuple[Node, str], ...]
    statements: tuple[str, ...]
    rows: int | None = None
    size: int | None = None
    billed: int | None = None

    def __str__(self) -> str:
        rows = "an unknown number of rows" if self.rows is None else f"about {count_of(self.rows, 'row')}"
        size = "" if self.size is None else f", {spell_bytes(self.size)} in all"
        billed = (
            f"{self.engine} does not say what it would bill."
            if self.billed is None
            else f"{self.engine} would bill {spell_bytes(self.billed)} for that."
        )
        return "\n".join(
            [
                f"Nothing was read of {self.origin}: {rows}, {count_of(len(self.columns), 'column')}{size}.",
                *(f"  {name}: {kind}" for name, kind in self.columns),
                f"To open it, {count_of(len(self.statements), 'statement')} at most would read each column twice:",
                *(f"  {' '.join(statement.split())}" for statement in self.statements),
                billed,
                "Each round of a run then groups some of these columns again; a sweep over all nodes groups all.",
            ]
        )


def plan_scan(opened: Opened, names: Sequence[Node]) -> ScanPlan:
    """Plan the opening of a table of which some columns are used; the database is asked for its catalogue only."""
    table = opened.table
    values = {place: value_of(table, name) for place, name in enumerate(names)}
    asked = [select(table, values).limit(FIRST_ROWS), *(group(table, {place: one}) for place, one in values.items())]

    def plan() -> ScanPlan:
        statements = tuple(_statement(opened, one) for one in asked)
        rows, size = _CATALOGUES.get(opened.engine, _unknown)(opened)
        billed = _billed(opened, statements) if opened.engine == "bigquery" else None
        kinds = tuple((name, str(table[name].type())) for name in names)
        return ScanPlan(opened.origin, opened.engine, kinds, statements, rows, size, billed)

    return ask(plan, opened.origin, opened.redact)


def _statement(opened: Opened, expression: Any) -> str:
    """Return what would be sent; Polars takes no statements but its own plans."""
    compiled = opened.backend.compile(expression)
    return compiled if isinstance(compiled, str) else str(compiled.explain(optimized=False))


def duckdb_file(source: Any) -> FileTable | None:
    """Return the table of a DuckDB file that a path or an address stands for, if it does."""
    if isinstance(source, str) and is_database(source):
        source = DatabaseTable(source)
    if isinstance(source, DatabaseTable):
        source = duckdb_path(source)  # None for other engines
    if isinstance(source, str | PathLike) and is_left_in_place(source):
        source = FileTable(source)
    return source if isinstance(source, FileTable) and source.kind == "duckdb" else None


@attrs.frozen
class _Catalogue:
    """What the catalogue of a DuckDB file says of a table, in the place of a connection that could read its rows."""

    rows: int | None
    size: int
    name: str = "duckdb"

    def compile(self, expression: Any) -> str:
        """Return the statement for an expression."""
        import ibis

        return str(ibis.to_sql(expression, dialect="duckdb"))


def describe_duckdb_file(file: FileTable) -> Opened:
    """Open the catalogue of a DuckDB file, and nothing else."""
    import duckdb
    import ibis
    from ibis.backends.sql.datatypes import DuckDBType

    columns = file.columns  # says what is wrong with the file or the table
    with duckdb.connect(str(file.files[0]), read_only=True) as connection:
        name = file.table or connection.execute("SELECT table_name FROM information_schema.tables").fetchall()[0][0]
        listed = "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = ?"
        kinds = dict(connection.execute(listed, [name]).fetchall())
        sized = "SELECT estimated_size FROM duckdb_tables() WHERE table_name = ?"
        found = connection.execute(sized, [name]).fetchone()
    schema = {str(one): DuckDBType.from_string(kinds[one]) for one in columns}
    catalogue = _Catalogue(None if found is None else int(found[0]), file.files[0].stat().st_size)
    return Opened(ibis.table(schema, name=name), catalogue, file.path)


def _unknown(_opened: Opened) -> tuple[int | None, int | None]:
    return None, None


def _of_postgres(opened: Opened) -> tuple[int | None, int | None]:
    operation, backend = opened.table.op(), opened.backend
    wanted = (
        "SELECT c.reltuples::bigint, pg_relation_size(c.oid) FROM pg_class c "
        "JOIN pg_namespace s ON s.oid = c.relnamespace WHERE s.nspname = %s AND c.relname = %s"
    )
    with suppress(AttributeError):  # an expression has no name
        schema = operation.namespace.database or backend.current_database
        found = backend.con.execute(wanted, [schema, operation.name]).fetchone()
        if found is not None:
            return (None if found[0] < 0 else int(found[0])), int(found[1])
    return None, None


def _of_sqlite(opened: Opened) -> tuple[int | None, int | None]:
    (size,) = opened.backend.con.execute(
        "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
    ).fetchone()
    return None, int(size)


def _of_duckdb(opened: Opened) -> tuple[int | None, int | None]:
    if isinstance(opened.backend, _Catalogue):
        return opened.backend.rows, opened.backend.size
    name = getattr(opened.table.op(), "name", None)
    wanted = "SELECT estimated_size FROM duckdb_tables() WHERE table_name = ?"
    found = opened.backend.con.execute(wanted, [name]).fetchall()
    return (int(found[0][0]) if found else None), None


def _billed(opened: Opened, statements: Sequence[str]) -> int:
    """Return what BigQuery says that it would bill: it plans each statement and runs none."""
    # The driver of BigQuery is installed by those who use it.
    from google.cloud.bigquery import QueryJobConfig  # type: ignore[import-not-found, unused-ignore]

    plan = QueryJobConfig(dry_run=True, use_query_cache=False)
    client = opened.backend.client
    return sum(int(client.query(one, job_config=plan).total_bytes_processed) for one in statements)


_CATALOGUES: dict[str, Callable[[Opened], tuple[int | None, int | None]]] = {
    "duckdb": _of_duckdb,
    "postgres": _of_postgres,
    "sqlite": _of_sqlite,
}


def first_rows_of(source: Any) -> tuple[Any, int | None]:
    """Return the first rows of a table that stays where it is, an Arrow table, and how many it has where that is known.

    Columns that are neither levels nor numbers are left out.
    """
    from apsl_rules.data.databases.connection import open_database

    path = source.path if isinstance(source, FileTable) else None
    file = source if path is not None else duckdb_file(source)
    if file is not None:
        return _first_of_file(file)
    opened = open_database(source)
    aside = types_set_aside(opened.table)
    kept = {place: value_of(opened.table, name) for place, name in enumerate(opened.names) if place not in aside}
    chosen = opened.table.select(**{str(opened.names[place]): value for place, value in kept.items()})

    def read() -> tuple[Any, int | None]:
        rows, _ = _CATALOGUES.get(opened.engine, _unknown)(opened)
        return _fetched(opened, chosen.limit(FIRST_ROWS)), rows

    return ask(read, opened.origin, opened.redact)


def _fetched(opened: Opened, expression: Any) -> Any:
    """Return the result of an expression as an Arrow table, from SQLite and DuckDB by their own readers."""
    import pyarrow as pa

    if opened.engine == "duckdb":
        return opened.backend.con.sql(opened.backend.compile(expression)).to_arrow_table()
    if opened.engine != "sqlite":
        return opened.backend.to_pyarrow(expression)
    rows = opened.backend.con.execute(opened.backend.compile(expression)).fetchall()
    columns = zip(*rows, strict=True) if rows else ([] for _ in expression.columns)
    return pa.table(
        {str(name): pa.array(list(values)) for name, values in zip(expression.columns, columns, strict=True)}
    )


def _first_of_file(file: FileTable) -> tuple[Any, int | None]:
    """Return the first rows of Parquet and text files and of DuckDB databases, all of which DuckDB reads."""
    try:
        import duckdb
    except ImportError as error:
        message = f"describing {file.path!r} needs DuckDB; pip install 'apsl_rules[duckdb]'"
        raise DataError(message) from error
    columns = ", ".join(_quoted(str(name)) for name in file.columns)
    try:
        if file.kind == "duckdb":
            with duckdb.connect(str(file.files[0]), read_only=True) as connection:
                listed = "SELECT table_name FROM information_schema.tables ORDER BY ALL"
                name = file.table or connection.execute(listed).fetchall()[0][0]
                found = f"FROM {'.'.join(map(_quoted, str(name).split('.')))}"
                (rows,) = connection.execute(f"SELECT count(*) {found}").fetchall()[0]
                return connection.sql(f"SELECT {columns} {found} LIMIT {FIRST_ROWS}").to_arrow_table(), rows
        reader = "read_parquet" if file.kind == "parquet" else "read_csv"
        names = [str(one) for one in file.files]
        statement = f"SELECT {columns} FROM {reader}(?) LIMIT {FIRST_ROWS}"  # noqa: S608 - quoted
        with duckdb.connect() as connection:
            return connection.sql(statement, params=[names]).to_arrow_table(), None
    except duckdb.Error as error:
        message = f"cannot read {file.path!r} ({str(error).splitlines()[0]}); check that it is whole"
        raise DataError(message) from error


def _quoted(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'
