"""The working space of the kernels, bound to a table and a measure.

Python owns the arrays and passes their addresses in one small array, because passing many arrays costs more than a test
does. Only one thread at a time may use a workspace.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from apsl_backends.kernels.arrays import SPAN, Integers, Measure, SearchState, Store, TestSpace
from apsl_backends.kernels.compiled import inlined
from apsl_backends.kernels.words import matrix_at, row_at
from apsl_rules.data import Codes

ROWS_AT_A_TIME = 1024
"""Table rows whose cell codes are computed together, so that the codes stay in the L1 cache."""

LANES = 4
CELLS_IN_LANES = 4096
"""The most cells that are counted in several histograms, with neighbouring rows in different ones.

In a single histogram, the increment of a row would wait for that of an equal neighbour.
"""

DIMS, CELLS, WORDS, ORDER, SIZES, POOL, TABLES, SPOTS = range(8)
_FIRST_NEEDS = (8, 4096, 4096, 0, 8, 32, 1024, 256)
_MOST_SUBSETS = 1 << 62


class ThreadWorkspace:
    """Arrays for the kernels of one thread, and the addresses through which they access them.

    ``needs`` are the required lengths: columns of a test, cells, words, ordered rows, sizes of subsets, the pool, kept
    tables, and bit rows of a subset's first columns.
    """

    def __init__(self, codes: Codes, store: Store, measure: Measure) -> None:
        self.codes = codes
        self.needs = np.array(_FIRST_NEEDS, np.int64)
        self._store, self._measure = store, measure
        self._widest = int(store.columns[:, SPAN].max(initial=1))
        self.grow()

    def reserve(self, dims: int, most: int, free: int) -> None:
        """Grow for a search with up to ``dims`` columns in a test, ``most`` of them chosen from ``free``."""
        if dims > self._dims or most + 2 > self._sizes or free > self._pool:
            asked = {DIMS: dims, SIZES: most + 2, POOL: free}
            for what, length in asked.items():
                self.needs[what] = max(self.needs[what], length)
            self.grow()

    def grow(self) -> None:
        """Allocate the arrays with the lengths that the kernels need."""
        dims, cells, words, order, sizes, pool, tables, spots = self.needs.tolist()
        self._dims, self._sizes, self._pool = dims, sizes, pool
        space = TestSpace(
            test=np.empty(dims, np.int64),
            spans=np.empty(dims, np.int64),
            cards=np.empty(dims, np.int64),
            cells=np.empty(cells, np.int64),
            margins=np.empty(2 * self._widest + 1, np.int64),
            words=np.empty(words, np.uint64),
            codes=np.empty(ROWS_AT_A_TIME, np.uint16),
            lanes=np.empty(LANES * CELLS_IN_LANES, np.uint32),
            order=np.empty(order, np.int64),
            needs=self.needs,
        )
        search = SearchState(
            pick=np.empty(sizes, np.int64),
            chosen=np.empty(sizes, np.int64),
            digits=np.empty(sizes, np.int64),
            first=np.empty(sizes, np.int64),
            lower=np.empty(sizes, np.int64),
            starts=np.empty(sizes, np.int64),
            least=np.empty(sizes, np.float64),
            largest=np.empty(sizes, np.float64),
            sums=np.empty(sizes, np.float64),
            binomials=_binomials(pool, sizes),
            tables=np.empty(tables, np.int64),
            spots=np.empty(spots, np.int64),
        )
        store, measure = self._store, self._measure
        numbers = np.array([measure.scale, measure.rows_per_cell, measure.log_alpha])
        named = (measure.kind, measure.all_terms, measure.full_dof, measure.method, store.rows, store.lines)
        choices = np.array(named, np.int64)
        known = (store.bits, store.columns, store.totals, measure.terms, measure.thresholds, numbers, choices)
        self._arrays = (*known, *space, *search, store.weights)
        self.chosen = search.chosen
        self.handles: Integers = np.array(
            [(array.ctypes.data, array.shape[0], array.shape[-1]) for array in self._arrays], np.int64
        )


def _binomials(pool: int, sizes: int) -> Integers:
    """Tabulate the numbers of subsets of each size, capped to avoid overflow."""
    binomials = np.zeros((pool + 1, sizes), np.int64)
    binomials[:, 0] = 1
    for count in range(1, pool + 1):
        binomials[count, 1:] = np.minimum(binomials[count - 1, 1:] + binomials[count - 1, :-1], _MOST_SUBSETS)
    return binomials


# Below, the first index of ``workspace`` is the place of an array in ``ThreadWorkspace._arrays``.


@inlined
def store_in(workspace: Any) -> Store:
    """Return the table of a workspace."""
    choices = row_at(np.int64, workspace[6, 0], workspace[6, 1])
    return Store(
        matrix_at(np.uint64, workspace[0, 0], workspace[0, 1], workspace[0, 2]),
        matrix_at(np.int64, workspace[1, 0], workspace[1, 1], workspace[1, 2]),
        row_at(np.int64, workspace[2, 0], workspace[2, 1]),
        row_at(np.int64, workspace[29, 0], workspace[29, 1]),
        choices[4],
        choices[5],
    )


@inlined
def measure_in(workspace: Any) -> Measure:
    """Return the measure of a workspace."""
    numbers = row_at(np.float64, workspace[5, 0], workspace[5, 1])
    choices = row_at(np.int64, workspace[6, 0], workspace[6, 1])
    return Measure(
        choices[0],
        row_at(np.int64, workspace[3, 0], workspace[3, 1]),
        choices[1] != 0,
        numbers[0],
        choices[2] != 0,
        numbers[1],
        row_at(np.float64, workspace[4, 0], workspace[4, 1]),
        numbers[2],
        choices[3],
    )


@inlined
def test_space_in(workspace: Any) -> TestSpace:
    """Return the working space for a test."""
    return TestSpace(
        row_at(np.int64, workspace[7, 0], workspace[7, 1]),
        row_at(np.int64, workspace[8, 0], workspace[8, 1]),
        row_at(np.int64, workspace[9, 0], workspace[9, 1]),
        row_at(np.int64, workspace[10, 0], workspace[10, 1]),
        row_at(np.int64, workspace[11, 0], workspace[11, 1]),
        row_at(np.uint64, workspace[12, 0], workspace[12, 1]),
        row_at(np.uint16, workspace[13, 0], workspace[13, 1]),
        row_at(np.uint32, workspace[14, 0], workspace[14, 1]),
        row_at(np.int64, workspace[15, 0], workspace[15, 1]),
        row_at(np.int64, workspace[16, 0], workspace[16, 1]),
    )


@inlined
def search_state_in(workspace: Any) -> SearchState:
    """Return the state of a search."""
    return SearchState(
        row_at(np.int64, workspace[17, 0], workspace[17, 1]),
        row_at(np.int64, workspace[18, 0], workspace[18, 1]),
        row_at(np.int64, workspace[19, 0], workspace[19, 1]),
        row_at(np.int64, workspace[20, 0], workspace[20, 1]),
        row_at(np.int64, workspace[21, 0], workspace[21, 1]),
        row_at(np.int64, workspace[22, 0], workspace[22, 1]),
        row_at(np.float64, workspace[23, 0], workspace[23, 1]),
        row_at(np.float64, workspace[24, 0], workspace[24, 1]),
        row_at(np.float64, workspace[25, 0], workspace[25, 1]),
        matrix_at(np.int64, workspace[26, 0], workspace[26, 1], workspace[26, 2]),
        row_at(np.int64, workspace[27, 0], workspace[27, 1]),
        row_at(np.int64, workspace[28, 0], workspace[28, 1]),
    )
