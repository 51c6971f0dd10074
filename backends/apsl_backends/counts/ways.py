"""The choice between the ways of counting, by estimated cost."""

from __future__ import annotations

from typing import Any

import numpy as np

from apsl_backends.counts.arrays import ANY_WAY, BY_BITS, BY_ROWS, CARD, FIRST_BIT, SPAN, SPARSELY, Measure, Store
from apsl_backends.counts.bitmaps import count_by_bits
from apsl_backends.counts.compiled import entry, kernel
from apsl_backends.counts.rows import SHORT_CODES, count_by_rows
from apsl_backends.counts.sorting import sums_by_sorting
from apsl_backends.counts.strata import sum_strata

MOST_CELLS = 1 << 24
"""The largest table that is ever held whole; larger ones are counted by sorting."""

MOST_CELLS_OF_BITS = 4096
"""The largest table that is counted by bitmaps."""

_CELLS_PER_ROW = 8.0
_WORD, _CELL, _ROW, _BIN = 0.26, 4.0, 0.45, 0.6  # nanoseconds, as measured; only their ratios matter


@kernel
def measure_spans(store: Store, places: Any, dims: int, spans: Any, cards: Any) -> Any:
    """Note the spans and cardinalities of columns; give the cells of their table, of real levels, and if all have bits."""
    cells, levels, bits = 1.0, 1.0, True
    for d in range(dims):
        spans[d] = store.columns[places[d], SPAN]
        cards[d] = store.columns[places[d], CARD]
        cells *= spans[d]
        levels *= cards[d]
        bits &= store.columns[places[d], FIRST_BIT] >= 0
    return cells, levels, bits


@kernel
def choose_way(store: Store, measure: Measure, cells: float, bits: bool, counted: float) -> int:
    """Choose how to count a table of so many cells of which bitmaps would have to count so many."""
    rows = store.codes.shape[1]
    sparse = cells > MOST_CELLS or (cells > SHORT_CODES and cells > _CELLS_PER_ROW * rows)
    bits &= cells <= MOST_CELLS_OF_BITS
    if measure.way == SPARSELY or sparse:
        return SPARSELY
    if measure.way == BY_ROWS or not bits:
        return BY_ROWS
    by_bits = counted * (store.bits.shape[1] * _WORD + _CELL)
    by_rows = rows * _ROW + cells * _BIN
    return BY_BITS if measure.way == BY_BITS or by_bits <= by_rows else BY_ROWS


@kernel
def sums_of(store: Store, measure: Measure, places: Any, dims: int, spans: Any, cards: Any, cells: float, bits: bool) -> Any:
    """Count the table of x, y and the given columns on its own, and sum its strata."""
    way = choose_way(store, measure, cells, bits, cells)
    if way == SPARSELY:
        return sums_by_sorting(store, places, dims, measure)
    counts = np.empty(np.int64(cells), np.int64)
    if way == BY_BITS:
        count_by_bits(store, places, dims, counts, 0)
    else:
        count_by_rows(store, places, dims, counts, 0, len(counts))
    return sum_strata(counts, 0, spans, cards, dims, np.empty(cards[0] + cards[1], np.int64), measure)


@entry
def table_of(store: Store, places: Any, size: int) -> Any:
    """Count the table of any columns as one flat array, the first column's code running fastest."""
    counts = np.empty(size, np.int64)
    count_by_rows(store, places, len(places), counts, 0, size)
    return counts
