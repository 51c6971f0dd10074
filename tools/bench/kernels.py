"""Time one G² test inside the kernel against a plain C row loop, and print a Markdown table.

The kernel is asked in two ways: for tests that share nothing, and as a search asks, for all subsets of a pool of
twelve columns (with nothing given: for one column against 280 others). The C loop is timed in the same rounds on the
same tests, in both of its versions: how a row's cell is worked out makes it two to three times faster or slower, so
a ratio means nothing without saying to which. Columns have two to four levels; CPU time, warm, median of rounds.
Usage: python tools/bench/kernels.py [--quick]
"""

from __future__ import annotations

import argparse
import ctypes
from collections.abc import Callable
from itertools import combinations
from statistics import median
from time import process_time

import numpy as np
import numpy.typing as npt
from yardstick import compiled

from apsl_backends.independence.table_tester import MemoryCounts, Tester, measure_of
from apsl_rules.data.tables import Table

ROUNDS = 9
COLUMNS = 14
TILES = 20
ALPHA = 1.0 - 1e-9
"""So near to 1 that no test is independent and every search goes through all subsets."""

TARGETS = {1_000: 0.3, 100_000: 0.2}
PAIRS = ((0, 1), (1, 2), (2, 5), (12, 13), (0, 3), (5, 8))

NAMES = ("alone", "shared", "radix alone", "strides alone", "radix shared", "strides shared")

Tests = npt.NDArray[np.int64]


def draw(rows: int) -> Table:
    """Draw columns of mixed cardinalities that all depend on one hidden column."""
    random = np.random.default_rng(1)
    cards = np.array([2, 3, 4] * 4 + [3, 3])
    hidden = random.integers(0, 12, rows)
    noise = np.stack([random.integers(0, card, rows) for card in cards])
    codes = np.where(random.random(noise.shape) < 0.7, hidden % cards[:, None], noise).astype(np.uint8)
    codes, cards = np.tile(codes, (TILES, 1)), np.tile(cards, TILES)
    levels = tuple(tuple(range(card)) for card in cards)
    return Table(tuple(range(len(cards))), codes, cards, levels, np.zeros(len(cards), np.bool_))


class Reference:
    """The C loop on a table, in both of its versions."""

    def __init__(self, table: Table) -> None:
        self._library = compiled()
        self._table = table
        counts = np.arange(table.rows + 1, dtype=np.float64)
        self._terms = counts * np.log(np.maximum(counts, 1.0))
        self._cells = np.zeros(4**5, np.int64)

    def run(self, version: str, tests: Tests) -> npt.NDArray[np.float64]:
        """Carry out tests, a row of columns each, and give their statistics."""
        statistics, degrees = np.empty(len(tests)), np.empty(len(tests), np.int64)
        table = self._table
        sizes = [ctypes.c_int64(size) for size in (table.rows, len(tests), tests.shape[1])]
        codes, cards, asked, terms, cells, values, dofs = (
            ctypes.c_void_p(array.ctypes.data)
            for array in (table.codes, table.cards, tests, self._terms, self._cells, statistics, degrees)
        )
        self._library[version](codes, sizes[0], cards, asked, sizes[1], sizes[2], terms, cells, values, dofs)
        return statistics


def seconds(work: Callable[[], object]) -> float:
    """Return the CPU seconds of one call."""
    begun = process_time()
    work()
    return process_time() - begun


def microseconds(table: Table, tester: Tester, reference: Reference, size: int) -> dict[str, float]:
    """Time the kernel and the reference on tests with so many columns given, in microseconds for one test."""
    random = np.random.default_rng(size)
    few = 400 if table.rows == 1_000 else 60
    alone = np.array([random.permutation(COLUMNS)[: size + 2] for _ in range(few)])
    starts = np.arange(0, alone.size + 1, size + 2)
    pools = [[place for place in range(COLUMNS) if place not in pair] for pair in PAIRS]
    shared = np.array([[*pair, *z] for pair, pool in zip(PAIRS, pools, strict=True) for z in combinations(pool, size)])
    if size == 0:
        shared = np.array([[0, place] for place in range(len(table.names))])

    def kernel_alone() -> npt.NDArray[np.float64]:
        return tester.test_columns(starts, alone.ravel()).statistics

    def searches(most: int) -> int:
        return sum(tester.search([*pair, *pool], 0, most).tests for pair, pool in zip(PAIRS, pools, strict=True))

    def as_searched() -> float:
        if size == 0:
            return seconds(lambda: tester.test_against_all(0))
        return seconds(lambda: searches(size)) - seconds(lambda: searches(size - 1))

    agree = np.allclose(kernel_alone(), reference.run("g_squares", alone), atol=1e-6)
    whole = size == 0 or searches(size) - searches(size - 1) == len(shared)
    assert agree, "the kernel and the reference disagree"  # noqa: S101 - figures for wrong results are worthless
    assert whole, "a search ended early"  # noqa: S101 - so are figures for tests that were not made
    times: dict[str, list[float]] = {name: [] for name in NAMES}
    for _ in range(ROUNDS):
        times["alone"].append(seconds(kernel_alone) / few)
        times["shared"].append(as_searched() / len(shared))
        times["radix alone"].append(seconds(lambda: reference.run("g_squares", alone)) / few)
        times["strides alone"].append(seconds(lambda: reference.run("g_squares_by_strides", alone)) / few)
        times["radix shared"].append(seconds(lambda: reference.run("g_squares", shared)) / len(shared))
        times["strides shared"].append(seconds(lambda: reference.run("g_squares_by_strides", shared)) / len(shared))
    return {name: 1e6 * median(values) for name, values in times.items()}


def main() -> None:
    """Print one row for each size of table and number of given columns."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="1,000 rows only")
    words = parser.parse_args()
    ratios = "/ radix | / strides"
    print(f"| rows | given | C, mixed radix | C, strides | alone | {ratios} | in a search | {ratios} |")
    print("|" + "---|" * 10)
    wanted = {rows: limit for rows, limit in TARGETS.items() if rows == 1_000 or not words.quick}
    for rows in wanted:
        table = draw(rows)
        tester = Tester(MemoryCounts(table), measure_of(table.heading, alpha=ALPHA))
        reference = Reference(table)
        for size in range(4):
            times = microseconds(table, tester, reference, size)
            row = [f"{rows:,}", str(size)]
            row += [f"{times[name]:.2f}" for name in ("radix alone", "strides alone")]
            for mode in ("alone", "shared"):
                row.append(f"{times[mode]:.2f}")
                row += [f"{times[mode] / times[f'{version} {mode}']:.2f}" for version in ("radix", "strides")]
            print("| " + " | ".join(row) + " |")
    limits = ", ".join(f"{limit} at {rows:,} rows" for rows, limit in wanted.items())
    print(f"\nMicroseconds of CPU for one test, and ratios to the C loops on the same tests; wanted: {limits}.")


if __name__ == "__main__":
    main()
