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
from apsl_rules.data.counts import pack_codes
from apsl_rules.errors import DataError
from apsl_rules.memory import Kind
from apsl_rules.names import Node, listing


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
