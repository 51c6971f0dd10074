"""The unit of a score: fine enough for every comparison, and coarse enough that no sum overflows."""

from __future__ import annotations

from math import ceil, log, log2

import numpy as np
import numpy.typing as npt

#: The most bits of a figure and of the penalty of a parent, and the most fractional bits of a unit.
_BITS, _BITS_OF_PENALTY, _FINEST = 61, 55, 40


def unit_for(rows: int, cards: npt.NDArray[np.int64], ess: float, penalty: float) -> float:
    """Return the unit, in nats, of scores of a table with columns of so many levels.

    ``ess`` is the equivalent sample size and ``penalty`` that of a parent in nats; only extreme ones make a difference.
    """
    nats = max(log(max(rows, 2)) + float(np.log(cards).sum()) + 1, abs(log(ess)))
    whole = max(ceil(log2(rows * nats)) - _BITS, ceil(log2(max(penalty, 1.0))) - _BITS_OF_PENALTY)
    return 2.0 ** max(whole, -_FINEST)
