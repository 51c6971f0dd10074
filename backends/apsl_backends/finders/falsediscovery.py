"""Benjamini and Hochberg (1995): a cut through many p-values that bounds the share of false discoveries.

With p columns, alpha times p of those that have nothing to do with the target pass a test by chance. The cut is taken
on logarithms, since the p-values of real neighbours lie far below the smallest float.
"""

from __future__ import annotations

from math import log

import numpy as np
import numpy.typing as npt


def discoveries(log_p: npt.NDArray[np.float64], share: float, *, tested: int | None = None) -> npt.NDArray[np.bool_]:
    """Mark the discoveries among hypotheses, of which ``tested`` were tried in all (those not given had p = 1).

    NaN stands for a test that could not be made and is no discovery.

    >>> discoveries(np.log([0.001, 0.2, 0.012, 0.9]), 0.05).tolist()
    [True, False, True, False]
    """
    tried = len(log_p) if tested is None else tested
    values = np.where(np.isnan(log_p), 0.0, log_p)
    order = np.argsort(values, kind="stable")
    limits = np.log(np.arange(1, len(values) + 1)) + log(share) - log(max(tried, 1))
    under = np.flatnonzero(values[order] <= limits)
    found = np.zeros(len(values), dtype=np.bool_)
    if under.size:
        found[order[: under[-1] + 1]] = True
    return found
