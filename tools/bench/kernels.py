"""The cost of one G² test inside the kernels, against a plain C loop over the rows, in one run.

Columns of two to four levels. "single" tests share nothing; "search" tests are the subsets of a pool of twelve, as the
search for a separator asks them. CPU time, warm, median of repeats; the C loop is compiled with gcc -O3 -march=native.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import comb
from statistics import median
from time import process_time

import numpy as np
import numpy.typing as npt
from yardstick import Yardstick

from apsl_backends.counts.tester import Tester
from apsl_backends.gsquare import GSquare
from apsl_rules.data import Table, table

ROWS = (1_000, 100_000)
COLUMNS = 14
TESTS = {1_000: 2_000, 100_000: 60}
REPEATS = 9


def drawn(rows: int) -> Table:
    """Draw columns of two to four levels; the second half copies the first, so that nothing separates these two."""
    random = np.random.default_rng(rows)
    codes = np.stack([random.integers(0, 2 + column % 3, rows) for column in range(COLUMNS)], axis=1)
    codes[:, 1] = np.where(random.random(rows) < 0.5, codes[:, 0], codes[:, 1])
    return table(codes.astype(np.uint8), names=[f"c{column}" for column in range(COLUMNS)])


def asked(size: int, count: int) -> npt.NDArray[np.int64]:
    """Give tests of pairs given so many columns."""
    random = np.random.default_rng(size)
    return np.stack([random.choice(COLUMNS, 2 + size, replace=False) for _ in range(count)])


def timed(run: Callable[[], object]) -> float:
    """Give the median CPU seconds of a warm run."""
    run()
    seconds = []
    for _ in range(REPEATS):
        begun = process_time()
        run()
        seconds.append(process_time() - begun)
    return median(seconds)


def row(data: Table, tester: Tester, size: int, before: float) -> tuple[str, float]:
    """Give the figures for conditioning sets of one size, and the time of a search up to this size."""
    yardstick = Yardstick(data)
    pool = list(range(2, COLUMNS))
    tests = asked(size, TESTS[data.rows])
    singles = tests.tolist()
    subsets = np.array([(0, 1, *chosen) for chosen in combinations(pool, size)])
    reference = median(yardstick.run(tests) for _ in range(REPEATS)) / len(tests)
    against = median(yardstick.run(subsets) for _ in range(REPEATS)) / len(subsets)
    single = timed(lambda: tester.test(singles)) / len(tests)
    again = 20 if data.rows == min(ROWS) else 1
    total = timed(lambda: [tester.search([0, 1, *pool], 0, size) for _ in range(again)]) / again
    search = (total - before) / comb(len(pool), size)
    figures = f"{reference * 1e6:.2f} | {single * 1e6:.2f} | {single / reference:.2f}"
    return f"| {data.rows} | {size} | {figures} | {search * 1e6:.2f} | {search / against:.2f} |", total


def main() -> None:
    """Print the table."""
    print("| rows | given | C loop µs | single µs | ratio | search µs | ratio |\n|---|---|---|---|---|---|---|")
    for rows in ROWS:
        data = drawn(rows)
        tester = GSquare(data, reliability="none").tester
        total = 0.0
        for size in range(4):
            text, total = row(data, tester, size, total)
            print(text, flush=True)


if __name__ == "__main__":
    main()
