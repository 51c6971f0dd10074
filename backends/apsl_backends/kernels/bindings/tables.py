"""Kernels on tables of codes: tests of independence, eliminations, the chi-square distribution."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import Structure, byref, c_double, c_int64
from functools import lru_cache
from threading import Lock
from typing import NamedTuple, NoReturn
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from apsl_backends.kernels import library as checks
from apsl_backends.kernels.library import (
    CHI_SQUARE,
    G_SQUARE,
    OUTCOME_FIELDS,
    SUM_FIELDS,
    TABLED_DOFS,
    Codes,
    Floats,
    Integers,
    Measure,
    in_blocks,
    useful_threads,
)
from apsl_rules.stopping import Flag

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


class Tails(NamedTuple):
    """The upper tails of statistics under χ², and their logarithms, which do not underflow."""

    p: Floats
    log_p: Floats


def tails(statistics: Floats, dofs: Integers) -> Tails:
    """Return the upper tail of each statistic; without degrees of freedom it is 1."""
    count = len(statistics)
    found = Tails(np.empty(count), np.empty(count))
    checks.kernels().apsl_tails(
        checks.address(statistics, np.float64, (count,), "statistics"),
        checks.address(dofs, np.int64, (count,), "dofs"),
        count,
        checks.target(found.p, np.float64, (count,), "tails"),
        checks.target(found.log_p, np.float64, (count,), "logs"),
    )
    return found


def tail(statistic: float, dof: int) -> tuple[float, float]:
    """Return the upper tail of one statistic and its logarithm."""
    log_p = c_double()
    p: float = checks.kernels().apsl_tail(statistic, dof, byref(log_p))
    return p, log_p.value


@lru_cache(maxsize=16)
def thresholds(alpha: float) -> Floats:
    """Return the smallest statistic with p <= alpha for each number of degrees of freedom below ``TABLED_DOFS``."""
    if not 0.0 < alpha < 1.0:
        message = f"alpha is {alpha!r} and must lie between 0 and 1"
        raise ValueError(message)
    out = np.empty(TABLED_DOFS)
    checks.kernels().apsl_thresholds(alpha, checks.target(out, np.float64, (TABLED_DOFS,), "thresholds"))
    out.setflags(write=False)
    return out


def is_weaker(statistic: float, dof: int, other: float, other_dof: int) -> bool:
    """Return whether one dependence has the larger p, or the smaller statistic where p is the same."""
    return bool(checks.kernels().apsl_is_weaker(statistic, dof, other, other_dof))


_PAIR = 2
_NO_TEST = -1


class TestBatch(NamedTuple):
    """A batch of tests: sums in units of the measure's scale, statistics and decisions, one row for each.

    The degrees of freedom and the rows used are fields of the sums; the rows are -1 where nothing was counted.
    """

    sums: Integers
    statistics: Floats
    decisions: npt.NDArray[np.int8]


class SweptTests(NamedTuple):
    """x against each other column, in the order of the table; the rows are -1 where nothing was counted."""

    statistics: Floats
    dofs: Integers
    rows: Integers
    decisions: npt.NDArray[np.int8]

    @classmethod
    def of(cls, count: int) -> SweptTests:
        """Make space for so many outcomes."""
        return cls(np.empty(count), np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int8))


class SearchOutcome(NamedTuple):
    """The outcome of a search: the decision with the figures of its test, the tests made, the places chosen.

    ``rank`` is that of the given columns, for tests on moments (-1 for others).
    """

    decision: int
    statistic: float
    dof: int
    rows: int
    tests: int
    chosen: list[int]
    rank: int = -1


class LastTests(NamedTuple):
    """The last test of each candidate: decision, degrees of freedom, rows and number of given columns; statistic."""

    outcomes: Integers
    statistics: Floats


class Eliminated(NamedTuple):
    """What an elimination leaves: the members, what was given in the last test of each candidate, and the tests."""

    members: list[int]
    given: Integers
    tests: int


class MeasureHandle:
    """A measure with its tables of terms and critical values."""

    def __init__(self, measure: Measure) -> None:
        if not (measure.rows > 1 and measure.levels > 1 and measure.kind in {G_SQUARE, CHI_SQUARE}):
            message = f"{measure!r} must be G² or χ² of at least two rows and levels"
            raise ValueError(message)
        critical = thresholds(measure.alpha)
        self.measure = measure
        self.pointer = checks.opened(
            checks.kernels().apsl_measure_open(
                measure.kind,
                measure.rows,
                measure.scale,
                measure.alpha,
                checks.address(critical, np.float64, (TABLED_DOFS,), "thresholds"),
                measure.full_dof,
                measure.rows_per_cell,
                measure.method,
            )
        )
        checks.close_with(self, checks.kernels().apsl_measure_close, self.pointer)


_MEASURES: WeakValueDictionary[Measure, MeasureHandle] = WeakValueDictionary()


def open_measure(measure: Measure) -> MeasureHandle:
    """Return the handle of a measure; testers share it."""
    known = _MEASURES.get(measure)
    if known is None:
        known = _MEASURES[measure] = MeasureHandle(measure)
    return known


class _Found(Structure):
    """What a search found (``found_t``)."""

    _fields_ = (
        ("decision", c_int64),
        ("statistic", c_double),
        ("dof", c_int64),
        ("rows", c_int64),
        ("tests", c_int64),
        ("size", c_int64),
    )


class TesterHandle:
    """A table and a measure with working space, for one call at a time."""

    def __init__(self, table: TableHandle, measure: MeasureHandle) -> None:
        if table.rows > measure.measure.rows or table.levels > measure.measure.levels:
            message = (
                f"the measure is for {measure.measure.rows} rows and {measure.measure.levels} levels; "
                f"the table has {table.rows} rows and {table.levels} levels"
            )
            raise ValueError(message)
        self._table, self._measure = table, measure
        self._pointer = checks.opened(checks.kernels().apsl_tester_open(table.pointer, measure.pointer))
        checks.close_with(self, checks.kernels().apsl_tester_close, self._pointer)
        self._in_use = Lock()  # a call that was given up may still run for a moment
        self._found = _Found()

    def run_tests(self, starts: Integers, places: Integers, out: TestBatch, low: int, high: int) -> None:
        """Run the tests from low to high, and write them; their columns are the places from each start to the next."""
        count = len(out.statistics)
        if not 0 <= low <= high <= count:
            message = f"there are {count} tests, not those from {low} to {high}"
            raise ValueError(message)
        arrays = (
            checks.address(starts, np.int64, (count + 1,), "starts"),
            checks.address(places, np.int64, (places.size,), "places"),
            places.size,
            low,
            high,
            checks.target(out.sums, np.int64, (count, SUM_FIELDS), "sums"),
            checks.target(out.statistics, np.float64, (count,), "statistics"),
            checks.target(out.decisions, np.int8, (count,), "decisions"),
        )
        with self._in_use:
            status = checks.kernels().apsl_run_tests(self._pointer, *arrays)
        if status == _NO_TEST:
            message = f"each test must have two or more places, all of them among {self._table.columns} columns"
            raise ValueError(message)
        checks.require_status(status)

    def sweep(self, x: int, out: SweptTests, low: int, high: int) -> None:
        """Test x against the other columns from low to high, with nothing given, and write the outcomes."""
        count = len(out.statistics)
        if not (0 <= x < self._table.columns == count + 1 and 0 <= low <= high <= count):
            message = f"x is {x}, and {count} outcomes are those of the other columns from {low} to {high}"
            raise ValueError(message)
        arrays = (
            checks.target(out.statistics, np.float64, (count,), "statistics"),
            checks.target(out.dofs, np.int64, (count,), "dofs"),
            checks.target(out.rows, np.int64, (count,), "rows"),
            checks.target(out.decisions, np.int8, (count,), "decisions"),
        )
        with self._in_use:
            status = checks.kernels().apsl_sweep(self._pointer, x, low, high, *arrays)
        checks.require_status(status)

    def search(self, places: Sequence[int], fixed: int, most: int, stop: Flag) -> SearchOutcome:
        """Search for a separator; the places are x, y, the fixed columns and the pool.

        Once the flag is set, the search ends, and what it returns means nothing.
        """
        count = len(places)
        if not (fixed >= 0 and 0 <= most <= count - _PAIR - fixed):
            message = f"{most} columns cannot be chosen from {count} of which {_PAIR} + {fixed} are always in the test"
            raise ValueError(message)
        if min(places) < 0 or max(places) >= self._table.columns:
            self._refuse_places()
        asked, chosen = (c_int64 * count)(*places), (c_int64 * most)()
        flag = checks.flag(stop)
        with self._in_use:
            found = self._found
            status = checks.kernels().apsl_search(self._pointer, asked, count, fixed, most, flag, byref(found), chosen)
            checks.require_status(status)
            return SearchOutcome(
                found.decision, found.statistic, found.dof, found.rows, found.tests, chosen[: found.size]
            )

    def eliminate(self, x: int, ranked: Integers, most: int, last: LastTests, stop: Flag) -> Eliminated:
        """Carry out HITON's elimination; update the last tests, which are first those of the sweep.

        ``ranked`` are the columns of the candidates, strongest first. Once the flag is set, the elimination ends, and
        what it returns means nothing.
        """
        count = len(ranked)
        if most < 0:
            message = f"{most} columns cannot be given"
            raise ValueError(message)
        if not 0 <= x < self._table.columns:
            self._refuse_places()
        columns = checks.address(ranked, np.int64, (count,), "ranked")
        if count and int(ranked.view(np.uint64).max()) >= self._table.columns:  # a negative one is huge without a sign
            self._refuse_places()
        given, members = np.zeros((count, most + 1), np.int64), np.empty(count, np.int64)
        left, tests = c_int64(), c_int64()
        arrays = (
            checks.target(last.outcomes, np.int64, (count, OUTCOME_FIELDS), "outcomes"),
            checks.target(given, np.int64, given.shape, "given"),
            checks.target(last.statistics, np.float64, (count,), "statistics"),
            checks.target(members, np.int64, (count,), "members"),
            checks.flag(stop),
        )
        with self._in_use:
            status = checks.kernels().apsl_eliminate(
                self._pointer, x, columns, count, most, *arrays, byref(left), byref(tests)
            )
        checks.require_status(status)
        return Eliminated(members[: left.value].tolist(), given, tests.value)

    def _refuse_places(self) -> NoReturn:
        message = f"every place must be one of the {self._table.columns} columns"
        raise ValueError(message)
