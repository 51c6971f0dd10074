"""Tests on a table of categories by G² and χ², and the symmetrical uncertainty of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

import attrs
import numpy as np
import numpy.typing as npt

from apsl_backends.independence.column_oracle import ColumnOracle, ColumnVerdicts, Outcome
from apsl_backends.kernels.library import CHI_SQUARE, DOF, G_SQUARE, JOINT, OF_ALL, OF_X, OF_Y, ROWS
from apsl_rules.data import CountedDataset
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.memory import DatasetMemory
from apsl_rules.names import Node, listing, nearest, require_known
from apsl_rules.notes import named
from apsl_rules.oracles import Search

if TYPE_CHECKING:
    from apsl_backends.independence.table_tester import CountTester, Tester

Floats = npt.NDArray[np.float64]
Statistic = Literal["gsquare", "chisquare"]
Degrees = Literal["adjusted", "full"]


@attrs.frozen
class Figures:
    """A statistic with its degrees of freedom and the number of rows behind it."""

    statistic: float
    dof: int
    n: int


def statistic_of(
    counts: npt.NDArray[np.int64], *, statistic: Statistic = "gsquare", dof: Degrees = "adjusted"
) -> Figures:
    """Compute G² or Pearson's χ² of a table whose axes are x, y and the given columns.

    >>> statistic_of(np.array([[10, 20], [30, 5]]))
    Figures(statistic=19.717..., dof=1, n=65)
    """
    strata = counts.reshape(counts.shape[0], counts.shape[1], -1).astype(np.float64)
    of_x = strata.sum(axis=1, keepdims=True)
    of_y = strata.sum(axis=0, keepdims=True)
    of_all = strata.sum(axis=(0, 1), keepdims=True)
    expected = of_x * of_y / np.maximum(of_all, 1.0)
    if statistic == "gsquare":
        seen = strata > 0
        value = 2.0 * float((strata[seen] * np.log(strata[seen] / expected[seen])).sum())
    else:
        possible = expected > 0
        value = float(((strata[possible] - expected[possible]) ** 2 / expected[possible]).sum())
    if dof == "full":
        degrees = (counts.shape[0] - 1) * (counts.shape[1] - 1) * strata.shape[2]
    else:
        levels_x = np.maximum((of_x > 0).sum(axis=0).ravel() - 1, 0)
        levels_y = np.maximum((of_y > 0).sum(axis=1).ravel() - 1, 0)
        degrees = int((levels_x * levels_y).sum())
    return Figures(max(value, 0.0) if degrees else 0.0, degrees, int(counts.sum()))


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
        table: CountedDataset,
        *,
        alpha: float = 0.01,
        dof: Degrees = "adjusted",
        reliability: Reliability = "five-per-cell",
        threads: int = 1,
    ) -> None:
        _check(alpha, dof, reliability, threads)
        from apsl_backends.independence.table_tester import measure_of, tester_for

        self.data: CountedDataset = table
        is_here = "rows" in table.can
        measure = measure_of(
            table.heading,
            kind=self.kind,
            alpha=alpha,
            full_dof=dof == "full",
            rows_per_cell=_ROWS_PER_CELL[reliability],
        )
        super().__init__(
            table.names,
            table.place,
            threads=threads if is_here else 1,
            memory=table.memory if is_here else DatasetMemory(),
            measure=measure,
        )
        self.tester: Tester | CountTester = tester_for(table, measure, threads)
        self.verdicts_of = ColumnVerdicts(self.nodes, table.place, self.symbol, table.rows_used)

    def run_tests(self, tests: Sequence[Sequence[int]]) -> Sequence[Outcome]:
        """Carry out a batch of tests, each the places of x, y and what is given."""
        tested = self.tester.test(tests)
        return [
            Outcome(decision, statistic, sums[DOF], sums[ROWS])
            for sums, statistic, decision in zip(*(array.tolist() for array in tested), strict=True)
        ]

    def foresee(self, searches: Sequence[Search] = (), sweeps: Sequence[Node] = ()) -> None:
        """Count in one round what later searches and sweeps may need, if the rows are not in memory."""
        if "rows" not in self.data.can:
            planned = [plan for search in searches if (plan := self.plan(search)) is not None]
            self.tester.foresee(planned, self.places(sweeps))


def _check(alpha: float, dof: str, reliability: str, threads: int) -> None:
    if not 0.0 < alpha < 1.0:
        message = f"{named('alpha')} is {alpha!r} but must lie between 0 and 1, ends excluded; 0.01 is usual"
        raise InvalidArgumentError(message, argument="alpha")
    for name, value, allowed in (("dof", dof, _DEGREES), ("reliability", reliability, tuple(_ROWS_PER_CELL))):
        if value not in allowed:
            message = f"{named(name)} is {value!r} but must be one of {listing(allowed)}{nearest(str(value), allowed)}"
            raise InvalidArgumentError(message, argument=name)
    if threads < 1:
        message = f"{named('threads')} is {threads!r} but must be at least 1"
        raise InvalidArgumentError(message, argument="threads")


class GSquare(CountOracle):
    """Test independence by the likelihood ratio G² = 2 Σ O ln(O/E)."""

    name = "gsquare"
    symbol = "G²"
    kind = G_SQUARE


class ChiSquare(CountOracle):
    """Test independence by Pearson's χ² = Σ (O − E)² / E."""

    name = "chisquare"
    symbol = "χ²"
    kind = CHI_SQUARE


class SymmetricalUncertainty:
    """SU(x; y) = 2·I(x; y) / (H(x) + H(y)), in [0, 1]; 0 where both columns are constant.

    With n·ln(n) summed over the cells of a table (J), over its margins (X, Y) and for all rows (A), the information is
    (J - X - Y + A) / N and the entropies are (A - X) / N and (A - Y) / N. The sums are integers, so neither the order
    of the arguments nor that of levels or threads can change a figure.
    """

    def __init__(self, table: CountedDataset, *, threads: int = 1) -> None:
        from apsl_backends.independence.table_tester import measure_of, tester_for

        self.heading = table.heading
        self._tester = tester_for(table, measure_of(table.heading), threads)
        self._scale = self._tester.measure.scale
        self._pairs: dict[tuple[int, int], float] = {}

    def against_all(self, x: Node) -> Floats:
        """Measure x against every column in one sweep; its own entry is 1, or 0 if it is constant."""
        place = self._place(x)
        found = _uncertainty(self._tester.test_against_all(place).sums)
        found[place] = float(found[place] > 0)
        return found

    def pair(self, x: Node, y: Node) -> float:
        """Measure one pair, once."""
        return self.pairs(x, [y])[0]

    def pairs(self, x: Node, others: Sequence[Node]) -> list[float]:
        """Measure x against some others, each pair once; those not yet measured in one round."""
        one = self._place(x)
        asked = [(min(one, place), max(one, place)) for place in map(self._place, others)]
        new = [pair for pair in dict.fromkeys(asked) if pair not in self._pairs]
        if new:
            self._pairs.update(zip(new, _uncertainty(self._tester.test(new).sums).tolist(), strict=True))
        return [self._pairs[pair] for pair in asked]

    def information(self, x: Node, y: Node) -> float:
        """Return the mutual information of a pair, in nats."""
        sums = self._tester.test([(self._place(x), self._place(y))]).sums[0]
        rows = max(int(sums[ROWS]), 1)
        return float(sums[JOINT] - sums[OF_X] - sums[OF_Y] + sums[OF_ALL]) / self._scale / rows

    def _place(self, node: Node) -> int:
        require_known(node, self.heading.place, "node")
        return self.heading.place[node]


def _uncertainty(sums: npt.NDArray[np.int64]) -> Floats:
    """Return the uncertainties of tables from their sums."""
    joint, of_x, of_y, of_all = (sums[:, field] for field in (JOINT, OF_X, OF_Y, OF_ALL))
    information = np.maximum(joint - of_x - of_y + of_all, 0).astype(np.float64)
    entropies = (of_all - of_x + of_all - of_y).astype(np.float64)
    found: Floats = np.divide(2.0 * information, entropies, out=np.zeros(len(sums)), where=entropies > 0)
    return found
