"""Time ranks, covariances and tests of numbers against numpy's X.T @ X in the same run, and print Markdown tables.

X has the same embedded columns, as floats. CPU time, one thread; a covariance and its counterpart are the best of three
rounds, ranks are taken once.
Usage: python tools/bench/moments.py [--quick]
"""

from __future__ import annotations

import argparse
import os

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is loaded

from collections.abc import Callable
from functools import partial
from time import process_time
from typing import Literal

import numpy as np
import numpy.typing as npt

from apsl_backends.engines.moments import MemoryMoments
from apsl_backends.kernels.bindings.embedded import NumberColumn
from apsl_rules.data import MixedTable, Table
from apsl_rules.data.moments import Embedding

COLUMNS = 37
DEGREES: tuple[Literal[1, 2, 3], ...] = (1, 2, 3)
WIDE = 10_000, 1_000


def draw(columns: int, rows: int) -> MixedTable:
    """Draw numbers that depend on each other."""
    values = np.random.default_rng(1).normal(size=(columns, rows))
    for place in range(1, columns):
        values[place] += values[place - 1] / 2
    names = tuple(f"x{place}" for place in range(columns))
    nothing = Table((), np.zeros((0, rows), np.uint8), np.zeros(0, np.int64), (), np.zeros(0, np.bool_))
    return MixedTable(names, nothing, values, names)


def embedded(source: MemoryMoments) -> npt.NDArray[np.float64]:
    """Return rows by embedded columns."""
    handle = source.rows.handle
    made = np.empty((handle.rows, int(handle.widths.sum())))
    at = 0
    for column in handle.columns:
        if not isinstance(column, NumberColumn):
            continue
        z = column.values
        for part in (z, z**2 - 1, z**3 - 3 * z)[: column.degree]:
            made[:, at] = part
            at += 1
    return made


def _product(made: npt.NDArray[np.float64]) -> object:
    return made.T @ made


def seconds(work: Callable[[], object]) -> float:
    """Return the CPU time of a piece of work."""
    before = process_time()
    work()
    return process_time() - before


def long_tables(sizes: list[int]) -> None:
    """Print ranks and covariances of tables with many rows."""
    print("| rows | degree | ranks s | covariance s | X.T @ X s | covariance / X.T @ X | with ranks |")
    print("|---|---|---|---|---|---|---|")
    for rows in sizes:
        table = draw(COLUMNS, rows)
        ranks = seconds(partial(MemoryMoments, table))
        for degree in DEGREES if rows <= 10**6 else DEGREES[:2]:
            source = MemoryMoments(table, Embedding(degree=degree))
            made = embedded(source)
            ours = min(seconds(partial(source.covariance, range(COLUMNS))) for _ in range(3))
            theirs = min(seconds(partial(_product, made)) for _ in range(3))
            shown = f"{ranks:.2f} | {ours:.2f} | {theirs:.2f} | {ours / theirs:.2f} | {(ours + ranks) / theirs:.1f}"
            print(f"| {rows:,} | {degree} | {shown} |", flush=True)


def wide_table() -> None:
    """Print the cost of testing one column of a wide table against all others."""
    table = draw(*WIDE)
    opening = seconds(lambda: MemoryMoments(table))
    source = MemoryMoments(table)
    queries = [(0, place) for place in range(1, WIDE[0])]
    sweep = min(seconds(lambda: source.test_rows(queries)) for _ in range(3))
    print(f"\n{WIDE[0]:,} numbers of {WIDE[1]:,} rows: ranks {opening:.2f} s, one against all {sweep * 1e3:.0f} ms")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a million rows at most")
    long_tables([10**5, 10**6] if parser.parse_args().quick else [10**5, 10**6, 10**7])
    wide_table()


if __name__ == "__main__":
    main()
