"""Moments of a table in memory, embedded once and kept."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from apsl_backends.engines.coders import indicators_of, unit_of
from apsl_backends.engines.groups import sums_by_group
from apsl_backends.engines.normal_scores import Standardised, normal_scores, standardised_values
from apsl_backends.engines.sums import EmbeddedRows
from apsl_backends.kernels.bindings.checks import Floats, Integers
from apsl_backends.kernels.bindings.embedded import CategoryColumn, EmbeddedHandle, NumberColumn
from apsl_backends.kernels.library import in_blocks, useful_threads
from apsl_rules.data import MixedTable
from apsl_rules.data.moments import ColumnUnit, Embedding, GroupFigures, MomentHeading, RowTests
from apsl_rules.memory import Kind

_EMBEDDED: Kind[EmbeddedHandle] = Kind("embedded columns")
_STANDARDISED: Kind[list[Standardised]] = Kind("standardised numbers")


class MemoryMoments:
    """The rows of a table in memory, embedded column by column.

    Standardised numbers and what the kernels hold of the columns are kept with the table.
    """

    kind = "memory"

    def __init__(self, table: MixedTable, embedding: Embedding | None = None, threads: int = 1) -> None:
        self.table = table
        self.embedding = embedding or Embedding()
        self.threads = threads
        handle = table.memory.once(
            _EMBEDDED, self.embedding, lambda: EmbeddedHandle(self._columns(), table.rows, threads)
        )
        self.rows = EmbeddedRows(handle, table.names, threads)
        self.heading = MomentHeading(
            table.names,
            table.rows,
            table.is_number,
            handle.widths,
            handle.missing,
            table.columns,
            table.notes,
            self._units(),
        )

    def covariance(self, places: Sequence[int]) -> Floats:
        """Return the covariance matrix of the embedded columns of some columns, block after block."""
        return self.rows.covariance(places)

    def test_rows(self, queries: Sequence[tuple[int, ...]]) -> RowTests:
        """Test x against y given others, for each query (x, y, *given), on the rows that are complete there."""
        return self.rows.test_rows(queries)

    def group_sums(
        self, places: Sequence[int], by: Sequence[int], complete: Sequence[int], *, each: bool
    ) -> GroupFigures:
        """Add up columns over the rows of each combination of the levels of some categories."""
        columns = self.rows.handle.columns
        fold = lambda used, work: [work([columns[place] for place in used])]  # noqa: E731 - all rows are one part
        return sums_by_group(self.heading, fold, places, (by, complete), each=each)

    def _columns(self) -> list[NumberColumn | CategoryColumn]:
        table, numbers = self.table, self._numbers()
        number_place = {name: number for number, name in enumerate(table.number_names)}
        made: list[NumberColumn | CategoryColumn] = []
        for name in table.names:
            if name in number_place:
                number = numbers[number_place[name]]
                made.append(NumberColumn(number.values, number.degree(self.embedding.degree)))
            else:
                place = table.categories.place[name]
                codes = table.categories.codes[place]
                made.append(CategoryColumn(codes, *indicators_of(self._rows_of_levels(place))))
        return made

    def _units(self) -> tuple[ColumnUnit, ...]:
        table, numbers = self.table, self._numbers()
        scales = {name: number.scale for name, number in zip(table.number_names, numbers, strict=True)}
        units = []
        for name in table.names:
            if name in scales:
                units.append(ColumnUnit(scales[name]))
            else:
                place = table.categories.place[name]
                units.append(unit_of(table.categories.levels[place], self._rows_of_levels(place)))
        return tuple(units)

    def _rows_of_levels(self, place: int) -> Integers:
        """Return in how many rows each level of a category stands."""
        codes, card = self.table.categories.codes[place], int(self.table.categories.cards[place])
        rows: Integers = np.bincount(codes, minlength=card)[:card].astype(np.int64)
        return rows

    def _numbers(self) -> list[Standardised]:
        """Return the numbers, standardised by their ranks or by their values."""
        kind = self.embedding.numbers
        return self.table.memory.once(_STANDARDISED, kind, lambda: self._standardise(kind))

    def _standardise(self, kind: str) -> list[Standardised]:
        numbers = self.table.numbers
        standardise = normal_scores if kind == "normal-scores" else standardised_values
        made: dict[int, Standardised] = {}

        def work(low: int, high: int) -> None:
            made.update((place, standardise(numbers[place])) for place in range(low, high))

        in_blocks(len(numbers), useful_threads(self.threads, numbers.size), work)
        return [made[place] for place in range(len(numbers))]
