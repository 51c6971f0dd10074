"""Verdicts from counts: what G² and χ² have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from apsl_backends.independence._count_statistics import Degrees
from apsl_backends.independence.column_oracle import ColumnOracle
from apsl_backends.independence.column_verdicts import ColumnVerdicts, Outcome
from apsl_backends.kernels.library import DOF, ROWS
from apsl_rules.data import Table
from apsl_rules.data.counts import CachedCounts, Heading
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.names import Node, listing, nearest
from apsl_rules.oracles import Search

if TYPE_CHECKING:
    from apsl_backends.independence.count_tester import CountTester
    from apsl_backends.independence.table_tester import Tester

Reliability = Literal["five-per-cell", "none"]

_DEGREES = ("adjusted", "full")
_ROWS_PER_CELL = {"five-per-cell": 5.0, "none": 0.0}


class CountOracle(ColumnOracle):
    """An oracle on a table of discrete columns; compiled kernels count and compare with critical values.

    The table is in memory, or its counts come from elsewhere, batch by batch, and give the same verdicts.

    A test is independent when p > alpha. Under ``reliability="five-per-cell"`` a test with less than five rows
    for each cell of its whole table is unreliable and has no figures. So is a test without degrees of freedom, in
    which one of the two never varies where the others are the same: nothing was compared. A column that never varies at
    all is independent of every other. Rows with a missing value in one of a test's columns are left out of that test.
    """

    kind: ClassVar[int]
    symbol: ClassVar[str]

    def __init__(
        self,
        table: Table | CachedCounts,
        *,
        alpha: float = 0.01,
        dof: Degrees = "adjusted",
        reliability: Reliability = "five-per-cell",
        threads: int = 1,
    ) -> None:
        _check(alpha, dof, reliability, threads)
        from apsl_backends.counting.memory import MemoryCounts
        from apsl_backends.independence.count_tester import CountTester
        from apsl_backends.independence.table_tester import Tester, measure_of

        self.data = table
        heading: Table | Heading = table if isinstance(table, Table) else table.heading
        self.source = MemoryCounts(table, threads) if isinstance(table, Table) else table
        measure = measure_of(
            heading, kind=self.kind, alpha=alpha, full_dof=dof == "full", rows_per_cell=_ROWS_PER_CELL[reliability]
        )
        super().__init__(
            heading.names,
            heading.place,
            threads=threads if isinstance(table, Table) else 1,
            answers=table.answers if isinstance(table, Table) else {},
            measure=measure,
        )
        self.tester: Tester | CountTester = (
            Tester(self.source, measure) if isinstance(self.source, MemoryCounts) else CountTester(self.source, measure)
        )
        rows_used: Callable[[Sequence[int]], int] = self.source.rows_used
        self.verdicts_of = ColumnVerdicts(self.nodes, heading.place, self.symbol, rows_used)

    def run_tests(self, tests: Sequence[Sequence[int]]) -> Sequence[Outcome]:
        """Carry out a batch of tests, each the places of x, y and what is given."""
        tested = self.tester.test(tests)
        return [
            Outcome(decision, statistic, sums[DOF], sums[ROWS])
            for sums, statistic, decision in zip(*(array.tolist() for array in tested), strict=True)
        ]

    def foresee(self, searches: Sequence[Search] = (), sweeps: Sequence[Node] = ()) -> None:
        """Count in one round what later searches and sweeps may need, if the rows are not in memory."""
        if isinstance(self.data, CachedCounts):
            planned = [plan for search in searches if (plan := self.plan(search)) is not None]
            self.tester.foresee(planned, self.places(sweeps))


def _check(alpha: float, dof: str, reliability: str, threads: int) -> None:
    if not 0.0 < alpha < 1.0:
        message = f"alpha is {alpha!r} but must lie between 0 and 1, ends excluded; 0.01 is usual"
        raise InvalidArgumentError(message, argument="alpha")
    for name, value, allowed in (("dof", dof, _DEGREES), ("reliability", reliability, tuple(_ROWS_PER_CELL))):
        if value not in allowed:
            message = f"{name} is {value!r} but must be one of {listing(allowed)}{nearest(str(value), allowed)}"
            raise InvalidArgumentError(message, argument=name)
    if threads < 1:
        message = f"threads is {threads!r} but must be at least 1"
        raise InvalidArgumentError(message, argument="threads")
