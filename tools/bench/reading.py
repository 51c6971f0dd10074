"""Read a million rows of 40 columns, and compare with what pandas and DuckDB take for the same file alone.

    python tools/bench/reading.py [--rows 1000000]

A table has 25 numbers, 5 short scales and 10 categories. It is read from Parquet and from text by ``table``, kinds,
copies of levels and codes for missing values included, by pandas, and by DuckDB into an Arrow table. Each is read in
turn, three times; the least processor time counts.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd

from apsl_rules.data import table

TIMES = 3


def drawn(rows: int) -> pd.DataFrame:
    """Draw a table."""
    random = np.random.default_rng(34)
    columns: dict[str, Any] = {f"x{at}": random.normal(size=rows).round(3) for at in range(25)}
    columns |= {f"s{at}": random.integers(1, 6, rows) for at in range(5)}
    words = np.array(["north", "south", "west", "east"], object)
    return pd.DataFrame(columns | {f"c{at}": words[random.integers(0, 4, rows)] for at in range(10)})


def seconds(read: Callable[[], object]) -> float:
    """Return the processor time of a call."""
    begin = time.process_time()
    read()
    return time.process_time() - begin


def by_duckdb(path: Path) -> object:
    """Read a file with DuckDB into an Arrow table."""
    with duckdb.connect() as connection:
        rows = connection.read_csv(str(path)) if path.suffix == ".csv" else connection.read_parquet(str(path))
        return rows.to_arrow_table() if hasattr(rows, "to_arrow_table") else rows.fetch_arrow_table()


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as folder:
        parquet, text = Path(folder, "rows.parquet"), Path(folder, "rows.csv")
        frame = drawn(rows)
        frame.to_parquet(parquet, index=False)
        frame.to_csv(text, index=False)
        del frame
        for path, alone in ((parquet, pd.read_parquet), (text, pd.read_csv)):
            ways = (partial(table, path), partial(alone, path), partial(by_duckdb, path))
            found = [[seconds(way) for way in ways] for _ in range(TIMES)]
            ours, pandas, duck = (min(column) for column in zip(*found, strict=True))
            print(
                f"{path.suffix}: {ours:.2f} s, pandas alone {pandas:.2f} s (ratio {ours / pandas:.2f}), "
                f"DuckDB alone {duck:.2f} s (ratio {ours / duck:.2f})",
                flush=True,
            )


if __name__ == "__main__":
    main()
