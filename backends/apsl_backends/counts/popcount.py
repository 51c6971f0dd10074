"""Count the ones of bit rows: the whole cost of a cell when levels are kept as bitmaps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from apsl_backends.counts.compiled import kernel


@intrinsic
def ones(_context: Any, _word: Any) -> Any:
    """Count the ones of a 64-bit word by the machine's own instruction."""

    def emit(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), emit


@kernel
def ones_of(a: Any, i: int, width: int) -> int:
    """Count the ones in the first words of row i."""
    total = np.uint64(0)
    for w in range(np.uint64(width)):
        total += ones(a[i, w])
    return np.int64(total)


@kernel
def ones_of_both(a: Any, i: int, low: int, b: Any, j: int, width: int) -> int:
    """Count the ones that row i of a, from word ``low`` on, has in common with the first words of row j of b."""
    start = np.uint64(low)
    total = np.uint64(0)
    for w in range(np.uint64(width)):
        total += ones(a[i, start + w] & b[j, w])
    return np.int64(total)
