"""Connections to databases through ibis, for reading only, and with one state of the table where the engine has it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote
from weakref import finalize

import attrs

from apsl_rules.data.databases.address import DatabaseTable, ask, is_ibis_table
from apsl_rules.data.readers.paths import is_folder, is_there
from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.masking import shown_address
from apsl_rules.names import Node, listing, nearest

_NAMES = {"postgresql": "postgres"}
#: The steps of SQLite's machine after which Python may see an interrupt.
_STEPS = 1_000_000


@attrs.frozen(eq=False)
class Opened:
    """A table expression of ibis, the connection that it belongs to, its name for people, and how to hide secrets."""

    table: Any
    backend: Any
    origin: str
    redact: Callable[[str], str] = attrs.field(default=str, repr=False)

    @property
    def names(self) -> tuple[Node, ...]:
        """Return the names of the columns."""
        return tuple(self.table.columns)

    @property
    def engine(self) -> str:
        """Return the name of the engine, such as "postgres"."""
        return str(self.backend.name)


def open_database(source: Any) -> Opened:
    """Open a table of a database: an address, or a table expression of ibis."""
    if isinstance(source, DatabaseTable):
        return source.opened
    if isinstance(source, str):
        return DatabaseTable(source).opened
    assert is_ibis_table(source)  # noqa: S101 - callers look
    ibis = _ibis()
    backend = ask(lambda: ibis.get_backend(source), "the ibis table")
    return Opened(source, backend, f"an ibis table in {backend.name}")


def duckdb_path(table: DatabaseTable) -> str | None:
    """Return the path of a table in a DuckDB file, as files are named; None for other addresses."""
    path = unquote(table.parts.netloc + table.parts.path)
    if table.engine != "duckdb" or not path.casefold().endswith((".duckdb", ".db")) or table.parts.query:
        return None
    return path if table.table is None else f"{path}#{unquote(table.table)}"


def connect(table: DatabaseTable) -> Opened:
    """Connect to a database so that it can only be read, and find the table."""
    ibis = _ibis()
    engine = _NAMES.get(table.engine, table.engine)
    open_one = {"postgres": _open_postgres, "sqlite": _open_sqlite, "duckdb": _open_duckdb}.get(engine, _open_other)
    backend = ask(lambda: open_one(ibis, engine, table), table.shown, table.redact)
    try:
        found = ask(lambda: _find(backend, table), table.shown, table.redact)
    except BaseException:
        backend.disconnect()
        raise
    opened = Opened(found, backend, table.shown, DatabaseTable(table.address).redact)
    finalize(opened, backend.disconnect)
    return opened


def _open_postgres(ibis: Any, _engine: str, table: DatabaseTable) -> Any:
    """Open a transaction that only reads and sees one state of the database until the end."""
    from psycopg import IsolationLevel

    backend = ibis.connect(table.url, autocommit=False)
    connection = backend.con
    connection.rollback()
    connection.isolation_level = IsolationLevel.REPEATABLE_READ
    connection.read_only = True
    connection.execute("SELECT 1")  # begins the transaction; ibis ends those that it begins itself
    return backend


def _open_sqlite(ibis: Any, _engine: str, table: DatabaseTable) -> Any:
    import sqlite3

    spelt = unquote(table.parts.netloc + table.parts.path)
    if spelt.startswith("//"):
        spelt = f"/{spelt.lstrip('/')}"  # others write four slashes before an absolute path
    path, beside = Path(spelt), Path(spelt.lstrip("/"))
    if not is_there(path) and is_there(beside):
        path = beside  # and three before a relative one
    if not is_there(path) or is_folder(path):
        message = f"there is no file {shown_address(str(path))!r}; check the path after sqlite://"
        raise DataError(message)
    connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, check_same_thread=False)
    connection.set_progress_handler(lambda: 0, _STEPS)
    return ibis.sqlite.from_connection(connection)


def _open_duckdb(ibis: Any, _engine: str, table: DatabaseTable) -> Any:
    return ibis.connect(table.url, read_only=True)


def _open_other(ibis: Any, engine: str, table: DatabaseTable) -> Any:
    if engine not in _engines():
        hint = nearest(engine, _engines()) or f"; ibis knows {', '.join(_engines())}"
        message = f"{engine!r} is no database that ibis knows{hint}"
        raise InvalidArgumentError(message)
    return ibis.connect(table.url)


def _engines() -> tuple[str, ...]:
    from importlib.metadata import entry_points

    return tuple(sorted({one.name for one in entry_points(group="ibis.backends")}))


def _find(backend: Any, table: DatabaseTable) -> Any:
    """Return the table of an address: by its name, by schema and name, or the only one."""
    known = sorted(backend.list_tables())
    wanted = table.table
    if wanted is None:
        if len(known) == 1:
            return backend.table(known[0])
        told = f"it has {listing(known)}" if known else "it has no tables"
        message = f"no table of {table.shown!r} was named ({told}); add #TABLE to the address"
        raise DataError(message)
    for name in dict.fromkeys((wanted, unquote(wanted))):
        if name in known:
            return backend.table(name)
    schema, mark, name = unquote(wanted).partition(".")
    if mark and name in backend.list_tables(database=schema):
        return backend.table(name, database=schema)
    hint = nearest(wanted, known) or (f"; it has {listing(known)}" if known else "")
    message = f"there is no table {unquote(wanted)!r} in {table.shown!r}{hint}"
    raise DataError(message)


def _ibis() -> Any:
    try:
        import ibis
        import pyarrow as pa  # noqa: F401 - results come through it
        import pyarrow_hotfix  # noqa: F401 - ibis needs it
    except ImportError as error:
        message = f"a table in a database needs ibis ({error}); pip install 'apsl_rules[database]'"
        raise InvalidArgumentError(message) from error
    return ibis
