"""The plan of a search: what its tests can share, and the room that takes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from apsl_backends.kernels.arrays import BY_SORTING, CARD, FIRST_BIT, SPAN, Long, Shelf, Store, long
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
    desk_in,
    measure_in,
    shelf_in,
    store_in,
)

_MOST_KEPT = 1 << 22
_MOST_WORDS = 1 << 24


class Plan(NamedTuple):
    """What a search starts from (the table of x, y and the fixed columns), what it shares, and if it has room.

    Tables are kept of sizes below ``kept``; those of sizes up to ``shared`` are counted by shared bit rows; what is
    not kept is counted into the cells from ``scratch`` on.
    """

    cells: float
    levels: float
    bits: bool
    kept: int
    shared: int
    scratch: int
    has_room: bool


@kernel
def plan_search(room: Any, base: Long, pool: Any, most: Long) -> Plan:
    """Plan the search from the desk's first columns through a pool, and note what room it needs."""
    keep_apart()
    store, measure, desk, shelf = store_in(room), measure_in(room), desk_in(room), shelf_in(room)
    free = len(pool)
    cells, levels, bits = measure_test(store, desk, long(0), base)
    cells = cells / (desk.spans[0] * desk.spans[1]) * block_of(desk.spans[0], desk.spans[1])
    bits &= cells <= CELLS_OF_BITS
    widest = _multiply(store, shelf, pool, most)
    kept, held, tables = 0, 0.0, long(0)
    while kept < most and held + cells * shelf.sums[kept] <= _MOST_KEPT:
        held += cells * shelf.sums[kept]
        tables += shelf.ways[free, kept]
        kept += 1
    words = store.bits.shape[1]
    shared, rows, more = 0, cells, 0.0
    while bits and shared < kept and (rows + more) * words <= _MOST_WORDS:
        rows += more
        more = np.float64(widest) if shared == 0 else more * widest
        shared += 1
    largest, limit = cells * shelf.largest[most], most_cells(store)
    desk.needs[CELLS] = max(len(desk.cells), long(held + min(largest, limit)))
    desk.needs[TABLES] = max(len(shelf.tables), tables)
    if bits:
        desk.needs[WORDS] = max(len(desk.words), long(rows) * words + WORDS_AT_A_TIME)
        desk.needs[SPOTS] = max(len(shelf.spots), long(rows))
    if largest > limit or measure.way == BY_SORTING:
        desk.needs[ORDER] = 2 * store.lines
    has_room = (
        desk.needs[CELLS] <= len(desk.cells)
        and desk.needs[TABLES] <= len(shelf.tables)
        and desk.needs[WORDS] <= len(desk.words)
        and desk.needs[SPOTS] <= len(shelf.spots)
        and desk.needs[ORDER] <= len(desk.order)
    )
    return Plan(cells, levels, bits, kept, shared, long(held), has_room)


@inlined
def _multiply(store: Store, shelf: Shelf, pool: Any, most: Long) -> Long:
    widest = long(1)
    for k in range(most + 1):
        shelf.least[k], shelf.largest[k], shelf.sums[k] = 1.0, 1.0, 0.0
    shelf.sums[0] = 1.0
    for i in range(len(pool)):
        span = store.columns[pool[i], SPAN]
        add_to_sums(np.float64(span), shelf.sums, most)
        add_in_order(np.float64(store.columns[pool[i], CARD]), shelf.least, i, most)
        add_in_order(-np.float64(span), shelf.largest, i, most)
        if store.columns[pool[i], FIRST_BIT] >= 0:
            widest = max(widest, span - 1)
    for k in range(1, most + 1):
        shelf.least[k] *= shelf.least[k - 1]
        shelf.largest[k] *= -shelf.largest[k - 1]
    return widest
