"""Moments of a table in any database that ibis knows: the database reads, and the kernel adds section after section.

Sums of products are not left to the engine. They would have other bits in each, and ranks need a pass of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Self

from apsl_backends.engines.coders import Coder, floats_of
from apsl_backends.engines.duckdb_connection import available_memory
from apsl_backends.engines.ibis_rows import IbisRows
from apsl_backends.engines.streamed import ColumnReader, StreamedMoments, in_sections, read_columns
from apsl_backends.kernels.bindings import Floats
from apsl_rules.data import plan_moments, replace_names
from apsl_rules.data.moments import Embedding, MomentHeading
from apsl_rules.names import Node


class IbisMoments(StreamedMoments):
    """A source of moments that reads the columns asked for, a statement each time."""

    def __init__(self, rows: IbisRows, heading: MomentHeading, coders: Sequence[Coder], columns: Sequence[int]) -> None:
        super().__init__(heading, coders, rows.origin)
        self.kind = rows.kind
        self._rows = rows
        self._columns = tuple(columns)

    @classmethod
    def of(
        cls,
        source: Any,
        embedding: Embedding | None = None,
        *,
        names: Sequence[Node] | None = None,
        **reading: Any,
    ) -> Self:
        """Read a table of a database: an address, an ibis table; ``reading`` are the options of ``table``."""
        rows = IbisRows.of(source)
        given = replace_names(rows.names, names)
        plan = plan_moments(given, **reading).without(rows.types_set_aside)
        found = rows.distinct(plan.places)
        reader = ColumnReader(rows.first_values, rows.count_distinct, partial(_chunks, rows))
        heading, coders = read_columns(
            given, found, rows.rows(plan.places), plan=plan, embedding=embedding or Embedding(), reader=reader
        )
        kept = sorted(coders)
        return cls(rows, heading, [coders[place] for place in kept], kept)

    def _sections(self, places: Sequence[int]) -> Iterator[Any]:
        rows = 0
        for section in in_sections(self._rows.batches([self._columns[place] for place in places])):
            rows += section.num_rows
            yield section
        if rows != self.heading.rows:
            self._rows.refuse_change(f"it had {self.heading.rows:,} rows and then {rows:,}")

    def _together(self, places: Sequence[int], absent: list[int]) -> list[int]:
        """Return which columns to gather in one go: all that fit, where statements return rows in different orders."""
        if self._rows.is_ordered:
            return super()._together(places, absent)
        self._kept.clear()
        every = list(range(len(self._columns)))
        return every if 2 * self._bytes(every) <= available_memory() // 2 else list(places)


def _chunks(rows: IbisRows, place: int) -> Iterator[Floats]:
    """Yield the values of a column of numbers in parts."""
    return (floats_of(section.column(0)) for section in in_sections(rows.batches([place])))
