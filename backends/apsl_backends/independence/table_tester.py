"""Tests and searches on a table in memory, with the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import accumulate, chain
from math import ceil, log, log2
from threading import local
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from apsl_backends.independence.sweeps import SweptArrays
from apsl_backends.kernels.arrays import (
    ANY_METHOD,
    G_SQUARE,
    INDEPENDENT,
    NO_SPACE,
    SUM_FIELDS,
    Floats,
    Integers,
    Measure,
    Store,
)
from apsl_backends.kernels.chi_square_tail import thresholds
from apsl_backends.kernels.hiton_elimination import DOF_MET, FIELDS, ROWS_MET, STATE, run_interleaved
from apsl_backends.kernels.separator_search import run_search
from apsl_backends.kernels.single_tests import run_tests
from apsl_backends.kernels.threads import in_blocks, useful_threads
from apsl_backends.kernels.workspace import ThreadWorkspace
from apsl_rules.data import Codes, Table
from apsl_rules.data.counts import Heading
from apsl_rules.stopping import LONG, check, heeding

_MOST_TERMS = 1 << 20
_BITS_OF_SUMS = 61


class TestBatch(NamedTuple):
    """A batch of tests: sums in units of the measure's scale, statistics and decisions, one row for each.

    The degrees of freedom and the rows used are fields of the sums; the rows are -1 where nothing was counted.
    """

    sums: Integers
    statistics: Floats
    decisions: npt.NDArray[np.int8]


class SearchOutcome(NamedTuple):
    """The outcome of a search: the decision with the figures of its test, the tests made, the places chosen."""

    decision: int
    statistic: float
    dof: int
    rows: int
    tests: int
    chosen: list[int]


class EliminationOutcome(NamedTuple):
    """The outcome of HITON's elimination: candidates left and eliminated, by number, and the last test of each.

    ``outcomes`` has a row for each candidate: decision, degrees of freedom, rows, and how many of the columns in
    its row of ``given`` were given.
    """

    members: list[int]
    eliminated: list[int]
    outcomes: Integers
    given: Integers
    statistics: Floats
    tests: int


class Countable(Protocol):
    """A table in the forms that the kernels count from."""

    @property
    def codes(self) -> Codes:
        """Return the codes, columns by rows."""

    @property
    def store(self) -> Store:
        """Return everything else that the kernels read."""

    @property
    def threads(self) -> int:
        """Return how many threads may count."""


class _PerThread(local):
    mine: ThreadWorkspace | None = None


class Tester:
    """The kernels with their table and measure, and a workspace for each thread that calls them."""

    def __init__(self, counts: Countable, measure: Measure) -> None:
        self.counts = counts
        self.measure = measure
        self._per_thread = _PerThread()

    def test(self, tests: Sequence[Sequence[int]]) -> TestBatch:
        """Carry out a batch of tests, each the places of x, y and what is given."""
        starts = np.array([0, *accumulate(map(len, tests))], np.int64)
        return self.test_columns(starts, np.array([*chain.from_iterable(tests)], np.int64))

    def test_against_all(self, x: int) -> TestBatch:
        """Test x against each column, itself included."""
        count = len(self.counts.codes)
        places = np.full((count, 2), x, np.int64)
        places[:, 1] = np.arange(count)
        return self.test_columns(np.arange(0, 2 * count + 1, 2), places.ravel())

    def test_columns(self, starts: Integers, places: Integers) -> TestBatch:
        """Carry out tests whose columns are the places from each start to the next."""
        count = len(starts) - 1
        at_once = max(1, LONG // max(self.counts.store.lines, 1))
        tested = TestBatch(np.empty((count, SUM_FIELDS), np.int64), np.empty(count), np.empty(count, np.int8))

        def work(low: int, high: int) -> None:
            workspace = self._own_workspace()
            for first in range(low, high, at_once):
                check()
                last = min(first + at_once, high)
                while not run_tests(workspace.codes, workspace.handles, starts, places, first, last, *tested):
                    workspace.grow()

        in_blocks(count, useful_threads(self.counts.threads, len(places) * self.counts.store.lines), work)
        return tested

    def search(self, places: Sequence[int], fixed: int, most: int) -> SearchOutcome:
        """Search the subsets of a pool for a separator; the places are x, y, the fixed columns and the pool."""
        workspace = self._own_workspace()
        workspace.reserve(2 + fixed + most, most, len(places) - 2 - fixed)
        asked = np.array(places, np.int64)
        is_long = self._is_long(len(places), most)
        while True:
            search = partial(run_search, workspace.codes, workspace.handles, asked, fixed, most)
            decision, statistic, dof, rows, tests, size = heeding(search, is_long=is_long)
            if decision != NO_SPACE:
                return SearchOutcome(decision, statistic, dof, rows, tests, workspace.chosen[:size].tolist())
            workspace.grow()

    def foresee(self, searches: Sequence[tuple[Sequence[int], int, int]], sweeps: Sequence[int]) -> None:
        """Prepare nothing for later searches and sweeps: all rows are in memory."""

    def eliminate(self, x: int, swept: SweptArrays, ranking: Integers, most: int) -> EliminationOutcome:
        """Add the columns of a sweep in the order of a ranking; after each, test those added before again."""
        workspace = self._own_workspace()
        workspace.reserve(3 + most, most, len(ranking))
        columns = swept.columns[ranking]
        work = np.empty((2, len(ranking) + 3), np.int64)
        given = np.empty((len(ranking), most + 1), np.int64)
        is_long = self._is_long(len(ranking), most + 1)
        while True:
            outcomes = np.zeros((len(ranking), FIELDS), np.int64)
            outcomes[:, STATE] = swept.decisions[ranking]
            outcomes[:, DOF_MET] = swept.dofs[ranking]
            outcomes[:, ROWS_MET] = swept.rows[ranking]
            statistics = swept.statistics[ranking]
            known = workspace.codes, workspace.handles, x, columns, most, outcomes, given, statistics, work
            left, tests = heeding(partial(run_interleaved, *known), is_long=is_long)
            if left >= 0:
                eliminated = np.flatnonzero(outcomes[:, STATE] == INDEPENDENT).tolist()
                return EliminationOutcome(work[0, :left].tolist(), eliminated, outcomes, given, statistics, tests)
            workspace.grow()

    def _is_long(self, pool: int, power: int) -> bool:
        """Return whether a call may take long that makes up to ``pool ** power`` tests."""
        return power * log(max(pool, 1)) + log(max(self.counts.store.lines, 1)) > log(LONG)

    def _own_workspace(self) -> ThreadWorkspace:
        if self._per_thread.mine is None:
            self._per_thread.mine = ThreadWorkspace(self.counts.codes, self.counts.store, self.measure)
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
    rows = max(table.rows, 2)
    largest = rows * log(rows) if kind == G_SQUARE else float(rows) * max(2, int(table.cards.max(initial=0)))
    scale = 2.0 ** (_BITS_OF_SUMS - ceil(log2(largest)))
    numbers = np.arange(min(rows + 1, _MOST_TERMS), dtype=np.float64)
    terms = np.rint(numbers * np.log(np.maximum(numbers, 1.0)) * scale).astype(np.int64)
    return Measure(
        kind=kind,
        terms=terms,
        all_terms=len(terms) > rows,
        scale=scale,
        full_dof=full_dof,
        rows_per_cell=rows_per_cell,
        thresholds=thresholds(alpha),
        log_alpha=log(alpha),
        method=method,
    )
