"""Counting a subset's table from bit rows and from the tables of the subsets that lack one of its columns.

Only cells without the last code of any chosen column are counted. A cell with the last code of a column is what
the table without this column holds there, less the cells of the column's other codes.
"""

# ruff: noqa: PLR0917 - kernels take their arguments by position

from __future__ import annotations

from typing import Any

from apsl_backends.kernels.arrays import FIRST_BIT, PAIR, Desk, Long, Store, long
from apsl_backends.kernels.bitmaps import WORDS_AT_A_TIME, row_of_bits, settle_block, settle_strata
from apsl_backends.kernels.compiled import inlined, keep_apart, kernel
from apsl_backends.kernels.strata import block_of
from apsl_backends.kernels.words import STEP, address, and_rows, common_ones, subtract_rows
from apsl_backends.kernels.workspace import desk_in, shelf_in, store_in


@kernel
def extend_prefix(room: Any, base: Long, depth: Long) -> None:
    """Make the bit rows of all combinations of non-last codes of the chosen columns up to one depth.

    They are the desk's rows from ``starts[depth]`` to before ``starts[depth + 1]``.
    """
    keep_apart()
    store, desk, shelf = store_in(room), desk_in(room), shelf_in(room)
    words, steps = store.bits.shape[1], store.bits.shape[1] // STEP
    bit, levels = store.columns[desk.test[base + depth], FIRST_BIT], desk.spans[base + depth] - 1
    stride = 1
    for d in range(depth):
        stride *= desk.spans[base + d]
    row = shelf.starts[depth]
    for level in range(levels):
        source = row_of_bits(store, bit + level)
        if depth == 0:
            and_rows(address(desk.words) + 8 * words * row, source, source, steps)
            shelf.spots[row] = level
            row += 1
        else:
            for old in range(shelf.starts[depth - 1], shelf.starts[depth]):
                earlier = address(desk.words) + 8 * words * old
                and_rows(address(desk.words) + 8 * words * row, earlier, source, steps)
                shelf.spots[row] = shelf.spots[old] + level * stride
                row += 1
    shelf.starts[depth + 1] = row


@kernel
def count_inner(room: Any, base: Long, size: Long, base_cells: Long, at: Long) -> None:
    """Count the cells without the last code of any chosen column.

    The desk's first rows of bits are the masks of x, y and the fixed columns.
    """
    keep_apart()
    store, desk, shelf = store_in(room), desk_in(room), shelf_in(room)
    words = store.bits.shape[1]
    bit, levels = store.columns[desk.test[base + size - 1], FIRST_BIT], desk.spans[base + size - 1] - 1
    stride = 1
    for d in range(size - 1):
        stride *= desk.spans[base + d]
    first, end = long(0), long(1)
    if size > 1:
        first, end = shelf.starts[size - 2], shelf.starts[size - 1]
    buffer = address(desk.words) + 8 * (len(desk.words) - WORDS_AT_A_TIME)
    for low in range(0, words, WORDS_AT_A_TIME):
        steps = min(WORDS_AT_A_TIME, words - low) // STEP
        for level in range(levels):
            source = row_of_bits(store, bit + level) + 8 * low
            for row in range(first, end):
                spot = level * stride
                mask = source
                if size > 1:
                    spot += shelf.spots[row]
                    mask = buffer
                    and_rows(buffer, source, address(desk.words) + 8 * (words * row + low), steps)
                _count_masks(store, desk, base, low, steps, mask, at + base_cells * spot)
    for level in range(levels):
        for row in range(first, end):
            spot = level * stride + (shelf.spots[row] if size > 1 else 0)
            _settle(desk, base, base_cells, at + base_cells * spot)


@inlined
def _count_masks(store: Store, desk: Desk, base: Long, low: Long, steps: Long, mask: Long, at: Long) -> None:
    pairs, block = desk.spans[0] * desk.spans[1], block_of(desk.spans[0], desk.spans[1])
    strata = 1
    for d in range(2, base):
        strata *= desk.spans[d]
    row = address(desk.words) + 8 * low
    for stratum in range(strata):
        for cell in range(at + stratum * block, at + stratum * block + pairs):
            count = common_ones(row, mask, steps)
            desk.cells[cell] = count if low == 0 else desk.cells[cell] + count
            row += 8 * store.bits.shape[1]


@inlined
def _settle(desk: Desk, base: Long, base_cells: Long, at: Long) -> None:
    block = block_of(desk.spans[0], desk.spans[1])
    for start in range(at, at + base_cells, block):
        settle_block(desk.cells, start, desk.spans[0], desk.spans[1])
    if base > PAIR:
        settle_strata(desk, base, at)


@kernel
def fill_outer(room: Any, base: Long, size: Long, base_cells: Long, at: Long) -> None:
    """Fill in the cells with a last code from the shelf's lower tables, one chosen column after the other."""
    keep_apart()
    desk, shelf = desk_in(room), shelf_in(room)
    cells = address(desk.cells)
    inner = base_cells
    for i in range(size):
        span = desk.spans[base + i]
        for d in range(size):
            shelf.digits[d] = 0
        spot = long(0)
        d = i
        while d < size:
            first = cells + 8 * (at + spot * span)
            last = first + 8 * (span - 1) * inner
            left = cells + 8 * (shelf.lower[i] + spot)
            for level in range(span - 1):
                subtract_rows(last, left, first + 8 * level * inner, inner // STEP)
                left = last
            if span == 1:
                for c in range(inner):
                    desk.cells[at + spot + c] = desk.cells[shelf.lower[i] + spot + c]
            d = i + 1
            stride = inner
            while d < size:
                shelf.digits[d] += 1
                spot += stride
                if shelf.digits[d] < desk.spans[base + d] - 1:
                    break
                spot -= shelf.digits[d] * stride
                shelf.digits[d] = 0
                stride *= desk.spans[base + d]
                d += 1
        inner *= span
