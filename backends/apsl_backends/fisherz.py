"""Fisher's z test of partial correlation, for columns of numbers that are jointly about normal."""

from __future__ import annotations

from collections.abc import Sequence
from math import atanh, sqrt

import numpy as np
import numpy.typing as npt

from apsl_rules.errors import InvalidArgumentError
from apsl_rules.names import Node, require_known
from apsl_rules.oracle import BaseOracle, Sweep, Verdict

_NOTHING_LEFT = 1e-9
_NEARLY_ONE = 1.0 - 1e-15


class FisherZ(BaseOracle):
    """Tests whether what the given columns leave of x and of y is correlated.

    What is left is computed by projection on an orthonormal basis of the given columns, with directions that are
    copies of others left out, so that near-singular correlations do no harm. Where nothing is left of x or y (it is
    constant, or a combination of the given columns) they are independent.
    """

    name = "fisherz"

    def __init__(self, matrix: npt.NDArray[np.float64], names: Sequence[Node], *, alpha: float = 0.01) -> None:
        from scipy.special import log_ndtr

        if not 0.0 < alpha < 1.0:
            message = f"alpha is {alpha!r}; give a number between 0 and 1, such as 0.01"
            raise InvalidArgumentError(message)
        self.nodes = tuple(names)
        self._alpha = alpha
        self._log_tail = log_ndtr
        self._place = {node: place for place, node in enumerate(self.nodes)}
        centred = np.asfortranarray(matrix - matrix.mean(axis=0))
        size = np.abs(matrix).max(axis=0, initial=0.0)
        norms = np.sqrt((centred**2).sum(axis=0))
        varied = norms > _NOTHING_LEFT * sqrt(len(matrix)) * np.maximum(size, np.finfo(np.float64).tiny)
        self._columns = np.where(varied, centred / np.where(varied, norms, 1.0), 0.0)

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
        return self._judge(x, y, tuple(given), float(ends[:, 0] @ ends[:, 1] / norms.prod()) if left else 0.0)

    def associations(self, x: Node) -> Sweep:
        """Test x against every other column, all correlations in one product."""
        place = self._find(x)
        correlations = (self._columns.T @ self._columns[:, place]).tolist()
        return Sweep(x, [self._judge(x, y, (), correlations[at]) for at, y in enumerate(self.nodes) if at != place])

    def _find(self, node: Node) -> int:
        require_known(node, self._place, "node")
        return self._place[node]

    def _judge(self, x: Node, y: Node, given: tuple[Node, ...], correlation: float) -> Verdict:
        rows = len(self._columns)
        free = rows - len(given) - 3
        if free <= 0:
            return Verdict(x, y, given, "unreliable", "z", n=rows)
        bounded = max(-_NEARLY_ONE, min(_NEARLY_ONE, correlation))
        statistic = sqrt(free) * abs(atanh(bounded))
        log_p = min(0.0, float(self._log_tail(-statistic)) + float(np.log(2.0)))
        p = float(np.exp(log_p))
        return Verdict(
            x, y, given, "independent" if p > self._alpha else "dependent", "z", statistic, p, None, rows, log_p
        )


def _basis(columns: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Give an orthonormal basis of what columns span, without directions that hardly exist."""
    left, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return left[:, sizes > _NOTHING_LEFT * max(float(sizes.max(initial=0.0)), 1.0)]
