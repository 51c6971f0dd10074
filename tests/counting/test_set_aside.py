"""What a target defines is set aside wherever the rows are: the same columns, in the same words, with the same part."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from apsl_backends.engines.opener import open_dataset
from apsl_rules import learn
from apsl_rules.data import MixedTable, table
from support.counted import essence
from support.databases import in_postgres, stored
from support.postgres_server import PostgresServer

#: More rows than are looked at, and more than a section.
MANY = 70_000
TARGETS = {"wage": {"high", "lwage", "total"}, "high": {"wage", "lwage"}, "area": {"in_north"}, "place": set[str]()}


def wages(rows: int) -> pd.DataFrame:
    """Return wages with columns that these define, and others that only depend on them; some values are missing."""
    random = np.random.default_rng(rows)
    wage = np.round(np.exp(random.normal(2, 0.5, rows)), 2)
    tips = np.round(random.exponential(3, rows) + wage / 10, 2)
    area = random.choice(["north", "south", "west"], rows)
    frame = pd.DataFrame({"wage": wage, "lwage": np.round(np.log(wage), 4), "high": np.where(wage > 8, "yes", "no")})
    frame["total"] = np.round(wage + tips, 2)
    frame["in_north"] = np.where(area == "north", "x", "-")
    frame["tips"], frame["area"] = tips, area
    frame["school"] = np.round(wage + random.normal(0, 3, rows), 1)
    frame["place"] = pd.Series(random.choice(["a", "b", "c"], rows)).mask(random.random(rows) < 0.02)
    return frame


def assert_same(source: Any, frame: pd.DataFrame, targets: Sequence[str] = tuple(TARGETS), **where: Any) -> None:
    """Assert that a source gives the parts of the frame, to the last bit."""
    for target in targets:
        here, there = learn(frame, target), learn(source, target, **where)
        assert {one.name for one in here.columns if one.kind == "set aside"} == TARGETS[target]
        assert there.columns == here.columns
        assert there.nodes == here.nodes
        assert essence(there) == essence(here)


def test_files_in_duckdb_and_dask_set_aside_what_memory_does(tmp_path: Path) -> None:
    """So do a Parquet file in DuckDB and on a cluster, and a CSV file, whose fields are text."""
    frame = wages(400)
    frame.to_parquet(tmp_path / "wages.parquet", index=False)
    frame.to_csv(tmp_path / "wages.csv", index=False)
    assert_same(tmp_path / "wages.parquet", frame, counts="duckdb")
    assert_same(tmp_path / "wages.parquet", frame, counts="dask")
    assert_same(tmp_path / "wages.csv", frame, counts="duckdb")


@pytest.mark.parametrize("counts", ["duckdb", "dask"])
def test_of_many_rows_the_same_ones_are_looked_at(counts: str, tmp_path: Path) -> None:
    """Of more rows than are looked at, in row groups that end anywhere, every engine takes those of memory."""
    frame = wages(MANY).drop(columns=["place", "school"])
    frame.to_parquet(tmp_path / "wages.parquet", row_group_size=20_000, index=False)
    found = open_dataset(tmp_path / "wages.parquet", {"counts": counts}).thinned()
    here = table(frame).thinned()
    assert isinstance(found, MixedTable)
    assert isinstance(here, MixedTable)
    assert np.array_equal(found.numbers, here.numbers, equal_nan=True)
    assert np.array_equal(found.categories.codes, here.categories.codes)
    assert_same(tmp_path / "wages.parquet", frame, ["wage"], counts=counts)


@pytest.mark.parametrize("engine", ["sqlite", "polars"])
def test_databases_set_aside_what_memory_does(engine: str, tmp_path: Path) -> None:
    """So do databases that ibis reaches."""
    assert_same(stored(wages(12_000), engine, tmp_path), wages(12_000))


@pytest.mark.slow
def test_postgres_sets_aside_what_memory_does(postgres: PostgresServer) -> None:
    """So does a PostgreSQL server."""
    assert_same(in_postgres(wages(12_000), postgres, name="wages"), wages(12_000))


def test_categories_that_are_left_are_counted(tmp_path: Path) -> None:
    """Where the only number was cut into the target, categories are left, and these are counted everywhere."""
    frame = wages(400)[["wage", "high", "area", "place"]]
    frame.to_parquet(tmp_path / "wages.parquet")
    here = learn(frame, "high")
    assert here.oracle == "gsquare"
    for counts in ("duckdb", "dask"):
        assert essence(learn(tmp_path / "wages.parquet", "high", counts=counts)) == essence(here)


def test_columns_are_kept_as_asked_elsewhere_too(tmp_path: Path) -> None:
    """``keep`` takes a column back, or all of them."""
    frame = wages(400)
    frame.to_parquet(tmp_path / "wages.parquet")
    kept = learn(tmp_path / "wages.parquet", "wage", counts="duckdb", keep=["lwage"])
    assert {one.name for one in kept.columns if one.kind == "set aside"} == {"high", "total"}
    whole = learn(tmp_path / "wages.parquet", "wage", counts="duckdb", keep="*")
    assert not any(one.kind == "set aside" for one in whole.columns)


def test_as_many_rows_are_looked_at_everywhere() -> None:
    """Of many rows every few of each section are taken, with all levels."""
    read = table(wages(MANY))
    some = read.thinned()
    assert some is not None
    assert some.rows == sum(len(range(low, min(low + 65_536, MANY), 7)) for low in (0, 65_536))
    assert some.values("wage").tolist()[:3] == read.values("wage")[[0, 7, 14]].tolist()
    assert some.values("wage")[-1] == read.values("wage")[65_536 + (MANY - 65_536 - 1) // 7 * 7]
    assert some.categories.levels == read.categories.levels
