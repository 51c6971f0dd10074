"""A table in memory as a source of counts, so that whatever asks for counts in rounds can also ask it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from apsl_rules.data import Codes, Table
from apsl_rules.data.counts import Heading, Joint, collapse, heading_of

SAMPLED = 1 << 15
"""The rows from which the size of answers is guessed."""


class TableCounts:
    """The rows of a table, counted set by set."""

    kind = "memory"
    cheap = 0

    def __init__(self, table: Table) -> None:
        self.heading: Heading = heading_of(table)
        self._codes = table.codes

    def joints(self, sets: Sequence[tuple[int, ...]], most: int) -> list[Joint | None]:
        """Count sets of columns; None for a set with more than so many combinations."""
        counted = [(places, *collapse(self._codes[list(places)], self._spans(places))) for places in sets]
        return [None if len(weights) > most else Joint(places, codes, weights) for places, codes, weights in counted]

    def complete(self, sets: Sequence[tuple[int, ...]]) -> list[int]:
        """Count, for each set of columns, the rows in which none of them is missing."""
        return [rows_complete(self._codes, self.heading.cards.tolist(), places) for places in sets]

    def sample(self) -> Codes:
        """Return the codes of the first rows."""
        return self._codes[:, :SAMPLED]

    def _spans(self, places: Sequence[int]) -> list[int]:
        spans: list[int] = self.heading.spans[list(places)].tolist()
        return spans


def rows_complete(codes: Codes, cards: Sequence[int], places: Sequence[int]) -> int:
    """Count the rows in which no code of some columns stands for a missing value."""
    kept = np.ones(codes.shape[1], np.bool_)
    for place in places:
        kept &= codes[place] < cards[place]
    return int(kept.sum())
