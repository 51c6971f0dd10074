"""The choice of a counting method by estimated cost."""

from __future__ import annotations

from typing import Any

from apsl_backends.kernels.arrays import (
    BY_BITS,
    BY_ROWS,
    BY_SORTING,
    CARD,
    FIRST_BIT,
    SPAN,
    Long,
    Measure,
    Store,
    TestSpace,
)
from apsl_backends.kernels.compiled import inlined
from apsl_backends.kernels.row_scan import SHORT_CODES

MOST_CELLS = 1 << 24
"""The most cells of a table that is held in memory; larger ones are counted by sorting."""

CELLS_OF_BITS = 4096
"""The most cells of a table that is counted by bitmaps."""

_CELLS_PER_ROW = 8
_WORD, _CELL, _ROW, _BIN = 0.25, 5.0, 0.45, 0.5  # measured nanoseconds; only their ratios matter


@inlined
def measure_test(store: Store, space: TestSpace, first: Long, dims: Long) -> Any:
    """Record spans and cardinalities of the test's columns from ``first`` on.

    Return the product of spans, the product of cardinalities, and whether all these columns have bit rows.
    """
    cells, levels, bits = 1.0, 1.0, True
    for d in range(first, dims):
        column = space.test[d]
        space.spans[d] = store.columns[column, SPAN]
        space.cards[d] = store.columns[column, CARD]
        cells *= space.spans[d]
        levels *= space.cards[d]
        bits &= store.columns[column, FIRST_BIT] >= 0
    return cells, levels, bits


@inlined
def most_cells(store: Store) -> Long:
    """Return the size of the largest table that is not counted by sorting."""
    return min(MOST_CELLS, max(SHORT_CODES, _CELLS_PER_ROW * store.lines))


@inlined
def choose_method(store: Store, measure: Measure, cells: Any, counted: Any, bits: Any) -> Long:
    """Choose how to count a table; ``counted`` is the number of its cells that bitmaps would have to count."""
    if measure.method == BY_SORTING or cells > most_cells(store):
        return BY_SORTING
    if measure.method == BY_ROWS or not bits or cells > CELLS_OF_BITS:
        return BY_ROWS
    by_bits = counted * (store.bits.shape[1] * _WORD + _CELL)
    by_rows = store.lines * _ROW + cells * _BIN
    return BY_BITS if measure.method == BY_BITS or by_bits <= by_rows else BY_ROWS
