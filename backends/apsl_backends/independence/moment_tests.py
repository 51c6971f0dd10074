"""The likelihood-ratio test on moments, for tables with numbers.

Two columns are tested given others by how much the determinant of their covariance falls short of the product of
theirs: -n ln of Wilks' Λ, which for two numbers is the test of partial correlation. The given numbers have a cubic
basis, so that a curved relation with them does not look like dependence.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from apsl_backends.independence.column_oracle import ColumnOracle
from apsl_backends.independence.column_verdicts import ColumnVerdicts, Outcome
from apsl_backends.independence.moment_tester import MomentTester
from apsl_backends.moments import KeptMoments
from apsl_rules.errors import InvalidArgumentError

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
        data: object = None,
        answers: dict[Hashable, Any] | None = None,
        name: str = name,
    ) -> None:
        if not 0.0 < alpha < 1.0:
            message = f"alpha is {alpha!r} but must lie between 0 and 1, ends excluded; 0.01 is usual"
            raise InvalidArgumentError(message, argument="alpha")
        self.name = name
        self.source = source
        self.data = source if data is None else data
        heading = source.heading
        super().__init__(
            heading.names,
            heading.place,
            threads=1,
            answers={} if answers is None else answers,
            measure=(MomentOracle, name, alpha),
        )
        self.tester: MomentTester = MomentTester(source, alpha, ROWS_PER_COLUMN)
        self.verdicts_of = ColumnVerdicts(
            self.nodes, heading.place, self.symbol, lambda _places: heading.rows, has_ranks=True
        )

    def run_tests(self, tests: Sequence[Sequence[int]]) -> Sequence[Outcome]:
        """Carry out a batch of tests, each the places of x, y and what is given."""
        found = self.tester.test(tests)
        figures = zip(*(array.tolist() for array in found), strict=True)
        return [Outcome(decision, statistic, dof, rows, rank) for decision, statistic, dof, rank, rows in figures]
