"""Rows of codes collapsed to distinct ones, each with its number of rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from apsl_rules.data.dataset import Codes, Weights

_LARGEST_KEY = 1 << 62
_DENSE = 1 << 22
_DENSE_PER_LINE = 4


def collapse(codes: Codes, spans: Sequence[int], weights: Weights | None = None) -> tuple[Codes, Weights]:
    """Return each combination of codes once, in the order of the codes, with the sum of its weights.

    The codes are columns by rows, and those of column i lie below ``spans[i]``; without weights each row counts 1.

    >>> collapse(np.array([[1, 0, 1], [0, 2, 0]], np.uint8), [2, 3])
    (array([[0, 1],
           [2, 0]], dtype=uint8), array([1, 2]))
    """
    lines = codes.shape[1]
    keys, span = pack_codes(codes, spans)
    if span <= min(_DENSE, max(_DENSE_PER_LINE * lines, 1024)) and _is_plain(spans):
        counts = _sum_by_key(keys, weights, span)
        seen = np.flatnonzero(counts)
        return unpack_codes(seen, spans, codes.dtype), counts[seen]
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return codes[:, first], _sum_by_key(inverse, weights, len(first))


def pack_codes(codes: Codes, spans: Sequence[int]) -> tuple[npt.NDArray[np.int64], int]:
    """Return the number of each row's combination, in the order of the codes, and a bound for the numbers.

    Where a number would not fit, the combinations of the columns so far are numbered as they occur.
    """
    keys, bound = np.zeros(codes.shape[1], np.int64), 1
    for column, span in zip(codes, spans, strict=True):
        if bound * span > _LARGEST_KEY:
            seen, keys = np.unique(keys, return_inverse=True)
            bound = len(seen)
        keys = keys * span + column
        bound *= span
    return keys, bound


def _is_plain(spans: Sequence[int]) -> bool:
    """Return whether keys of so many combinations are never numbered anew."""
    bound = 1
    for span in spans:
        bound *= span
    return bound <= _LARGEST_KEY


def _sum_by_key(keys: npt.NDArray[np.int64], weights: Weights | None, span: int) -> Weights:
    """Sum weights by key; floats are exact here, since no table has 2**53 rows."""
    return np.bincount(keys, weights, span).astype(np.int64)


def unpack_codes(keys: npt.NDArray[np.int64], spans: Sequence[int], kind: np.dtype[np.unsignedinteger]) -> Codes:
    """Return the codes behind keys."""
    codes: Codes = np.empty((len(spans), len(keys)), kind)
    for place in reversed(range(len(spans))):
        keys, codes[place] = np.divmod(keys, spans[place])
    return codes
