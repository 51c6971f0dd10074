"""Parts of tables of numbers against one pass of numpy over them: many columns, and many rows.

The CPU of a part of depth 2, reading included, as a ratio to numpy's X.T @ X on the same numbers, one thread, and the
peak memory as a multiple of the table. Usage: python tools/bench/number_parts.py [--quick]
"""

from __future__ import annotations

import argparse
import os

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is loaded

import resource
from time import process_time

import numpy as np
import numpy.typing as npt

from apsl_rules import learn


def chains(rows: int, columns: int, length: int) -> npt.NDArray[np.float64]:
    """Draw normal numbers in chains, each of which depends on the one before it."""
    random = np.random.default_rng(1)
    table = np.empty((rows, columns), order="F")
    for column in range(columns):
        table[:, column] = random.standard_normal(rows)
        if column % length:
            table[:, column] += 0.6 * table[:, column - 1]
    return table


def measure(rows: int, columns: int) -> str:
    """Return a row of the table."""
    table = chains(rows, columns, 4)
    begun = process_time()
    part = learn(table, f"X{columns // 2 + 2}", depth=2, hidden="excluded")
    took = process_time() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / table.nbytes
    begun = process_time()
    table.T @ table
    once = process_time() - begun
    found = f"{len(part.edges)} edges"
    return f"| {columns:,} × {rows:,} | {found} | {took:.2f} s | {took / once:.2f} | {peak:.1f} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the columns, a hundredth of the rows")
    quick = parser.parse_args().quick
    print("| numbers × rows | part | CPU | × X.T @ X | peak memory × table |\n|---|---|---|---|---|")
    print(measure(1000, 1000 if quick else 10_000))
    print(measure(100_000 if quick else 10_000_000, 37))


if __name__ == "__main__":
    main()
