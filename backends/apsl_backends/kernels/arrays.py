"""What the kernels work on: a table in the forms they count from, how to judge the counts, and working space."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

long: Any = np.int64
"""A machine integer, in kernels; its type is open because Python's own integers come from outside."""

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
ANY_WAY, BY_ROWS, BY_BITS, BY_SORTING = range(4)
INDEPENDENT, DEPENDENT, UNRELIABLE, NO_ROOM, STOPPED = range(5)


class Store(NamedTuple):
    """A table as bit rows, and what is known of its columns; the codes themselves are handed over apart.

    In a table of weighted rows ``weights`` says how many rows each of them stands for, ``rows`` how many that makes
    and ``lines`` how many there are; otherwise there are no weights, and lines are rows.

    ``columns`` has one row per column: its cardinality; its span (the cardinality, and one more when values are
    missing, which then have the last code); its first bit row, or -1 for a column of too many levels; the place
    of its first code in ``totals``; whether at least two levels occur. A column has a bit row for each code of
    its span but the last, whose counts follow from the others. The last bit row of all is that of any code.
    """

    bits: Words
    columns: Integers
    totals: Integers
    weights: Integers
    rows: int
    lines: int


class Measure(NamedTuple):
    """How counts become a verdict: the statistic, its degrees of freedom, the level and the reliability rule.

    ``terms`` holds n·ln(n), for all counts that can occur if ``all_terms``, and ``scale`` is the value of 1 in it.
    Sums are kept in integers, so that their order, and with it the order of levels, columns and threads, can
    not change a result. ``thresholds`` are critical values by degrees of freedom. ``way`` is how to count, which
    is only fixed where the ways are compared.
    """

    kind: int
    terms: Integers
    all_terms: bool
    scale: float
    full_dof: bool
    rows_per_cell: float
    thresholds: Floats
    log_alpha: float
    way: int


class Desk(NamedTuple):
    """Working space for a test, used again and again.

    ``test`` has the columns of the test at hand, x and y first, with their ``spans`` and ``cards``. ``cells`` holds
    tables: the code of x runs fastest, then that of y; the cells of one stratum are padded to a multiple of four.
    ``margins`` holds what is counted by level, ``words`` rows of bits, ``codes`` the cell codes of some table
    rows, ``lanes`` the histograms these are counted into, ``order`` the table's rows in two orders, and ``needs``
    what was asked of this space when it did not suffice.
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


class Shelf(NamedTuple):
    """What the tests of one search hand on to each other.

    ``pick`` is the subset at hand and ``chosen`` the one that counts so far; ``ways[n, k]`` counts the subsets of k
    among n. ``tables`` says where among the cells the table of each subset is, or -1; those of size k start at
    ``first[k]``. ``lower`` is where the tables without one of the chosen columns are, and ``digits`` counts through
    their cells. ``starts`` and ``spots`` say which bit rows are those of the first chosen columns, and which stratum
    each belongs to. ``least[k]``, ``largest[k]`` and ``sums[k]`` are products over k columns of the pool: the smallest
    of cardinalities, the largest of spans, and that of spans summed over all subsets.
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
    ways: Integers
    tables: Integers
    spots: Integers
