"""The one way from a source to a dataset: where its rows stay, and whether they are counted or added up."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, TypeAlias
from weakref import WeakKeyDictionary

import attrs
import numpy as np

from apsl_backends.engines.engine import Engine
from apsl_rules.data import (
    AUTO,
    Dataset,
    FileTable,
    LocalTable,
    MixedTable,
    OneHot,
    available_memory,
    count_levels,
    find_one_hot,
    is_countable,
    is_left_in_place,
    one_hot_sets,
)
from apsl_rules.data.counts import CachedCounts, CountSource
from apsl_rules.data.databases import DatabaseTable, duckdb_path, is_database, is_ibis_table
from apsl_rules.data.moments import Embedding, KeptMoments, MomentSource
from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.masking import shown_address
from apsl_rules.memory import DatasetMemory
from apsl_rules.names import count_of, nearest, spelt
from apsl_rules.notes import argument, named

KINDS = ("memory", "duckdb", "dask")
READING = (
    *("names", "missing", "discretize", "levels", "kinds", "drop", "only", "weights", "na"),
    *("groups", "sampling_weights", "time", "lags"),
)
SOURCING = ("counts", "memory_limit")
#: What is asked of a dataset: counts alone, moments, or what suits its columns.
Need: TypeAlias = Literal["counts", "moments", "either"]

#: The settings that give columns a role.
_ROLES = ("groups", "sampling_weights")
_NO_NUMBERS = "the table has no numbers; take a test that counts, such as gsquare"


def open_dataset(
    source: Any, options: Mapping[str, Any], *, need: Need = "either", embedding: Embedding | None = None
) -> Dataset:
    """Open a table. The options are those of ``table``, ``counts`` (where rows are counted) and ``memory_limit``.

    Without ``counts`` a table is taken into memory unless it is in a database or would not fit.
    """
    if not isinstance(source, LocalTable) and isinstance(source, CountSource | MomentSource | CachedCounts):
        return _own_engine(source, options, need)
    source = _resolved(source)
    kind, address = _read_kind(options.get("counts"))
    reading = {name: options[name] for name in READING if options.get(name) is not None}
    roles = [name for name in _ROLES if reading.get(name)]
    if need == "counts" and roles:
        message = (
            f"{argument(roles[0], reading[roles[0]])} needs sums, and this test counts rows, each as one of its own; "
            f"leave the test out, or give {argument('groups', 'none', python='groups=None')}"
        )
        raise InvalidArgumentError(message)
    if not isinstance(source, LocalTable):  # what was read has its roles
        reading.setdefault("groups", () if need == "counts" else AUTO)
    limit = options.get("memory_limit")
    if limit is not None and kind != "duckdb":
        message = f"{named('memory_limit')} is {limit!r}, which only {argument('counts', 'duckdb')} takes; leave it out"
        raise InvalidArgumentError(message, argument="memory_limit")
    note = None
    is_engine = isinstance(source, Engine)
    if is_engine and kind is not None:
        message = (
            f"the rows are in the engine {source.kind!r}, so {argument('counts', kind)} cannot be given; leave it out"
        )
        raise InvalidArgumentError(message, argument="counts")
    if kind is None and not is_engine and not _is_in_database(source):
        kind, note = _natural(source)
    if kind == "memory":
        return _in_memory(_read(source, reading), reading, need)
    rows = _elsewhere(source, reading, kind, address=address, memory_limit=limit)
    made = None if need == "counts" else rows.moments(embedding or Embedding())
    if made is not None and (made.heading.is_number.any() or made.heading.roles):
        return rows.joined(moments_of(made))
    if need == "moments":
        raise DataError(_NO_NUMBERS)
    return rows.joined(CachedCounts(rows.counts(), note))


def moments_of(data: Any, embedding: Embedding | None = None, threads: int = 1) -> KeptMoments:
    """Return the moments of a dataset with numbers; those of rows elsewhere were embedded when it was opened."""
    if isinstance(data, KeptMoments):
        return data
    if isinstance(data, MixedTable):
        from apsl_backends.engines.moments import MemoryMoments

        chosen = embedding or Embedding()
        return KeptMoments(MemoryMoments(data, chosen, threads), data.memory, chosen)
    return KeptMoments(data, _KEPT.setdefault(data, DatasetMemory()), data.kind)


#: The matrices of sources in use.
_KEPT: WeakKeyDictionary[MomentSource, DatasetMemory] = WeakKeyDictionary()


def is_too_large(path: str | os.PathLike[str]) -> bool:
    """Return whether the table in a file would not fit into memory."""
    return is_countable(path) and FileTable(path).bytes_in_memory > available_memory()


def _own_engine(source: Any, options: Mapping[str, Any], need: Need) -> Dataset:
    """Take an engine of one's own, which has read its columns already."""
    is_counted = not isinstance(source, MomentSource)
    given = next((name for name in (*READING, *SOURCING) if options.get(name) not in (None, ())), None)
    if given is not None:
        what = "counts by itself" if is_counted else "has its own moments"
        message = f"the source {what}, so the option {given!r} cannot be given with it; leave it out"
        raise InvalidArgumentError(message)
    if is_counted and need == "moments":
        raise DataError(_NO_NUMBERS)
    if isinstance(source, CachedCounts):
        return source
    return CachedCounts(source) if is_counted else moments_of(source)


def _in_memory(read: LocalTable, reading: Mapping[str, Any], need: Need) -> Dataset:
    if need == "counts":
        return count_levels(read, reading.get("discretize"))
    return with_moments(read) if need == "moments" or read.roles else read


def with_moments(read: LocalTable) -> MixedTable:
    """Return a table of which moments can be taken, even if all its columns are categories."""
    if isinstance(read, MixedTable):
        return read
    nothing = np.empty((0, read.rows))
    return MixedTable(read.names, read, nothing, (), read.columns, read.notes, roles=read.roles, beside=read.beside)


# --- where rows stay --------------------------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class _InPlace:
    """Rows that an engine reads where they are."""

    engine: Engine
    reading: Mapping[str, Any]

    def counts(self) -> CountSource:
        """Return the counts of the rows."""
        from apsl_backends.engines.opening import counted

        return counted(self.engine, **self.reading)

    def moments(self, embedding: Embedding) -> MomentSource | None:
        """Return the moments of the rows, or None if all numbers are cut."""
        from apsl_backends.engines.opening import moments

        is_cut = isinstance(self.reading.get("discretize"), str)
        if is_cut and not self.reading.get("groups"):
            return None
        made = moments(self.engine, embedding, **self.reading)
        return None if is_cut and not made.heading.roles else made

    def joined(self, data: Dataset) -> Dataset:
        """Return the dataset with one-hot columns joined."""
        is_declared = self.reading.get("levels") == "declared"
        return data if is_declared else data.joined(find_one_hot(data, self.reading.get("kinds")))


@attrs.frozen(eq=False)
class _Sent:
    """A table in memory whose codes and scores go to an engine; ``sets`` are one-hot columns to be joined there."""

    engine_of: Callable[..., Engine]
    table: LocalTable
    discretize: Any
    sets: tuple[OneHot, ...]

    @classmethod
    def of(cls, engine_of: Callable[..., Engine], table: LocalTable, discretize: Any) -> _Sent:
        """Take the joined columns of a table apart, so that an engine can take them apart too."""
        if table.before is None:  # chosen rows or columns of a joined table stay joined
            return cls(engine_of, table, discretize, ())
        return cls(engine_of, table.before, discretize, one_hot_sets(table.notes))

    def joined(self, data: Dataset) -> Dataset:
        """Return the dataset with one-hot columns joined."""
        return data.joined(self.sets)

    def counts(self) -> CountSource:
        """Return the counts of the rows."""
        from apsl_backends.engines.opening import counted_table

        return counted_table(self.engine_of, count_levels(self.table, self.discretize))

    def moments(self, embedding: Embedding) -> MomentSource | None:
        """Return the moments of the rows, or None if there are no numbers."""
        from apsl_backends.engines.opening import moments_of_table

        table = with_moments(self.table) if self.table.roles else self.table
        return moments_of_table(self.engine_of, table, embedding) if isinstance(table, MixedTable) else None


def _elsewhere(
    source: Any, reading: Mapping[str, Any], kind: str | None, *, address: str | None, memory_limit: str | None
) -> _InPlace | _Sent:
    """Return the rows in the engine that was asked for, in that of their database, or in one that a plugin opened."""
    if isinstance(source, Engine):
        _refuse_in_place(reading, source.kind)
        return _InPlace(source, reading)
    if _is_in_database(source):
        from apsl_backends.engines.ibis import IbisEngine

        if kind is not None:
            what = "the table" if is_ibis_table(source) else repr(str(source))
            message = (
                f"{what} is counted where it lies, not by {kind!r}; leave counts out, or give "
                f"{argument('counts', 'memory')}"
            )
            raise InvalidArgumentError(message)
        _refuse_in_place(reading, "a database")
        return _InPlace(IbisEngine.of(source), reading)
    file = _file_of(source, kind)
    if file is not None:
        _refuse_in_place(reading, str(kind))
    if kind == "dask":
        from apsl_backends.engines.dask import DaskEngine, ScatteredEngine

        if file is not None:
            return _InPlace(DaskEngine(file, address=address), reading)
        return _Sent.of(partial(ScatteredEngine, address=address), _read(source, reading), reading.get("discretize"))
    from apsl_backends.engines.duckdb import DuckEngine

    if file is not None:
        return _InPlace(DuckEngine.of_file(file, memory_limit=memory_limit), reading)
    sent = partial(DuckEngine.of_arrow, memory_limit=memory_limit)
    return _Sent.of(sent, _read(source, reading), reading.get("discretize"))


def _file_of(source: Any, kind: str | None) -> FileTable | None:
    """Return the files that an engine reads by itself, or None for a table that goes through memory."""
    if isinstance(source, str | os.PathLike):
        is_read = kind == "duckdb" or is_left_in_place(source) or str(source).endswith(".parquet")
        source = FileTable(source) if is_read else None
    return source if isinstance(source, FileTable) and (kind == "duckdb" or source.kind == "parquet") else None


def _refuse_in_place(reading: Mapping[str, Any], kind: str) -> None:
    """Refuse weights and times where rows are counted in their files."""
    if "time" in reading:
        message = (
            f"{argument('time', reading['time'][0])} sorts the rows in memory, and {kind} reads them where they are; "
            f"give {argument('counts', 'memory')}, or a sample of whole groups"
        )
        raise InvalidArgumentError(message)
    if "weights" in reading:
        message = (
            f"{argument('weights', reading['weights'])} needs the table in memory, and {kind} counts where the rows "
            f"are; give {argument('counts', 'memory')}, or write each row as often as it counts"
        )
        raise InvalidArgumentError(message)


# --- what is given ----------------------------------------------------------------------------------------------------


def _resolved(source: Any) -> Any:
    """Return what an address stands for: a table of a database, or a DuckDB file."""
    if not _is_address(source):
        return source
    table = DatabaseTable(source) if isinstance(source, str) else source
    path = duckdb_path(table)
    return table if path is None else FileTable(path)


def _is_address(source: Any) -> bool:
    """Return whether a source names a table of a database."""
    return isinstance(source, str | DatabaseTable) and is_database(source)


def _is_in_database(source: Any) -> bool:
    """Return whether a source is a table that ibis reaches."""
    return _is_address(source) or ("ibis" in sys.modules and is_ibis_table(source))


def _read_kind(counts: object) -> tuple[str | None, str | None]:
    """Read "memory", "duckdb", "dask" or "dask:ADDRESS"."""
    if counts is None:
        return None, None
    kind, _, address = counts.partition(":") if isinstance(counts, str) else ("", "", "")
    if kind not in KINDS or (address and kind != "dask"):
        hint = nearest(kind, KINDS) if kind else ""
        ways = "'memory', 'duckdb', 'dask' or 'dask:ADDRESS'"
        message = f"{named('counts')} is {shown_address(spelt(counts))}{hint or f'; give {ways}'}"
        raise InvalidArgumentError(message, argument="counts")
    return kind, address or None


def _natural(source: Any) -> tuple[str, str | None]:
    """Choose memory, or DuckDB for what cannot be taken into it; say so then."""
    if not isinstance(source, str | os.PathLike | FileTable):
        return "memory", None
    if is_left_in_place(source):
        return "duckdb", None
    file = FileTable(source) if not isinstance(source, FileTable) and is_countable(source) else source
    if not isinstance(file, FileTable):
        return "memory", None
    needed, free = file.bytes_in_memory, available_memory()
    if needed <= free:
        return ("duckdb" if file is source else "memory"), None
    note = f"{file.path!r} would take {_too_much(needed, free)}, so DuckDB counted in the file"
    logging.getLogger("apsl_rules").info(note.replace("DuckDB counted", "DuckDB counts"))
    return "duckdb", note


def _read(source: Any, reading: Mapping[str, Any]) -> LocalTable:
    """Read a table into memory, if it fits."""
    from apsl_rules.data import table

    if _is_in_database(source):
        from apsl_backends.engines.ibis import IbisEngine

        rows = IbisEngine.of(source)
        _refuse_too_large(rows.origin, rows.bytes_in_memory, "leave counts out, and the database counts")
        return table(rows.read(), **reading)
    if isinstance(source, str | os.PathLike) and is_left_in_place(source):
        source = FileTable(source)
    if isinstance(source, FileTable) and source.kind == "duckdb":
        from apsl_backends.engines.duckdb import DuckEngine

        _refuse_too_large(source.path, source.bytes_in_memory, "leave counts out, and DuckDB counts in the file")
        return table(DuckEngine.of_file(source).read(), **reading)
    if isinstance(source, FileTable):
        source = _only_file(source)
    if isinstance(source, str | os.PathLike) and is_countable(source):
        size = FileTable(source).bytes_in_memory
        _refuse_too_large(source, size, f"give {argument('counts', 'duckdb')}, which counts in the file")
    return table(source, **reading)


def _refuse_too_large(name: object, needed: int, advice: str) -> None:
    if needed > (free := available_memory()):
        message = f"{name!r} would take {_too_much(needed, free)}; {advice}"
        raise DataError(message)


def _too_much(needed: int, free: int) -> str:
    return f"about {needed >> 20:,} MiB of memory and {free >> 20:,} MiB are free"


def _only_file(files: FileTable) -> str:
    """Return the one file that a table lies in; several files are never taken into memory."""
    if len(files.files) == 1:
        return str(files.files[0])
    message = (
        f"{files.path!r} is {count_of(len(files.files), 'file')}, counted where they lie; "
        f"give {argument('counts', 'duckdb')}, or leave counts out"
    )
    raise DataError(message)
