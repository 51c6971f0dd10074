"""Parquet files on a cluster: every partition is checked, and whatever the columns hold is as in memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from apsl_backends.engines.coders import CategoryCoder
from apsl_backends.engines.dask import OpenPiece, Piece, pieces_of, read_part, work_on_piece
from apsl_backends.engines.dask_client import ask_cluster, client_at
from apsl_backends.engines.engine import count_columns
from apsl_rules import learn, learn_many
from apsl_rules.data import FileTable
from apsl_rules.data.moments import ColumnUnit
from apsl_rules.data.readers import shared_columns
from apsl_rules.errors import DataError
from support.counted import essence

ROWS = 400


def frame_of(seed: int = 1) -> pd.DataFrame:
    """Draw four dependent columns of words, and a number."""
    random = np.random.default_rng(seed)
    a = random.integers(0, 3, ROWS)
    b = np.where(random.random(ROWS) < 0.3, random.integers(0, 3, ROWS), a)
    c = np.where(random.random(ROWS) < 0.4, random.integers(0, 2, ROWS), b % 2)
    words = np.array(["u", "v", "w"])
    return pd.DataFrame({"a": words[a], "b": words[b], "c": words[c], "x": random.normal(size=ROWS) + b})


def split(frame: pd.DataFrame, folder: Path, parts: int = 4) -> str:
    """Write a frame to as many files as it has parts; return the pattern of their names."""
    folder.mkdir(exist_ok=True)
    for number in range(parts):
        rows = frame.iloc[len(frame) * number // parts : len(frame) * (number + 1) // parts]
        rows.to_parquet(folder / f"rows-{number}.parquet", index=False)
    return str(folder / "rows-*.parquet")


def last_piece(pattern: str) -> Piece:
    """Return the piece that has the last file."""
    table = FileTable(pattern)
    return pieces_of(table, shared_columns(table.files), range(4), client_at(None))[-1]


CHANGES: list[tuple[Callable[[pd.DataFrame], pd.DataFrame], str]] = [
    (lambda frame: frame.drop(columns="x"), "has no column 'x' where it was when it was opened; "),
    (lambda frame: frame.rename(columns={"b": "B"}), "has no column 'b' where it was when it was opened; "),
    (lambda frame: frame.assign(c=1), "holds int64 in the column 'c', and text when opened; "),
    (lambda frame: frame.assign(x=frame["x"].astype("float32")), "holds float in the column 'x', and double when"),
    (lambda frame: frame.iloc[:-1], "is not what it was when it was opened; "),
]


@pytest.mark.parametrize(("change", "sentence"), CHANGES)
def test_a_file_that_changed_is_refused_by_the_worker(
    change: Callable[[pd.DataFrame], pd.DataFrame], sentence: str, tmp_path: Path
) -> None:
    """A worker that finds other columns, types or rows than were planned names the file and the column."""
    frame = frame_of()
    piece = last_piece(split(frame, tmp_path))
    change(frame).to_parquet(tmp_path / "rows-3.parquet", index=False)
    client = client_at(None)

    with pytest.raises(DataError, match=f"rows-3.parquet' {sentence}"):
        ask_cluster(client, lambda: client.submit(work_on_piece, piece, count_columns, pure=False).result())


def test_values_that_were_not_there_are_named(tmp_path: Path) -> None:
    """A value that no file had when it was opened is refused with the column and its files."""
    piece = last_piece(split(frame_of(), tmp_path))
    nothing = np.zeros(0, np.int64)
    coders = [
        CategoryCoder(0, 0, ColumnUnit(), values[:1] if number == 1 else values, np.arange(400), nothing)
        for number, (values, _) in enumerate(work_on_piece(piece, count_columns))
    ]

    with pytest.raises(DataError, match=r"column 'b' in .*rows-3.parquet': the table has values that it did not have"):
        read_part(piece, coders)


def test_a_damaged_file_is_no_lost_worker(tmp_path: Path) -> None:
    """A file that was cut off is told at once, in one sentence."""
    pattern = split(frame_of(), tmp_path)
    piece = last_piece(pattern)
    path = tmp_path / "rows-3.parquet"
    path.write_bytes(path.read_bytes()[:-20])

    with pytest.raises(DataError, match=r"cannot read the Parquet file '.*rows-3.parquet' .*; check that it is whole"):
        work_on_piece(piece, count_columns)


def test_many_small_files_are_few_pieces(tmp_path: Path) -> None:
    """A piece spans files, whose columns may be in other orders; its rows are those of the files in their order."""
    frame = frame_of()
    pattern = split(frame, tmp_path, parts=7)
    turned = pd.read_parquet(tmp_path / "rows-2.parquet")
    turned[["x", "c", "b", "a"]].to_parquet(tmp_path / "rows-2.parquet", index=False)
    table = FileTable(pattern)
    (piece,) = pieces_of(table, shared_columns(table.files), [3, 0], client_at(None))
    opened = OpenPiece.of(piece)

    assert [opened.column(number).to_pylist() for number in (0, 1)] == [frame["x"].tolist(), frame["a"].tolist()]


PITFALLS: dict[str, tuple[Callable[[pd.DataFrame], pd.DataFrame], dict[str, Any]]] = {
    "other levels in each file": (lambda frame: frame.sort_values("a", ignore_index=True), {}),
    "a missing value as a level": (
        lambda frame: frame.assign(b=frame["b"].where(frame.index % 7 > 0, None)),
        {"missing": "level", "discretize": "quantile:3"},
    ),
    "a file of missing values": (lambda frame: frame.assign(b=frame["b"].where(frame.index < 300, None)), {}),
    "categories with levels that nobody has": (
        lambda frame: frame.assign(b=pd.Categorical(frame["b"], categories=["never", "u", "v", "w"])),
        {},
    ),
    "fractions as levels": (
        lambda frame: frame.assign(b=frame["b"].map({"u": 0.1, "v": 0.30000000000000004, "w": 0.3})),
        {"kinds": {"b": "category"}},
    ),
}


@pytest.mark.parametrize("name", PITFALLS)
def test_what_columns_hold_is_as_in_memory(name: str, tmp_path: Path) -> None:
    """Files that differ in their levels, and values that engines take in different ways, give the part of memory."""
    change, options = PITFALLS[name]
    frame = change(frame_of())
    pattern = split(frame, tmp_path)
    whole = tmp_path / "whole" / "rows.parquet"
    whole.parent.mkdir()
    frame.to_parquet(whole, index=False)
    here = learn(whole, "a", depth=2, **options)

    assert here.arrows or here.lines
    assert essence(learn(pattern, "a", depth=2, counts="dask", **options)) == essence(here)


def test_empty_files_and_row_groups_change_nothing(tmp_path: Path) -> None:
    """A partition without rows counts for nothing; a table without rows is refused in a sentence."""
    frame = frame_of()
    pattern = split(frame, tmp_path / "some")
    here = learn(frame, "a", depth=2)
    frame.iloc[:0].to_parquet(tmp_path / "some" / "rows-10.parquet", index=False)
    with pq.ParquetWriter(tmp_path / "some" / "rows-11.parquet", pa.Table.from_pandas(frame).schema) as writer:
        writer.write_table(pa.Table.from_pandas(frame.iloc[:0]))

    assert essence(learn(pattern, "a", depth=2, counts="dask")) == essence(here)
    empty = split(frame.iloc[:0], tmp_path / "none")
    with pytest.raises(DataError, match="has no rows; give a table with rows"):
        learn(empty, "a", counts="dask")


def test_many_targets_are_learned_on_a_cluster(tmp_path: Path) -> None:
    """All targets of a table with numbers, and of one with categories alone, have the parts that memory gives."""
    frame = frame_of()
    pattern = split(frame, tmp_path)
    choices: list[dict[str, Any]] = [{}, {"only": ["a", "b", "c"]}]
    for options in choices:
        here, there = learn_many(frame, "all", **options), learn_many(pattern, "all", counts="dask", **options)

        assert here.union.arrows or here.union.lines
        assert (there.union.arrows, there.union.lines) == (here.union.arrows, here.union.lines)
        assert [essence(part) for part in there.values()] == [essence(part) for part in here.values()]
