"""Tables in the form that the kernels count from, behind a handle, and plain tables of counts."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import c_int64
from math import prod

import numpy as np
import numpy.typing as npt

from apsl_backends.kernels.border import checks
from apsl_backends.kernels.border.checks import Codes, Integers
from apsl_backends.kernels.library import MOST_CELLS, in_blocks, useful_threads

_MOST_ROWS = 1 << 53
_MOST_LEVELS = 1 << 31


class TableHandle:
    """A table in the forms that the kernels count from; it keeps the codes and weights that they read.

    ``codes`` are columns by rows; a code equal to the cardinality is a missing value of an incomplete column. With
    weights, each line stands for so many rows. The columns are packed by several threads if that pays.
    """

    def __init__(
        self,
        codes: Codes,
        cards: Integers,
        incomplete: npt.NDArray[np.bool_],
        weights: Integers | None = None,
        threads: int = 1,
    ) -> None:
        address, width, count, lines = checks.codes(codes)
        self.columns, self.lines, self.rows = count, lines, lines
        self.levels = int(cards.max(initial=0))
        least = int(cards.min(initial=0))
        if least < 0 or self.levels > _MOST_LEVELS:
            message = f"a cardinality is {least if least < 0 else self.levels}; all are from 0 to {_MOST_LEVELS}"
            raise ValueError(message)
        if weights is not None:
            self.rows = _sum_of(weights, lines)
        self._arrays = codes, weights
        self.pointer = checks.opened(
            checks.kernels().apsl_table_open(
                address,
                width,
                lines,
                count,
                checks.address(cards, np.int64, (count,), "cards"),
                checks.address(incomplete, np.bool_, (count,), "incomplete"),
                None if weights is None else checks.address(weights, np.int64, (lines,), "weights"),
                self.rows,
            )
        )
        checks.close_with(self, checks.kernels().apsl_table_close, self.pointer)
        in_blocks(count, useful_threads(threads, codes.size), self._pack)

    def _pack(self, low: int, high: int) -> None:
        wrong = checks.kernels().apsl_table_pack(self.pointer, low, high)
        if wrong >= 0:
            message = f"column {wrong} has a code beyond its cardinality"
            raise ValueError(message)


def count_table(codes: Codes, places: Sequence[int], spans: Sequence[int]) -> Integers:
    """Count the table of some columns, flat; the last column's code runs fastest."""
    address, width, count, lines = checks.codes(codes)
    dims, cells = len(places), prod(spans)
    if dims != len(spans) or min(spans, default=1) < 1 or cells > MOST_CELLS:
        message = f"{dims} columns with {list(spans)} codes cannot be counted into at most {MOST_CELLS} cells"
        raise ValueError(message)
    if dims and (min(places) < 0 or max(places) >= count):
        message = f"every place must be one of the {count} columns"
        raise ValueError(message)
    counts = np.zeros(cells, np.int64)
    wrong = checks.kernels().apsl_count_table(
        address,
        width,
        lines,
        (c_int64 * dims)(*places),
        (c_int64 * dims)(*spans),
        dims,
        checks.target(counts, np.int64, (cells,), "counts"),
    )
    if wrong >= 0:
        message = f"column {places[wrong]} has a code of {spans[wrong]} or more"
        raise ValueError(message)
    return counts


def _sum_of(weights: Integers, lines: int) -> int:
    """Return the sum of the weights of some lines."""
    checks.address(weights, np.int64, (lines,), "weights")
    if lines and int(weights.min()) < 0:
        message = f"a weight is {int(weights.min())}; none may be negative"
        raise ValueError(message)
    if float(weights.sum(dtype=np.float64)) >= _MOST_ROWS:
        message = f"the weights stand for more than {_MOST_ROWS} rows"
        raise ValueError(message)
    return int(weights.sum())
