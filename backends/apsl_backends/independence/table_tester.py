"""Tests and searches on a table in memory, with the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import accumulate, chain
from threading import local
from typing import Protocol

import numpy as np

from apsl_backends.independence.column_verdicts import EliminationOutcome
from apsl_backends.independence.sweeps import SweptArrays, all_but
from apsl_backends.kernels.border import (
    Integers,
    LastTests,
    SearchOutcome,
    SweptTests,
    TableHandle,
    TestBatch,
    TesterHandle,
    open_measure,
)
from apsl_backends.kernels.library import (
    ANY_METHOD,
    DOF_MET,
    G_SQUARE,
    INDEPENDENT,
    OUTCOME_FIELDS,
    ROWS_MET,
    STATE,
    SUM_FIELDS,
    Measure,
    in_blocks,
    useful_threads,
)
from apsl_rules.data import Table
from apsl_rules.data.counts import Heading
from apsl_rules.stopping import LONG, Flag, check, heeding_if_long


class Countable(Protocol):
    """A table in the forms that the kernels count from."""

    @property
    def handle(self) -> TableHandle:
        """Return the table as the kernels hold it."""

    @property
    def threads(self) -> int:
        """Return how many threads may count."""


class _PerThread(local):
    mine: TesterHandle | None = None


class Tester:
    """The kernels with their table and measure, and working space for each thread that calls them."""

    def __init__(self, counts: Countable, measure: Measure) -> None:
        self.counts = counts
        self.measure = measure
        self._measure = open_measure(measure)
        self._per_thread = _PerThread()

    def test(self, tests: Sequence[Sequence[int]]) -> TestBatch:
        """Carry out a batch of tests, each the places of x, y and what is given."""
        starts = np.array([0, *accumulate(map(len, tests))], np.int64)
        return self.test_columns(starts, np.array([*chain.from_iterable(tests)], np.int64))

    def test_against_all(self, x: int) -> TestBatch:
        """Test x against each column, itself included."""
        count = self.counts.handle.columns
        places = np.full((count, 2), x, np.int64)
        places[:, 1] = np.arange(count)
        return self.test_columns(np.arange(0, 2 * count + 1, 2), places.ravel())

    def sweep(self, x: int) -> SweptArrays:
        """Test x against each other column."""
        count = self.counts.handle.columns - 1
        swept = SweptTests.of(count)

        def work(low: int, high: int) -> None:
            mine = self._own_handle()
            for first in range(low, high, self._short):
                check()
                mine.sweep(x, swept, first, min(first + self._short, high))

        in_blocks(count, useful_threads(self.counts.threads, 2 * count * self.counts.handle.lines), work)
        return SweptArrays(all_but(count + 1, x), *swept)

    def test_columns(self, starts: Integers, places: Integers) -> TestBatch:
        """Carry out tests whose columns are the places from each start to the next."""
        count = len(starts) - 1
        tested = TestBatch(np.empty((count, SUM_FIELDS), np.int64), np.empty(count), np.empty(count, np.int8))

        def work(low: int, high: int) -> None:
            mine = self._own_handle()
            for first in range(low, high, self._short):
                check()
                mine.run_tests(starts, places, tested, first, min(first + self._short, high))

        in_blocks(count, useful_threads(self.counts.threads, len(places) * self.counts.handle.lines), work)
        return tested

    def search(self, places: Sequence[int], fixed: int, most: int) -> SearchOutcome:
        """Search the subsets of a pool for a separator; the places are x, y, the fixed columns and the pool."""
        return heeding_if_long(partial(self._own_handle().search, places, fixed, most), self._short)

    def foresee(self, searches: Sequence[tuple[Sequence[int], int, int]], sweeps: Sequence[int]) -> None:
        """Prepare nothing for later searches and sweeps: all rows are in memory."""

    def eliminate(self, x: int, swept: SweptArrays, ranking: Integers, most: int) -> EliminationOutcome:
        """Add the columns of a sweep in the order of a ranking; after each, test those added before again."""
        handle, ranked = self._own_handle(), swept.columns[ranking]

        def work(stop: Flag) -> EliminationOutcome:
            outcomes = np.zeros((len(ranking), OUTCOME_FIELDS), np.int64)
            outcomes[:, STATE] = swept.decisions[ranking]
            outcomes[:, DOF_MET] = swept.dofs[ranking]
            outcomes[:, ROWS_MET] = swept.rows[ranking]
            statistics = swept.statistics[ranking]
            left = handle.eliminate(x, ranked, most, LastTests(outcomes, statistics), stop)
            eliminated = np.flatnonzero(outcomes[:, STATE] == INDEPENDENT).tolist()
            return EliminationOutcome(left.members, eliminated, outcomes, left.given, statistics, left.tests)

        return heeding_if_long(work, self._short)

    @property
    def _short(self) -> int:
        """Return how many tests one call may make before it counts as long."""
        return max(1, LONG // max(self.counts.handle.lines, 1))

    def _own_handle(self) -> TesterHandle:
        if self._per_thread.mine is None:
            self._per_thread.mine = TesterHandle(self.counts.handle, self._measure)
        return self._per_thread.mine


def measure_of(
    table: Table | Heading,
    *,
    kind: int = G_SQUARE,
    alpha: float = 0.5,
    full_dof: bool = False,
    rows_per_cell: float = 0.0,
    method: int = ANY_METHOD,
) -> Measure:
    """Say how to decide from the counts of a table; ``method`` forces a counting method."""
    levels = max(2, int(table.cards.max(initial=0)))
    return Measure(kind, max(table.rows, 2), levels, alpha, full_dof, rows_per_cell, method)
