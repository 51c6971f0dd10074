"""Identifiers of very many rows are recognised in the engine."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from apsl_backends.engines.dask import DaskEngine
from apsl_backends.engines.duckdb import DuckEngine
from apsl_backends.engines.ibis import IbisEngine
from apsl_backends.engines.opening import moments
from apsl_rules.data import FileTable, table
from apsl_rules.errors import DataError
from support.counted import dask_counts, duck_counts

ROWS = 30_000
LIMITED = ("arrow_columns", "duckdb", "ibis")


def _written(folder: Path, *, numbers: bool) -> pa.Table:
    random = np.random.default_rng(1)
    columns: dict[str, object] = {
        "customer_id": random.permutation(ROWS) * 3 + 5,
        "row": np.arange(ROWS),
        "nr": np.arange(ROWS) + 1,
        "label": [f"person {number}" for number in range(ROWS)],
        "kind": random.choice(["p", "q"], ROWS),
        "level": random.choice(["p", "q", "r"], ROWS),
    }
    if numbers:
        columns |= {"income": random.permutation(ROWS) * 7 + 900, "x": random.normal(size=ROWS)}
    made = pa.table(columns)
    pq.write_table(made, folder / "many.parquet")
    return made


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let only a thousand distinct values of a column be looked at."""
    for module in LIMITED:
        monkeypatch.setattr(f"apsl_backends.engines.{module}.MOST_DISTINCT", 1000)


@pytest.mark.usefixtures("few")
def test_identifiers_of_files_are_set_aside_however_many_rows(tmp_path: Path) -> None:
    """DuckDB decides on columns with too many values to look at as memory does."""
    _written(tmp_path, numbers=True)
    path = str(tmp_path / "many.parquet")
    source, read = moments(DuckEngine.of_file(path)), table(path)
    assert [(one.name, one.kind) for one in source.heading.columns] == [(one.name, one.kind) for one in read.columns]
    assert source.heading.notes == read.notes
    source.covariance(range(len(source.heading.names)))
    assert source.heading.names == ("kind", "level", "income", "x")


@pytest.mark.usefixtures("few")
def test_identifiers_in_counted_files_are_set_aside(tmp_path: Path) -> None:
    """A file of categories with identifiers is counted; a number asked for with too many values is refused."""
    _written(tmp_path, numbers=False)
    path = str(tmp_path / "many.parquet")
    assert duck_counts(path).heading.names == ("kind", "level")
    with pytest.raises(DataError, match="nr"):
        duck_counts(path, kinds={"nr": "category"})


@pytest.mark.usefixtures("few")
def test_identifiers_in_databases_are_set_aside_and_stay_there(tmp_path: Path) -> None:
    """A database reached by ibis counts identifiers; less than their bytes leaves it."""
    ibis = pytest.importorskip("ibis")
    made = _written(tmp_path, numbers=True)
    connection = ibis.duckdb.connect(tmp_path / "many.duckdb")
    connection.create_table("many", made)
    source = moments(IbisEngine.of(connection.table("many")))
    assert source.heading.names == ("kind", "level", "income", "x")
    assert [one.detail for one in source.heading.columns] == [
        one.detail for one in table(str(tmp_path / "many.parquet")).columns
    ]


@pytest.mark.usefixtures("few")
def test_identifiers_on_a_cluster_are_set_aside_however_many_rows(tmp_path: Path) -> None:
    """Dask decides on columns with too many values to look at as memory does, and refuses them as categories."""
    _written(tmp_path, numbers=False)
    path = FileTable(str(tmp_path / "many.parquet"))
    source, read = moments(DaskEngine(path)), table(path.path)
    assert source.heading.names == ("kind", "level")
    assert source.heading.columns == read.columns
    assert source.heading.notes == read.notes
    assert dask_counts(path).heading.names == ("kind", "level")
    with pytest.raises(DataError, match="nr"):
        dask_counts(path, kinds={"nr": "category"})


@pytest.mark.slow
def test_an_identifier_of_six_million_rows_is_set_aside(tmp_path: Path) -> None:
    """Beyond the most values that are ever looked at an identifier is recognised too."""
    path = str(tmp_path / "many.parquet")
    with duckdb.connect() as connection:
        chosen = "SELECT range AS customer_id, range % 3 AS kind, range % 17 / 2 AS x FROM range(6000000)"
        connection.execute(f"COPY ({chosen}) TO '{path}'")
    assert moments(DuckEngine.of_file(path)).heading.names == ("kind", "x")
    assert moments(DaskEngine(FileTable(path))).heading.names == ("kind", "x")
