"""Tests on moments as an oracle on tables with numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate, chain, combinations, islice
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from apsl_backends.independence.column_oracle import (
    ColumnOracle,
    ColumnVerdicts,
    EliminationOutcome,
    Outcome,
    SweptArrays,
    all_but,
)
from apsl_backends.independence.table_tester import interleave
from apsl_backends.kernels.bindings.moments import BlockTests, MomentRules, MomentsHandle
from apsl_backends.kernels.bindings.tables import SearchOutcome, is_weaker, tails, thresholds
from apsl_backends.kernels.library import (
    DEPENDENT,
    INDEPENDENT,
    ROWS_MET,
    STATE,
    TABLED_DOFS,
    UNRELIABLE,
    Floats,
    Integers,
)
from apsl_rules.data import Dataset, Levels
from apsl_rules.data.moments import KeptMoments, RowTests
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.memory import check
from apsl_rules.notes import named
from apsl_rules.stopping import heeding_if_long

#: The fewest groups for each column of means in a test.
_GROUPS_PER_COLUMN = 2.5
#: Subsets that are tested in one call on rows, and tests on a matrix before a call counts as long.
_AT_ONCE, _SHORT = 64, 1 << 15


class MomentTests(NamedTuple):
    """The outcomes of tests; ``ranks`` are those of the given columns, ``rows`` the rows that were used."""

    decisions: Integers
    statistics: Floats
    dofs: Integers
    ranks: Integers
    rows: Integers


class MomentTester:
    """Carries out tests on a source of moments at a level.

    A test is unreliable with fewer rows than ``rows_per_column`` for each embedded column in it and for the mean;
    without degrees of freedom: given the others, one of the two no longer varies; where levels of two categories are
    so rare that independent ones would meet in less than one row; and where a dependence of two categories would be
    none if products of given columns moved both.
    """

    def __init__(self, source: KeptMoments, alpha: float, rows_per_column: float) -> None:
        heading = source.heading
        self._source = source
        self._rows = heading.rows
        self._rules = MomentRules(thresholds(alpha), alpha, rows_per_column)
        self._leading = np.where(heading.is_number, np.minimum(heading.widths, 1), heading.widths).astype(np.int64)
        self._widths = heading.widths
        self._is_category = ~heading.is_number
        self._is_complete = heading.missing == 0
        complete = np.flatnonzero(self._is_complete)
        self._has_matrix = source.has_matrix
        self._complete: list[int] = complete.tolist()
        self._block = np.full(len(heading.names), -1, np.int64)
        self._block[complete] = np.arange(len(complete))

    @cached_property
    def _matrix(self) -> MomentsHandle:
        return self._matrix_of(self._complete)

    def between(self, places: Sequence[int]) -> tuple[float, int] | None:
        """Return the part of a test's statistic that the means of groups have, and how many groups there are.

        The places are x, y and what is given. It is None where rows are independent.
        """
        if not self._source.roles.get("groups"):
            return None
        is_there = self._has_matrix and self._are_complete(places)
        matrix, blocks = self._blocks(places) if is_there else (self._matrix_of(places), list(range(len(places))))
        level = matrix.between
        if level is None:
            return None
        found = level.run_tests(np.array([0, len(blocks)], np.int64), np.array(blocks, np.int64))
        statistic = float(found.statistics[0]) if found.decisions[0] != UNRELIABLE else 0.0
        return statistic, self._source.levels(places).groups

    def _matrix_of(self, places: Sequence[int]) -> MomentsHandle:
        """Return the matrix of some columns, ready for tests; they are complete unless rows are in groups."""
        if self._source.has_levels:
            return levels_handle(self._source.levels(places), self._rules, self._leading[list(places)])
        starts = np.array([0, *accumulate(self._widths[list(places)].tolist())], np.int64)
        leading, categories = self._leading[list(places)], self._is_category[list(places)]
        return MomentsHandle(
            self._source.covariance(places), starts, self._rows, self._rules, leading=leading, categories=categories
        )

    def _blocks(self, places: Sequence[int]) -> tuple[MomentsHandle, list[int]]:
        """Return a matrix with some complete columns, and the blocks that they are in it."""
        if self._has_matrix:
            return self._matrix, self._block[list(places)].tolist()
        listed = sorted(set(places))
        number = {place: at for at, place in enumerate(listed)}
        return self._matrix_of(listed), [number[place] for place in places]

    def _are_complete(self, places: Sequence[int]) -> bool:
        return bool(self._is_complete[list(places)].all())

    # --- tests -------------------------------------------------------------------------------------------------------

    def test(self, tests: Sequence[Sequence[int]]) -> MomentTests:
        """Carry out a batch of tests, each the places of x, y and what is given."""
        from_matrix = [self._has_matrix and self._are_complete(test) for test in tests]
        found = _empty(len(tests))
        for is_there, run in ((True, self._test_blocks), (False, self._test_rows)):
            chosen = [at for at, one in enumerate(from_matrix) if one == is_there]
            if chosen:
                for whole, part in zip(found, run([tests[at] for at in chosen]), strict=True):
                    whole[chosen] = part
        return found

    def _test_blocks(self, tests: Sequence[Sequence[int]]) -> MomentTests:
        starts = np.array([0, *accumulate(map(len, tests))], np.int64)
        tested = self._matrix.run_tests(starts, self._block[[*chain.from_iterable(tests)]])
        rows = np.full(len(tests), self._rows)
        return MomentTests(tested.decisions.astype(np.int64), tested.statistics, tested.dofs, tested.ranks, rows)

    def _test_levels(self, tests: Sequence[Sequence[int]]) -> MomentTests:
        """Test inside groups and between them, each on the rows that are complete in the test."""
        found = _empty(len(tests))
        for at, test in enumerate(tests):
            check()
            levels = self._source.levels(test)
            if levels.rows < 1:
                found.decisions[at] = UNRELIABLE
                continue
            matrix = levels_handle(levels, self._rules, self._leading[list(test)])
            tested = matrix.run_tests(np.array([0, len(test)], np.int64), np.arange(len(test), dtype=np.int64))
            found.decisions[at], found.statistics[at] = tested.decisions[0], tested.statistics[0]
            found.dofs[at], found.ranks[at], found.rows[at] = tested.dofs[0], tested.ranks[0], round(levels.rows)
        return found

    def _test_rows(self, tests: Sequence[Sequence[int]]) -> MomentTests:
        if self._source.has_levels:
            return self._test_levels(tests)
        is_constant = (self._leading[[test[:2] for test in tests]] == 0).any(axis=1)
        return self._decide(self._source.test_rows([tuple(test) for test in tests]), is_constant)

    def _decide(self, tested: RowTests, is_constant: npt.NDArray[np.bool_]) -> MomentTests:
        """Decide as the kernel does: both corrections, then the critical value or p."""
        ratios, x_ranks, y_ranks, ranks, rows, inflations, joint_rates, products = tested
        dofs = x_ranks * y_ranks
        used = 1 + ranks + x_ranks + y_ranks
        scale = rows - (1 + ranks) - 0.5 * (x_ranks + y_ranks + 1)
        is_tested = (dofs > 0) & (rows > used) & (rows >= self._rules.rows_per_column * used)
        is_tested &= rows * joint_rates >= self._rules.joint_rows
        statistics = np.where(is_tested, np.maximum(scale * ratios / inflations, 0.0), 0.0)
        is_dependent = self._are_dependent(statistics, dofs)
        by_products = np.maximum(statistics + scale * products / inflations, 0.0)
        decided = np.where(is_dependent, DEPENDENT, INDEPENDENT)
        decided[is_dependent & ~self._are_dependent(by_products, dofs)] = UNRELIABLE
        # A column with few values may only seem constant, so that rows with both are needed for a constant too.
        least = 1 + ranks + np.maximum(x_ranks, 1) + np.maximum(y_ranks, 1)
        of_constant = np.where(rows >= self._rules.rows_per_column * least, INDEPENDENT, UNRELIABLE)
        decisions = np.where(is_constant, of_constant, np.where(is_tested, decided, UNRELIABLE))
        return MomentTests(decisions, statistics, np.where(is_tested, dofs, 0), ranks, rows)

    def _are_dependent(self, statistics: Floats, dofs: Integers) -> npt.NDArray[np.bool_]:
        are_dependent: npt.NDArray[np.bool_] = statistics >= self._rules.thresholds[np.minimum(dofs, TABLED_DOFS - 1)]
        beyond = dofs >= TABLED_DOFS
        if beyond.any():
            are_dependent[beyond] = tails(statistics[beyond], dofs[beyond]).p <= self._rules.alpha
        return are_dependent

    def sweep(self, x: int) -> SweptArrays:
        """Test x against each other column."""
        others = all_but(len(self._block), x)
        found = self.test([(x, other) for other in others.tolist()])
        return SweptArrays(others, found.statistics, found.dofs, found.rows, found.decisions.astype(np.int8))

    # --- searches ----------------------------------------------------------------------------------------------------

    def search(self, places: Sequence[int], fixed: int, most: int) -> SearchOutcome:
        """Search the subsets of a pool for a separator; the places are x, y, the fixed columns and the pool."""
        if not self._are_complete(places):
            return self._search_rows(places, fixed, most)
        matrix, blocks = self._blocks(places)
        found = heeding_if_long(lambda stop: matrix.search(blocks, fixed, most, stop), _SHORT)
        assert found is not None  # noqa: S101 - a search that was stopped has raised
        return SearchOutcome(*found[:3], self._rows, found.tests, found.chosen, found.rank)

    def _search_rows(self, places: Sequence[int], fixed: int, most: int) -> SearchOutcome:
        ends, always, pool = places[:2], places[2 : 2 + fixed], places[2 + fixed :]
        weakest = SearchOutcome(UNRELIABLE, 0.0, 0, self._rows, 0, [])
        tests = 0
        for subsets in _batches(len(pool), most):
            check()
            found = self.test([(*ends, *always, *(pool[at] for at in subset)) for subset in subsets])
            figures = zip(*(array.tolist() for array in found), strict=True)
            for subset, (decision, statistic, dof, rank, rows) in zip(subsets, figures, strict=True):
                tests += 1
                one = SearchOutcome(decision, statistic, dof, rows, tests, [*subset], rank)
                if decision == INDEPENDENT:
                    return one
                if decision == DEPENDENT and (
                    weakest.decision == UNRELIABLE or is_weaker(statistic, dof, weakest.statistic, weakest.dof)
                ):
                    weakest = one
        return weakest._replace(tests=tests)

    def eliminate(self, x: int, swept: SweptArrays, ranking: Integers, most: int) -> EliminationOutcome:
        """Add the columns of a sweep in the order of a ranking; after each, test those added before again."""
        ranked: list[int] = swept.columns[ranking].tolist()
        if not self._are_complete([x, *ranked]):
            return interleave(self, x, swept, ranking, most)
        matrix, (block, *blocks) = self._blocks([x, *ranked])
        found = BlockTests(
            swept.decisions[ranking], swept.statistics[ranking], swept.dofs[ranking], np.zeros(len(ranking), np.int64)
        )
        candidates = np.array(blocks, np.int64)
        done = heeding_if_long(lambda stop: matrix.eliminate(block, candidates, found, most, stop), _SHORT)
        assert done is not None  # noqa: S101 - an elimination that was stopped has raised
        outcomes = done.outcomes.copy()
        outcomes[:, ROWS_MET] = self._rows
        place_of = np.zeros(matrix.blocks, np.int64)
        place_of[[block, *blocks]] = [x, *ranked]
        return EliminationOutcome(
            done.members.tolist(),
            np.flatnonzero(outcomes[:, STATE] == INDEPENDENT).tolist(),
            outcomes,
            place_of[done.given],
            done.statistics,
            done.tests,
            done.outcomes[:, ROWS_MET].copy(),  # where the kernel has the ranks
        )

    def prepare_entry(self, x: int, members: Sequence[int], waiting: Sequence[int]) -> None:
        """Prepare nothing for the entry of a candidate."""


def levels_handle(levels: Levels, rules: MomentRules, leading: Integers) -> MomentsHandle:
    """Return the levels of columns ready for tests, whose statistics and degrees of freedom are added."""
    inside, between = levels.inside, levels.between
    starts = np.array([0, *accumulate(inside.widths.tolist())], np.int64)
    handle = MomentsHandle(inside.matrix, starts, inside.rows, rules, leading=leading)
    if between is not None:
        starts = np.array([0, *accumulate(between.widths.tolist())], np.int64)
        fewer = rules._replace(rows_per_column=min(rules.rows_per_column, _GROUPS_PER_COLUMN))
        handle.add_level(MomentsHandle(between.matrix, starts, between.rows, fewer))
    return handle


def _empty(count: int) -> MomentTests:
    whole = (np.zeros(count, np.int64) for _ in range(4))
    decisions, dofs, ranks, rows = whole
    return MomentTests(decisions, np.zeros(count), dofs, ranks, rows)


def _batches(pool: int, most: int) -> Iterator[list[tuple[int, ...]]]:
    """Enumerate the subsets of a pool, small ones first, some at a time."""
    subsets = chain.from_iterable(combinations(range(pool), size) for size in range(most + 1))
    while batch := list(islice(subsets, _AT_ONCE)):
        yield batch


#: The fewest rows of a test for each embedded column in it.
ROWS_PER_COLUMN = 5.0


class MomentOracle(ColumnOracle):
    """An oracle on a table with numbers; a test is independent when p > alpha.

    A test with fewer than five rows for each embedded column in it is unreliable and has no figures, and so is one
    without degrees of freedom. Rows with a missing value in one of a test's columns are left out of that test.
    """

    name = "moments"
    symbol = "LR"

    def __init__(
        self,
        source: KeptMoments,
        *,
        alpha: float = 0.01,
        data: Dataset | None = None,
        name: str = name,
    ) -> None:
        if not 0.0 < alpha < 1.0:
            message = f"{named('alpha')} is {alpha!r} but must lie between 0 and 1, ends excluded; 0.01 is usual"
            raise InvalidArgumentError(message, argument="alpha")
        self.name = name
        self.source = source
        self.data = source if data is None else data
        self.embedding = source.embedding
        heading = source.heading
        super().__init__(
            heading.names,
            heading.place,
            threads=1,
            memory=source.memory,
            measure=(MomentOracle, name, alpha, source.embedding),
        )
        self.tester: MomentTester = MomentTester(source, alpha, ROWS_PER_COLUMN)
        self.verdicts_of = ColumnVerdicts(
            self.nodes,
            heading.place,
            self.symbol,
            lambda _places: heading.rows,
            has_ranks=True,
            # kept sweeps have it, and must not keep a table open that has no groups
            between=self.tester.between if source.roles.get("groups") else None,
        )

    def run_tests(self, tests: Sequence[Sequence[int]]) -> Sequence[Outcome]:
        """Carry out a batch of tests, each the places of x, y and what is given."""
        found = self.tester.test(tests)
        figures = zip(*(array.tolist() for array in found), strict=True)
        return [Outcome(decision, statistic, dof, rows, rank) for decision, statistic, dof, rank, rows in figures]
