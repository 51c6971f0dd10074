"""The working space of the kernels, bound to a table and a measure.

Python keeps the arrays and hands their addresses over in one small array, because handing over many arrays costs
more than a test does. A room is used by one thread at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from apsl_backends.kernels.arrays import SPAN, Desk, Integers, Measure, Shelf, Store
from apsl_backends.kernels.compiled import inlined
from apsl_backends.kernels.words import matrix_at, row_at
from apsl_rules.data import Codes

ROWS_AT_A_TIME = 1024
"""Table rows whose cell codes are made at a time, so that the codes stay in the nearest cache."""

LANES = 4
CELLS_IN_LANES = 4096
"""The most cells that are counted in several histograms, each row's neighbours in another one.

Equal neighbours in one histogram would wait for each other.
"""

DIMS, CELLS, WORDS, ORDER, SIZES, POOL, TABLES, SPOTS = range(8)
_FIRST_NEEDS = (8, 4096, 4096, 0, 8, 32, 1024, 256)
_MOST_WAYS = 1 << 62


class Room:
    """Arrays for a thread's kernels, and the addresses through which these reach them.

    ``needs`` are the lengths of the arrays: those of a test's columns, of cells, words, ordered rows, sizes of
    subsets, the pool, kept tables, and bit rows of a subset's first columns.
    """

    def __init__(self, codes: Codes, store: Store, measure: Measure) -> None:
        self.codes = codes
        self.needs = np.array(_FIRST_NEEDS, np.int64)
        self._store, self._measure = store, measure
        self._widest = int(store.columns[:, SPAN].max(initial=1))
        self.furnish()

    def reserve(self, dims: int, most: int, free: int) -> None:
        """Make room for a search with so many columns in a test, so many of them chosen from so many."""
        if dims > self._dims or most + 2 > self._sizes or free > self._pool:
            asked = {DIMS: dims, SIZES: most + 2, POOL: free}
            for what, length in asked.items():
                self.needs[what] = max(self.needs[what], length)
            self.furnish()

    def furnish(self) -> None:
        """Make the arrays as large as the kernels found they have to be."""
        dims, cells, words, order, sizes, pool, tables, spots = self.needs.tolist()
        self._dims, self._sizes, self._pool = dims, sizes, pool
        desk = Desk(
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
        shelf = Shelf(
            pick=np.empty(sizes, np.int64),
            chosen=np.empty(sizes, np.int64),
            digits=np.empty(sizes, np.int64),
            first=np.empty(sizes, np.int64),
            lower=np.empty(sizes, np.int64),
            starts=np.empty(sizes, np.int64),
            least=np.empty(sizes, np.float64),
            largest=np.empty(sizes, np.float64),
            sums=np.empty(sizes, np.float64),
            ways=_ways(pool, sizes),
            tables=np.empty(tables, np.int64),
            spots=np.empty(spots, np.int64),
        )
        store, measure = self._store, self._measure
        numbers = np.array([measure.scale, measure.rows_per_cell, measure.log_alpha])
        named = (measure.kind, measure.all_terms, measure.full_dof, measure.way, store.rows, store.lines)
        choices = np.array(named, np.int64)
        known = (store.bits, store.columns, store.totals, measure.terms, measure.thresholds, numbers, choices)
        self._arrays = (*known, *desk, *shelf, store.weights)
        self.chosen = shelf.chosen
        self.handles: Integers = np.array(
            [(array.ctypes.data, array.shape[0], array.shape[-1]) for array in self._arrays], np.int64
        )


def _ways(pool: int, sizes: int) -> Integers:
    """Tabulate how many subsets of each size there are among up to so many, up to a number beyond all use."""
    ways = np.zeros((pool + 1, sizes), np.int64)
    ways[:, 0] = 1
    for count in range(1, pool + 1):
        ways[count, 1:] = np.minimum(ways[count - 1, 1:] + ways[count - 1, :-1], _MOST_WAYS)
    return ways


# Below, the first index of ``room`` is the place of an array in ``Room._arrays``.


@inlined
def store_in(room: Any) -> Store:
    """Return a room's table."""
    choices = row_at(np.int64, room[6, 0], room[6, 1])
    return Store(
        matrix_at(np.uint64, room[0, 0], room[0, 1], room[0, 2]),
        matrix_at(np.int64, room[1, 0], room[1, 1], room[1, 2]),
        row_at(np.int64, room[2, 0], room[2, 1]),
        row_at(np.int64, room[29, 0], room[29, 1]),
        choices[4],
        choices[5],
    )


@inlined
def measure_in(room: Any) -> Measure:
    """Return a room's measure."""
    numbers = row_at(np.float64, room[5, 0], room[5, 1])
    choices = row_at(np.int64, room[6, 0], room[6, 1])
    return Measure(
        choices[0],
        row_at(np.int64, room[3, 0], room[3, 1]),
        choices[1] != 0,
        numbers[0],
        choices[2] != 0,
        numbers[1],
        row_at(np.float64, room[4, 0], room[4, 1]),
        numbers[2],
        choices[3],
    )


@inlined
def desk_in(room: Any) -> Desk:
    """Return a room's working space for a test."""
    return Desk(
        row_at(np.int64, room[7, 0], room[7, 1]),
        row_at(np.int64, room[8, 0], room[8, 1]),
        row_at(np.int64, room[9, 0], room[9, 1]),
        row_at(np.int64, room[10, 0], room[10, 1]),
        row_at(np.int64, room[11, 0], room[11, 1]),
        row_at(np.uint64, room[12, 0], room[12, 1]),
        row_at(np.uint16, room[13, 0], room[13, 1]),
        row_at(np.uint32, room[14, 0], room[14, 1]),
        row_at(np.int64, room[15, 0], room[15, 1]),
        row_at(np.int64, room[16, 0], room[16, 1]),
    )


@inlined
def shelf_in(room: Any) -> Shelf:
    """Return a room's shelf."""
    return Shelf(
        row_at(np.int64, room[17, 0], room[17, 1]),
        row_at(np.int64, room[18, 0], room[18, 1]),
        row_at(np.int64, room[19, 0], room[19, 1]),
        row_at(np.int64, room[20, 0], room[20, 1]),
        row_at(np.int64, room[21, 0], room[21, 1]),
        row_at(np.int64, room[22, 0], room[22, 1]),
        row_at(np.float64, room[23, 0], room[23, 1]),
        row_at(np.float64, room[24, 0], room[24, 1]),
        row_at(np.float64, room[25, 0], room[25, 1]),
        matrix_at(np.int64, room[26, 0], room[26, 1], room[26, 2]),
        row_at(np.int64, room[27, 0], room[27, 1]),
        row_at(np.int64, room[28, 0], room[28, 1]),
    )
