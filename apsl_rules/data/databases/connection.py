"""Tables in databases: their addresses, which never show a secret, and connections that only read."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import SplitResult, quote, unquote
from weakref import finalize

import attrs

from apsl_rules.data.readers.paths import is_folder, is_there
from apsl_rules.errors import ApslError, DataError, InvalidArgumentError
from apsl_rules.masking import address_parts, masked_driver_text, secrets_of, shown_address, split_table
from apsl_rules.names import Node, listing, nearest

Result = TypeVar("Result")

_EXACT = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
#: What may be meant as an address, though it has another number of slashes, or none, or blanks before it.
_LIKE_ADDRESS = re.compile(
    r"\s*(?:[A-Za-z][A-Za-z0-9+.-]*://|(?:[A-Za-z][A-Za-z0-9+.-]+:)+/|[^/\\]+:.*@|[^/]*//[^/]*:.*@)", re.DOTALL
)


def is_database(source: object) -> bool:
    """Return whether a source is the address of a table in a database, such as ``sqlite:///file.db#table``.

    One that is misspelt is one too, so that what is wrong with it is said without its password.
    """
    if isinstance(source, str):
        return _LIKE_ADDRESS.match(source) is not None and not is_there(source)
    return isinstance(source, DatabaseTable)


def is_ibis_table(source: object) -> bool:
    """Return whether a source is a table expression of ibis."""
    kind = type(source)
    return kind.__module__.partition(".")[0] == "ibis" and hasattr(source, "group_by") and hasattr(source, "schema")


@attrs.frozen(slots=False, repr=False)
class DatabaseTable:
    """A table of a database by its address, ``postgres://user@host/db#table``; passwords in it are never shown."""

    address: str = attrs.field()

    @cached_property
    def url(self) -> str:
        """Return the address of the database, with its secrets."""
        return split_table(self.address)[0]

    @cached_property
    def table(self) -> str | None:
        """Return the name of the table, as the address spells it."""
        return split_table(self.address)[1]

    @cached_property
    def parts(self) -> SplitResult:
        """Return the address in parts."""
        parts = address_parts(self.address)
        if parts is not None:
            return parts
        if _EXACT.match(self.address):
            message = (
                "the address of the database cannot be read: it has an '@' after the end of its host, or a port that "
                "is no number; write '/' in a password as %2F, '#' as %23 and '?' as %3F"
            )
        else:
            message = (
                f"{self.shown!r} is neither a file nor the address of a database; an address begins with its engine, a "
                "colon and two slashes, such as 'postgres://user@host/database#table'"
            )
        raise DataError(message)

    @property
    def engine(self) -> str:
        """Return the name of the engine, in small letters."""
        return self.parts.scheme.casefold()

    @cached_property
    def shown(self) -> str:
        """Return the address without secrets."""
        return shown_address(self.address)

    def redact(self, text: str) -> str:
        """Return what an engine says without the secrets of the address."""
        for whole, shown in ((self.address, self.shown), (self.url, shown_address(self.url))):
            text = text.replace(whole, shown)
        return masked_driver_text(text, secrets_of(self.address))

    def __repr__(self) -> str:
        return f"DatabaseTable({self.shown!r})"

    def __str__(self) -> str:
        return self.shown

    @cached_property
    def opened(self) -> Opened:
        """Return the table, connected once."""
        return connect(self)

    @property
    def columns(self) -> tuple[Node, ...]:
        """Return the names of the columns, for which the database is asked."""
        return self.opened.names


def shown_source(source: object) -> str:
    """Return the name of a source for people, without the secrets of an address."""
    return str(DatabaseTable(source) if isinstance(source, str) and is_database(source) else source)


def ask(call: Callable[[], Result], origin: str, redact: Callable[[str], str] = str) -> Result:
    """Return what a database answers; every failure becomes one sentence without secrets.

    What the database raised is not kept as a cause, since it may tell the address.
    """
    try:
        return call()
    except (ApslError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 - every engine has errors of its own
        stopped = _is_interrupt(error)
        told = redact(first_line(error))
    if stopped:
        raise KeyboardInterrupt
    message = f"the database cannot answer for {origin!r} ({told}); check the address, the table and your rights"
    raise DataError(message)


def first_line(error: BaseException) -> str:
    """Return the first line of what an error says."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


def _is_interrupt(error: Any) -> bool:
    """Return whether an engine was interrupted by the user."""
    kind, text = type(error).__name__, str(error).casefold()
    return kind == "InterruptException" or (kind in {"OperationalError", "RuntimeError"} and "interrupted" in text)


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
    known = _tables_in(backend)
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
    if mark and name in _tables_in(backend, schema):
        return backend.table(name, database=schema)
    hint = nearest(wanted, known) or (f"; it has {listing(known)}" if known else "")
    message = f"there is no table {unquote(wanted)!r} in {table.shown!r}{hint}"
    raise DataError(message)


def _tables_in(backend: Any, schema: str | None = None) -> list[str]:
    """Return the names of the tables of a schema, or of the one that a connection begins with."""
    if backend.name != "duckdb":
        return sorted(backend.list_tables() if schema is None else backend.list_tables(database=schema))
    # ibis lists them by a method that DuckDB 2 no longer has
    statement = (
        "SELECT table_name FROM information_schema.tables "
        "WHERE table_catalog = current_database() AND table_schema = coalesce(?, current_schema()) ORDER BY ALL"
    )
    return [name for (name,) in backend.con.execute(statement, [schema]).fetchall()]


def _ibis() -> Any:
    try:
        import ibis
        import pyarrow as pa  # noqa: F401 - results come through it
        import pyarrow_hotfix  # noqa: F401 - ibis needs it
    except ImportError as error:
        message = f"a table in a database needs ibis ({error}); pip install 'apsl_rules[database]'"
        raise InvalidArgumentError(message) from error
    return ibis
