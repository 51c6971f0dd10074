"""The data of the kernels: a table in the forms they count from, the rules of a decision, and working space."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

long: Any = np.int64
"""A machine integer in kernels; its type is Any because Python callers pass their own integers."""

Long: TypeAlias = Any
Integers = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]

PAIR = 2
"""x and y, the first two columns of every test."""

CARD, SPAN, FIRST_BIT, FIRST_TOTAL, VARIED = range(5)
COLUMN_FIELDS = 5

JOINT, OF_X, OF_Y, OF_ALL, DOF, ROWS = range(6)
SUM_FIELDS = 6

G_SQUARE, CHI_SQUARE = range(2)
ANY_METHOD, BY_ROWS, BY_BITS, BY_SORTING = range(4)
INDEPENDENT, DEPENDENT, UNRELIABLE, NO_SPACE, STOPPED = range(5)


class Store(NamedTuple):
    """A table as bit rows, with the properties of its columns; the codes are passed separately.

    A table may have weighted rows. Then ``weights`` is the number of original rows that each row represents, ``rows``
    the sum of the weights, and ``lines`` the number of weighted rows. Without weights, ``lines`` equals ``rows``.

    ``columns`` has one row per column: its cardinality; its span (the cardinality, plus one for missing values, which
    have the last code); its first bit row, or -1 for a column with too many levels; the place of its first code in
    ``totals``; whether at least two levels occur. A column has a bit row for each code of its span except the last,
    whose counts follow from the others. The very last bit row stands for any code.
    """

    bits: Words
    columns: Integers
    totals: Integers
    weights: Integers
    rows: int
    lines: int


class Measure(NamedTuple):
    """How to decide from counts: the statistic, its degrees of freedom, the level and the reliability rule.

    ``terms`` holds n·ln(n) in integer units, for every possible count if ``all_terms``; ``scale`` is the number of
    units in 1. Sums of integers do not depend on the order of levels, columns or threads. ``thresholds`` are critical
    values by degrees of freedom. ``method`` is the counting method; only comparisons of the methods fix it.
    """

    kind: int
    terms: Integers
    all_terms: bool
    scale: float
    full_dof: bool
    rows_per_cell: float
    thresholds: Floats
    log_alpha: float
    method: int


class TestSpace(NamedTuple):
    """Reusable working space for a test.

    ``test`` has the columns of the current test, x and y first, with their ``spans`` and ``cards``. ``cells`` holds
    contingency tables: the code of x runs fastest, then that of y; the cells of one stratum are padded to a multiple
    of four. ``margins`` holds counts by level, ``words`` bit rows, ``codes`` the cell codes of some table rows,
    ``lanes`` the histograms in which these are counted, ``order`` two orders of the table's rows, and ``needs`` the
    lengths that a call required when the space was too small.
    """

    test: Integers
    spans: Integers
    cards: Integers
    cells: Integers
    margins: Integers
    words: Words
    codes: npt.NDArray[np.uint16]
    lanes: npt.NDArray[np.uint32]
    order: Integers
    needs: Integers


class SearchState(NamedTuple):
    """What the tests of one search share.

    ``pick`` is the current subset and ``chosen`` the subset of the result so far. ``binomials[n, k]`` is the number of
    subsets of k among n. ``tables`` is the place in the cells of each subset's table, or -1; the subsets of size k
    start at ``first[k]``. ``lower`` has the places of the tables that lack one of the chosen columns, and ``digits``
    enumerates their cells. ``starts`` and ``spots`` locate the bit rows of the first chosen columns and the stratum of
    each. ``least[k]``, ``largest[k]`` and ``sums[k]`` are products over k columns of the pool: the smallest product of
    cardinalities, the largest product of spans, and the sum of the products of spans over all subsets.
    """

    pick: Integers
    chosen: Integers
    digits: Integers
    first: Integers
    lower: Integers
    starts: Integers
    least: Floats
    largest: Floats
    sums: Floats
    binomials: Integers
    tables: Integers
    spots: Integers
