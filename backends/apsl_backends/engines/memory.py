"""Moments of a table in memory, embedded once and kept."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, islice
from typing import TypeVar

import attrs
import numpy as np
import numpy.typing as npt

from apsl_backends.engines.coders import indicators_of, unit_of
from apsl_backends.engines.normal_scores import Standardised, normal_scores, standardised_values
from apsl_backends.kernels.bindings import (
    CategoryColumn,
    EmbeddedHandle,
    Floats,
    Integers,
    NumberColumn,
    Patterns,
    ProductSums,
    RowFigures,
)
from apsl_backends.kernels.library import in_blocks, useful_threads
from apsl_rules.data import MixedTable
from apsl_rules.data.moments import ColumnUnit, Embedding, MomentHeading, MomentSource, RowTests
from apsl_rules.errors import DataError
from apsl_rules.memory import DatasetMemory, Kind
from apsl_rules.names import Node
from apsl_rules.stopping import Flag, Workers, heeding

Result = TypeVar("Result")

#: The rows whose sums are made by themselves; sections are added in order, so threads change nothing.
SECTION = 1 << 16
#: How expectation and maximisation end: the change of covariances, in standard deviations, and the iterations.
TOLERANCE, MOST_ITERATIONS = 1e-4, 60
#: Products of a call that takes long enough to be waited for in another thread, and of one worth a thread.
_LONG, _WORTH_A_THREAD = 1 << 29, 1 << 24


@attrs.frozen(eq=False)
class EmbeddedRows:
    """What a source needs of rows in memory: the handle on the columns, their names, and how many threads to use."""

    handle: EmbeddedHandle
    names: tuple[Node, ...]
    threads: int = 1

    def covariance(self, places: Sequence[int]) -> Floats:
        """Return the covariance matrix of the embedded columns of some places, also where values are missing."""
        asked = np.array(places, np.int64)
        if self.handle.rows == 0:
            message = "the table has no rows, so there are no covariances; give one with rows"
            raise DataError(message)
        if self.handle.missing[asked].any():
            return self._of_incomplete(asked)
        return self.sums(asked).covariance()

    def sums(self, places: Integers) -> ProductSums:
        """Return the sums of products of places without missing values."""
        total = ProductSums(self.handle.width_of(places))
        for sums in self._sections(places):
            total.add(sums)
        return total

    def test_rows(self, queries: Sequence[tuple[int, ...]]) -> RowTests:
        """Test x against y given others, for each query (x, y, *given), on the rows that are complete there."""
        starts, places = queries_of(queries)
        found = RowFigures.of(len(queries))
        work = self.handle.rows * len(places)

        def run(low: int, high: int) -> None:
            cut = starts[low : high + 1] - starts[low]
            some = places[starts[low] : starts[high]]
            done = heeding(lambda flag: self.handle.row_tests(cut, some, flag), is_long=work > _LONG // 4)
            if done is not None:
                found.measures[low:high], found.figures[low:high] = done

        in_blocks(len(queries), max(1, min(self.threads, work // _WORTH_A_THREAD)), run)
        x_ranks, y_ranks, ranks, rows = (column.copy() for column in found.figures.T)
        ratios, inflations, joint_rates = (column.copy() for column in found.measures.T)
        return RowTests(ratios, x_ranks, y_ranks, ranks, rows, inflations, joint_rates)

    def _sections(self, places: Integers) -> Iterator[ProductSums]:
        """Yield the sums of sections in the order of the rows."""
        rows, width = self.handle.rows, self.handle.width_of(places)
        lows = range(0, rows, SECTION)
        is_long = SECTION * (width + 1) ** 2 > _LONG

        def section(low: int) -> ProductSums:
            def add(flag: Flag) -> ProductSums | None:
                return self.handle.section_sums(places, low, min(low + SECTION, rows), flag)

            return _finished(heeding(add, is_long=is_long))

        threads = max(1, min(self.threads, len(lows), rows * width * width // _WORTH_A_THREAD))
        if threads == 1:
            yield from map(section, lows)
            return
        with Workers(threads) as pool:
            left = iter(lows)
            running = [pool.submit(section, low) for low in islice(left, 2 * threads)]
            while running:
                yield running.pop(0).result()
                running.extend(pool.submit(section, low) for low in islice(left, 1))

    def _of_incomplete(self, places: Integers) -> Floats:
        """Return the covariance of maximum likelihood, by expectation and maximisation."""
        for place in places.tolist():
            if self.handle.missing[place] == self.handle.rows:
                message = f"all values of {self.names[place]!r} are missing; leave the column out"
                raise DataError(message)
        patterns = patterns_of([self.handle.is_missing(place) for place in places.tolist()])

        def estimate(flag: Flag) -> tuple[Floats, int] | None:
            return self.handle.incomplete_covariance(
                places, patterns, flag, tolerance=TOLERANCE, iterations=MOST_ITERATIONS
            )

        work = self.handle.rows * (self.handle.width_of(places) + 1) ** 2
        found, _ = _finished(heeding(estimate, is_long=work > _LONG // 16))
        return found


def _finished(result: Result | None) -> Result:
    """Return what a call gave; one that was stopped has ended the run before."""
    assert result is not None  # noqa: S101 - heeding raises when a run is stopped
    return result


def queries_of(queries: Sequence[tuple[int, ...]]) -> tuple[Integers, Integers]:
    """Return where the places of each query begin, with the end of the last, and all their places."""
    sizes = np.fromiter(map(len, queries), np.int64, len(queries))
    places = np.fromiter((place for query in queries for place in query), np.int64, int(sizes.sum()))
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)]), places


def patterns_of(missing: Sequence[npt.NDArray[np.bool_] | None]) -> Patterns:
    """Group rows by the columns whose values are missing there; None stands for a column without missing values."""
    rows = next(len(one) for one in missing if one is not None)
    numbers = np.zeros(rows, np.int64)
    found = np.zeros((1, len(missing)), np.bool_)
    for place, gone in enumerate(missing):
        if gone is None:
            continue
        pairs, numbers = np.unique(2 * numbers + gone, return_inverse=True)
        found = found[pairs >> 1]
        found[:, place] = (pairs & 1).astype(np.bool_)
    order = np.argsort(numbers, kind="stable")
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(numbers, minlength=len(found)))])
    return Patterns(order.astype(np.int64), starts.astype(np.int64), found)


#: The most embedded columns of which one matrix is made.
MOST_WIDTH = 1 << 10
_MATRIX: Kind[Floats] = Kind("covariances of complete columns")
_EMBEDDED: Kind[EmbeddedHandle] = Kind("embedded columns")
_STANDARDISED: Kind[list[Standardised]] = Kind("standardised numbers")


class KeptMoments:
    """A source of moments that passes over the rows of complete columns once.

    The matrix stays in the memory of the dataset, for other objects on the same rows and embedding.
    """

    def __init__(self, source: MomentSource, memory: DatasetMemory, embedding: Hashable) -> None:
        self._source = source
        self._memory = memory
        self.embedding = embedding
        heading = source.heading
        complete = np.flatnonzero(heading.missing == 0)
        self._complete: list[int] = complete.tolist()
        self.has_matrix = int(heading.widths[complete].sum()) <= MOST_WIDTH
        ends = np.array([0, *accumulate(heading.widths[complete].tolist())], np.int64)
        self._first = dict(zip(self._complete, ends.tolist(), strict=False))

    @property
    def kind(self) -> str:
        """Return the name of the method, such as "memory"."""
        return self._source.kind

    @cached_property
    def heading(self) -> MomentHeading:
        """Return the columns and the number of rows."""
        return self._source.heading

    def covariance(self, places: Sequence[int]) -> Floats:
        """Return the covariance matrix of the embedded columns of some columns, block after block."""
        if not self.has_matrix or any(place not in self._first for place in places):
            return self._source.covariance(places)
        matrix = self._memory.once(_MATRIX, self.embedding, lambda: self._source.covariance(self._complete))
        if list(places) == self._complete:
            return matrix
        widths = self.heading.widths
        columns = [self._first[place] + at for place in places for at in range(int(widths[place]))]
        return np.ascontiguousarray(matrix[np.ix_(columns, columns)])

    def test_rows(self, queries: Sequence[tuple[int, ...]]) -> RowTests:
        """Test x against y given others, for each query (x, y, *given), on the rows that are complete there."""
        return self._source.test_rows(queries)


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
