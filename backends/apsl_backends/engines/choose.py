"""Where the counts come from: memory, DuckDB, a Dask cluster, a database through ibis, or a source of one's own."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from functools import partial
from typing import Any

from apsl_backends.engines.free_memory import available_memory
from apsl_rules._arguments import spelt
from apsl_rules.data import FileTable, MixedTable, Table, count_levels, is_countable, is_left_in_place
from apsl_rules.data.counts import CachedCounts, CountSource
from apsl_rules.data.databases import DatabaseTable, duckdb_path, is_database, is_ibis_table
from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.masking import shown_address
from apsl_rules.names import count_of, nearest

KINDS = ("memory", "duckdb", "dask")
ENCODING = ("names", "missing", "discretize", "levels", "kinds", "drop", "only", "weights")
SOURCING = ("counts", "memory_limit")


def open_counts(source: Any, options: Mapping[str, Any]) -> Table | CachedCounts:
    """Open a table for counting: encoded in memory, or left where it is and asked for counts.

    ``counts`` among the options says how; without it a table is taken into memory unless it is a path to more than
    fits, which DuckDB then counts.
    """
    if isinstance(source, CountSource):
        given = next((name for name in (*ENCODING, *SOURCING) if options.get(name) is not None), None)
        if given is not None:
            message = f"the source counts by itself, so the option {given!r} cannot be given with it; leave it out"
            raise InvalidArgumentError(message)
        return CachedCounts(source)
    source = resolve(source)
    kind, address = read_kind(options.get("counts"))
    encoding = {name: options[name] for name in ENCODING if options.get(name) is not None}
    check_memory_limit(options, kind)
    if is_in_database(source) and kind != "memory":
        refuse_other_engine(source, kind)
        refuse_weights(encoding, "a database")
        return CachedCounts(_in_database(source, encoding))
    note = None
    if kind is None:
        kind, note = _natural(source)
    if kind == "memory":
        return count_levels(encode(source, encoding), encoding.get("discretize"))
    if kind == "dask":
        return CachedCounts(_on_cluster(source, encoding, address))
    return CachedCounts(_in_duckdb(source, encoding, options.get("memory_limit")), note)


def check_memory_limit(options: Mapping[str, Any], kind: str | None) -> None:
    """Refuse a limit of memory that nothing would heed."""
    if options.get("memory_limit") is not None and kind != "duckdb":
        message = f"memory_limit is {options['memory_limit']!r}, which only counts='duckdb' heeds; leave it out"
        raise InvalidArgumentError(message, argument="memory_limit")


def resolve(source: Any) -> Any:
    """Return what an address stands for: a table of a database, or a DuckDB file."""
    if isinstance(source, str) and is_database(source):
        source = DatabaseTable(source)
    path = duckdb_path(source) if isinstance(source, DatabaseTable) else None
    return source if path is None else FileTable(path)


def is_in_database(source: Any) -> bool:
    """Return whether a source is a table that ibis reaches."""
    return isinstance(source, DatabaseTable) or is_ibis_table(source)


def refuse_other_engine(source: Any, kind: str | None) -> None:
    """Refuse to count the rows of a database elsewhere."""
    if kind is not None:
        what = repr(str(source)) if isinstance(source, DatabaseTable) else "the table"
        message = f"{what} is counted where it lies, not by {kind!r}; leave counts out, or give counts='memory'"
        raise InvalidArgumentError(message)


def is_too_large(path: str | os.PathLike[str]) -> bool:
    """Return whether the table in a file would not fit into memory."""
    return is_countable(path) and FileTable(path).bytes_in_memory > available_memory()


def natural_kind(source: Any) -> str:
    """Return where a table is taken to when nobody says: into memory, or to a database if it is left where it is."""
    return "ibis" if is_in_database(source) else _natural(source)[0]


def read_kind(counts: object) -> tuple[str | None, str | None]:
    """Read "memory", "duckdb", "dask" or "dask:ADDRESS"."""
    if counts is None:
        return None, None
    kind, _, address = counts.partition(":") if isinstance(counts, str) else ("", "", "")
    if kind not in KINDS or (address and kind != "dask"):
        hint = nearest(kind, KINDS) if kind else ""
        ways = "'memory', 'duckdb', 'dask' or 'dask:ADDRESS', or a source of counts itself as the source to learn from"
        message = f"counts is {shown_address(spelt(counts))}{hint or f'; give {ways}'}"
        raise InvalidArgumentError(message, argument="counts")
    return kind, address or None


def _natural(source: Any) -> tuple[str, str | None]:
    """Choose memory, or DuckDB for what cannot be taken into it; say so then."""
    if is_left_in_place(source):
        return "duckdb", None
    if not isinstance(source, FileTable) and not is_countable(source):
        return "memory", None
    file = source if isinstance(source, FileTable) else FileTable(source)
    needed, free = file.bytes_in_memory, available_memory()
    if needed <= free:
        return ("duckdb" if file is source else "memory"), None
    note = (
        f"{file.path!r} would take about {needed >> 20:,} MiB of memory and {free >> 20:,} MiB are free, "
        "so DuckDB counted in the file"
    )
    logging.getLogger("apsl_rules").info(note.replace("DuckDB counted", "DuckDB counts"))
    return "duckdb", note


def encode(source: Any, encoding: Mapping[str, Any]) -> Table | MixedTable:
    """Read a table into memory, if it fits."""
    from apsl_rules.data import table

    if is_in_database(source):
        return table(_read_all(source), **encoding)
    if isinstance(source, FileTable) or is_left_in_place(source):
        source = _only_file(source if isinstance(source, FileTable) else FileTable(source))
    if is_countable(source):
        needed, free = FileTable(source).bytes_in_memory, available_memory()
        if needed > free:
            message = (
                f"{source!r} would take about {needed >> 20:,} MiB of memory and {free >> 20:,} MiB are free; "
                "give counts='duckdb', which counts in the file"
            )
            raise DataError(message)
    return table(source, **encoding)


def _only_file(table: FileTable) -> str:
    """Return the one file that a table lies in; several files and databases are never taken into memory."""
    if len(table.files) == 1 and table.kind != "duckdb":
        return str(table.files[0])
    what = "a database" if table.kind == "duckdb" else count_of(len(table.files), "file")
    message = f"{table.path!r} is {what}, counted where it lies; give counts='duckdb', or leave counts out"
    raise DataError(message)


def _in_database(source: Any, encoding: Mapping[str, Any]) -> CountSource:
    from apsl_backends.engines.ibis import IbisEngine
    from apsl_backends.engines.opening import counted

    return counted(IbisEngine.of(source), **encoding)


def _read_all(source: Any) -> Any:
    """Read all columns of a table in a database into memory, if they fit."""
    from apsl_backends.engines.ibis import IbisEngine

    rows = IbisEngine.of(source)
    needed, free = rows.bytes_in_memory, available_memory()
    if needed > free:
        message = (
            f"{rows.origin!r} would take about {needed >> 20:,} MiB of memory and {free >> 20:,} MiB are free; "
            "leave counts out, and the database counts"
        )
        raise DataError(message)
    return rows.read()


def _in_duckdb(source: Any, encoding: Mapping[str, Any], memory_limit: str | None) -> CountSource:
    from apsl_backends.engines.duckdb import DuckEngine
    from apsl_backends.engines.opening import counted, counted_table

    if isinstance(source, FileTable | str | os.PathLike):
        file = source if isinstance(source, FileTable) else FileTable(source)
        refuse_weights(encoding, "duckdb")
        return counted(DuckEngine.of_file(file, memory_limit=memory_limit), **encoding)
    table = count_levels(encode(source, encoding), encoding.get("discretize"))
    return counted_table(partial(DuckEngine.of_arrow, memory_limit=memory_limit), table)


def _on_cluster(source: Any, encoding: Mapping[str, Any], address: str | None) -> CountSource:
    from apsl_backends.engines.dask import DaskEngine, ScatteredEngine
    from apsl_backends.engines.opening import counted, counted_table

    files = parquet_files(source)
    if files is not None:
        refuse_weights(encoding, "dask")
        return counted(DaskEngine(files, address=address), **encoding)
    table = count_levels(encode(source, encoding), encoding.get("discretize"))
    return counted_table(partial(ScatteredEngine, address=address), table)


def parquet_files(source: Any) -> FileTable | None:
    """Return the Parquet files that workers read by themselves, or None for a table that goes through memory."""
    if is_left_in_place(source) or (isinstance(source, str | os.PathLike) and str(source).endswith(".parquet")):
        source = FileTable(source)
    return source if isinstance(source, FileTable) and source.kind == "parquet" else None


def refuse_weights(encoding: Mapping[str, Any], kind: str) -> None:
    """Refuse weights where rows are counted in their files."""
    if "weights" in encoding:
        message = (
            f"weights={encoding['weights']!r} needs the table in memory, and {kind} counts where the rows are; "
            f"give counts='memory', or write each row as often as it counts"
        )
        raise InvalidArgumentError(message)
