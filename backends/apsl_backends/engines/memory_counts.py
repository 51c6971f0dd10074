"""Counts of a table in memory."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import attrs
import numpy as np
import numpy.typing as npt

from apsl_backends.kernels.bindings import Integers, TableHandle
from apsl_backends.kernels.library import MOST_CELLS
from apsl_rules.data import Codes, Table
from apsl_rules.data.counts import Heading, Joint, collapse, heading_of, pack_codes
from apsl_rules.errors import DataError
from apsl_rules.memory import Kind
from apsl_rules.names import Node, listing

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


@attrs.frozen(eq=False)
class RowsUsed:
    """Counts rows without missing values; it refers to arrays, so that what a table keeps does not refer to it."""

    codes: Codes
    cards: Integers
    incomplete: npt.NDArray[np.bool_]

    def __call__(self, places: Sequence[int]) -> int:
        """Count the rows in which none of some columns is missing."""
        kept = np.ones(self.codes.shape[1], np.bool_)
        for place in places:
            if self.incomplete[place]:
                kept &= self.codes[place] < self.cards[place]
        return int(kept.sum())


_HANDLE: Kind[TableHandle] = Kind("table of the kernels")


class MemoryCounts:
    """A table with the form in which the kernels hold it."""

    def __init__(self, table: Table, threads: int = 1) -> None:
        self.table = table
        self.threads = threads
        self.rows_used = RowsUsed(table.codes, table.cards, table.incomplete)
        self.handle = table.memory.once(
            _HANDLE, None, lambda: TableHandle(table.codes, table.cards, table.incomplete, threads=threads)
        )

    def contingency(self, columns: Sequence[Node]) -> Integers:
        """Count the table of some columns, one axis for each; rows with a value missing there are left out."""
        places = [self.table.place[name] for name in columns]
        spans = (self.table.cards + self.table.incomplete)[places].tolist()
        cells = prod(spans)
        if cells > MOST_CELLS:
            message = (
                f"the table of {listing(columns)} has {cells} cells and at most {MOST_CELLS} can be counted; "
                "use fewer columns or join levels"
            )
            raise DataError(message)
        counts = np.bincount(pack_codes(self.table.codes[places], spans)[0], minlength=cells)
        complete = tuple(slice(card) for card in self.table.cards[places].tolist())
        return np.ascontiguousarray(counts.reshape(spans)[complete])

    def counts(self, questions: Sequence[Sequence[Node]]) -> list[Integers]:
        """Count the tables of a batch of questions, each a list of columns."""
        return [self.contingency(columns) for columns in questions]
