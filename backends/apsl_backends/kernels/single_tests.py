"""Tests one by one, sharing nothing: their sums, statistics and decisions; and plain tables of counts."""

# ruff: noqa: PLR0917 - kernels take their arguments by position

from __future__ import annotations

from typing import Any

import numpy as np

from apsl_backends.kernels.arrays import (
    BY_BITS,
    BY_SORTING,
    DOF,
    INDEPENDENT,
    ROWS,
    SPAN,
    SUM_FIELDS,
    UNRELIABLE,
    VARIED,
    Long,
    Measure,
    Store,
    long,
)
from apsl_backends.kernels.bitmaps import WORDS_AT_A_TIME, count_by_bits
from apsl_backends.kernels.compiled import entry, inlined
from apsl_backends.kernels.counting_method import CELLS_OF_BITS, choose_way, measure_test, most_cells
from apsl_backends.kernels.decision import judge
from apsl_backends.kernels.row_scan import count_by_rows
from apsl_backends.kernels.sorted_rows import sum_by_sorting
from apsl_backends.kernels.strata import block_of, sum_strata
from apsl_backends.kernels.workspace import CELLS, DIMS, ORDER, WORDS, desk_in, measure_in, store_in


@entry
def run_tests(
    codes: Any,
    room: Any,
    starts: Any,
    places: Any,
    low: Long,
    high: Long,
    sums: Any,
    statistics: Any,
    decisions: Any,
) -> Any:
    """Carry out the tests between two numbers: their sums, as ``sum_strata`` gives them, statistic and decision.

    The columns of a test (x, y and what is given) are the places from its start to the next one's. Where no
    counts are needed, because x or y never varies or the test can not be reliable, the rows are given as -1.
    Nothing is done, and False given, when the room is too small.
    """
    store, measure, desk = store_in(room), measure_in(room), desk_in(room)
    if not _has_room(store, measure, desk, starts, places, low, high):
        return False
    start = long(0)
    for t in range(low, high):
        dims = starts[t + 1] - starts[t]
        for d in range(dims):
            desk.test[d] = places[starts[t] + d]
        cells, levels, bits = measure_test(store, desk, start, dims)
        statistics[t] = 0.0
        for field in range(SUM_FIELDS):
            sums[t, field] = 0
        sums[t, ROWS] = -1
        if store.columns[desk.test[0], VARIED] == 0 or store.columns[desk.test[1], VARIED] == 0:
            decisions[t] = INDEPENDENT
            continue
        if store.rows < measure.rows_per_cell * levels:
            decisions[t] = UNRELIABLE
            continue
        block = block_of(desk.spans[0], desk.spans[1])
        padded = cells / (desk.spans[0] * desk.spans[1]) * block
        way = choose_way(store, measure, padded, cells, bits)
        if way == BY_SORTING:
            part = sum_by_sorting(codes, room, dims)
        else:
            if way == BY_BITS:
                count_by_bits(room, dims, start)
            else:
                count_by_rows(codes, room, dims, start, long(padded), block)
            part = sum_strata(room, dims, start)
        for field in range(SUM_FIELDS):
            sums[t, field] = part[field]
        decisions[t], statistics[t], sums[t, DOF] = judge(part, desk.cards, dims, levels, measure)
    return True


@inlined
def _has_room(store: Store, measure: Measure, desk: Any, starts: Any, places: Any, low: Long, high: Long) -> Any:
    dims, cells, words, order = long(0), long(0), long(0), long(0)
    most = most_cells(store)
    for t in range(low, high):
        x, y = places[starts[t]], places[starts[t] + 1]
        size = np.float64(block_of(store.columns[x, SPAN], store.columns[y, SPAN]))
        for place in range(starts[t] + 2, starts[t + 1]):
            size *= store.columns[places[place], SPAN]
        dims = max(dims, starts[t + 1] - starts[t])
        if measure.way == BY_SORTING or size > most:
            order = 2 * store.lines
        else:
            cells = max(cells, long(size))
        if size <= CELLS_OF_BITS:
            words = max(words, long(size) // store.columns[x, SPAN] * min(WORDS_AT_A_TIME, store.bits.shape[1]))
    desk.needs[DIMS], desk.needs[CELLS] = max(dims, len(desk.test)), max(cells, len(desk.cells))
    desk.needs[WORDS], desk.needs[ORDER] = max(words, len(desk.words)), max(order, len(desk.order))
    return dims <= len(desk.test) and cells <= len(desk.cells) and words <= len(desk.words) and order <= len(desk.order)


@entry
def count_table(codes: Any, places: Any, spans: Any, counts: Any) -> None:
    """Count the table of any columns into a flat array of zeros, the last column's code running fastest."""
    for r in range(codes.shape[1]):
        cell = long(0)
        for d in range(len(places)):
            cell = cell * spans[d] + codes[places[d], r]
        counts[cell] += 1
