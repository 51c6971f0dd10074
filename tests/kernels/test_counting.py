"""Counting, tests, searches and eliminations of the kernels against plain numpy, through the bindings."""

from __future__ import annotations

import gc
import subprocess
import sys
from typing import Any
from weakref import ref

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import chdtri
from scipy.stats import chi2

from apsl_backends.kernels.bindings import tables
from apsl_backends.kernels.bindings.tables import (
    LastTests,
    SearchOutcome,
    TableHandle,
    is_weaker,
    open_measure,
    tail,
    tails,
    thresholds,
)
from apsl_backends.kernels.library import (
    ANY_METHOD,
    BY_BITS,
    BY_ROWS,
    BY_SORTING,
    CHI_SQUARE,
    DEPENDENT,
    DOF,
    G_SQUARE,
    INDEPENDENT,
    OUTCOME_FIELDS,
    ROWS,
    SUM_FIELDS,
    TABLED_DOFS,
    UNRELIABLE,
    Measure,
)
from apsl_rules.stopping import MOST_TESTS, REASON, TESTS_ARE_MADE, no_flag
from support.plain_counts import CodedRows, PlainSearch, is_varied, plain_search, plain_test

METHODS = st.sampled_from([ANY_METHOD, BY_ROWS, BY_BITS, BY_SORTING])


@st.composite
def coded_rows(draw: st.DrawFn, *, weighted: bool | None = None, columns: int = 5) -> CodedRows:
    """Draw codes of 8, 16 or 32 bits, of few or many levels, with values that copy others, missing ones, weights."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    lines = draw(st.sampled_from([1, 2, 63, 64, 65, 130, 256, 300]))
    cards = np.array(draw(st.lists(st.sampled_from([1, 2, 2, 3, 4, 9, 10, 40]), min_size=columns, max_size=columns)))
    codes = random.integers(0, cards[:, None], (columns, lines))
    for column in range(1, columns):
        copied = random.random(lines) < draw(st.sampled_from([0.0, 0.5, 0.9]))
        codes[column] = np.where(copied, codes[random.integers(0, column)] % cards[column], codes[column])
    if draw(st.booleans()):
        codes = np.where(random.random(codes.shape) < 0.1, cards[:, None], codes)
    kind = draw(st.sampled_from([np.uint8, np.uint16, np.uint32]))
    has_weights = draw(st.booleans()) if weighted is None else weighted
    return CodedRows(codes.astype(kind), cards, random.integers(0, 5, lines) if has_weights else None)


def opened(rows: CodedRows, **settings: Any) -> tables.TesterHandle:
    """Open a tester on some rows."""
    table = TableHandle(rows.codes, rows.cards, rows.incomplete, rows.weights)
    usual = Measure(G_SQUARE, max(rows.rows, 2), max(int(rows.cards.max()), 2), 0.05)
    return tables.TesterHandle(table, open_measure(usual._replace(**settings)))


def ran(tester: tables.TesterHandle, tests: list[list[int]]) -> tables.TestBatch:
    """Run tests."""
    starts = np.cumsum([0, *map(len, tests)])
    out = tables.TestBatch(
        np.empty((len(tests), SUM_FIELDS), np.int64), np.empty(len(tests)), np.empty(len(tests), np.int8)
    )
    tester.run_tests(starts, np.array([place for test in tests for place in test], np.int64), out, 0, len(tests))
    return out


@given(coded_rows(), METHODS, st.booleans(), st.booleans(), st.permutations(range(5)))
def test_a_test_is_that_of_plain_numpy(rows: CodedRows, method: int, chi: bool, full: bool, order: list[int]) -> None:
    """Every method gives the statistic, degrees of freedom and rows of plain numpy, for codes of any width."""
    tester = opened(rows, kind=CHI_SQUARE if chi else G_SQUARE, full_dof=full, method=method)
    tests = [order[:dims] for dims in range(2, 6)]

    done = ran(tester, tests)

    for places, statistic, sums, decision in zip(tests, done.statistics, done.sums, done.decisions, strict=True):
        if not (is_varied(rows, places[0]) and is_varied(rows, places[1])):
            assert (statistic, sums[ROWS], decision) == (0.0, -1, INDEPENDENT)
            continue
        expected = plain_test(rows, places, chi=chi, full=full)
        assert (sums[DOF], sums[ROWS]) == (expected.dof, expected.rows)
        assert statistic == pytest.approx(expected.statistic, rel=1e-9, abs=1e-9)
        is_independent = tail(statistic, int(sums[DOF]))[0] > 0.05
        assert decision == (UNRELIABLE if expected.dof == 0 else INDEPENDENT if is_independent else DEPENDENT)


def agrees(found: SearchOutcome, expected: PlainSearch) -> bool:
    """Return whether a search is that of plain numpy."""
    if expected.test is None:
        return (found.decision, found.tests) == (UNRELIABLE, expected.tests)
    decision = INDEPENDENT if expected.is_independent else DEPENDENT
    return (
        (found.decision, found.dof, found.rows) == (decision, *expected.test[1:])
        and (found.tests, tuple(found.chosen)) == (expected.tests, expected.chosen)
        and found.statistic == pytest.approx(expected.test.statistic, rel=1e-9, abs=1e-9)
    )


@given(coded_rows(), METHODS, st.integers(0, 3), st.sampled_from([0.3, 0.01, 1e-6]), st.sampled_from([0.0, 5.0]))
def test_a_search_is_that_of_plain_numpy(
    rows: CodedRows, method: int, fixed: int, alpha: float, rows_per_cell: float
) -> None:
    """The first separator, or the weakest dependence, and the number of tests are those of plain enumeration."""
    assume(is_varied(rows, 0) and is_varied(rows, 1))
    tester = opened(rows, alpha=alpha, rows_per_cell=rows_per_cell, method=method)
    for most in range(4 - fixed):
        found = tester.search(range(5), fixed, most, no_flag())
        expected = plain_search(rows, range(5), fixed, most, alpha=alpha, rows_per_cell=rows_per_cell)
        assert agrees(found, expected)


@given(coded_rows(weighted=True, columns=7), METHODS, st.integers(0, 4))
def test_weights_stand_for_rows(rows: CodedRows, method: int, most: int) -> None:
    """Searches and eliminations on weighted rows are those on the rows that they stand for."""
    assume(rows.rows > 0)
    outcomes = []
    for same in (rows, rows.expanded):
        tester = opened(same, alpha=0.2, method=method)
        swept = ran(tester, [[0, other] for other in range(1, 7)])
        last = LastTests(np.zeros((6, OUTCOME_FIELDS), np.int64), swept.statistics)
        last.outcomes[:, 0], last.outcomes[:, 1] = swept.decisions, swept.sums[:, DOF]
        left = tester.eliminate(0, np.arange(1, 7), most, last, no_flag())
        found = [tester.search([2, 1, 3, 0, 4, 5], fixed, 2, no_flag()) for fixed in range(3)]
        outcomes.append((found, left.members, left.tests, last.outcomes.tolist(), last.statistics.tolist()))

    assert outcomes[0] == outcomes[1]


@given(st.floats(1e-12, 0.999))
def test_critical_values_are_those_of_scipy(alpha: float) -> None:
    """Critical values agree with the inverse tail of scipy, and rise with the degrees of freedom."""
    critical = thresholds(alpha)
    dofs = np.arange(1, TABLED_DOFS)

    assert critical[0] == 0.0
    assert critical[1:] == pytest.approx(chdtri(dofs, alpha), rel=1e-9)
    assert (np.diff(critical) > 0).all()
    found = tails(critical[1:].copy(), dofs)
    assert (found.p <= alpha).all()
    assert found.p == pytest.approx(np.full(len(dofs), alpha), rel=1e-12)


@given(st.integers(1, 400), st.integers(1, 400), st.floats(0.0, 2000.0), st.floats(0.0, 2000.0))
def test_the_weaker_dependence_has_the_larger_tail(dof: int, other_dof: int, one: float, other: float) -> None:
    """Of two dependences the one with the larger tail is weaker."""
    mine, its = chi2.logsf(one, dof), chi2.logsf(other, other_dof)
    assume(np.isfinite(mine) and np.isfinite(its) and abs(mine - its) > 1e-9 * max(abs(mine), abs(its), 1e-3))

    assert is_weaker(one, dof, other, other_dof) == (mine > its)


def test_a_flag_ends_a_search() -> None:
    """A search ends at once when its flag is set, and sets it itself after the tests allowed."""
    random = np.random.default_rng(1)
    codes = random.integers(0, 2, (12, 500), dtype=np.uint8)
    codes[1] = codes[0]
    tester = opened(CodedRows(codes, np.full(12, 2)))
    stopped, few = no_flag(), no_flag()
    stopped[REASON], few[MOST_TESTS] = 1, 20

    assert tester.search(range(12), 0, 10, stopped).tests == 1
    assert tester.search(range(12), 0, 10, few).tests == 21
    assert few[REASON] == TESTS_ARE_MADE
    assert tester.search(range(12), 0, 10, no_flag()).tests == 2**10


def test_numbers_of_subsets_do_not_overflow() -> None:
    """A search among 200 columns in which nothing can be reliable makes a number of tests that fits."""
    codes = np.random.default_rng(1).integers(0, 2, (202, 100), dtype=np.uint8)
    found = opened(CodedRows(codes, np.full(202, 2)), rows_per_cell=1000.0).search(range(202), 0, 200, no_flag())

    assert (found.decision, found.tests, found.chosen) == (UNRELIABLE, 1 << 62, [])


def test_a_column_of_missing_values_only_may_be_given() -> None:
    """It leaves no rows and separates nothing; the smaller subsets, not reliable either, have no table to share."""
    random = np.random.default_rng(1)
    codes = random.integers(0, 3, (4, 20), dtype=np.uint8)
    codes[3] = 0
    rows = CodedRows(codes, np.array([3, 3, 3, 0]))
    found = opened(rows, rows_per_cell=5.0).search(range(4), 0, 2, no_flag())

    assert (found.decision, found.rows, found.chosen) == (UNRELIABLE, -1, [])


def test_handles_are_freed_with_their_owners() -> None:
    """A tester keeps its table and measure alive, and testers of the same measure share it."""
    wanted = Measure(G_SQUARE, 10, 2, 0.05)
    table, measure = (
        TableHandle(np.zeros((2, 10), np.uint8), np.full(2, 2), np.zeros(2, np.bool_)),
        open_measure(wanted),
    )
    tester = tables.TesterHandle(table, open_measure(wanted))
    of_table, of_measure = ref(table), ref(measure)
    assert open_measure(wanted) is measure
    del table, measure
    gc.collect()
    assert tester.search([0, 1], 0, 0, no_flag()).tests == 1
    del tester
    gc.collect()

    assert of_table() is None
    assert of_measure() is None


@pytest.mark.skipif(sys.platform != "linux", reason="limits the memory of a process as Linux does")
def test_too_little_memory_is_an_error_and_no_end() -> None:
    """Without memory for a table a test raises MemoryError, and the same tester works once there is more."""
    script = """
import resource
import numpy as np
from apsl_backends.kernels.bindings.tables import TableHandle, TestBatch, TesterHandle, open_measure
from apsl_backends.kernels.library import Measure
codes = np.random.default_rng(1).integers(0, 200, (3, 1_000_000), dtype=np.uint8)
table = TableHandle(codes, np.full(3, 200), np.zeros(3, np.bool_))
tester = TesterHandle(table, open_measure(Measure(0, 1_000_000, 200, 0.5)))
out = TestBatch(np.empty((1, 6), np.int64), np.empty(1), np.empty(1, np.int8))
pages = int(open("/proc/self/statm").read().split()[0])
limits = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (8 << 20), limits[1]))
try:
    tester.run_tests(np.array([0, 3]), np.arange(3), out, 0, 1)
except MemoryError as error:
    print(error)
tester.run_tests(np.array([0, 2]), np.arange(2), out, 0, 1)
print(out.sums[0, 5])
resource.setrlimit(resource.RLIMIT_AS, limits)
tester.run_tests(np.array([0, 3]), np.arange(3), out, 0, 1)
print(out.sums[0, 5])
"""
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)

    assert done.stdout.splitlines() == [
        "the kernels have not enough memory for this; use fewer columns or rows",
        "1000000",
        "1000000",
    ]
