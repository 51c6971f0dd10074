"""Moments of DuckDB and Dask are those in memory, with and without missing values."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from apsl_backends.engines import dask, sums
from apsl_backends.engines import moments as gathered
from apsl_backends.engines.dask import DaskEngine, ScatteredEngine
from apsl_backends.engines.duckdb import DuckEngine
from apsl_backends.engines.moments import MemoryMoments, Moments
from apsl_backends.engines.opener import moments_of, open_dataset
from apsl_backends.engines.opening import moments, moments_of_table
from apsl_rules.data import FileTable, MixedTable, Table, table
from apsl_rules.data.counts import CachedCounts
from apsl_rules.data.moments import Embedding, KeptMoments, MomentSource
from apsl_rules.errors import DataError, InvalidArgumentError
from support.mixed import arrow_of, draw_mixed

QUERIES = [(0, 1), (5, 2), (2, 3, 1), (0, 4, 5, 3), (1, 3, 0)]


def written(folder: Path, kind: str, rows: int, missing: float) -> str:
    """Write a table with numbers and categories, and a constant, to a file; return its path."""
    drawn = draw_mixed(3, 3, rows, 6, missing)
    made = arrow_of(drawn).append_column("same", pa.array(["s"] * rows))
    path = folder / f"rows.{kind}"
    if kind == "csv":
        pyarrow.csv.write_csv(made, path)
    else:
        pq.write_table(made, path, row_group_size=rows // 3)
    return str(path)


def assert_alike(one: MomentSource, other: MomentSource, *, bits: bool = False) -> None:
    """Assert that two sources have the same heading, covariances and tests."""
    assert one.heading.names == other.heading.names
    assert one.heading.rows == other.heading.rows
    for name in ("is_number", "widths", "missing"):
        assert getattr(one.heading, name).tolist() == getattr(other.heading, name).tolist()
    assert [(kind.name, kind.kind) for kind in one.heading.columns] == [
        (kind.name, kind.kind) for kind in other.heading.columns
    ]
    for places in (range(6), [4, 1], [2]):
        first, second = one.covariance(places), other.covariance(places)
        assert first.tobytes() == second.tobytes() if bits else np.allclose(first, second, rtol=0, atol=1e-9)
    for left, right in zip(one.test_rows(QUERIES), other.test_rows(QUERIES), strict=True):
        assert np.allclose(left, right, rtol=0, atol=1e-9)


@pytest.mark.parametrize("missing", [0.0, 0.08])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("embedding", [Embedding(), Embedding("values", 2)])
def test_duckdb_agrees_with_memory(tmp_path: Path, kind: str, missing: float, embedding: Embedding) -> None:
    """A file that DuckDB reads has the figures of the same file in memory."""
    path = written(tmp_path, kind, 1200, missing)
    read = table(path)
    assert isinstance(read, MixedTable)
    assert_alike(moments(DuckEngine.of_file(path), embedding), MemoryMoments(read, embedding))
    assert_alike(moments_of_table(DuckEngine.of_arrow, read, embedding), MemoryMoments(read, embedding))


@pytest.mark.slow
def test_many_rows_have_the_same_bits() -> None:
    """Where ranks are exact, sections in the order of the file give the same bits in DuckDB, Dask and memory."""
    drawn = draw_mixed(3, 3, 200_000)
    memory = MemoryMoments(drawn)
    assert_alike(moments_of_table(DuckEngine.of_arrow, drawn), memory, bits=True)
    assert_alike(moments_of_table(ScatteredEngine, drawn), memory)


def test_numbers_with_very_many_values_are_counted_between_knots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A column with too many distinct values to list has the scores of memory beyond a million rows."""
    monkeypatch.setattr("apsl_backends.engines.duckdb.MOST_DISTINCT", 1000)
    path = written(tmp_path, "parquet", 30_000, 0.02)
    read = table(path)
    assert isinstance(read, MixedTable)
    for embedding in (Embedding(degree=2), Embedding("values", 1)):
        found, exact = moments(DuckEngine.of_file(path), embedding), MemoryMoments(read, embedding)
        assert found.heading.widths.tolist() == exact.heading.widths.tolist()
        assert found.heading.missing.tolist() == exact.heading.missing.tolist()
        assert np.allclose(found.covariance(range(6)), exact.covariance(range(6)), atol=2e-3)


@pytest.mark.parametrize("missing", [0.0, 0.08])
@pytest.mark.parametrize("embedding", [Embedding(), Embedding("values", 2)])
def test_columns_that_do_not_fit_stay_where_they_are(
    tmp_path: Path, missing: float, embedding: Embedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without memory tests and estimates come from sums over parts of the rows, where values are missing too."""
    path = written(tmp_path, "parquet", 1200, missing)
    read = table(path)
    assert isinstance(read, MixedTable)
    source, memory = moments(DuckEngine.of_file(path), embedding), MemoryMoments(read, embedding)
    monkeypatch.setattr(gathered, "available_memory", lambda: 0)
    assert_alike(source, memory)
    sweep = [(0, other) for other in range(1, 6)]
    for left, right in zip(source.test_rows(sweep), memory.test_rows(sweep), strict=True):
        assert np.allclose(left, right, rtol=0, atol=1e-9)


def test_dask_gathers_no_rows_of_a_large_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns beyond a bound are never gathered from workers, and the figures are those of memory."""
    path = written(tmp_path, "parquet", 1200, 0.08)
    read = table(path)
    assert isinstance(read, MixedTable)
    source = moments(DaskEngine(FileTable(path)))
    monkeypatch.setattr(dask.PlacedRows, "most_gathered", 0)
    monkeypatch.setattr(Moments, "_in_memory", None)
    assert_alike(source, MemoryMoments(read))


def test_too_many_patterns_to_sum_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns that neither fit into memory nor have few patterns of missing values are refused in a sentence."""
    source = moments(DuckEngine.of_file(written(tmp_path, "csv", 1200, 0.08)))
    monkeypatch.setattr(gathered, "available_memory", lambda: 0)
    monkeypatch.setattr(sums, "MOST_PATTERNS", 3)
    with pytest.raises(DataError, match=r"are too much to gather, and their values are missing in more than .* ways; "):
        source.covariance(range(6))


CALLS: list[Callable[[str], Any]] = [
    lambda path: open_dataset(path, {"counts": "nowhere"}),
    lambda path: open_dataset(path, {"memory_limit": "1GiB"}),
    lambda path: open_dataset(path, {"counts": "duckdb", "weights": "x0"}),
    lambda path: open_dataset(path, {"counts": "duckdb", "missing": "complete"}),
    lambda path: open_dataset(open_dataset(path, {"counts": "duckdb"}), {"counts": "memory"}),
    lambda path: open_dataset(path, {"only": ["c0", "c1"], "counts": "duckdb"}, need="moments", embedding=Embedding()),
    lambda path: moments(DuckEngine.of_file(path), names=["a"]),
]


@pytest.mark.parametrize("call", CALLS)
def test_what_does_not_fit_is_refused(tmp_path: Path, call: Callable[[str], Any]) -> None:
    """Options that contradict each other, and tables elsewhere without numbers, are refused with a sentence."""
    with pytest.raises((InvalidArgumentError, DataError), match=r"; "):
        call(written(tmp_path, "csv", 200, 0.0))


def test_options_choose_the_source(tmp_path: Path) -> None:
    """The source follows from the option counts, and the kinds of columns from the options of a table."""
    path = written(tmp_path, "parquet", 300, 0.0)
    chosen = {"drop": ["x1"], "kinds": {"x0": "set aside"}}
    for kind in ("memory", "duckdb"):
        source = moments_of(
            open_dataset(path, {**chosen, "counts": kind}, need="moments", embedding=Embedding(degree=1)),
            Embedding(degree=1),
        )
        assert source.kind == kind
        assert source.heading.names == ("c0", "c1", "c2", "x2")
        assert source.heading.widths.tolist() == [3, 3, 3, 1]
        assert open_dataset(source, {}) is source


def test_a_table_is_opened_as_what_it_is(tmp_path: Path) -> None:
    """Categories alone are counted, wherever they are; a test on moments takes those in memory all the same."""
    path = written(tmp_path, "parquet", 300, 0.0)
    categories = {"only": ["c0", "c1"]}
    assert isinstance(open_dataset(path, {}), MixedTable)
    assert isinstance(open_dataset(path, {"counts": "duckdb"}), KeptMoments)
    assert isinstance(open_dataset(path, categories), Table)
    assert isinstance(open_dataset(path, {**categories, "counts": "duckdb"}), CachedCounts)
    assert isinstance(open_dataset(path, {"discretize": "quantile:3"}), Table)
    opened = open_dataset(path, categories, need="moments", embedding=Embedding())
    assert isinstance(opened, MixedTable)
    assert moments_of(opened).heading.is_number.tolist() == [False, False]


def test_nothing_asked_is_answered_with_nothing(tmp_path: Path) -> None:
    """No places and no queries have empty answers, in memory and in DuckDB."""
    path = written(tmp_path, "parquet", 300, 0.05)
    for kind in ("memory", "duckdb"):
        source = moments_of(open_dataset(path, {"counts": kind}, need="moments", embedding=Embedding()))
        assert source.covariance([]).shape == (0, 0)
        assert source.test_rows([]).ratios.shape == (0,)
