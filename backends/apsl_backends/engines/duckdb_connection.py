"""A connection to DuckDB within the memory that is free."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import attrs

from apsl_rules.data import FileTable
from apsl_rules.data.readers import MISSING_FIELDS, check_lines, shared_columns
from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.names import Node, listing, nearest

_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
_USED = ("/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory/memory.usage_in_bytes")
_UNKNOWN = 1 << 62


def available_memory() -> int:
    """Return the bytes that are free: of the machine, of the group of processes, and of this process's own limit."""
    return max(0, min(_machine(), _group(), _process()))


def _machine() -> int:
    try:
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
    except OSError:
        return _UNKNOWN
    found = [int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")]
    return found[0] if found else _UNKNOWN


def _group() -> int:
    for limit, used in zip(_LIMITS, _USED, strict=True):
        try:
            return int(Path(limit).read_text("ascii")) - int(Path(used).read_text("ascii"))
        except (OSError, ValueError):  # no such group, or "max"
            continue
    return _UNKNOWN


def _process() -> int:
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return _UNKNOWN
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return _UNKNOWN
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    except OSError:
        return limit
    return limit - pages * resource.getpagesize()


VIEW = "counted_rows"
_RAW = "given_rows"


@attrs.frozen(eq=False)
class Connection:
    """A connection whose view ``counted_rows`` has the columns of a table, their names, and its rows where known."""

    connection: Any
    names: tuple[Node, ...]
    rows: int | None = None


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
        raise InvalidArgumentError(message, argument="memory_limit") from error
    except duckdb.Error as error:
        message = f"cannot open the database {database!r} ({_first_line(error)}); check that it is a DuckDB file"
        raise DataError(message) from error


def open_files(table: FileTable, *, memory_limit: str | None = None, threads: int | None = None) -> Connection:
    """Connect to the files of a table."""
    files = [str(file) for file in table.files]
    if table.kind == "duckdb":
        connection = connect(files[0], memory_limit=memory_limit, threads=threads)
        chosen = _chosen_table(connection, table)
        with translate_errors(table.path):
            names = tuple(connection.table(_quote(chosen)).columns)
            _name_columns(connection, _quote(chosen), range(len(names)), len(names))
        return Connection(connection, names)
    connection = connect(memory_limit=memory_limit, threads=threads)
    with translate_errors(table.path):
        if table.kind == "parquet":
            return Connection(connection, _open_parquet(connection, table))
        names = table.columns
        lines = check_lines(table.files[0], table.separator, len(names), plain=True)
        _view_text(connection, table, len(names), mixed=lines.mixed)
        return Connection(connection, names, lines.rows)


def _view_text(connection: Any, table: FileTable, width: int, *, mixed: bool) -> None:
    """Make the view of a text file that was checked, with every option that DuckDB would guess.

    It takes line ends of two kinds only when it is not strict, and then it reads in one thread to find all of them.
    """
    rows = connection.read_csv(
        str(table.files[0]),
        auto_detect=False,
        columns={f"c{place}": "VARCHAR" for place in range(width)},
        header=True,
        sep=table.separator,
        na_values=list(MISSING_FIELDS),
        quotechar='"',
        escapechar='"',
        encoding="utf-8",
        comment="",
        skiprows=0,
        strict_mode=not mixed,
        parallel=not mixed,
        null_padding=False,
        ignore_errors=False,
    )
    rows.create_view(_RAW)
    _name_columns(connection, _RAW, range(width), width)


def _open_parquet(connection: Any, table: FileTable) -> tuple[str, ...]:
    """Make the view of Parquet files: those with the same order of columns are read together, then all are joined."""
    columns = shared_columns(table.files)
    alike: dict[tuple[str, ...], list[int]] = {}
    for number, stored in enumerate(columns.stored):
        alike.setdefault(stored, []).append(number)
    selected = []
    for stored, (first, *others) in alike.items():
        connection.read_parquet([str(table.files[one]) for one in (first, *others)]).create_view(f"{_RAW}{first}")
        selected.append(_select(f"{_RAW}{first}", columns.places[first], len(stored)))
    connection.execute(f"CREATE TEMP VIEW {VIEW} AS {' UNION ALL '.join(selected)}")
    return columns.names


@contextmanager
def translate_errors(path: str) -> Iterator[None]:
    """Turn every failure of the database into one sentence, and its word for an interrupt into Python's."""
    duckdb = _duckdb()
    try:
        yield
    except duckdb.InterruptException as error:
        raise KeyboardInterrupt from error
    except RuntimeError as error:
        if isinstance(error, duckdb.Error) or "interrupted" not in str(error).lower():
            raise
        raise KeyboardInterrupt from error
    except duckdb.OutOfMemoryException as error:
        message = (
            f"counting in {path!r} takes more memory than allowed ({_first_line(error)}); raise memory_limit=, "
            "allow fewer columns to be given (max_conditioning=), or join levels"
        )
        raise DataError(message) from error
    except duckdb.Error as error:
        message = f"cannot count in {path!r} ({_first_line(error)}); check that it is whole and readable"
        raise DataError(message) from error


def batches_of(relation: Any, rows: int) -> Any:
    """Return a reader of a result in batches of so many rows, which DuckDB 1 calls by another name."""
    return relation.to_arrow_reader(rows) if hasattr(relation, "to_arrow_reader") else relation.record_batch(rows)


def _name_columns(connection: Any, raw: str, kept: Any, count: int) -> None:
    connection.execute(f"CREATE TEMP VIEW {VIEW} AS {_select(raw, kept, count)}")


def _select(raw: str, kept: Any, count: int) -> str:
    """Select some of the columns of a view of our own, under names of our own."""
    inner = ", ".join(f"c{place}" for place in range(count))
    outer = ", ".join(f"c{place} AS c{number}" for number, place in enumerate(kept))
    return f"SELECT {outer} FROM {raw} AS given({inner})"  # noqa: S608 - own names


def _chosen_table(connection: Any, table: FileTable) -> str:
    with translate_errors(table.path):
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


def _quote(name: str) -> str:
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
