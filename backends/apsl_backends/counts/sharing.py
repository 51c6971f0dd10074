"""Counting a subset's table from bit rows and from the tables of the subsets that lack one of its columns.

Only cells without any last code are counted. A cell with the last code of a column is what the table without this
column holds there, less the cells of the column's other codes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from apsl_backends.counts.arrays import FIRST_BIT, Store
from apsl_backends.counts.bitmaps import CHUNK, settle
from apsl_backends.counts.compiled import kernel
from apsl_backends.counts.popcount import ones_of_both


@kernel
def extend_prefix(
    store: Store, test: Any, base: int, spans: Any, depth: int, prefix: Any, starts: Any, spots: Any
) -> None:
    """Make the bit rows of all combinations of non-last codes of the chosen columns up to one depth.

    ``starts[depth]`` is the first of these rows and ``starts[depth + 1]`` the one after the last; ``spots`` is the
    stratum each belongs to.
    """
    bit = store.columns[test[base + depth], FIRST_BIT]
    levels = spans[base + depth] - 1
    stride = 1
    for d in range(depth):
        stride *= spans[base + d]
    row = starts[depth]
    if depth == 0:
        for level in range(levels):
            spots[row] = level
            for w in range(np.uint64(store.bits.shape[1])):
                prefix[row, w] = store.bits[bit + level, w]
            row += 1
    else:
        for level in range(levels):
            for old in range(starts[depth - 1], starts[depth]):
                spots[row] = spots[old] + level * stride
                for w in range(np.uint64(store.bits.shape[1])):
                    prefix[row, w] = prefix[old, w] & store.bits[bit + level, w]
                row += 1
    starts[depth + 1] = row


@kernel
def count_inner(
    store: Store,
    test: Any,
    base: int,
    size: int,
    spans: Any,
    masks: Any,
    prefix: Any,
    starts: Any,
    spots: Any,
    cells: Any,
    at: int,
) -> None:
    """Count the cells without any last code of a chosen column; ``masks`` are the rows of x, y and fixed columns."""
    block = len(masks)
    bit = store.columns[test[base + size - 1], FIRST_BIT]
    levels = spans[base + size - 1] - 1
    stride = 1
    for d in range(size - 1):
        stride *= spans[base + d]
    low_row, high_row = (starts[size - 2], starts[size - 1]) if size > 1 else (0, 1)
    words = store.bits.shape[1]
    mask = np.empty((1, CHUNK), np.uint64)
    for low in range(0, words, CHUNK):
        width = min(CHUNK, words - low)
        start = np.uint64(low)
        for level in range(levels):
            for row in range(low_row, high_row):
                here = at + block * level * stride
                if size > 1:
                    here += block * spots[row]
                    for w in range(np.uint64(width)):
                        mask[0, w] = prefix[row, start + w] & store.bits[bit + level, start + w]
                else:
                    for w in range(np.uint64(width)):
                        mask[0, w] = store.bits[bit + level, start + w]
                for b in range(block):
                    count = ones_of_both(masks, b, low, mask, 0, width)
                    if low == 0:
                        cells[here + b] = count
                    else:
                        cells[here + b] += count
    for level in range(levels):
        for row in range(low_row, high_row):
            spot = level * stride + (spots[row] if size > 1 else 0)
            settle(store, test, base, cells, at + block * spot)


@kernel
def fill_outer(
    spans: Any, base: int, size: int, block: int, cells: Any, at: int, shelf: Any, lower: Any
) -> None:
    """Fill in the cells with last codes; ``lower[i]`` is where the table without chosen column i is on the shelf."""
    inner = block
    for i in range(size):
        span = spans[base + i]
        outer = 1
        for d in range(i + 1, size):
            outer *= spans[base + d] - 1
        for q in range(outer):
            rest = q
            stride = inner
            spot = 0
            for d in range(i + 1, size):
                spot += rest % (spans[base + d] - 1) * stride
                rest //= spans[base + d] - 1
                stride *= spans[base + d]
            source = lower[i] + spot
            first = at + spot * span
            last = first + (span - 1) * inner
            for c in range(inner):
                cells[last + c] = shelf[source + c]
            for level in range(span - 1):
                for c in range(inner):
                    cells[last + c] -= cells[first + level * inner + c]
        inner *= span
