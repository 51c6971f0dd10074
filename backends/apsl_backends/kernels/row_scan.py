"""Counting by a scan of the rows."""

# ruff: noqa: PLR0917 - kernels take their arguments by position

from __future__ import annotations

from typing import Any

import numpy as np

from apsl_backends.kernels.arrays import Long, Store, TestSpace, long
from apsl_backends.kernels.compiled import inlined, keep_apart, kernel
from apsl_backends.kernels.workspace import CELLS_IN_LANES, LANES, ROWS_AT_A_TIME, store_in, test_space_in

SHORT_CODES = 65_536
"""The most cells whose codes fit into 16 bits."""


@kernel
def count_by_rows(codes: Any, workspace: Any, dims: Long, at: Long, size: Long, block: Long) -> None:
    """Count a table of ``size`` cells into the cells from ``at`` on; each stratum of x and y has ``block`` of them."""
    keep_apart()
    space, store = test_space_in(workspace), store_in(workspace)
    rows = codes.shape[1]
    if len(store.weights) > 0:
        _count_weights(codes, store, space, dims, at, size, block)
        return
    in_lanes = size <= CELLS_IN_LANES and LANES * size <= rows
    if in_lanes:
        for c in range(np.uint64(LANES * size)):
            space.lanes[c] = 0
    else:
        for c in range(at, at + size):
            space.cells[c] = 0
    if size > SHORT_CODES:
        _count_plainly(codes, space, dims, at, block)
        return
    for low in range(0, rows, ROWS_AT_A_TIME):
        width = min(ROWS_AT_A_TIME, rows - low)
        _make_codes(codes, space, dims, low, width, block)
        if in_lanes:
            _count_in_lanes(space, size, width)
        else:
            for r in range(np.uint64(width)):
                space.cells[np.uint64(at) + np.uint64(space.codes[r])] += 1
    if in_lanes:
        _add_lanes(space, at, size)


@inlined
def _count_weights(codes: Any, store: Store, space: TestSpace, dims: Long, at: Long, size: Long, block: Long) -> None:
    for c in range(at, at + size):
        space.cells[c] = 0
    for r in range(codes.shape[1]):
        cell = at
        stride = long(1)
        for d in range(dims):
            cell += stride * codes[space.test[d], r]
            stride = block if d == 1 else stride * space.spans[d]
        space.cells[cell] += store.weights[r]


@inlined
def _count_plainly(codes: Any, space: TestSpace, dims: Long, at: Long, block: Long) -> None:
    for r in range(codes.shape[1]):
        cell = at
        stride = long(1)
        for d in range(dims):
            cell += stride * codes[space.test[d], r]
            stride = block if d == 1 else stride * space.spans[d]
        space.cells[cell] += 1


@inlined
def _make_codes(codes: Any, space: TestSpace, dims: Long, low: Long, width: Long, block: Long) -> None:
    start = np.uint64(low)
    stride = long(1)
    for d in range(dims):
        column, by = space.test[d], np.uint16(stride)
        if d == 0:
            for r in range(np.uint64(width)):
                space.codes[r] = codes[column, start + r]
        else:
            for r in range(np.uint64(width)):
                space.codes[r] += np.uint16(codes[column, start + r]) * by
        stride = block if d == 1 else stride * space.spans[d]


@inlined
def _count_in_lanes(space: TestSpace, size: Long, width: Long) -> None:
    second, third, fourth = np.uint64(size), np.uint64(2 * size), np.uint64(3 * size)
    done = np.uint64(width - width % LANES)
    for r in range(np.uint64(0), done, np.uint64(LANES)):
        space.lanes[np.uint64(space.codes[r])] += np.uint32(1)
        space.lanes[np.uint64(space.codes[r + np.uint64(1)]) + second] += np.uint32(1)
        space.lanes[np.uint64(space.codes[r + np.uint64(2)]) + third] += np.uint32(1)
        space.lanes[np.uint64(space.codes[r + np.uint64(3)]) + fourth] += np.uint32(1)
    for r in range(done, np.uint64(width)):
        space.lanes[np.uint64(space.codes[r])] += np.uint32(1)


@inlined
def _add_lanes(space: TestSpace, at: Long, size: Long) -> None:
    first, second, third, fourth = np.uint64(at), np.uint64(size), np.uint64(2 * size), np.uint64(3 * size)
    for c in range(np.uint64(size)):
        space.cells[first + c] = (
            long(space.lanes[c])
            + long(space.lanes[second + c])
            + long(space.lanes[third + c])
            + long(space.lanes[fourth + c])
        )
