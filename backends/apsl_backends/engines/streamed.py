"""Moments from rows that come section after section, in the order in which they are stored.

Sections are added in that order, so the covariance has the same bits as in memory wherever the ranks are. Ranks are
exact where a column has at most five million distinct values. Beyond that they are counted between knots, as in memory.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import attrs
import numpy as np

from apsl_backends.engines.arrow_columns import MOST_DISTINCT, ColumnFigures, distinct_of
from apsl_backends.engines.coders import Coder, coder_of, curve_coder, heading_of_coders
from apsl_backends.engines.gathered import GatheredMoments
from apsl_backends.engines.memory import SECTION
from apsl_backends.kernels.bindings import CategoryColumn, EmbeddedHandle, Floats, Integers, NumberColumn, ProductSums
from apsl_rules.data import Column, Distinct, NumberValues, advice_on_levels, mixed_dictionary
from apsl_rules.data.moments import Embedding, MomentHeading
from apsl_rules.errors import DataError
from apsl_rules.names import Node
from apsl_rules.stopping import heeding


class StreamedMoments(GatheredMoments):
    """A source of moments that reads the columns asked for, a statement each time."""

    def __init__(self, heading: MomentHeading, coders: Sequence[Coder], origin: str) -> None:
        super().__init__(heading, origin)
        self._coders = tuple(coders)

    @abstractmethod
    def _sections(self, places: Sequence[int]) -> Iterator[Any]:
        """Return the rows of different columns as Arrow tables of SECTION rows, but the last one."""

    def _sums(self, places: Sequence[int]) -> ProductSums:
        total = ProductSums(int(self.heading.widths[list(places)].sum()))
        every = np.arange(len(places), dtype=np.int64)
        for columns in self._parts(places):
            first = columns[0] if columns else None
            rows = 0 if first is None else len(first[0])
            handle = EmbeddedHandle(columns, rows)
            added = heeding(partial(handle.section_sums, every, 0, rows), is_long=False)
            if added is not None:
                total.add(added)
        return total

    def _parts(self, places: Sequence[int]) -> Iterator[list[NumberColumn | CategoryColumn]]:
        unique = sorted(set(places))
        for section in self._sections(unique):
            self.moved += section.nbytes
            coded = {place: self._coders[place].code(section.column(number)) for number, place in enumerate(unique)}
            yield [coded[place] for place in places]


def in_sections(parts: Iterable[Any]) -> Iterator[Any]:
    """Yield the rows of Arrow tables of any length in tables of SECTION rows, but the last one."""
    import pyarrow as pa

    waiting: list[Any] = []
    rows = 0
    for part in parts:
        waiting.append(part)
        rows += part.num_rows
        if rows < SECTION:
            continue
        left = pa.concat_tables(waiting)
        while left.num_rows >= SECTION:
            yield left.slice(0, SECTION)
            left = left.slice(SECTION)
        waiting, rows = [left], left.num_rows
    if rows:
        yield pa.concat_tables(waiting)


class KnownValues(Protocol):
    """The distinct values of a column as they are stored and as a table has them, and the rows of each."""

    @property
    def distinct(self) -> Any:
        """Return the values as they are stored."""

    @property
    def column(self) -> Column:
        """Return the values as a table has them."""

    @property
    def rows(self) -> Integers:
        """Return in how many rows each stands."""


@attrs.frozen(eq=False)
class ColumnReader:
    """How to read a column with too many distinct values to look at: some of the first, figures, and all by parts.

    Columns of text have no numbers to read.
    """

    first: Callable[[int], Any]
    figures: Callable[[int], ColumnFigures]
    chunks: Callable[[int], Iterator[Floats]] | None


def read_columns(
    names: Sequence[Node],
    found: Mapping[int, KnownValues | None],
    rows: int,
    *,
    plan: Any,
    embedding: Embedding,
    reader: ColumnReader,
) -> tuple[MomentHeading, dict[int, Coder]]:
    """Return the heading of columns whose distinct values are known, None for too many, and how each is coded."""
    distinct = {
        place: Distinct(one.column, one.rows)
        if one is not None
        else distinct_of(reader.first(place), names[place], rows, reader.figures(place))
        for place, one in found.items()
    }
    made = mixed_dictionary(names, distinct, plan)
    coders: dict[int, Coder] = {}
    for place, read in made.columns.items():
        one = found[place]
        if one is not None:
            coders[place] = coder_of(read, one.distinct, one.rows, embedding)
        elif isinstance(read, NumberValues) and reader.chunks is not None:
            coders[place] = curve_coder(rows, partial(reader.chunks, place), embedding)
        else:
            raise DataError(advice_on_levels(names[place], MOST_DISTINCT + 1))
    return heading_of_coders(names, coders, rows, made.kinds, made.notes), coders
