"""How many combinations some columns have, guessed from a few rows: what a round of counting may ask for at once."""

from __future__ import annotations

from collections.abc import Collection
from math import log, prod

import numpy as np

from apsl_rules.data.counts.collapse import pack_codes
from apsl_rules.data.counts.source import Heading
from apsl_rules.data.tables import Codes

_FEW = 1024
_HALF = 2


class Sizing:
    """Guesses from a sample how many combinations occur in all rows.

    Combinations grow with the rows like a power of their number; the power is read off the sample and its first half.
    The guess only decides what is asked together, never what comes out.
    """

    def __init__(self, heading: Heading, sample: Codes) -> None:
        self._spans = heading.spans.tolist()
        self._rows = heading.rows
        self._sample = sample
        self._known: dict[frozenset[int], float] = {}

    def guess(self, places: Collection[int]) -> float:
        """Guess the number of combinations in some columns."""
        key = frozenset(places)
        if key not in self._known:
            self._known[key] = self._guess(sorted(key))
        return self._known[key]

    def _guess(self, places: list[int]) -> float:
        spans = [self._spans[place] for place in places]
        possible = float(prod(spans))
        lines = self._sample.shape[1]
        if possible <= _FEW or lines < _HALF:
            return min(possible, float(self._rows))
        keys, _ = pack_codes(self._sample[places], spans)
        seen, seen_early = len(np.unique(keys)), len(np.unique(keys[: lines // _HALF]))
        power = log(seen / seen_early) / log(_HALF) if seen_early else 1.0
        grown = float(seen * max(self._rows / lines, 1.0) ** power)
        return min(possible, float(self._rows), grown)
