"""Fisher's z test of partial correlation, for columns of numbers that are jointly about normal."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import atanh, log, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from apsl_backends.independence.sweeps import ArraySweep, SweptArrays, name_ranks_of
from apsl_backends.kernels.fields import DEPENDENT, INDEPENDENT, UNRELIABLE
from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.evidence import Verdict
from apsl_rules.names import Node, listing, require_known
from apsl_rules.oracles import BaseOracle

_NOTHING_LEFT = 1e-9
_NEARLY_ONE = 1.0 - 1e-15
_MOST_TURNED = 256
_DECIMALS = 12  # what is beyond depends on the order in which the machine sums


class FisherZ(BaseOracle):
    """Tests whether what the given columns leave of x and of y is correlated.

    What is left is computed by projection on an orthonormal basis of the given columns, with directions that are
    duplicates left out, so that near-singular correlations do no harm. Where nothing is left of x or y (it is
    constant, or a combination of the given columns) they are independent.
    """

    name = "fisherz"

    def __init__(self, matrix: npt.NDArray[np.float64], names: Sequence[Node], *, alpha: float = 0.01) -> None:
        from scipy.special import log_ndtr

        if not 0.0 < alpha < 1.0:
            message = f"alpha is {alpha!r}; give a number between 0 and 1, such as 0.01"
            raise InvalidArgumentError(message)
        self.nodes = tuple(names)
        self.rows = len(matrix)
        self._alpha = alpha
        self._log_tail = log_ndtr
        self._place = {node: place for place, node in enumerate(self.nodes)}
        self._columns = _standardize(matrix, self.nodes)

    def verdict(self, x: Node, y: Node, given: Sequence[Node] = ()) -> Verdict:
        """Test x against y given other columns."""
        places = [self._find(node) for node in (x, y, *given)]
        if len(set(places)) < len(places):
            message = f"cannot test {x!r} against {y!r} given {tuple(given)!r}: all of these must differ"
            raise InvalidArgumentError(message)
        ends = self._columns[:, places[:2]]
        if given:
            basis = _basis(self._columns[:, places[2:]])
            ends = ends - basis @ (basis.T @ ends)
        norms = np.sqrt((ends**2).sum(axis=0))
        left = norms.min() > _NOTHING_LEFT
        correlation = float(ends[:, 0] @ ends[:, 1] / norms.prod()) if left else 0.0
        if self.rows - len(given) - 3 <= 0:
            return Verdict(x, y, tuple(given), "unreliable", "z", n=self.rows)
        bounded = max(-_NEARLY_ONE, min(_NEARLY_ONE, round(correlation, _DECIMALS)))
        return self._decide(x, y, tuple(given), sqrt(self.rows - len(given) - 3) * abs(atanh(bounded)))

    def associations(self, x: Node) -> ArraySweep:
        """Test x against every other column, all correlations in one product."""
        place = self._find(x)
        others = np.delete(np.arange(len(self.nodes)), place)
        correlations = (self._columns.T @ self._columns[:, place])[others].round(_DECIMALS)
        free = self.rows - 3
        statistics = sqrt(max(free, 0)) * np.abs(np.arctanh(np.clip(correlations, -_NEARLY_ONE, _NEARLY_ONE)))
        decisions = np.where(np.exp(self._log_p(statistics)) > self._alpha, INDEPENDENT, DEPENDENT).astype(np.int8)
        if free <= 0:
            decisions[:] = UNRELIABLE

        def verdict_at(at: int) -> Verdict:
            y = self.nodes[others[at]]
            if free <= 0:
                return Verdict(x, y, (), "unreliable", "z", n=self.rows)
            return self._decide(x, y, (), float(statistics[at]))

        no_dof = np.zeros(len(others), np.int64)
        return ArraySweep(
            x,
            SweptArrays(others, statistics, no_dof, np.full(len(others), self.rows), decisions),
            place_of=self._find,
            name_ranks=self._name_ranks,
            verdict_at=verdict_at,
            log_p=lambda: self._log_p(statistics),
        )

    @cached_property
    def _name_ranks(self) -> npt.NDArray[np.int64]:
        return name_ranks_of(self.nodes)

    def _find(self, node: Node) -> int:
        require_known(node, self._place, "node")
        return self._place[node]

    def _log_p(self, statistics: Any) -> Any:
        return np.minimum(self._log_tail(-statistics) + log(2.0), 0.0)

    def _decide(self, x: Node, y: Node, given: tuple[Node, ...], statistic: float) -> Verdict:
        log_p = float(self._log_p(np.float64(statistic)))
        p = float(np.exp(log_p))
        return Verdict(
            x, y, given, "independent" if p > self._alpha else "dependent", "z", statistic, p, None, self.rows, log_p
        )


def _standardize(matrix: npt.NDArray[np.float64], names: Sequence[Node]) -> npt.NDArray[np.float64]:
    """Centre columns and give them length 1, or 0 where they are constant; turn long ones into short ones.

    Only lengths and angles matter, and the triangular factor of many rows has those of its columns.
    """
    if not len(matrix):
        message = "the table has no rows, so nothing can be correlated; give a table with rows"
        raise DataError(message)
    finite = np.isfinite(matrix)
    if not finite.all():
        wrong = [name for place, name in enumerate(names) if not finite[:, place].all()]
        message = f"columns {listing(wrong)} have values that are missing or not finite; drop or fill these rows first"
        raise DataError(message)
    size = np.abs(matrix).max(axis=0, initial=0.0)
    scaled = matrix / np.where(size > 0, size, 1.0)
    centred = scaled - scaled.mean(axis=0)
    norms = np.sqrt((centred**2).sum(axis=0))
    varied = norms > _NOTHING_LEFT * sqrt(len(matrix))
    columns = np.asfortranarray(np.where(varied, centred / np.where(varied, norms, 1.0), 0.0))
    if columns.shape[1] <= _MOST_TURNED and len(columns) > 2 * columns.shape[1]:
        return np.asfortranarray(np.linalg.qr(columns, mode="r"))
    return columns


def _basis(columns: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return an orthonormal basis of what columns span, without directions that hardly exist."""
    left, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return left[:, sizes > _NOTHING_LEFT * max(float(sizes.max(initial=0.0)), 1.0)]
