"""Coded tables drawn at random, and the counts and statistics of a test by plain loops, to check kernels against."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log, prod

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from apsl_backends.independence.count_tests import CountOracle
from apsl_backends.independence.table_tester import MemoryCounts, Tester
from apsl_backends.kernels.library import ANY_METHOD, BY_BITS, BY_ROWS, BY_SORTING
from apsl_rules.data import Codes, Table

METHODS = (ANY_METHOD, BY_ROWS, BY_BITS, BY_SORTING)
NAMES = "fbdace"


def coded(
    codes: npt.ArrayLike, cards: Sequence[int] | None = None, *, names: Sequence[str] = NAMES, wide: bool = False
) -> Table:
    """Make a table of rows of codes, one row for each column; a code equal to the cardinality is a missing value."""
    columns: Codes = np.array(codes, dtype=np.uint16) if wide else np.array(codes, dtype=np.uint8)
    sizes = np.array(columns.max(axis=1) + 1 if cards is None else cards, dtype=np.int64)
    missing = (columns == sizes[:, None]).any(axis=1)
    return Table(tuple(names[: len(columns)]), columns, sizes, tuple(tuple(range(size)) for size in sizes), missing)


@st.composite
def tables(draw: st.DrawFn, *, max_rows: int = 200, columns: int = 5, missing: bool = True) -> Table:
    """Draw sparse tables: one to five levels, now and then twelve, values that copy others, some of them missing."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = draw(st.integers(1, max_rows))
    cards = draw(st.lists(st.sampled_from([1, 2, 2, 3, 3, 4, 5, 12]), min_size=columns, max_size=columns))
    codes = np.stack([random.integers(0, card, rows) for card in cards])
    for column in range(1, columns):
        copied = random.random(rows) < draw(st.sampled_from([0.0, 0.3, 0.9]))
        codes[column] = np.where(copied, codes[random.integers(0, column)] % cards[column], codes[column])
    if missing:
        gone = (random.random(codes.shape) < 0.1) & draw(st.booleans())
        codes = np.where(gone, np.array(cards)[:, None], codes)
    return coded(codes, cards, wide=draw(st.booleans()))


def with_method(oracle: CountOracle, method: int) -> CountOracle:
    """Make an oracle count by one method only."""
    assert isinstance(oracle.data, Table)
    oracle.tester = Tester(MemoryCounts(oracle.data), oracle.tester.measure._replace(method=method))
    return oracle


def by_loops(
    table: Table, x: int, y: int, given: Sequence[int] = (), *, chi: bool = False, full: bool = False
) -> tuple[float, int, int]:
    """Return the statistic, degrees of freedom and rows of a test, counted one row after the other."""
    places = [x, y, *given]
    rows = [
        tuple(int(table.codes[place, row]) for place in places)
        for row in range(table.rows)
        if all(table.codes[place, row] < table.cards[place] for place in places)
    ]
    joint = Counter(rows)
    of_x, of_y = Counter((i, *z) for i, _, *z in rows), Counter((j, *z) for _, j, *z in rows)
    of_all = Counter(tuple(z) for _, _, *z in rows)
    statistic, dof = 0.0, 0
    for z, size in of_all.items():
        levels_x = [i for i in range(table.cards[x]) if of_x[i, *z]]
        levels_y = [j for j in range(table.cards[y]) if of_y[j, *z]]
        dof += (len(levels_x) - 1) * (len(levels_y) - 1)
        for i in levels_x:
            for j in levels_y:
                observed, expected = joint[i, j, *z], of_x[i, *z] * of_y[j, *z] / size
                if chi:
                    statistic += (observed - expected) ** 2 / expected
                elif observed:
                    statistic += 2 * observed * log(observed / expected)
    if full and dof:
        cards = [int(table.cards[place]) for place in places]
        dof = (cards[0] - 1) * (cards[1] - 1) * prod(cards[2:])
    return (statistic if dof else 0.0), dof, len(rows)
