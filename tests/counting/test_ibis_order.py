"""The order of rows in databases: columns that are read one after the other lie side by side."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import ibis
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from apsl_backends.engines.ibis import IbisEngine
from apsl_rules import learn
from apsl_rules.learning import dry_run
from support.counted import essence
from support.databases import DATAFUSION, arrow, mixed_frame, stored


def test_columns_of_many_statements_lie_side_by_side(tmp_path: Path) -> None:
    """An index gives SQLite another order of rows for one column; what is gathered is aligned all the same."""
    frame = mixed_frame(500, 5, missing=0.05)
    address = stored(frame, "sqlite", tmp_path, name="t")
    with sqlite3.connect(tmp_path / "rows.sqlite") as connection:
        connection.execute("CREATE INDEX by_age ON t (age)")
        connection.execute("CREATE VIEW seen AS SELECT * FROM t ORDER BY visits")
    connection.close()
    here = learn(frame, "dose", depth=2)
    for source in (address, f"sqlite://{tmp_path}/rows.sqlite#seen"):
        assert learn(source, "dose", depth=2).edges == here.edges
    assert IbisEngine.of(address).is_ordered
    assert not IbisEngine.of(f"sqlite://{tmp_path}/rows.sqlite#seen").is_ordered


@pytest.mark.parametrize("engine", ["duckdb", "polars", DATAFUSION])
def test_files_are_read_in_their_order(engine: str, tmp_path: Path) -> None:
    """A Parquet file of several groups that an engine of ibis reads gives the part of the frame, to the last bit."""
    frame = mixed_frame(400, 8, missing=0.05)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=50)
    rows = getattr(ibis, engine).connect().read_parquet(tmp_path / "rows.parquet")
    assert IbisEngine.of(rows).is_ordered
    assert essence(learn(rows, "dose")) == essence(learn(frame, "dose"))
    assert dry_run(rows, "dose").billed is None


@pytest.mark.parametrize("engine", ["duckdb", "polars", DATAFUSION])
def test_expressions_that_reorder_rows_are_sorted(engine: str, tmp_path: Path) -> None:
    """A filter keeps the order of a stored table; a join does not, and still gives the part of its rows."""
    frame = mixed_frame(400, 6)
    rows = stored(frame, engine, tmp_path)
    backend = ibis.get_backend(rows)
    other = backend.create_table("other", arrow(pd.DataFrame({"pain": ["none", "some", "much"]})))
    kept, joined = rows.filter(rows["age"] > 30), rows.join(other, "pain")
    assert IbisEngine.of(kept).is_ordered
    assert not IbisEngine.of(joined).is_ordered
    here = learn(frame, "dose", depth=2)
    assert learn(joined, "dose", depth=2).edges == here.edges
    assert learn(kept, "dose", depth=2).edges == learn(frame[frame["age"] > 30], "dose", depth=2).edges


@pytest.mark.release
def test_views_that_reorder_rows_are_seen_through() -> None:
    """A join or a sort within a view, also in a view of a view, is found in the plan of the engine."""
    one, two = pa.table({"k": [1, 2, 3], "join": [1, 2, 3]}), pa.table({"k": [3, 2, 1], "b": [1, 2, 3]})
    for engine in ("duckdb", "datafusion"):
        backend = getattr(ibis, engine).connect()
        backend.create_table("one", one)
        backend.create_table("two", two)
        views = {
            "joined": "SELECT one.k, two.b FROM one JOIN two ON one.k = two.k",
            "again": "SELECT * FROM joined",
            "kinds": "SELECT DISTINCT k FROM one",
            "plain": 'SELECT k, "join" FROM one WHERE k > 1',
        }
        if engine == "duckdb":  # DataFusion leaves out a sort within a view
            views["sorted"] = "SELECT * FROM one ORDER BY k"
        for name, statement in views.items():
            backend.raw_sql(f"CREATE VIEW {name} AS {statement}")
        found = {name for name in ("one", *views) if IbisEngine.of(backend.table(name)).is_ordered}
        assert found == {"one", "plain"}
    polars = ibis.polars.connect()
    frames = [pl.DataFrame(rows.to_pydict()).lazy() for rows in (one, two)]
    for how in ("inner", "left", "full", "semi"):
        joined = polars.create_table(how, frames[0].join(frames[1], on="k", how=how))
        assert not IbisEngine.of(joined).is_ordered
    assert IbisEngine.of(polars.create_table("plain", frames[0].filter(pl.col("join") > 1))).is_ordered


def test_duckdb_that_may_move_rows_is_not_ordered() -> None:
    """An engine that was told not to keep the order of rows is not relied on for it."""
    backend = ibis.duckdb.connect()
    rows = backend.create_table("t", pa.table({"a": [1, 2, 3]}))
    assert IbisEngine.of(rows).is_ordered
    backend.raw_sql("SET preserve_insertion_order = false")
    assert not IbisEngine.of(rows).is_ordered
