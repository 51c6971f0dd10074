"""Counting a subset's table from bit rows and from the tables of the subsets that lack one of its columns.

Only the cells without the last code of any chosen column are counted. The count of a cell with the last code of a
column is the count in the table without this column, minus the counts of the column's other codes.
"""

# ruff: noqa: PLR0917 - kernels take their arguments by position

from __future__ import annotations

from typing import Any

from apsl_backends.kernels.arrays import FIRST_BIT, PAIR, Long, Store, TestSpace, long
from apsl_backends.kernels.bitmaps import WORDS_AT_A_TIME, row_of_bits, settle_block, settle_strata
from apsl_backends.kernels.compiled import inlined, keep_apart, kernel
from apsl_backends.kernels.strata import block_of
from apsl_backends.kernels.words import STEP, address, and_rows, common_ones, subtract_rows
from apsl_backends.kernels.workspace import search_state_in, store_in, test_space_in


@kernel
def extend_prefix(workspace: Any, base: Long, depth: Long) -> None:
    """Make the bit rows of all combinations of non-last codes of the chosen columns up to one depth.

    They are the rows of the space from ``starts[depth]`` to before ``starts[depth + 1]``.
    """
    keep_apart()
    store, space, search = store_in(workspace), test_space_in(workspace), search_state_in(workspace)
    words, steps = store.bits.shape[1], store.bits.shape[1] // STEP
    bit, levels = store.columns[space.test[base + depth], FIRST_BIT], space.spans[base + depth] - 1
    stride = 1
    for d in range(depth):
        stride *= space.spans[base + d]
    row = search.starts[depth]
    for level in range(levels):
        source = row_of_bits(store, bit + level)
        if depth == 0:
            and_rows(address(space.words) + 8 * words * row, source, source, steps)
            search.spots[row] = level
            row += 1
        else:
            for old in range(search.starts[depth - 1], search.starts[depth]):
                earlier = address(space.words) + 8 * words * old
                and_rows(address(space.words) + 8 * words * row, earlier, source, steps)
                search.spots[row] = search.spots[old] + level * stride
                row += 1
    search.starts[depth + 1] = row


@kernel
def count_inner(workspace: Any, base: Long, size: Long, base_cells: Long, at: Long) -> None:
    """Count the cells without the last code of any chosen column.

    The first bit rows of the space are the masks of x, y and the fixed columns.
    """
    keep_apart()
    store, space, search = store_in(workspace), test_space_in(workspace), search_state_in(workspace)
    words = store.bits.shape[1]
    bit, levels = store.columns[space.test[base + size - 1], FIRST_BIT], space.spans[base + size - 1] - 1
    stride = 1
    for d in range(size - 1):
        stride *= space.spans[base + d]
    first, end = long(0), long(1)
    if size > 1:
        first, end = search.starts[size - 2], search.starts[size - 1]
    buffer = address(space.words) + 8 * (len(space.words) - WORDS_AT_A_TIME)
    for low in range(0, words, WORDS_AT_A_TIME):
        steps = min(WORDS_AT_A_TIME, words - low) // STEP
        for level in range(levels):
            source = row_of_bits(store, bit + level) + 8 * low
            for row in range(first, end):
                spot = level * stride
                mask = source
                if size > 1:
                    spot += search.spots[row]
                    mask = buffer
                    and_rows(buffer, source, address(space.words) + 8 * (words * row + low), steps)
                _count_masks(store, space, base, low, steps, mask, at + base_cells * spot)
    for level in range(levels):
        for row in range(first, end):
            spot = level * stride + (search.spots[row] if size > 1 else 0)
            _settle_masks(space, base, base_cells, at + base_cells * spot)


@inlined
def _count_masks(store: Store, space: TestSpace, base: Long, low: Long, steps: Long, mask: Long, at: Long) -> None:
    pairs, block = space.spans[0] * space.spans[1], block_of(space.spans[0], space.spans[1])
    strata = 1
    for d in range(2, base):
        strata *= space.spans[d]
    row = address(space.words) + 8 * low
    for stratum in range(strata):
        for cell in range(at + stratum * block, at + stratum * block + pairs):
            count = common_ones(row, mask, steps)
            space.cells[cell] = count if low == 0 else space.cells[cell] + count
            row += 8 * store.bits.shape[1]


@inlined
def _settle_masks(space: TestSpace, base: Long, base_cells: Long, at: Long) -> None:
    block = block_of(space.spans[0], space.spans[1])
    for start in range(at, at + base_cells, block):
        settle_block(space.cells, start, space.spans[0], space.spans[1])
    if base > PAIR:
        settle_strata(space, base, at)


@kernel
def fill_outer(workspace: Any, base: Long, size: Long, base_cells: Long, at: Long) -> None:
    """Fill in the cells with a last code from the lower tables, one chosen column after another."""
    keep_apart()
    space, search = test_space_in(workspace), search_state_in(workspace)
    cells = address(space.cells)
    inner = base_cells
    for i in range(size):
        span = space.spans[base + i]
        for d in range(size):
            search.digits[d] = 0
        spot = long(0)
        d = i
        while d < size:
            first = cells + 8 * (at + spot * span)
            last = first + 8 * (span - 1) * inner
            left = cells + 8 * (search.lower[i] + spot)
            for level in range(span - 1):
                subtract_rows(last, left, first + 8 * level * inner, inner // STEP)
                left = last
            if span == 1:
                for c in range(inner):
                    space.cells[at + spot + c] = space.cells[search.lower[i] + spot + c]
            d = i + 1
            stride = inner
            while d < size:
                search.digits[d] += 1
                spot += stride
                if search.digits[d] < space.spans[base + d] - 1:
                    break
                spot -= search.digits[d] * stride
                search.digits[d] = 0
                stride *= space.spans[base + d]
                d += 1
        inner *= span
