"""Mutual information and symmetrical uncertainty of columns, from the same counts as the tests.

With n·ln(n) summed over the cells of a table (J), over its margins (X, Y) and for all rows (A), the information is
(J - X - Y + A) / N and the entropies are (A - X) / N and (A - Y) / N. The sums are integers, so neither the order of
the arguments nor that of levels or threads can change a figure.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from apsl_backends.kernels.library import JOINT, OF_ALL, OF_X, OF_Y, ROWS
from apsl_rules.data import Table
from apsl_rules.data.counts import CachedCounts, Heading
from apsl_rules.names import Node, require_known

Figures = npt.NDArray[np.float64]


class SymmetricalUncertainty:
    """SU(x; y) = 2·I(x; y) / (H(x) + H(y)), in [0, 1]; 0 where both columns are constant."""

    def __init__(self, table: Table | CachedCounts, *, threads: int = 1) -> None:
        from apsl_backends.counting.memory import MemoryCounts
        from apsl_backends.independence.table_tester import CountTester, Tester, measure_of

        self.heading: Table | Heading = table if isinstance(table, Table) else table.heading
        measure = measure_of(self.heading)
        self._tester: Tester | CountTester = (
            Tester(MemoryCounts(table, threads), measure) if isinstance(table, Table) else CountTester(table, measure)
        )
        self._scale = self._tester.measure.scale
        self._pairs: dict[tuple[int, int], float] = {}

    def against_all(self, x: Node) -> Figures:
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


def _uncertainty(sums: npt.NDArray[np.int64]) -> Figures:
    """Return the uncertainties of tables from their sums."""
    joint, of_x, of_y, of_all = (sums[:, field] for field in (JOINT, OF_X, OF_Y, OF_ALL))
    information = np.maximum(joint - of_x - of_y + of_all, 0).astype(np.float64)
    entropies = (of_all - of_x + of_all - of_y).astype(np.float64)
    found: Figures = np.divide(2.0 * information, entropies, out=np.zeros(len(sums)), where=entropies > 0)
    return found
