"""The log priors of the levels of a column, for a prior that follows the observed shares.

With an empirical prior, the prior weight of a configuration is a product of shares, one for each column. A share is
rounded to 2 ** (-k / STEPS) with an integer k, its *log prior*. The log priors of columns add up to that of the
configuration.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from apsl_backends.kernels.border import LogPriors

#: The steps of the log prior that halve a weight.
STEPS = 32


def log_priors_of(columns: Sequence[npt.NDArray[np.int64]], empirical_weight: float) -> list[LogPriors]:
    """Return the log priors of the levels of columns, from how often each level occurs and the weight of that."""
    if not columns:
        return []
    cards = [len(totals) for totals in columns]
    sums = [max(int(totals.sum()), 1) for totals in columns]
    rows, levels = np.repeat(sums, cards), np.repeat(cards, cards)
    expected = (1.0 - empirical_weight) / levels + empirical_weight * np.concatenate(columns) / rows
    log_priors: LogPriors = np.rint(-STEPS * np.log2(np.maximum(expected, 0.5 / rows))).astype(np.int32)
    ends = np.cumsum(cards).tolist()
    return [log_priors[end - card : end].copy() for card, end in zip(cards, ends, strict=True)]
