"""A DuckDB connection on files or a database: read-only, with column names that are our own.

What a user named is never part of a statement: files are handed over as arguments, and the columns of the one view
that all statements read are called c0, c1 and so on.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import gettempdir
from typing import Any

import attrs

from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.filetable import FileTable
from apsl_rules.names import Node, listing, nearest
from apsl_rules.readers import MISSING_FIELDS
from apsl_rules.readers.parquet import is_row_label, parquet_names

VIEW = "counted_rows"
_RAW = "given_rows"


@attrs.frozen(eq=False)
class Connected:
    """A connection whose view ``counted_rows`` has the columns of a table, and their names."""

    connection: Any
    names: tuple[Node, ...]


def connect(database: str = ":memory:", *, memory_limit: str | None = None, threads: int | None = None) -> Any:
    """Open a database, read-only if it is a file; nothing is ever installed or loaded from elsewhere."""
    duckdb = _duckdb()
    settings: dict[str, Any] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "temp_directory": gettempdir(),
    }
    if memory_limit is not None:
        settings["memory_limit"] = memory_limit
    if threads is not None:
        settings["threads"] = threads
    try:
        return duckdb.connect(database, read_only=database != ":memory:", config=settings)
    except (duckdb.InvalidInputException, duckdb.ParserException) as error:
        message = f"memory_limit is {memory_limit!r}; give a size such as '2GiB' ({_first_line(error)})"
        raise InvalidArgumentError(message) from error
    except duckdb.Error as error:
        message = f"cannot open the database {database!r} ({_first_line(error)}); check that it is a DuckDB file"
        raise DataError(message) from error


def open_files(table: FileTable, *, memory_limit: str | None = None, threads: int | None = None) -> Connected:
    """Connect to the files of a table."""
    files = [str(file) for file in table.files]
    if table.kind == "duckdb":
        connection = connect(files[0], memory_limit=memory_limit, threads=threads)
        chosen = _chosen_table(connection, table)
        with refusing(table.path):
            names = tuple(connection.table(_quoted(chosen)).columns)
            _name_columns(connection, _quoted(chosen), range(len(names)), len(names))
        return Connected(connection, names)
    connection = connect(memory_limit=memory_limit, threads=threads)
    with refusing(table.path):
        if table.kind == "parquet":
            given = parquet_names_of(table)
            connection.read_parquet(files).create_view(_RAW)
            kept = [place for place, name in enumerate(given) if not is_row_label(name)]
            _name_columns(connection, _RAW, kept, len(given))
            return Connected(connection, tuple(given[place] for place in kept))
        names = table.columns
        separator = "\t" if table.kind == "tsv" else ","
        rows = connection.read_csv(
            files[0],
            header=True,
            sep=separator,
            all_varchar=True,
            na_values=list(MISSING_FIELDS),
            names=[f"c{place}" for place in range(len(names))],
            quotechar='"',
            escapechar='"',
            encoding="utf-8",
            comment="",  # what DuckDB would guess, it is told
            skiprows=0,
            strict_mode=True,
            null_padding=False,
            ignore_errors=False,
        )
        rows.create_view(_RAW)
        _name_columns(connection, _RAW, range(len(names)), len(names))
        return Connected(connection, names)


def parquet_names_of(table: FileTable) -> tuple[str, ...]:
    """Give the names in the first file, row labels included, and refuse files whose columns differ."""
    first, *others = table.files
    names = parquet_names(first, row_labels=True)
    for other in others:
        if parquet_names(other, row_labels=True) != names:
            message = f"{str(other)!r} has other columns than {str(first)!r}; give files with the same columns"
            raise DataError(message)
    return names


def columns_of(table: FileTable) -> tuple[Node, ...]:
    """Give the names of the columns of a table in a database."""
    opened = open_files(table)
    opened.connection.close()
    return opened.names


@contextmanager
def refusing(path: str) -> Iterator[None]:
    """Turn every failure of the database into one sentence."""
    duckdb = _duckdb()
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        message = (
            f"counting in {path!r} takes more memory than allowed ({_first_line(error)}); raise memory_limit, "
            "allow fewer columns to be given (max_conditioning), or join levels"
        )
        raise DataError(message) from error
    except duckdb.Error as error:
        message = f"cannot count in {path!r} ({_first_line(error)}); check that it is whole and readable"
        raise DataError(message) from error


def _name_columns(connection: Any, raw: str, kept: Any, count: int) -> None:
    inner = ", ".join(f"c{place}" for place in range(count))
    outer = ", ".join(f"c{place} AS c{number}" for number, place in enumerate(kept))
    statement = f"CREATE TEMP VIEW {VIEW} AS SELECT {outer} FROM {raw} AS given({inner})"  # noqa: S608 - own names
    connection.execute(statement)


def _chosen_table(connection: Any, table: FileTable) -> str:
    with refusing(table.path):
        rows = connection.execute("SELECT table_name FROM information_schema.tables ORDER BY table_name").fetchall()
    known = [name for (name,) in rows]
    if table.table is None and len(known) == 1:
        return str(known[0])
    if table.table not in known:
        hint = nearest(table.table or "", known) or f"; it has {listing(known)}, so give {table.path}#TABLE"
        wanted = "no table was named" if table.table is None else f"there is no table {table.table!r}"
        message = f"{wanted} of {str(table.files[0])!r}{hint}"
        raise DataError(message)
    return str(table.table)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _duckdb() -> Any:
    try:
        import duckdb
        import pyarrow as pa  # noqa: F401 - DuckDB hands its results over through it
    except ImportError as error:
        message = f"counts='duckdb' needs duckdb and pyarrow ({error}); pip install 'apsl_rules[duckdb,parquet]'"
        raise InvalidArgumentError(message) from error
    return duckdb
