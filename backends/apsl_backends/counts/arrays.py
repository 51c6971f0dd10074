"""What the kernels are handed: a table in the forms they count from, and how to judge the counts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from apsl_rules.table import Codes

Integers = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]

CARD, SPAN, FIRST_BIT, FIRST_TOTAL, VARIED = range(5)
COLUMN_FIELDS = 5

G_SQUARE, CHI_SQUARE = 0, 1

ANY_WAY, BY_ROWS, BY_BITS, SPARSELY = range(4)

INDEPENDENT, DEPENDENT, UNRELIABLE = range(3)


class Store(NamedTuple):
    """A table as codes and as bit rows.

    ``columns`` has one row per column: its cardinality; its span (the cardinality, and one more when values are
    missing, which then have the last code); its first bit row, or -1 for a column of too many levels; the place
    of its first level in ``totals``; whether at least two levels occur. A column has a bit row for each code of
    its span but the last, whose counts follow from the others.
    """

    codes: Codes
    bits: Words
    columns: Integers
    totals: Integers


class Measure(NamedTuple):
    """How counts become a verdict: the statistic, its degrees of freedom, the level and the reliability rule.

    ``terms`` holds n·ln(n) and ``scale`` is the value of 1 in it: sums are kept in integers, so that their
    order, and with it the order of levels, columns and threads, can not change a result.
    """

    kind: int
    terms: Integers
    scale: float
    full_dof: bool
    rows_per_cell: float
    thresholds: Floats
    log_alpha: float
    way: int
