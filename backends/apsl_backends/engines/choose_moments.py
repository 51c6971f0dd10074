"""Where the moments come from: memory, DuckDB, a Dask cluster, a database through ibis, or a source of one's own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from apsl_backends.engines.choose import (
    ENCODING,
    SOURCING,
    check_memory_limit,
    encode,
    is_in_database,
    natural_kind,
    open_counts,
    parquet_files,
    read_kind,
    refuse_other_engine,
    refuse_weights,
    resolve,
)
from apsl_backends.engines.memory import MemoryMoments
from apsl_rules.data import Dataset, FileTable, MixedTable, Table
from apsl_rules.data.counts import CachedCounts, CountSource
from apsl_rules.data.moments import Embedding, KeptMoments, MomentSource
from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.memory import DatasetMemory

_NO_NUMBERS = "the table has no numbers; take a test that counts, such as gsquare"


def moments_of(data: Any, embedding: Embedding | None = None, threads: int = 1) -> KeptMoments:
    """Return the moments of a dataset with numbers; those of rows elsewhere were embedded when it was opened."""
    if isinstance(data, KeptMoments):
        return data
    if isinstance(data, MixedTable):
        chosen = embedding or Embedding()
        return KeptMoments(MemoryMoments(data, chosen, threads), data.memory, chosen)
    return KeptMoments(data, _KEPT.setdefault(data, DatasetMemory()), data.kind)


#: The matrices of sources in use.
_KEPT: WeakKeyDictionary[MomentSource, DatasetMemory] = WeakKeyDictionary()


def open_table(source: Any, options: Mapping[str, Any], embedding: Embedding | None = None) -> Dataset:
    """Open a table as what it is: one of categories alone for counting, one with numbers for moments.

    The options are those of ``table``, and ``counts`` and ``memory_limit`` as for counts.
    """
    if isinstance(source, MomentSource):
        _refuse_all(options)
        return moments_of(source)
    source = resolve(source)
    kind, _ = read_kind(options.get("counts"))
    if is_in_database(source) and kind != "memory":
        refuse_other_engine(source, kind)
        check_memory_limit(options, kind)
        return _open_in_database(source, options, embedding or Embedding())
    if isinstance(source, CountSource) or (kind or natural_kind(source)) != "memory":
        found = None if isinstance(source, CountSource) else _open_elsewhere(source, options, embedding or Embedding())
        return open_counts(source, options) if found is None else moments_of(found)
    check_memory_limit(options, kind)
    return encode(source, _reading(options))


def _open_in_database(source: Any, options: Mapping[str, Any], embedding: Embedding) -> Dataset:
    """Open a table that ibis reaches, whose values are looked at once."""
    from apsl_backends.engines.ibis import IbisEngine
    from apsl_backends.engines.opening import counted, moments

    reading = _reading(options)
    refuse_weights(reading, "a database")
    rows = IbisEngine.of(source)
    if reading.get("discretize") is None or isinstance(reading["discretize"], Mapping):
        made = moments(rows, embedding, **reading)
        if made.heading.is_number.any():
            return moments_of(made)
    return CachedCounts(counted(rows, **reading))


def open_moments(source: Any, options: Mapping[str, Any], embedding: Embedding) -> Dataset:
    """Open a table for moments, even if its columns all are categories and it is in memory."""
    found = open_table(source, options, embedding)
    if isinstance(found, Table):
        return MixedTable(found.names, found, np.empty((0, found.rows)), (), found.columns, found.notes)
    if "moments" not in found.can:
        raise DataError(_NO_NUMBERS)
    return found


def _reading(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: options[name] for name in ENCODING if options.get(name) is not None}


def _refuse_all(options: Mapping[str, Any]) -> None:
    given = next((name for name in (*ENCODING, *SOURCING) if options.get(name) is not None), None)
    if given is not None:
        message = f"the source has its own moments, so the option {given!r} cannot be given with it; leave it out"
        raise InvalidArgumentError(message)


def _open_elsewhere(source: Any, options: Mapping[str, Any], embedding: Embedding) -> MomentSource | None:
    """Open a table that stays where it is for moments, or return None if it has no numbers."""
    kind, address = read_kind(options.get("counts"))
    reading, limit = _reading(options), options.get("memory_limit")
    check_memory_limit(options, kind)
    files = parquet_files(source) if kind == "dask" else None
    if files is None and (kind == "dask" or not isinstance(source, FileTable | str | os.PathLike)):
        source, reading = encode(source, reading), {}
        if isinstance(source, Table):
            return None
    if reading.get("discretize") is not None and not isinstance(reading["discretize"], Mapping):
        return None
    if kind == "dask":
        made = _on_cluster(files or source, reading, address, embedding)
    else:
        made = _in_duckdb(source, reading, limit, embedding)
    return made if made.heading.is_number.any() else None


def _in_duckdb(source: Any, reading: Mapping[str, Any], memory_limit: str | None, embedding: Embedding) -> MomentSource:
    from apsl_backends.engines.duckdb import DuckEngine
    from apsl_backends.engines.opening import moments, moments_of_table

    if isinstance(source, FileTable | str | os.PathLike):
        refuse_weights(reading, "duckdb")
        file = source if isinstance(source, FileTable) else FileTable(source)
        return moments(DuckEngine.of_file(file, memory_limit=memory_limit), embedding, **reading)
    return moments_of_table(partial(DuckEngine.of_arrow, memory_limit=memory_limit), source, embedding)


def _on_cluster(source: Any, reading: Mapping[str, Any], address: str | None, embedding: Embedding) -> MomentSource:
    from apsl_backends.engines.dask import DaskEngine, ScatteredEngine
    from apsl_backends.engines.opening import moments, moments_of_table

    if isinstance(source, FileTable):
        refuse_weights(reading, "dask")
        return moments(DaskEngine(source, address=address), embedding, **reading)
    return moments_of_table(partial(ScatteredEngine, address=address), source, embedding)
