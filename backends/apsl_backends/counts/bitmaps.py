"""Counting by bitmaps: a column has one bit row per level, a cell is an AND and a count of ones.

The last code of a column has no row of its own. Tables are first counted with "any code" in its place, and the
counts of the last code follow by subtraction; so a binary column costs one row, not two.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from apsl_backends.counts.arrays import CARD, FIRST_BIT, FIRST_TOTAL, SPAN, VARIED, Store
from apsl_backends.counts.compiled import entry, kernel
from apsl_backends.counts.popcount import ones_of, ones_of_both

CHUNK = 256
"""Words of a bit row taken at a time, so that the rows of a table stay in the nearest cache."""


@entry
def pack(codes: Any, columns: Any, bits: Any, totals: Any, low: int, high: int) -> None:
    """Fill the bit rows and level totals of the columns between two places, and note which columns vary."""
    for column in range(low, high):
        span = columns[column, SPAN]
        bit = columns[column, FIRST_BIT]
        first = columns[column, FIRST_TOTAL]
        if bit < 0:
            for r in range(codes.shape[1]):
                totals[first + codes[column, r]] += 1
        else:
            rest = np.int64(codes.shape[1])
            for level in range(span - 1):
                _pack_level(codes, column, level, bits, bit + level)
                totals[first + level] = ones_of(bits, bit + level, bits.shape[1])
                rest -= totals[first + level]
            totals[first + span - 1] = rest
        occurring = 0
        for level in range(columns[column, CARD]):
            occurring += totals[first + level] > 0
        columns[column, VARIED] = occurring > 1


@kernel
def _pack_level(codes: Any, column: int, level: int, bits: Any, row: int) -> None:
    rows = codes.shape[1]
    for w in range(rows // 64):
        word = np.uint64(0)
        for r in range(64):
            word |= np.uint64(codes[column, w * 64 + r] == level) << np.uint64(r)
        bits[row, w] = word
    if rows % 64:
        word = np.uint64(0)
        for r in range(rows % 64):
            word |= np.uint64(codes[column, rows - rows % 64 + r] == level) << np.uint64(r)
        bits[row, rows // 64] = word


@kernel
def count_pair(store: Store, x: int, y: int, cells: Any, at: int) -> None:
    """Count the table of two columns; the totals of levels are known, so only the inner cells cost."""
    span_x, span_y = store.columns[x, SPAN], store.columns[y, SPAN]
    bit_x, bit_y = store.columns[x, FIRST_BIT], store.columns[y, FIRST_BIT]
    total_x, total_y = store.columns[x, FIRST_TOTAL], store.columns[y, FIRST_TOTAL]
    last = at + span_x * (span_y - 1)
    for i in range(span_x):
        cells[last + i] = store.totals[total_x + i]
    for j in range(span_y - 1):
        rest = store.totals[total_y + j]
        for i in range(span_x - 1):
            count = ones_of_both(store.bits, bit_x + i, 0, store.bits, bit_y + j, store.bits.shape[1])
            cells[at + i + span_x * j] = count
            cells[last + i] -= count
            rest -= count
        cells[at + span_x - 1 + span_x * j] = rest
        cells[last + span_x - 1] -= rest


@kernel
def count_by_bits(store: Store, places: Any, dims: int, cells: Any, at: int) -> None:
    """Count the table of two or more columns, the bit row of each stratum made once for all its cells."""
    if dims == 2:
        count_pair(store, places[0], places[1], cells, at)
        return
    strata = 1
    for d in range(1, dims):
        strata *= store.columns[places[d], SPAN]
    span, bit = store.columns[places[0], SPAN], store.columns[places[0], FIRST_BIT]
    for c in range(strata * span):
        cells[at + c] = 0
    masks = np.empty((strata, CHUNK), np.uint64)
    for low in range(0, store.bits.shape[1], CHUNK):
        width = min(CHUNK, store.bits.shape[1] - low)
        make_masks(store, places, 1, dims, low, width, masks)
        for stratum in range(strata):
            here = at + stratum * span
            for i in range(span - 1):
                cells[here + i] += ones_of_both(store.bits, bit + i, low, masks, stratum, width)
            cells[here + span - 1] += ones_of(masks, stratum, width)
    settle(store, places, dims, cells, at)


@kernel
def make_masks(store: Store, places: Any, first: int, dims: int, low: int, width: int, masks: Any) -> None:
    """AND the bit rows of ``places[first:dims]`` for all combinations of codes, each last code meaning any."""
    start = np.uint64(low)
    for w in range(np.uint64(width)):
        masks[0, w] = _full_word(np.int64(start + w), store.codes.shape[1])
    made = 1
    for d in range(first, dims):
        span, bit = store.columns[places[d], SPAN], store.columns[places[d], FIRST_BIT]
        kept = (span - 1) * made
        for old in range(made):
            for w in range(np.uint64(width)):
                masks[kept + old, w] = masks[old, w]
        for level in range(span - 1):
            for old in range(made):
                for w in range(np.uint64(width)):
                    masks[level * made + old, w] = masks[kept + old, w] & store.bits[bit + level, start + w]
        made *= span


@kernel
def _full_word(word: int, rows: int) -> int:
    left = rows - 64 * word
    if left >= 64:
        return ~np.uint64(0)
    if left <= 0:
        return np.uint64(0)
    return (np.uint64(1) << np.uint64(left)) - np.uint64(1)


@kernel
def settle(store: Store, places: Any, dims: int, cells: Any, at: int) -> None:
    """Turn counts of "any code" into counts of the last code, one axis after the other."""
    size = 1
    for d in range(dims):
        size *= store.columns[places[d], SPAN]
    inner = 1
    for d in range(dims):
        span = store.columns[places[d], SPAN]
        outer = inner * span
        for start in range(at, at + size, outer):
            last = start + outer - inner
            for level in range(span - 1):
                for c in range(inner):
                    cells[last + c] -= cells[start + level * inner + c]
        inner = outer
