"""Counting by bitmaps: a column has one bit row per level, and the count of a cell is the number of ones of an AND.

The last code of a column has no bit row. Tables are first counted with "any code" in its place, and the counts of the
last code follow by subtraction. So a binary column needs one row, not two.
"""

# ruff: noqa: PLR0917 - kernels take their arguments by position

from __future__ import annotations

from typing import Any

import numpy as np

from apsl_backends.kernels.arrays import CARD, FIRST_BIT, FIRST_TOTAL, PAIR, SPAN, VARIED, Long, Store, TestSpace, long
from apsl_backends.kernels.compiled import entry, inlined, keep_apart, kernel
from apsl_backends.kernels.strata import block_of
from apsl_backends.kernels.words import STEP, address, and_rows, common_ones, subtract_rows
from apsl_backends.kernels.workspace import store_in, test_space_in

WORDS_AT_A_TIME = 248
"""Words of a bit row that are processed together, so that the rows of a table stay in the L1 cache."""


@entry
def pack(codes: Any, columns: Any, bits: Any, totals: Any, low: Long, high: Long) -> None:
    """Fill the bit rows and code totals of the columns from low to high, and record which columns vary."""
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
def count_by_bits(workspace: Any, dims: Long, at: Long) -> None:
    """Count the table of two or more columns into the cells, starting at ``at``."""
    keep_apart()
    store, space = store_in(workspace), test_space_in(workspace)
    if dims == PAIR:
        _count_pair(store, space, at)
        return
    words = store.bits.shape[1]
    for low in range(0, words, WORDS_AT_A_TIME):
        width = min(WORDS_AT_A_TIME, words - low)
        make_masks(workspace, long(1), dims, low, width)
        _count_masks(store, space, dims, at, low, width)
    block = block_of(space.spans[0], space.spans[1])
    strata = 1
    for d in range(2, dims):
        strata *= space.spans[d]
    for stratum in range(strata):
        settle_block(space.cells, at + stratum * block, space.spans[0], space.spans[1])
    settle_strata(space, dims, at)


@inlined
def _count_pair(store: Store, space: TestSpace, at: Long) -> None:
    """Count the table of two columns; the totals of codes are known, so only the inner cells are counted."""
    x, y, cells = space.test[0], space.test[1], space.cells
    span_x, span_y = space.spans[0], space.spans[1]
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
def _count_masks(store: Store, space: TestSpace, dims: Long, at: Long, low: Long, width: Long) -> None:
    """Count the rows with each code of x under each mask of the other columns."""
    span_x, span_y = space.spans[0], space.spans[1]
    bit, block = store.columns[space.test[0], FIRST_BIT], block_of(span_x, span_y)
    strata = 1
    for d in range(2, dims):
        strata *= space.spans[d]
    mask = address(space.words)
    for stratum in range(strata):
        for j in range(span_y):
            here = at + stratum * block + j * span_x
            for i in range(span_x):
                row = bit + i if i < span_x - 1 else store.bits.shape[0] - 1
                count = common_ones(row_of_bits(store, row) + 8 * low, mask, width // STEP)
                space.cells[here + i] = count if low == 0 else space.cells[here + i] + count
            mask += 8 * width


@kernel
def make_masks(workspace: Any, first: Long, dims: Long, low: Long, width: Long) -> None:
    """AND the bit rows of the test's columns for all combinations of codes; the last code means any.

    The masks have ``width`` words, from word ``low`` on. They are written to the words of the space, and the code of
    the first column runs fastest.
    """
    keep_apart()
    store, space = store_in(workspace), test_space_in(workspace)
    steps = width // STEP
    masks = address(space.words)
    any_code = row_of_bits(store, store.bits.shape[0] - 1) + 8 * low
    made = 1
    and_rows(masks, any_code, any_code, steps)
    for d in range(first, dims):
        span, bit = space.spans[d], store.columns[space.test[d], FIRST_BIT]
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
def settle_strata(space: TestSpace, dims: Long, at: Long) -> None:
    """Turn counts of any code of the columns after x and y into counts of the last code."""
    block = block_of(space.spans[0], space.spans[1])
    size = block
    for d in range(2, dims):
        size *= space.spans[d]
    inner = block
    for d in range(2, dims):
        outer = inner * space.spans[d]
        for start in range(at, at + size, outer):
            last = address(space.cells) + 8 * (start + outer - inner)
            for level in range(space.spans[d] - 1):
                subtract_rows(last, last, address(space.cells) + 8 * (start + level * inner), inner // STEP)
        inner = outer
