"""A table in memory as a source of counts; importing this module loads numba."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from apsl_backends.kernels.arrays import (
    CARD,
    COLUMN_FIELDS,
    FIRST_BIT,
    FIRST_TOTAL,
    SPAN,
    Integers,
    Store,
)
from apsl_backends.kernels.bitmaps import pack
from apsl_backends.kernels.counting_method import MOST_CELLS
from apsl_backends.kernels.single_tests import count_table
from apsl_backends.kernels.threads import in_blocks, useful_threads
from apsl_backends.kernels.words import STEP
from apsl_rules.data import Codes, Table
from apsl_rules.errors import DataError
from apsl_rules.names import Node, listing

_MOST_SPAN_OF_BITS = 9


class MemoryCounts:
    """A table in the forms that the kernels count from: codes, and bit rows for columns of few levels.

    A column of at most nine codes gets bit rows, which then take no more memory than its codes.
    """

    def __init__(self, table: Table, threads: int = 1) -> None:
        self.table = table
        self.threads = threads
        spans = table.cards + table.incomplete
        short = spans <= _MOST_SPAN_OF_BITS
        bit_rows = np.where(short, spans - 1, 0)
        columns = np.zeros((len(table.names), COLUMN_FIELDS), np.int64)
        columns[:, CARD] = table.cards
        columns[:, SPAN] = spans
        columns[:, FIRST_BIT] = np.where(short, np.cumsum(bit_rows) - bit_rows, -1)
        columns[:, FIRST_TOTAL] = np.cumsum(spans) - spans
        words = -(-table.rows // 64)
        bits = np.zeros((int(bit_rows.sum()) + 1, words + -words % STEP), np.uint64)
        bits[-1, : table.rows // 64] = np.iinfo(np.uint64).max
        if table.rows % 64:
            bits[-1, table.rows // 64] = (1 << table.rows % 64) - 1
        totals = np.zeros(int(spans.sum()), np.int64)
        codes: Codes = table.codes[:]
        codes.setflags(write=False)
        in_blocks(
            len(columns),
            useful_threads(threads, codes.size),
            lambda low, high: pack(codes, columns, bits, totals, low, high),
        )
        self.codes = codes
        self.store = Store(bits, columns, totals, np.empty(0, np.int64), table.rows, table.rows)

    def contingency(self, columns: Sequence[Node]) -> Integers:
        """Count the table of some columns, one axis for each; rows with a value missing there are left out."""
        places = np.array([self.table.place[name] for name in columns], np.int64)
        spans = self.store.columns[places, SPAN]
        cells = prod(spans.tolist())
        if cells > MOST_CELLS:
            message = (
                f"the table of {listing(columns)} has {cells} cells and at most {MOST_CELLS} can be counted; "
                "use fewer columns or join levels"
            )
            raise DataError(message)
        counts = np.zeros(cells, np.int64)
        count_table(self.codes, places, spans, counts)
        complete = tuple(slice(card) for card in self.table.cards[places].tolist())
        return np.ascontiguousarray(counts.reshape(spans.tolist())[complete])

    def counts(self, questions: Sequence[Sequence[Node]]) -> list[Integers]:
        """Count the tables of a batch of questions, each a list of columns."""
        return [self.contingency(columns) for columns in questions]

    def rows_used(self, places: Sequence[int]) -> int:
        """Count the rows in which none of some columns is missing."""
        kept = np.ones(self.table.rows, np.bool_)
        for place in places:
            if self.table.incomplete[place]:
                kept &= self.table.codes[place] < self.table.cards[place]
        return int(kept.sum())
