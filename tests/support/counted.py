"""Sources of counts to set beside each other: the same table in memory, in DuckDB and on a cluster."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from apsl_backends.engines.coders import Coder
from apsl_backends.engines.counts import FoldedCounts
from apsl_backends.engines.dask import DaskEngine, ScatteredEngine
from apsl_backends.engines.duckdb import DuckEngine
from apsl_backends.engines.engine import ArrowEngine
from apsl_backends.engines.opening import counted, counted_table
from apsl_rules.data import Codes, FileTable, Table
from apsl_rules.data.counts import CountSource, Heading
from apsl_rules.parts.file import part_json
from apsl_rules.parts.part import Part


def table_counts(table: Table) -> CountSource:
    """Count a table as any engine does that knows no better way: section by section."""
    return counted_table(ArrowEngine, table)


def thrifty_counts(table: Table) -> CountSource:
    """Count small sets of columns together."""
    return counted_table(_Thrifty, table)


class _Thrifty(ArrowEngine):
    made: type[FoldedCounts]

    def count(self, columns: Sequence[int], coders: Sequence[Coder], heading: Heading) -> FoldedCounts:
        return self.made(self, columns, heading, self.code(columns, coders, heading.rows))


class _Misled(_Thrifty):
    pass


class ThriftyCounts(FoldedCounts):
    """A table whose small sets of columns are counted together, as DuckDB's are."""

    cheap = 4096


class MisledCounts(ThriftyCounts):
    """A table of which the first rows are all alike, so that sizes are guessed far too small."""

    def sample(self) -> Codes:
        """Return rows that say nothing."""
        return np.zeros((len(self.heading.names), 100), np.uint8)


_Thrifty.made = ThriftyCounts
_Misled.made = MisledCounts


def duck_counts(path: FileTable | Path | str, **reading: Any) -> CountSource:
    """Count in files by DuckDB."""
    return counted(DuckEngine.of_file(FileTable(str(path)) if isinstance(path, str | Path) else path), **reading)


def dask_counts(path: FileTable | Path | str, **reading: Any) -> CountSource:
    """Count in Parquet files on a cluster in this process."""
    return counted(DaskEngine(FileTable(str(path)) if isinstance(path, str | Path) else path), **reading)


SOURCES: Mapping[str, Callable[[Table], CountSource]] = {
    "table": table_counts,
    "thrifty": thrifty_counts,
    "misled": lambda table: counted_table(_Misled, table),
    "duckdb": lambda table: counted_table(DuckEngine.of_arrow, table),
    "dask": lambda table: counted_table(ScatteredEngine, table),
}

ODD_NAMES = ('a"; DROP TABLE rows; --', "select", "Ж🎉", "a b", "A B", "c0", "count(*)", "'quoted'")


def odd_frame(rows: int, seed: int) -> pd.DataFrame:
    """Draw a frame of dependent columns with odd names, odd levels, missing values and one of many levels."""
    random = np.random.default_rng(seed)
    first = random.integers(0, 3, rows)
    noisy = np.where(random.random(rows) < 0.3, random.integers(0, 3, rows), first)
    words = np.array(["yes", "no; --", 'quo"te', "ünï🎉"])
    columns = (
        first,
        words[noisy],
        np.where(random.random(rows) < 0.1, np.array(None), words[(noisy + first) % 4]),
        pd.array(np.where(random.random(rows) < 0.2, random.integers(0, 2, rows), noisy % 2), dtype="Int64"),
        np.where(random.random(rows) < 0.15, np.nan, (first + random.integers(0, 2, rows)) % 3),
        noisy > random.integers(0, 3, rows),
        random.integers(0, 700, rows),
        np.round(random.normal(size=rows) + first, 3),
    )
    return pd.DataFrame(dict(zip(ODD_NAMES, columns, strict=True)))


def written(frame: pd.DataFrame, folder: Path, *, groups: int = 3) -> dict[str, Path]:
    """Write a frame as Parquet, in several row groups, and as CSV."""
    paths = {"parquet": folder / "rows.parquet", "csv": folder / "rows.csv"}
    frame.to_parquet(paths["parquet"], row_group_size=-(-len(frame) // groups), index=False)
    frame.to_csv(paths["csv"], index=False)
    return paths


def essence(part: Part) -> dict[str, Any]:
    """Return all that a part tells but where figures came from: findings, firings, marks, and the counts of tests."""
    told: dict[str, Any] = json.loads(part_json(part))
    told["settings"].pop("counts", None)
    told["notes"] = [note for note in told["notes"] if note["code"] not in {"counts elsewhere", "moments elsewhere"}]
    return told
