"""Every engine gives every answer of memory, bit for bit, and the contract notices one that does not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pyarrow as pa
import pytest
from pyarrow import parquet as pq

from apsl_backends.engines.dask import DaskEngine, ScatteredEngine
from apsl_backends.engines.duckdb import DuckEngine
from apsl_backends.engines.engine import Answer, ArrowEngine, Engine
from apsl_backends.engines.ibis import IbisEngine
from apsl_backends.engines.testing import check_engine, draw_table
from apsl_rules import hookimpl, learn
from apsl_rules.data import SECTION, FileTable
from apsl_rules.errors import ApslError
from apsl_rules.plugins import EngineOffer
from support.counted import essence
from support.databases import in_postgres
from support.postgres_server import PostgresServer

ROWS = 3000
_NUMBERS = count()


def _parquet(rows: Any, folder: Path) -> str:
    path = folder / f"{next(_NUMBERS)}.parquet"
    pq.write_table(rows, path, row_group_size=50_000)
    return str(path)


def _duckdb_file(rows: Any, folder: Path) -> str:
    path = folder / f"{next(_NUMBERS)}.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.register("given", rows)
        connection.execute("CREATE TABLE kept AS SELECT * FROM given")
    return str(path)


ENGINES: dict[str, Callable[[Any, Path], Engine]] = {
    "arrow": lambda rows, _: ArrowEngine(rows),
    "duckdb": lambda rows, folder: DuckEngine.of_file(_parquet(rows, folder)),
    "duckdb-table": lambda rows, folder: DuckEngine.of_file(_duckdb_file(rows, folder)),
    "dask": lambda rows, folder: DaskEngine(FileTable(_parquet(rows, folder))),
    "dask-scattered": lambda rows, _: ScatteredEngine(rows, bytes),
    "ibis-duckdb": lambda rows, _: IbisEngine.of(ibis.duckdb.connect().create_table("t", rows)),
    "ibis-polars": lambda rows, _: IbisEngine.of(ibis.polars.connect().create_table("t", rows)),
    "ibis-sqlite": lambda rows, folder: IbisEngine.of(
        ibis.sqlite.connect(folder / f"{next(_NUMBERS)}.sqlite").create_table("t", rows)
    ),
}
QUICK = ("duckdb", "dask", "ibis-polars")


@pytest.mark.parametrize("name", QUICK)
def test_an_engine_answers_as_memory(name: str, tmp_path: Path) -> None:
    """Headings, notes, counts, covariances and tests of odd tables are those of memory to the last bit."""
    check_engine(lambda rows: ENGINES[name](rows, tmp_path), rows=ROWS)


@pytest.mark.slow
@pytest.mark.parametrize("name", ENGINES)
def test_every_engine_answers_as_memory_for_many_rows(name: str, tmp_path: Path) -> None:
    """So are those of tables of several sections, in every engine."""
    check_engine(lambda rows: ENGINES[name](rows, tmp_path))


@pytest.mark.slow
def test_postgres_answers_as_memory(postgres: PostgresServer) -> None:
    """So are those of PostgreSQL, which stores rows of different length in an order of its own."""

    def engine_of(rows: Any) -> Engine:
        return IbisEngine.of(in_postgres(rows, postgres, name=f"c{next(_NUMBERS)}"))

    check_engine(engine_of, rows=ROWS, keeps_order=False)


class _WithoutLast(ArrowEngine):
    """An engine that loses a row."""

    def fold(self, places: Sequence[int], work: Callable[[Any], Answer]) -> Iterator[Answer]:
        yield work(self.table.select(list(places)).slice(0, self.table.num_rows - 1))


class _Backwards(ArrowEngine):
    """An engine that adds up its sections in another order."""

    def fold(self, places: Sequence[int], work: Callable[[Any], Answer]) -> Iterator[Answer]:
        return reversed(list(super().fold(places, work)))


class _Rounded(ArrowEngine):
    """An engine that keeps numbers with 32 bits."""

    def __init__(self, table: Any) -> None:
        kinds = [pa.float32() if kind == pa.float64() else kind for kind in table.schema.types]
        super().__init__(table.cast(pa.schema(list(zip(table.column_names, kinds, strict=True)))))


class _Renamed(ArrowEngine):
    """An engine that calls its columns by other names."""

    def __init__(self, table: Any) -> None:
        super().__init__(table.rename_columns([f"c{place}" for place in range(table.num_columns)]))


@pytest.mark.parametrize("wrong", [_WithoutLast, _Backwards, _Rounded, _Renamed])
def test_the_contract_notices_an_engine_that_errs(wrong: Callable[[Any], Engine]) -> None:
    """Lost rows, sections out of order, rounded numbers and other names break the contract."""
    with pytest.raises(AssertionError):
        check_engine(wrong, rows=SECTION + 500)


class Tables:
    """A plugin with an engine for sources of its own."""

    def __init__(self, **kept: Any) -> None:
        self.kept = kept

    @hookimpl
    def apsl_engines(self) -> Iterable[EngineOffer]:
        """Offer the engine."""
        return [EngineOffer("kept", "tables by name", self.takes, lambda name: ArrowEngine(self.kept[name]))]

    def takes(self, source: object) -> bool:
        """Return whether a source is the name of a table."""
        return isinstance(source, str) and source in self.kept


OPTIONS: list[dict[str, Any]] = [
    {"drop": ["mirror"]},  # only rows in this process tell a near copy
    {"drop": ["mirror"], "discretize": "quantile:3"},
    {"only": ["a", "select", "twin", "Group By"]},
]


@pytest.mark.parametrize("settings", OPTIONS)
def test_a_table_in_the_engine_of_a_plugin_has_the_part_of_memory(settings: dict[str, Any]) -> None:
    """Numbers and categories are learned from an engine that a plugin opens."""
    rows = draw_table(800, 7, 0.05)
    here, there = learn(rows, "a", **settings), learn("rows", "a", plugins=[Tables(rows=rows)], **settings)

    assert here.edges
    assert essence(there) == essence(here)


@pytest.mark.parametrize("wrong", [{"counts": "dask"}, {"weights": "b"}, {"missing": "complete"}])
def test_the_engine_of_a_plugin_refuses_what_it_cannot_do(wrong: dict[str, Any]) -> None:
    """Options that are about other engines, and those that need the rows in memory, get a sentence."""
    with pytest.raises(ApslError, match=r"leave it out|needs the table in memory"):
        learn("rows", "a", plugins=[Tables(rows=draw_table(100, 1))], **wrong)
