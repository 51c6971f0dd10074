"""Integer columns as dense codes, a block of columns at a time.

Every value of a column is shifted by the column's smallest and counted in one histogram for the whole block; a
column whose histogram has no holes is its own code, the others are looked up in a table of ranks.
"""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.table import Codes

_NARROW = 256


@attrs.frozen(eq=False)
class Dense:
    """Codes without holes: ``codes[i, r]`` is the rank of a value among ``levels[i]``."""

    codes: Codes | npt.NDArray[np.intp]
    levels: list[tuple[int, ...]]


def dense(block: npt.NDArray[np.integer[Any]]) -> Dense:
    """Encode the columns that are the rows of a block, each by the sorted values seen in it."""
    low, high = block.min(axis=1), block.max(axis=1)
    # Unsigned arithmetic wraps round, so that the span is right at the ends of the 64-bit range too.
    span = high.astype(np.uint64) - low.astype(np.uint64)
    if (span < _NARROW).all():
        return _narrow(block, low, span.astype(np.intp))
    if len(block) == 1:
        return _wide(block)
    parts = [dense(block[place : place + 1]) for place in range(len(block))]
    return Dense(np.concatenate([part.codes for part in parts]), [part.levels[0] for part in parts])


def _narrow(block: npt.NDArray[np.integer[Any]], low: npt.NDArray[Any], span: npt.NDArray[np.intp]) -> Dense:
    width = int(span.max()) + 1
    codes: npt.NDArray[np.uint8] = (block - low[:, None]).astype(np.uint8)
    cells = codes + np.arange(0, len(block) * width, width)[:, None]
    seen = np.bincount(cells.ravel(), minlength=len(block) * width).reshape(len(block), width) > 0
    holes = seen.sum(axis=1) <= span
    if holes.any():
        ranks = (np.cumsum(seen, axis=1) - 1).astype(np.uint8)
        codes = ranks.ravel()[cells]
    shared: dict[tuple[int, int], tuple[int, ...]] = {}
    levels = []
    for place, (first, count) in enumerate(zip(low.tolist(), (span + 1).tolist(), strict=True)):
        if holes[place]:
            levels.append(tuple(first + step for step in np.flatnonzero(seen[place]).tolist()))
        else:
            levels.append(shared.setdefault((first, count), tuple(range(first, first + count))))
    return Dense(codes, levels)


def _wide(block: npt.NDArray[np.integer[Any]]) -> Dense:
    values, codes = np.unique(block[0], return_inverse=True)
    return Dense(codes[None, :], [tuple(values.tolist())])
