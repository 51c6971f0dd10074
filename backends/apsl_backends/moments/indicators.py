"""Which levels of a category get an indicator."""

from __future__ import annotations

from typing import Any

import numpy as np

from apsl_backends.kernels.border import Integers
from apsl_rules.data.moments import ColumnUnit

#: Levels with fewer rows are pooled.
LEAST_ROWS = 5


def indicators_of(rows: Integers) -> tuple[Integers, int]:
    """Return for each level of a category, which stands in so many rows, its indicator or -1, and how many there are.

    The most frequent level is the reference, the first of several. Levels with fewer than five rows share an indicator,
    the last one, or belong to the reference if they have fewer than five rows together.
    """
    numbers = np.full(len(rows), -1, np.int64)
    if not len(rows):
        return numbers, 0
    is_rare = (rows < LEAST_ROWS) & (np.arange(len(rows)) != int(rows.argmax()))
    usual = np.flatnonzero(~is_rare)
    usual = usual[usual != int(rows.argmax())]
    numbers[usual] = np.arange(len(usual))
    if int(rows[is_rare].sum()) < LEAST_ROWS:
        return numbers, len(usual)
    numbers[is_rare & (rows > 0)] = len(usual)
    return numbers, len(usual) + 1


def unit_of(levels: tuple[Any, ...], rows: Integers) -> ColumnUnit:
    """Return which level of a category has which indicator; a level without rows is left out."""
    indicators = indicators_of(rows)[0].tolist()
    found = [(level, place) for level, place, count in zip(levels, indicators, rows.tolist(), strict=False) if count]
    return ColumnUnit(levels=tuple(level for level, _ in found), indicators=tuple(place for _, place in found))
