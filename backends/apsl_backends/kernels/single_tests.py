"""Single tests that share no work: their sums, statistics and decisions; and plain tables of counts."""

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
from apsl_backends.kernels.counting_method import CELLS_OF_BITS, choose_method, measure_test, most_cells
from apsl_backends.kernels.decision import judge
from apsl_backends.kernels.row_scan import count_by_rows
from apsl_backends.kernels.sorted_rows import sum_by_sorting
from apsl_backends.kernels.strata import block_of, sum_strata
from apsl_backends.kernels.workspace import CELLS, DIMS, ORDER, WORDS, measure_in, store_in, test_space_in


@entry
def run_tests(
    codes: Any,
    workspace: Any,
    starts: Any,
    places: Any,
    low: Long,
    high: Long,
    sums: Any,
    statistics: Any,
    decisions: Any,
) -> Any:
    """Run the tests from low to high and write their sums, as ``sum_strata`` returns them, statistics and decisions.

    The columns of a test (x, y and the given ones) are the places from its start to the start of the next test. If x or
    y is constant, or the test cannot be reliable, nothing is counted and its rows are -1. Return False, with nothing
    done, if the workspace is too small.
    """
    store, measure, space = store_in(workspace), measure_in(workspace), test_space_in(workspace)
    if not _has_space(store, measure, space, starts, places, low, high):
        return False
    start = long(0)
    for t in range(low, high):
        dims = starts[t + 1] - starts[t]
        for d in range(dims):
            space.test[d] = places[starts[t] + d]
        cells, levels, bits = measure_test(store, space, start, dims)
        statistics[t] = 0.0
        for field in range(SUM_FIELDS):
            sums[t, field] = 0
        sums[t, ROWS] = -1
        if store.columns[space.test[0], VARIED] == 0 or store.columns[space.test[1], VARIED] == 0:
            decisions[t] = INDEPENDENT
            continue
        if store.rows < measure.rows_per_cell * levels:
            decisions[t] = UNRELIABLE
            continue
        block = block_of(space.spans[0], space.spans[1])
        padded = cells / (space.spans[0] * space.spans[1]) * block
        method = choose_method(store, measure, padded, cells, bits)
        if method == BY_SORTING:
            part = sum_by_sorting(codes, workspace, dims)
        else:
            if method == BY_BITS:
                count_by_bits(workspace, dims, start)
            else:
                count_by_rows(codes, workspace, dims, start, long(padded), block)
            part = sum_strata(workspace, dims, start)
        for field in range(SUM_FIELDS):
            sums[t, field] = part[field]
        decisions[t], statistics[t], sums[t, DOF] = judge(part, space.cards, dims, levels, measure)
    return True


@inlined
def _has_space(store: Store, measure: Measure, space: Any, starts: Any, places: Any, low: Long, high: Long) -> Any:
    dims, cells, words, order = long(0), long(0), long(0), long(0)
    most = most_cells(store)
    for t in range(low, high):
        x, y = places[starts[t]], places[starts[t] + 1]
        size = np.float64(block_of(store.columns[x, SPAN], store.columns[y, SPAN]))
        for place in range(starts[t] + 2, starts[t + 1]):
            size *= store.columns[places[place], SPAN]
        dims = max(dims, starts[t + 1] - starts[t])
        if measure.method == BY_SORTING or size > most:
            order = 2 * store.lines
        else:
            cells = max(cells, long(size))
        if size <= CELLS_OF_BITS:
            words = max(words, long(size) // store.columns[x, SPAN] * min(WORDS_AT_A_TIME, store.bits.shape[1]))
    space.needs[DIMS], space.needs[CELLS] = max(dims, len(space.test)), max(cells, len(space.cells))
    space.needs[WORDS], space.needs[ORDER] = max(words, len(space.words)), max(order, len(space.order))
    return (
        dims <= len(space.test)
        and cells <= len(space.cells)
        and words <= len(space.words)
        and order <= len(space.order)
    )


@entry
def count_table(codes: Any, places: Any, spans: Any, counts: Any) -> None:
    """Count the table of some columns into a flat array of zeros; the last column's code runs fastest."""
    for r in range(codes.shape[1]):
        cell = long(0)
        for d in range(len(places)):
            cell = cell * spans[d] + codes[places[d], r]
        counts[cell] += 1
