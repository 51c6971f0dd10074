"""Counting by a scan of the rows."""

# ruff: noqa: PLR0917 - kernels take their arguments by position

from __future__ import annotations

from typing import Any

import numpy as np

from apsl_backends.kernels.arrays import Desk, Long, Store, long
from apsl_backends.kernels.compiled import inlined, keep_apart, kernel
from apsl_backends.kernels.workspace import CELLS_IN_LANES, LANES, ROWS_AT_A_TIME, desk_in, store_in

SHORT_CODES = 65_536
"""The most cells whose codes fit 16 bits."""


@kernel
def count_by_rows(codes: Any, room: Any, dims: Long, at: Long, size: Long, block: Long) -> None:
    """Count the table of any columns, of so many cells, ``block`` of them for each stratum of x and y."""
    keep_apart()
    desk, store = desk_in(room), store_in(room)
    rows = codes.shape[1]
    if len(store.weights) > 0:
        _count_weights(codes, store, desk, dims, at, size, block)
        return
    in_lanes = size <= CELLS_IN_LANES and LANES * size <= rows
    if in_lanes:
        for c in range(np.uint64(LANES * size)):
            desk.lanes[c] = 0
    else:
        for c in range(at, at + size):
            desk.cells[c] = 0
    if size > SHORT_CODES:
        _count_plainly(codes, desk, dims, at, block)
        return
    for low in range(0, rows, ROWS_AT_A_TIME):
        width = min(ROWS_AT_A_TIME, rows - low)
        _make_codes(codes, desk, dims, low, width, block)
        if in_lanes:
            _count_in_lanes(desk, size, width)
        else:
            for r in range(np.uint64(width)):
                desk.cells[np.uint64(at) + np.uint64(desk.codes[r])] += 1
    if in_lanes:
        _add_lanes(desk, at, size)


@inlined
def _count_weights(codes: Any, store: Store, desk: Desk, dims: Long, at: Long, size: Long, block: Long) -> None:
    for c in range(at, at + size):
        desk.cells[c] = 0
    for r in range(codes.shape[1]):
        cell = at
        stride = long(1)
        for d in range(dims):
            cell += stride * codes[desk.test[d], r]
            stride = block if d == 1 else stride * desk.spans[d]
        desk.cells[cell] += store.weights[r]


@inlined
def _count_plainly(codes: Any, desk: Desk, dims: Long, at: Long, block: Long) -> None:
    for r in range(codes.shape[1]):
        cell = at
        stride = long(1)
        for d in range(dims):
            cell += stride * codes[desk.test[d], r]
            stride = block if d == 1 else stride * desk.spans[d]
        desk.cells[cell] += 1


@inlined
def _make_codes(codes: Any, desk: Desk, dims: Long, low: Long, width: Long, block: Long) -> None:
    start = np.uint64(low)
    stride = long(1)
    for d in range(dims):
        column, by = desk.test[d], np.uint16(stride)
        if d == 0:
            for r in range(np.uint64(width)):
                desk.codes[r] = codes[column, start + r]
        else:
            for r in range(np.uint64(width)):
                desk.codes[r] += np.uint16(codes[column, start + r]) * by
        stride = block if d == 1 else stride * desk.spans[d]


@inlined
def _count_in_lanes(desk: Desk, size: Long, width: Long) -> None:
    second, third, fourth = np.uint64(size), np.uint64(2 * size), np.uint64(3 * size)
    done = np.uint64(width - width % LANES)
    for r in range(np.uint64(0), done, np.uint64(LANES)):
        desk.lanes[np.uint64(desk.codes[r])] += np.uint32(1)
        desk.lanes[np.uint64(desk.codes[r + np.uint64(1)]) + second] += np.uint32(1)
        desk.lanes[np.uint64(desk.codes[r + np.uint64(2)]) + third] += np.uint32(1)
        desk.lanes[np.uint64(desk.codes[r + np.uint64(3)]) + fourth] += np.uint32(1)
    for r in range(done, np.uint64(width)):
        desk.lanes[np.uint64(desk.codes[r])] += np.uint32(1)


@inlined
def _add_lanes(desk: Desk, at: Long, size: Long) -> None:
    first, second, third, fourth = np.uint64(at), np.uint64(size), np.uint64(2 * size), np.uint64(3 * size)
    for c in range(np.uint64(size)):
        desk.cells[first + c] = (
            long(desk.lanes[c])
            + long(desk.lanes[second + c])
            + long(desk.lanes[third + c])
            + long(desk.lanes[fourth + c])
        )
