"""How curved the relations between numbers are, along the edges of a graph.

The curvature of an edge between two numbers is how much the logarithm of the variance that one leaves of the other
falls when its square is given too, in the direction in which it falls more. The fall times the rows is the statistic of
a test, so noise makes it 1/n on average, and the larger of two about 1.5/n.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import accumulate
from math import inf, log, sqrt

import numpy as np

from apsl_backends.kernels.border import Floats, Integers, MomentRules, MomentsHandle, thresholds
from apsl_backends.kernels.library import DEPENDENT
from apsl_backends.moments import KeptMoments
from apsl_rules.names import Node

#: From this mean on, relations count as curved; how much noise a mean over few edges may have, in multiples of 1/n.
CURVED, _NOISE, _SPREAD = 0.005, 1.5, 3.0
#: The level at which a curved relation makes a candidate.
_STRICT = 0.001


def are_curved(matrix: Floats, starts: Integers, edges: Iterable[tuple[int, int]], rows: float) -> bool:
    """Return whether the relations between numbers that edges join are curved.

    ``matrix`` is the covariance of embedded columns; the first two columns of a number, from its start on, are its
    scores and their squares. Edges are pairs of places whose blocks have both.
    """
    falls = [max(_fall(matrix, starts, u, v), _fall(matrix, starts, v, u)) - _NOISE / rows for u, v in edges]
    if not falls:
        return False
    return sum(falls) / len(falls) - _SPREAD / (rows * sqrt(len(falls))) > CURVED


def _fall(matrix: Floats, starts: Integers, u: int, v: int) -> float:
    """Return how much ln of the variance of v given u falls when the square of u is given too."""
    z, h, y = int(starts[u]), int(starts[u]) + 1, int(starts[v])
    slope, shape = matrix[z, y] / matrix[z, z], matrix[z, h] / matrix[z, z]
    left = float(matrix[y, y] - slope * matrix[z, y])
    bend, common = float(matrix[h, h] - shape * matrix[z, h]), float(matrix[h, y] - shape * matrix[z, y])
    if left <= 0 or bend <= 0:
        return 0.0
    rest = left - common * common / bend
    return log(left / rest) if rest > 0 else inf


class CurvedRelations:
    """Finds relations with numbers that rise as much as they fall, which tests of normal scores miss.

    Numbers are tested together with their squares, at a strict level, if their columns are complete and the table is
    not too wide.
    """

    def __init__(self, source: KeptMoments) -> None:
        self._source = source
        heading = source.heading
        self._places: list[int] = np.flatnonzero(heading.missing == 0).tolist() if source.has_matrix else []

    @cached_property
    def _matrix(self) -> MomentsHandle:
        heading = self._source.heading
        widths = heading.widths[self._places]
        leading = np.where(heading.is_number[self._places], np.minimum(widths, 2), widths)
        starts = np.array([0, *accumulate(widths.tolist())], np.int64)
        rules = MomentRules(thresholds(_STRICT), _STRICT, rows_per_column=5.0)
        return MomentsHandle(self._source.covariance(self._places), starts, heading.rows, rules, leading=leading)

    def of(self, node: Node) -> tuple[Node, ...]:
        """Return the columns that depend on a node with nothing given, strongest first."""
        heading = self._source.heading
        place = heading.place[node]
        if place not in self._places:
            return ()
        block = self._places.index(place)
        others = [other for other in range(len(self._places)) if other != block]
        asked = np.array([(block, other) for other in others], np.int64).ravel()
        tested = self._matrix.run_tests(np.arange(0, len(asked) + 1, 2), asked)
        found = np.flatnonzero(tested.decisions == DEPENDENT)
        ranked = found[np.argsort(-tested.statistics[found], kind="stable")]
        return tuple(heading.names[self._places[others[at]]] for at in ranked.tolist())
