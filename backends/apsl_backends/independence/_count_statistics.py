"""The statistics of a given table of counts in plain numpy."""

from __future__ import annotations

from typing import Literal

import attrs
import numpy as np
import numpy.typing as npt

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
