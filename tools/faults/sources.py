"""Learn from the same rows wherever they can be, and compare the parts to the last bit of every figure.

    python tools/faults/sources.py [--draws 200] [--first 0]

Each draw is another table: categories, numbers or both, some with missing values or weights, and with levels that are
declared in some order. It is learned from in memory, in DuckDB, on a Dask cluster in this process and in SQLite, from a
frame, a Parquet file and a CSV file. A part that differs ends the run with exit code 1.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]


def main() -> int:
    """Compare the parts of so many draws, and say how many there were."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first draw")
    given = parser.parse_args()
    sys.path.insert(0, str(ROOT / "tests"))
    from support.everywhere import drawn_table, parts_of

    compared, differing = 0, 0
    for seed in range(given.first, given.first + given.draws):
        table = drawn_table(seed)
        with tempfile.TemporaryDirectory() as folder:
            parts = dict(parts_of(table, Path(folder)))
        others = [place for place, part in parts.items() if part != parts["memory"]]
        compared, differing = compared + len(parts) - 1, differing + len(others)
        if others:
            print(f"draw {seed} ({table.told}): not the part of memory in {', '.join(others)}", flush=True)
    print(f"{given.draws} draws, {compared} parts compared with that of memory, {differing} differ")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
