"""The plan of a search: what its tests can share, and the workspace that this takes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from apsl_backends.kernels.arrays import BY_SORTING, CARD, FIRST_BIT, SPAN, Long, SearchState, Store, long
from apsl_backends.kernels.bitmaps import WORDS_AT_A_TIME
from apsl_backends.kernels.compiled import inlined, keep_apart, kernel
from apsl_backends.kernels.counting_method import CELLS_OF_BITS, measure_test, most_cells
from apsl_backends.kernels.strata import block_of
from apsl_backends.kernels.subsets import add_in_order, add_to_sums
from apsl_backends.kernels.workspace import (
    CELLS,
    ORDER,
    SPOTS,
    TABLES,
    WORDS,
    measure_in,
    search_state_in,
    store_in,
    test_space_in,
)

_MOST_KEPT = 1 << 22
_MOST_WORDS = 1 << 24


class Plan(NamedTuple):
    """What a search starts from (the table of x, y and the fixed columns), what it shares, and whether it has space.

    The tables of subsets smaller than ``kept`` are kept, those of subsets up to size ``shared`` are counted from shared
    bit rows. Tables that are not kept are counted into the cells from ``scratch`` on.
    """

    cells: float
    levels: float
    bits: bool
    kept: int
    shared: int
    scratch: int
    has_space: bool


@kernel
def plan_search(workspace: Any, base: Long, pool: Any, most: Long) -> Plan:
    """Plan the search through a pool, given the first columns of the test, and record the space that it needs."""
    keep_apart()
    store, measure = store_in(workspace), measure_in(workspace)
    space, search = test_space_in(workspace), search_state_in(workspace)
    free = len(pool)
    cells, levels, bits = measure_test(store, space, long(0), base)
    cells = cells / (space.spans[0] * space.spans[1]) * block_of(space.spans[0], space.spans[1])
    bits &= cells <= CELLS_OF_BITS
    widest = _multiply(store, search, pool, most)
    kept, held, tables = 0, 0.0, long(0)
    while kept < most and held + cells * search.sums[kept] <= _MOST_KEPT:
        held += cells * search.sums[kept]
        tables += search.binomials[free, kept]
        kept += 1
    words = store.bits.shape[1]
    shared, rows, more = 0, cells, 0.0
    while bits and shared < kept and (rows + more) * words <= _MOST_WORDS:
        rows += more
        more = np.float64(widest) if shared == 0 else more * widest
        shared += 1
    largest, limit = cells * search.largest[most], most_cells(store)
    space.needs[CELLS] = max(len(space.cells), long(held + min(largest, limit)))
    space.needs[TABLES] = max(len(search.tables), tables)
    if bits:
        space.needs[WORDS] = max(len(space.words), long(rows) * words + WORDS_AT_A_TIME)
        space.needs[SPOTS] = max(len(search.spots), long(rows))
    if largest > limit or measure.method == BY_SORTING:
        space.needs[ORDER] = 2 * store.lines
    has_space = (
        space.needs[CELLS] <= len(space.cells)
        and space.needs[TABLES] <= len(search.tables)
        and space.needs[WORDS] <= len(space.words)
        and space.needs[SPOTS] <= len(search.spots)
        and space.needs[ORDER] <= len(space.order)
    )
    return Plan(cells, levels, bits, kept, shared, long(held), has_space)


@inlined
def _multiply(store: Store, search: SearchState, pool: Any, most: Long) -> Long:
    widest = long(1)
    for k in range(most + 1):
        search.least[k], search.largest[k], search.sums[k] = 1.0, 1.0, 0.0
    search.sums[0] = 1.0
    for i in range(len(pool)):
        span = store.columns[pool[i], SPAN]
        add_to_sums(np.float64(span), search.sums, most)
        add_in_order(np.float64(store.columns[pool[i], CARD]), search.least, i, most)
        add_in_order(-np.float64(span), search.largest, i, most)
        if store.columns[pool[i], FIRST_BIT] >= 0:
            widest = max(widest, span - 1)
    for k in range(1, most + 1):
        search.least[k] *= search.least[k - 1]
        search.largest[k] *= -search.largest[k - 1]
    return widest
