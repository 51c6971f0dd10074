"""Counting by a scan of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from apsl_backends.counts.arrays import SPAN, Store
from apsl_backends.counts.compiled import kernel

CHUNK = 1024
"""Rows whose cell codes are made at a time, so that the codes stay in the nearest cache."""

SHORT_CODES = 65_536
"""The most cells whose codes fit 16 bits."""

_LANES = 4
_MOST_CELLS_IN_LANES = 4096


@kernel
def count_by_rows(store: Store, places: Any, dims: int, cells: Any, at: int, size: int) -> None:
    """Count the table of any columns; ``size`` is its number of cells."""
    for c in range(size):
        cells[at + c] = 0
    if size > SHORT_CODES:
        _count_plainly(store, places, dims, cells, at)
    elif size > _MOST_CELLS_IN_LANES:
        _count_in_lanes(store, places, dims, cells, at, size, 1)
    else:
        _count_in_lanes(store, places, dims, cells, at, size, _LANES)


@kernel
def _count_plainly(store: Store, places: Any, dims: int, cells: Any, at: int) -> None:
    for r in range(store.codes.shape[1]):
        code = np.int64(0)
        for back in range(dims):
            place = places[dims - 1 - back]
            code = code * store.columns[place, SPAN] + store.codes[place, r]
        cells[at + code] += 1


@kernel
def _count_in_lanes(store: Store, places: Any, dims: int, cells: Any, at: int, size: int, lanes: int) -> None:
    """Count neighbouring rows into separate histograms: equal neighbours would wait for each other."""
    rows = store.codes.shape[1]
    codes = np.empty(CHUNK, np.uint16)
    lane = np.zeros((_LANES, size if lanes > 1 else 1), np.uint32)
    for low in range(0, rows, CHUNK):
        width = min(CHUNK, rows - low)
        _make_codes(store, places, dims, low, width, codes)
        done = 0
        if lanes > 1:
            done = width - width % _LANES
            for r in range(0, done, _LANES):
                lane[0, codes[r]] += np.uint32(1)
                lane[1, codes[r + 1]] += np.uint32(1)
                lane[2, codes[r + 2]] += np.uint32(1)
                lane[3, codes[r + 3]] += np.uint32(1)
        for r in range(done, width):
            cells[at + codes[r]] += 1
    if lanes > 1:
        for c in range(size):
            cells[at + c] += np.int64(lane[0, c]) + np.int64(lane[1, c]) + np.int64(lane[2, c]) + np.int64(lane[3, c])


@kernel
def _make_codes(store: Store, places: Any, dims: int, low: int, width: int, codes: Any) -> None:
    start = np.uint64(low)
    place = places[0]
    for r in range(np.uint64(width)):
        codes[r] = store.codes[place, start + r]
    stride = np.uint16(store.columns[place, SPAN])
    for d in range(1, dims):
        place = places[d]
        for r in range(np.uint64(width)):
            codes[r] += np.uint16(store.codes[place, start + r]) * stride
        stride = np.uint16(stride * store.columns[place, SPAN])
