"""Counting by bitmaps: a column has one bit row per level, a cell is an AND and a count of ones.

The last code of a column has no row of its own. Tables are first counted with "any code" in its place, and the
counts of the last code follow by subtraction; so a binary column costs one row, not two.
"""

# ruff: noqa: PLR0917 - kernels take their arguments by position

from __future__ import annotations

from typing import Any

import numpy as np

from apsl_backends.kernels.arrays import CARD, FIRST_BIT, FIRST_TOTAL, PAIR, SPAN, VARIED, Desk, Long, Store, long
from apsl_backends.kernels.compiled import entry, inlined, keep_apart, kernel
from apsl_backends.kernels.strata import block_of
from apsl_backends.kernels.words import STEP, address, and_rows, common_ones, subtract_rows
from apsl_backends.kernels.workspace import desk_in, store_in

WORDS_AT_A_TIME = 248
"""Words of a bit row taken at a time, so that the rows of a table stay in the nearest cache."""


@entry
def pack(codes: Any, columns: Any, bits: Any, totals: Any, low: Long, high: Long) -> None:
    """Fill the bit rows and code totals of the columns between two places, and note which columns vary."""
    for column in range(low, high):
        span, bit, first = columns[column, SPAN], columns[column, FIRST_BIT], columns[column, FIRST_TOTAL]
        if bit < 0:
            for r in range(codes.shape[1]):
                totals[first + codes[column, r]] += 1
        else:
            rest = long(codes.shape[1])
            for level in range(span - 1):
                _pack_level(codes, column, level, bits, bit + level)
                row = address(bits) + 8 * bits.shape[1] * (bit + level)
                totals[first + level] = common_ones(row, row, bits.shape[1] // STEP)
                rest -= totals[first + level]
            totals[first + span - 1] = rest
        occurring = 0
        for level in range(columns[column, CARD]):
            occurring += totals[first + level] > 0
        columns[column, VARIED] = occurring > 1


@inlined
def _pack_level(codes: Any, column: Long, level: Long, bits: Any, row: Long) -> None:
    rows = codes.shape[1]
    for w in range(rows // 64):
        word = np.uint64(0)
        for r in range(64):
            word |= np.uint64(codes[column, w * 64 + r] == level) << np.uint64(r)
        bits[row, w] = word
    for r in range(rows - rows % 64, rows):
        bits[row, rows // 64] |= np.uint64(codes[column, r] == level) << np.uint64(r % 64)


@inlined
def row_of_bits(store: Store, row: Long) -> Long:
    """Return the address of a bit row of the store."""
    return address(store.bits) + 8 * store.bits.shape[1] * row


@kernel
def count_by_bits(room: Any, dims: Long, at: Long) -> None:
    """Count the table of two or more columns into the desk's cells from a place on."""
    keep_apart()
    store, desk = store_in(room), desk_in(room)
    if dims == PAIR:
        _count_pair(store, desk, at)
        return
    words = store.bits.shape[1]
    for low in range(0, words, WORDS_AT_A_TIME):
        width = min(WORDS_AT_A_TIME, words - low)
        make_masks(room, long(1), dims, low, width)
        _count_masks(store, desk, dims, at, low, width)
    block = block_of(desk.spans[0], desk.spans[1])
    strata = 1
    for d in range(2, dims):
        strata *= desk.spans[d]
    for stratum in range(strata):
        settle_block(desk.cells, at + stratum * block, desk.spans[0], desk.spans[1])
    settle_strata(desk, dims, at)


@inlined
def _count_pair(store: Store, desk: Desk, at: Long) -> None:
    """Count the table of two columns; the totals of codes are known, so only the inner cells cost."""
    x, y, cells = desk.test[0], desk.test[1], desk.cells
    span_x, span_y = desk.spans[0], desk.spans[1]
    bit_x, bit_y = store.columns[x, FIRST_BIT], store.columns[y, FIRST_BIT]
    total_x, total_y = store.columns[x, FIRST_TOTAL], store.columns[y, FIRST_TOTAL]
    steps = store.bits.shape[1] // STEP
    last = at + span_x * (span_y - 1)
    for i in range(span_x):
        cells[last + i] = store.totals[total_x + i]
    for j in range(span_y - 1):
        rest = store.totals[total_y + j]
        for i in range(span_x - 1):
            count = common_ones(row_of_bits(store, bit_x + i), row_of_bits(store, bit_y + j), steps)
            cells[at + i + span_x * j] = count
            cells[last + i] -= count
            rest -= count
        cells[at + span_x - 1 + span_x * j] = rest
        cells[last + span_x - 1] -= rest


@inlined
def _count_masks(store: Store, desk: Desk, dims: Long, at: Long, low: Long, width: Long) -> None:
    """Count, for each code of x, the rows of each mask that the other columns of the test have."""
    span_x, span_y = desk.spans[0], desk.spans[1]
    bit, block = store.columns[desk.test[0], FIRST_BIT], block_of(span_x, span_y)
    strata = 1
    for d in range(2, dims):
        strata *= desk.spans[d]
    mask = address(desk.words)
    for stratum in range(strata):
        for j in range(span_y):
            here = at + stratum * block + j * span_x
            for i in range(span_x):
                row = bit + i if i < span_x - 1 else store.bits.shape[0] - 1
                count = common_ones(row_of_bits(store, row) + 8 * low, mask, width // STEP)
                desk.cells[here + i] = count if low == 0 else desk.cells[here + i] + count
            mask += 8 * width


@kernel
def make_masks(room: Any, first: Long, dims: Long, low: Long, width: Long) -> None:
    """AND the bit rows of the test's columns for all combinations of codes, each last code meaning any.

    The rows, of ``width`` words taken from word ``low`` on, are written to the desk's words, the code of the
    first column running fastest.
    """
    keep_apart()
    store, desk = store_in(room), desk_in(room)
    steps = width // STEP
    masks = address(desk.words)
    any_code = row_of_bits(store, store.bits.shape[0] - 1) + 8 * low
    made = 1
    and_rows(masks, any_code, any_code, steps)
    for d in range(first, dims):
        span, bit = desk.spans[d], store.columns[desk.test[d], FIRST_BIT]
        kept = masks + 8 * width * (span - 1) * made
        and_rows(kept, masks, masks, made * steps)
        for level in range(span - 1):
            row = row_of_bits(store, bit + level) + 8 * low
            for old in range(made):
                and_rows(masks + 8 * width * (level * made + old), kept + 8 * width * old, row, steps)
        made *= span


@inlined
def settle_block(cells: Any, at: Long, span_x: Long, span_y: Long) -> None:
    """Turn counts of any code of x or y, in one stratum, into counts of the last code."""
    spot = np.uint64(at)
    wide = np.uint64(span_x)
    for _ in range(span_y):
        inner = long(0)
        for i in range(np.uint64(span_x - 1)):
            inner += cells[spot + i]
        cells[spot + wide - np.uint64(1)] -= inner
        spot += wide
    spot -= wide
    for i in range(wide):
        inner = long(0)
        other = np.uint64(at) + i
        while other < spot:
            inner += cells[other]
            other += wide
        cells[spot + i] -= inner


@inlined
def settle_strata(desk: Desk, dims: Long, at: Long) -> None:
    """Turn counts of any code of the columns after x and y into counts of the last code."""
    block = block_of(desk.spans[0], desk.spans[1])
    size = block
    for d in range(2, dims):
        size *= desk.spans[d]
    inner = block
    for d in range(2, dims):
        outer = inner * desk.spans[d]
        for start in range(at, at + size, outer):
            last = address(desk.cells) + 8 * (start + outer - inner)
            for level in range(desk.spans[d] - 1):
                subtract_rows(last, last, address(desk.cells) + 8 * (start + level * inner), inner // STEP)
        inner = outer
