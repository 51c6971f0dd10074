"""Time each kernel against the same work in numpy, scipy or plain Python, and print a Markdown table.

The plain roads are the witnesses that the tests compare the kernels with. CPU time of one thread, the least of three
calls. Usage: python tools/bench/kernel_gains.py
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from time import process_time

import numpy as np
from scipy.stats import chi2

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from apsl_backends.kernels.bindings.embedded import EmbeddedHandle, MatrixBlocks, NumberColumn, Patterns, matrix_tests
from apsl_backends.kernels.bindings.moments import MomentsHandle
from apsl_backends.kernels.bindings.scores import count_values
from apsl_backends.kernels.bindings.searches import best_graph, extension_of, pattern_of
from apsl_backends.kernels.bindings.tables import (
    SweptTests,
    TableHandle,
    TestBatch,
    TesterHandle,
    open_measure,
    tails,
    thresholds,
)
from apsl_backends.kernels.library import ANY_METHOD, BY_BITS, BY_ROWS, BY_SORTING, SUM_FIELDS, Codes, Measure
from apsl_rules.graphs import Dag, cpdag
from apsl_rules.graphs.equivalence import extension
from apsl_rules.stopping import no_flag
from support.block_tests import RULES
from support.determinants import Blocks, draw_blocks
from support.joint_scores import PlainScore, best_parents, handle_for
from support.mixed import plain_estimate
from support.plain_counts import CodedRows, plain_search, plain_test

ROWS, WIDTH, LEVELS = 5_000, 12, 3
ROUNDS = 3

Work = Callable[[], object]
RANDOM = np.random.default_rng(1)
HIDDEN = RANDOM.integers(0, LEVELS, ROWS)
NOISE = RANDOM.integers(0, LEVELS, (WIDTH, ROWS))
CODES = np.where(RANDOM.random((WIDTH, ROWS)) < 0.4, HIDDEN, NOISE).astype(np.uint8)
CARDS = np.full(WIDTH, LEVELS)
CODED = CodedRows(CODES, CARDS)


def seconds(work: Work) -> float:
    """Return the least CPU seconds of a few calls."""
    times = []
    for _ in range(ROUNDS):
        begun = process_time()
        work()
        times.append(process_time() - begun)
    return min(times)


def opened_tester(method: int = ANY_METHOD, codes: Codes = CODES) -> TesterHandle:
    """Return a tester that finds nothing independent, so that searches try all subsets."""
    cards = codes.max(axis=1).astype(np.int64) + 1
    table = TableHandle(codes, cards, np.zeros(len(codes), np.bool_))
    measure = Measure(0, ROWS, int(cards.max()), 1.0 - 1e-9, method=method)
    return TesterHandle(table, open_measure(measure))


def counting() -> Iterator[tuple[str, Work, Work]]:
    """Give the kernels of counts and tests on counts."""
    asked = [(x, y, z, w) for x, y, z, w in combinations(range(WIDTH), 4)]
    places = np.array(asked).ravel()

    def run(one: TesterHandle, width: int = 4) -> Work:
        tests = len(places) // width
        out = TestBatch(np.zeros((tests, SUM_FIELDS), np.int64), np.zeros(tests), np.zeros(tests, np.int8))
        return lambda: one.run_tests(np.arange(tests + 1) * width, places, out, 0, tests)

    def plain() -> None:
        for one in asked:
            plain_test(CODED, one)

    yield "`single_tests`: G² tests given two columns", run(opened_tester()), plain
    yield "`row_scan`: the same tests", run(opened_tester(BY_ROWS)), plain
    yield (
        "`bitmaps`, `words`: tests given nothing, against `row_scan`",
        run(opened_tester(BY_BITS), 2),
        run(opened_tester(BY_ROWS), 2),
    )
    fine = RANDOM.integers(0, 300, (4, ROWS)).astype(np.uint16)
    sparse = opened_tester(BY_SORTING, fine)
    yield (
        "`sorted_rows`: a test of four columns of 300 levels",
        lambda: sparse.search([0, 1, 2, 3], 2, 0, no_flag()),
        lambda: [np.unique(fine[list(some)], axis=1, return_counts=True) for some in ([0, 1, 2, 3], [0, 2, 3])],
    )
    one = opened_tester()
    swept = SweptTests.of(WIDTH - 1)
    yield (
        "`single_tests`: one column against all",
        lambda: one.sweep(0, swept, 0, WIDTH - 1),
        lambda: [plain_test(CODED, (0, y)) for y in range(1, WIDTH)],
    )
    everything = list(range(WIDTH))
    yield (
        "`separator_search`, `shared_tables`, `search_plan`: 176 subsets of ten",
        lambda: one.search(everything, 0, 3, no_flag()),
        lambda: plain_search(CODED, everything, 0, 3, alpha=1.0 - 1e-9),
    )
    statistics, dofs = RANDOM.random(2_000) * 200, RANDOM.integers(1, 60, 2_000)
    yield (
        "`chi_square_tail`: 2,000 tails with logarithms",
        lambda: tails(statistics, dofs),
        lambda: (chi2.sf(statistics, dofs), chi2.logsf(statistics, dofs)),
    )
    yield (
        "`thresholds`: 256 critical values",
        lambda: thresholds(RANDOM.random()),
        lambda: chi2.isf(0.01, np.arange(1, 256)),
    )


def moments() -> Iterator[tuple[str, Work, Work]]:
    """Give the kernels of covariances and of tests on them."""
    values = RANDOM.normal(size=(30, 40_000))
    columns = [NumberColumn(np.ascontiguousarray(one), 1) for one in values]
    handle = EmbeddedHandle(columns, values.shape[1])
    places = np.arange(len(values))
    yield (
        "`panel_products`, `covariance`: 30 columns, 40,000 rows",
        lambda: handle.section_sums(places, 0, values.shape[1], no_flag()),
        lambda: values @ values.T,
    )
    asked = np.array(list(combinations(range(8), 4)))
    starts = np.arange(len(asked) + 1) * 4

    table: Blocks = draw_blocks(["number"] * 8, 500, 3)

    def log(*places: int) -> float:
        return float(np.linalg.slogdet(table.matrix[np.ix_(places, places)])[1])

    def by_determinants() -> list[float]:
        return [log(x, z, w) + log(y, z, w) - log(z, w) - log(x, y, z, w) for x, y, z, w in asked.tolist()]

    yield (
        "`row_tests`, `comparison`: 70 tests on their own complete rows",
        lambda: handle.row_tests(starts, asked.ravel(), no_flag()),
        lambda: [np.linalg.slogdet(np.cov(values[list(one)]))[1] for one in asked.tolist()],
    )
    opened = MomentsHandle(table.matrix, table.starts, table.rows, RULES)
    yield (
        "`log_determinant_tests`, `decomposition`: 70 tests",
        lambda: opened.run_tests(starts, asked.ravel()),
        by_determinants,
    )
    blocks = MatrixBlocks(table.matrix, np.ones(8, np.int64), np.ones(8, np.int64), np.zeros(8, np.bool_))
    yield (
        "`row_tests` from a matrix: 70 tests",
        lambda: matrix_tests(blocks, starts, asked.ravel()),
        by_determinants,
    )
    knots = np.sort(RANDOM.normal(size=2_000))
    values_of = RANDOM.normal(size=200_000)
    yield (
        "`value_scores`: 200,000 values among 2,000 knots",
        lambda: count_values(values_of, knots),
        lambda: (np.searchsorted(knots, values_of, "left"), np.searchsorted(knots, values_of, "right")),
    )
    gaps = np.where(RANDOM.random((6, 2_000)) < 0.1, np.nan, RANDOM.normal(size=(6, 2_000)))
    gone = np.isnan(gaps)
    kinds = np.unique(gone.T, axis=0)
    order = np.concatenate([np.flatnonzero((kind == gone.T).all(axis=1)) for kind in kinds])
    sizes = [int((kind == gone.T).all(axis=1).sum()) for kind in kinds]
    holes = EmbeddedHandle([NumberColumn(np.ascontiguousarray(one), 1) for one in gaps], 2_000)
    patterns = Patterns(order, np.cumsum([0, *sizes]), kinds)
    yield (
        "`incomplete_covariance`, `symmetric_inverse`: ten iterations",
        lambda: holes.incomplete_covariance(np.arange(6), patterns, no_flag(), tolerance=0.0, iterations=10),
        lambda: plain_estimate(gaps, 10, 1e-7),
    )


def scoring() -> Iterator[tuple[str, Work, Work]]:
    """Give the kernels of scores and of searches by score."""
    handle = handle_for(CODES, CARDS.tolist(), None, 1.0, ())
    plain = PlainScore(CODES, CARDS.tolist(), None, 1.0, ())
    families = [(node, [other for other in range(4) if other != node]) for node in range(4)]
    yield (
        "`bde`, `row_classes`, `terms`: four families of three parents",
        lambda: [handle.local(node, np.array(parents)) for node, parents in families],
        lambda: [plain.local(node, parents) for node, parents in families],
    )
    yield (
        "`local_scores`: gains of eight further parents",
        lambda: handle.gains(0, np.arange(1, 4), np.arange(4, 12)),
        lambda: [plain.local(0, [1, 2, 3, other]) for other in range(4, 12)],
    )
    members = np.arange(8)
    yield (
        "`joints`: all subsets of eight columns",
        lambda: handle.joints(members, no_flag()),
        lambda: [plain.joint(one) for size in range(9) for one in combinations(range(8), size)],
    )
    joints = handle.joints(members, no_flag())
    yield (
        "`exact_search`: the best graph of eight nodes",
        lambda: best_graph(joints, np.full(8, 255), 7, 1 << 30, no_flag()),
        lambda: best_parents(joints, 8, 1 << 30, 7),
    )
    dag = np.triu(RANDOM.random((40, 40)) < 0.1, 1).astype(np.uint8)
    nodes = Dag({str(node): [str(parent) for parent in np.flatnonzero(dag[:, node])] for node in range(40)})
    pattern = cpdag(nodes)
    marks = pattern_of(dag)
    yield "`patterns`: the pattern of 40 nodes", lambda: pattern_of(dag), lambda: cpdag(nodes)
    yield (
        "`patterns`: an extension of it",
        lambda: extension_of(marks),
        lambda: extension(nodes.nodes, pattern.arrows, pattern.lines),
    )


def main() -> None:
    """Print one row for each kernel."""
    print("| kernel | µs | plain, µs | ratio |\n|---|---|---|---|")
    for source in (counting, moments, scoring):
        for name, kernel, plain in source():
            ours, theirs = seconds(kernel), seconds(plain)
            print(f"| {name} | {1e6 * ours:,.0f} | {1e6 * theirs:,.0f} | {theirs / ours:.1f} |")


if __name__ == "__main__":
    main()
