"""The numbers by which Python and the kernels name the same things; a test compares them with the C headers."""

from __future__ import annotations

from math import ceil, log, log2
from typing import NamedTuple

#: The sums of a test (``sums_t``).
JOINT, OF_X, OF_Y, OF_ALL, DOF, ROWS = range(6)
SUM_FIELDS = 6

#: The last test of a candidate in an elimination (``outcome_t``).
STATE, DOF_MET, ROWS_MET, SIZE = range(4)
OUTCOME_FIELDS = 4

G_SQUARE, CHI_SQUARE = range(2)
ANY_METHOD, BY_ROWS, BY_BITS, BY_SORTING = range(4)
INDEPENDENT, DEPENDENT, UNRELIABLE = range(3)

#: The degrees of freedom with a critical value.
TABLED_DOFS = 256

#: The most cells of a table that is held in memory.
MOST_CELLS = 1 << 24

_BITS_OF_SUMS = 61


class Measure(NamedTuple):
    """How to decide from counts: the statistic, its degrees of freedom, the level and the reliability rule.

    It is for tables of at most ``rows`` rows whose columns have at most ``levels`` levels. ``method`` is the counting
    method; only comparisons of the methods fix it.
    """

    kind: int
    rows: int
    levels: int
    alpha: float
    full_dof: bool = False
    rows_per_cell: float = 0.0
    method: int = ANY_METHOD

    @property
    def scale(self) -> float:
        """The units in 1 of the integers that are summed; no sum is above 2⁶¹ units."""
        largest = self.rows * log(self.rows) if self.kind == G_SQUARE else float(self.rows) * self.levels
        return float(2.0 ** (_BITS_OF_SUMS - ceil(log2(largest))))
