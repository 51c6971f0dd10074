"""A table in memory as a source of counts, and the door to the kernels: importing this module loads numba."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log, log2, prod

import numpy as np
import numpy.typing as npt

from apsl_backends.counts.arrays import (
    ANY_WAY,
    CARD,
    COLUMN_FIELDS,
    FIRST_BIT,
    FIRST_TOTAL,
    G_SQUARE,
    SPAN,
    Floats,
    Integers,
    Measure,
    Store,
)
from apsl_backends.counts.bitmaps import pack
from apsl_backends.counts.compiled import all_stored
from apsl_backends.counts.search import ANSWER_FIELDS, QUESTION_FIELDS, search_all
from apsl_backends.counts.sweep import SUM_FIELDS, sweep, sweep_sums
from apsl_backends.counts.sweeps import SweptFigures
from apsl_backends.counts.tail import thresholds
from apsl_backends.counts.threads import in_blocks
from apsl_backends.counts.ways import MOST_CELLS, table_of
from apsl_rules.errors import DataError
from apsl_rules.names import Node, listing
from apsl_rules.table import Table

Question = tuple[list[int], int, int, int]
"""The places of x, y, the fixed columns and the pool; how many are fixed, how many free, the most to choose."""

_MOST_SPAN_OF_BITS = 9
_MOST_TERMS = 1 << 20
_BITS_OF_SUMS = 61
_CODES_PER_THREAD = 1 << 21


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
        bits = np.zeros((int(bit_rows.sum()), words + -words % 4), np.uint64)
        totals = np.zeros(int(spans.sum()), np.int64)
        codes = np.ascontiguousarray(table.codes)[:]
        codes.setflags(write=False)
        in_blocks(
            len(columns), self._useful_threads(), lambda low, high: pack(codes, columns, bits, totals, low, high)
        )
        for array in (bits, columns, totals):
            array.setflags(write=False)
        self.store = Store(codes, bits, columns, totals)

    def contingency(self, columns: Sequence[Node]) -> Integers:
        """Count the table of some columns, one axis for each; rows with a value missing there are left out."""
        places = np.array([self.table.place[name] for name in columns], np.int64)
        spans = tuple(int(span) for span in self.store.columns[places, SPAN])
        if prod(spans) > MOST_CELLS:
            message = (
                f"the table of {listing(columns)} has {prod(spans)} cells and at most {MOST_CELLS} are counted; "
                "use fewer columns or join levels"
            )
            raise DataError(message)
        counts = table_of(self.store, places, prod(spans)).reshape(spans, order="F")
        return np.ascontiguousarray(counts[tuple(slice(int(self.table.cards[place])) for place in places)])

    def counts(self, questions: Sequence[Sequence[Node]]) -> list[Integers]:
        """Count the tables of a batch of questions, each a list of columns."""
        return [self.contingency(columns) for columns in questions]

    def sums(self, measure: Measure, x: int) -> Integers:
        """Sum the tables of x and each column; a row of the answer is what ``sweep_sums`` fills."""
        sums = np.zeros((len(self.table.names), SUM_FIELDS), np.int64)

        def work(low: int, high: int) -> None:
            sweep_sums(self.store, measure, x, low, high, sums)

        in_blocks(len(sums), self._useful_threads(), work)
        return sums

    def sweep(self, measure: Measure, x: int) -> SweptFigures:
        """Test x against all other columns."""
        count = len(self.table.names)
        statistic, decision = np.empty(count), np.empty(count, np.int8)
        dof, rows = np.empty(count, np.int64), np.empty(count, np.int64)

        def work(low: int, high: int) -> None:
            sweep(self.store, measure, x, low, high, statistic, dof, rows, decision)

        in_blocks(count, self._useful_threads(), work)
        others = np.delete(np.arange(count), x)
        return SweptFigures(others, statistic[others], dof[others], rows[others], decision[others])

    def search(self, measure: Measure, questions: Sequence[Question]) -> tuple[Integers, Integers, Floats]:
        """Carry out searches: answers and chosen places in the pool as ``search_all`` gives them, and statistics."""
        heads = np.empty((len(questions), QUESTION_FIELDS), np.int64)
        places: list[int] = []
        for at, (columns, fixed, free, most) in enumerate(questions):
            heads[at] = len(places), fixed, free, most
            places += columns
        columns_of_all = np.array(places, np.int64)
        answers = np.empty((len(heads), ANSWER_FIELDS), np.int64)
        chosen = np.empty((len(heads), max(question[3] for question in questions)), np.int64)
        statistics = np.zeros(len(heads))

        def work(low: int, high: int) -> None:
            cut = slice(low, high)
            search_all(self.store, measure, heads[cut], columns_of_all, answers[cut], chosen[cut], statistics[cut])

        in_blocks(len(heads), min(self.threads, len(heads)), work)
        return answers, chosen, statistics

    def rows_used(self, places: Sequence[int]) -> int:
        """Count the rows in which none of some columns is missing."""
        missing = [place for place in places if self.table.incomplete[place]]
        if not missing:
            return self.table.rows
        kept = np.ones(self.table.rows, np.bool_)
        for place in missing:
            kept &= self.table.codes[place] < self.table.cards[place]
        return int(kept.sum())

    def _useful_threads(self) -> int:
        return max(1, min(self.threads, self.table.codes.size // _CODES_PER_THREAD))


def measure_of(
    table: Table,
    *,
    kind: int = G_SQUARE,
    alpha: float = 0.5,
    full_dof: bool = False,
    rows_per_cell: float = 0.0,
    way: int = ANY_WAY,
) -> Measure:
    """Say how the counts of a table become verdicts; ``way`` forces a way of counting."""
    rows = max(table.rows, 2)
    largest = rows * log(rows) if kind == G_SQUARE else float(rows) * max(2, int(table.cards.max(initial=0)))
    scale = 2.0 ** (_BITS_OF_SUMS - ceil(log2(largest)))
    numbers = np.arange(min(rows + 1, _MOST_TERMS), dtype=np.float64)
    terms = np.rint(numbers * np.log(np.maximum(numbers, 1.0)) * scale).astype(np.int64)
    terms.setflags(write=False)
    return Measure(kind, terms, scale, full_dof, rows_per_cell, thresholds(alpha), log(alpha), way)


def kernels_are_compiled() -> bool:
    """Say whether the machine code of all kernels is on disk, so that nothing will be compiled on first use."""
    return all_stored()
