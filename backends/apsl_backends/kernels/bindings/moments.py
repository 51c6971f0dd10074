"""Kernels on numbers: ranks, covariances, and matrices they take."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import byref, c_double, c_int64
from math import isfinite
from threading import Lock
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from apsl_backends.kernels import library as checks
from apsl_backends.kernels.library import Floats, Integers

#: The share of its variance up to which what is left of a column, given others, is taken for rounding.
TOLERANCE = 1e-7
SMALLEST_TOLERANCE = 1e-12
_FLAWS = {
    1: "the matrix has a variance that is negative, not finite, or neither 0 nor between 1e-100 and 1e100",
    2: "the matrix is not symmetric; take the mean of it and its transpose",
    3: "the matrix has a covariance that is not finite or too large for the variances",
}


def covariances(matrix: Floats, starts: Integers, rows: float, tolerance: float) -> tuple[int, int]:
    """Return the addresses of a covariance matrix and of the starts of its blocks, with the end of the last."""
    columns = len(matrix)
    at_matrix = checks.address(matrix, np.float64, (columns, columns), "matrix")
    at_starts = checks.sections(starts, columns, 0, "starts")
    require_finite(rows=rows)
    if rows < 1.0 or not SMALLEST_TOLERANCE <= tolerance < 1.0:
        message = f"rows must be at least 1, not {rows}, and tolerance from 1e-12 to below 1, not {tolerance}"
        raise ValueError(message)
    flaw = checks.kernels().apsl_find_flaw(at_matrix, columns)
    if flaw:
        raise ValueError(_FLAWS[flaw])
    return at_matrix, at_starts


def require_finite(**values: float) -> None:
    """Refuse a number that is not finite."""
    for name, value in values.items():
        if not isfinite(value):
            message = f"{name} must be a finite number, not {value}"
            raise ValueError(message)


_PAIR = 2
_FIGURES = 5
ELIMINATION_FIELDS = 4


class MomentRules(NamedTuple):
    """How tests of blocks decide: critical values by degrees of freedom, the level, reliability, Bartlett's correction.

    A test is unreliable with fewer rows than ``rows_per_column`` for each column that counts in it and for the mean,
    with no rows beyond these, and where levels of two categories are expected to meet in fewer than ``joint_rows``.
    """

    thresholds: Floats
    alpha: float
    rows_per_column: float = 1.0
    joint_rows: float = 1.0
    corrected: bool = True


class BlockTests(NamedTuple):
    """The outcomes of tests; ``ranks`` are those of the given columns."""

    decisions: npt.NDArray[np.int8]
    statistics: Floats
    dofs: Integers
    ranks: Integers


class BlockSearch(NamedTuple):
    """The outcome of a search: the decision with the figures of its test, the tests made, the places chosen."""

    decision: int
    statistic: float
    dof: int
    rank: int
    tests: int
    chosen: list[int]


class BlockElimination(NamedTuple):
    """The outcome of an elimination: the places of the remaining members, and the figures behind each candidate.

    A row of ``outcomes`` has the decision, the degrees of freedom, the rank and the number of given blocks of the test
    that eliminated a candidate or of its weakest dependence; these blocks are in its row of ``given``.
    """

    members: Integers
    outcomes: Integers
    statistics: Floats
    given: Integers
    tests: int


class MomentsHandle:
    """The covariance matrix of the columns of a table, which form blocks, ready for tests, searches and scores.

    A block is a variable: a number with functions of it, or the indicators of a category. ``starts`` are the first
    columns of the blocks, with the end of the last. The first columns of a block, as many as ``leading`` says, stand
    for it where it is tested or is a child; all of them stand for it where it is given or a parent. ``categories`` says
    which blocks have the indicators of a category, none if it is left out. ``rows`` is the
    number of rows that the matrix was made from. What is left of a column given others counts as nothing up to the
    share ``tolerance`` of its variance. The matrix is not copied and must not be changed.

    Threads may share a handle; their calls follow one another.
    """

    def __init__(
        self,
        matrix: Floats,
        starts: Integers,
        rows: float,
        rules: MomentRules,
        *,
        leading: Integers | None = None,
        categories: npt.NDArray[np.bool_] | None = None,
        tolerance: float = TOLERANCE,
    ) -> None:
        at_matrix, at_starts = covariances(matrix, starts := starts.copy(), rows, tolerance)
        widths = np.diff(starts)
        self.blocks = len(widths)
        leading = widths if leading is None else leading.copy()
        at_leading = checks.address(leading, np.int64, (self.blocks,), "leading")
        if not bool(((leading >= 0) & (leading <= widths)).all()):
            message = f"leading must be at most the columns of each block, {widths.tolist()}, not {leading.tolist()}"
            raise ValueError(message)
        categories = np.zeros(self.blocks, np.bool_) if categories is None else categories.copy()
        at_categories = checks.address(categories, np.bool_, (self.blocks,), "categories")
        tabled = len(rules.thresholds)
        at_thresholds = checks.address(rules.thresholds, np.float64, (tabled,), "thresholds")
        require_finite(rows_per_column=rules.rows_per_column, joint_rows=rules.joint_rows)
        if not 0.0 < rules.alpha < 1.0:
            message = f"alpha is {rules.alpha!r} and must lie between 0 and 1"
            raise ValueError(message)
        self._arrays = matrix, starts, leading, categories, rules.thresholds
        self._lock = Lock()
        self.between: MomentsHandle | None = None
        address: int | None = checks.kernels().apsl_moments_open(
            *(at_matrix, at_starts, at_leading, at_categories, self.blocks, rows, tolerance),
            *(at_thresholds, tabled, rules.alpha, rules.rows_per_column, rules.joint_rows, int(rules.corrected)),
        )
        self._handle = checks.opened(address)
        checks.close_with(self, checks.kernels().apsl_moments_close, self._handle)

    def add_level(self, between: MomentsHandle) -> None:
        """Add the tests of the means of groups, with as many blocks, to those of the rows inside them."""
        checks.require(between.blocks == self.blocks and between is not self, "blocks", between.blocks)
        with self._lock:
            self.between = between
            checks.kernels().apsl_moments_add_level(self._handle, between._handle)

    def run_tests(self, starts: Integers, blocks: Integers) -> BlockTests:
        """Run tests: the blocks of one (x, y and the given ones) go from its start to that of the next."""
        tests = len(starts) - 1
        at_blocks = checks.indices(blocks, self.blocks, "blocks")
        at_starts = checks.sections(starts, len(blocks), _PAIR, "starts")
        decisions, statistics = np.empty(tests, np.int8), np.empty(tests)
        dofs, ranks = np.empty(tests, np.int64), np.empty(tests, np.int64)
        with self._lock:
            status = checks.kernels().apsl_log_determinant_tests(
                *(self._handle, at_starts, at_blocks, tests),
                checks.address(decisions, np.int8, (tests,), "decisions"),
                checks.address(statistics, np.float64, (tests,), "statistics"),
                checks.address(dofs, np.int64, (tests,), "dofs"),
                checks.address(ranks, np.int64, (tests,), "ranks"),
            )
        checks.require_status(status)
        return BlockTests(decisions, statistics, dofs, ranks)

    def search(self, blocks: Sequence[int], fixed: int, most: int, stop: Integers) -> BlockSearch | None:
        """Search for a separator of at most so many blocks of a pool; return None if the run was stopped.

        ``blocks`` are x, y, the fixed blocks, which are always given, and the pool.
        """
        count = len(blocks)
        pool = count - _PAIR - fixed
        if fixed < 0 or not 0 <= most <= pool:
            message = f"{most} blocks cannot be chosen from {count} of which {_PAIR} + {fixed} are always in the test"
            raise ValueError(message)
        if min(blocks) < 0 or max(blocks) >= self.blocks:
            message = f"every block must be one of {self.blocks}, not {list(blocks)}"
            raise ValueError(message)
        flag, statistic = checks.flag(stop), c_double()
        figures, chosen = (c_int64 * _FIGURES)(), (c_int64 * most)()
        asked = (c_int64 * count)(*blocks)
        with self._lock:
            status = checks.kernels().apsl_log_determinant_search(
                self._handle, asked, fixed, pool, most, flag, byref(statistic), figures, chosen
            )
        if not checks.require_status(status):
            return None
        decision, dof, rank, tests, size = figures
        return BlockSearch(decision, statistic.value, dof, rank, tests, chosen[:size])

    def eliminate(
        self, x: int, ranked: Integers, swept: BlockTests, most: int, stop: Integers
    ) -> BlockElimination | None:
        """Eliminate candidates of a block as HITON does; return None if the run was stopped.

        ``ranked`` are the candidates, strongest first, and ``swept`` the outcomes of their tests given nothing.
        """
        count = len(ranked)
        if not 0 <= x < self.blocks or most < 0:
            message = f"x is {x} and most is {most}; there are {self.blocks} blocks"
            raise ValueError(message)
        at_ranked, at_flag = checks.indices(ranked, self.blocks, "ranked"), checks.flag(stop)
        self._require_swept(swept, count)
        outcomes = np.zeros((count, ELIMINATION_FIELDS), np.int64)
        outcomes[:, 0], outcomes[:, 1], outcomes[:, 2] = swept.decisions, swept.dofs, swept.ranks
        statistics = swept.statistics.copy()
        given, members = np.zeros((count, most), np.int64), np.empty(count, np.int64)
        totals = np.zeros(2, np.int64)
        with self._lock:
            status = checks.kernels().apsl_log_determinant_elimination(
                *(self._handle, x, at_ranked, count, most, at_flag),
                checks.address(outcomes, np.int64, (count, ELIMINATION_FIELDS), "outcomes"),
                checks.address(statistics, np.float64, (count,), "statistics"),
                checks.address(given, np.int64, (count, most), "given"),
                checks.address(members, np.int64, (count,), "members"),
                checks.address(totals, np.int64, (2,), "totals"),
            )
        if not checks.require_status(status):
            return None
        return BlockElimination(members[: totals[0]], outcomes, statistics, given, int(totals[1]))

    def _require_swept(self, swept: BlockTests, count: int) -> None:
        """Require outcomes of so many tests of this matrix."""
        for name, array in swept._asdict().items():
            if array.shape != (count,):
                message = f"there are {count} candidates, but {name} have shape {array.shape}"
                raise TypeError(message)
        is_dependent = swept.decisions == 1
        if count and not (
            bool(np.isin(swept.decisions, (0, 1, 2)).all())
            and bool((swept.dofs >= is_dependent).all())
            and int(swept.dofs.max()) <= self._arrays[0].size
            and bool(np.isfinite(swept.statistics).all())
        ):
            message = "these are no outcomes of tests of this matrix"
            raise ValueError(message)
