"""Moments: of a table in memory, embedded once and kept, and of columns elsewhere, added up where the rows are."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import partial
from hashlib import blake2b
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from apsl_backends.engines.coders import indicators_of, unit_of
from apsl_backends.engines.engine import ChosenRows, Engine, JoinedColumns, Part, ReadColumns, Rows, ones_of
from apsl_backends.engines.groups import estimated_levels, role_columns, role_units, rows_about_means, sums_by_group
from apsl_backends.engines.normal_scores import Line, Standardised, likeness_of, line_of, normal_scores
from apsl_backends.engines.sums import (
    FOR_TESTS,
    MOST_PATTERNS,
    Embedded,
    EmbeddedRows,
    estimate_covariance,
    join_patterns,
    join_sums,
    part_sums,
    rows_of,
    run_by_sums,
    share_sums,
    sums_of_patterns,
    sums_of_sets,
)
from apsl_backends.kernels.bindings.embedded import CategoryColumn, EmbeddedHandle, NumberColumn
from apsl_backends.kernels.library import Floats, Integers, in_blocks, useful_threads
from apsl_rules.data import (
    ColumnKind,
    GroupFigures,
    Levels,
    LocalTable,
    MixedTable,
    OneHot,
    arranged,
    available_memory,
)
from apsl_rules.data.counts import CountSource
from apsl_rules.data.duplicates import Pairs, compare, split
from apsl_rules.data.moments import (
    SCORED_OF_NUMBER,
    ColumnUnit,
    Embedding,
    MomentHeading,
    RowTests,
)
from apsl_rules.errors import DataError
from apsl_rules.memory import Kind
from apsl_rules.names import count_of, listing

_EMBEDDED: Kind[EmbeddedHandle] = Kind("embedded columns")
_SCORED: Kind[EmbeddedHandle] = Kind("embedded columns for scores")
_LIKENESS: Kind[list[float]] = Kind("likeness of numbers to their normal scores")
_STANDARDISED: Kind[list[Standardised]] = Kind("standardised numbers")
_LINES: Kind[list[Line]] = Kind("lines of numbers")


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
            table.roles,
            role_units(self.table),
        )

    def covariance(self, places: Sequence[int]) -> Floats:
        """Return the covariance matrix of the embedded columns of some columns, block after block."""
        return self.rows.covariance(places)

    def likeness(self, places: Sequence[int]) -> Floats:
        """Return the correlation of the normal scores of each column with its values; NaN where there are no scores."""
        table = self.table
        known = table.memory.once(_LIKENESS, "", self._likeness)
        number_place = {name: number for number, name in enumerate(table.number_names)}
        has_scores = self.embedding.numbers == "normal-scores"
        numbers = [number_place.get(table.names[place]) if has_scores else None for place in places]
        return np.array([np.nan if one is None else known[one] for one in numbers])

    def covariance_for_scores(self, places: Sequence[int], plain: Collection[int]) -> Floats:
        """Return the covariance of the columns that are scored, the plain numbers as they are."""
        return self.for_scores(plain).covariance(places)

    def rows_for_scores(self, places: Sequence[int], by: Sequence[int] = ()) -> list[tuple[Floats, Floats | None]]:
        """Return the rows of columns without squares, and of numbers as they are, about the means of groups."""
        return rows_about_means([*self._columns(places), *self.columns_with_roles()], places, by)

    def for_scores(self, plain: Collection[int]) -> EmbeddedRows:
        """Return the rows of the columns that are scored, the plain numbers as they are."""
        chosen = frozenset(plain)
        handle = self.table.memory.once(
            _SCORED,
            (self.embedding, chosen),
            lambda: Embedded(chosen, SCORED_OF_NUMBER).handle(self._columns(chosen), self.table.rows, self.threads),
        )
        return EmbeddedRows(handle, self.table.names, self.threads)

    def test_rows(self, queries: Sequence[tuple[int, ...]]) -> RowTests:
        """Test x against y given others, for each query (x, y, *given), on the rows that are complete there."""
        return self.rows.test_rows(queries)

    def group_sums(
        self,
        places: Sequence[int],
        by: Sequence[int],
        complete: Sequence[int],
        *,
        each: bool,
        weight: int | None = None,
        plain: frozenset[int] = frozenset(),
    ) -> GroupFigures:
        """Add up columns over the rows of each combination of the levels of some categories."""
        columns = [*(self._columns(plain) if plain else self.rows.handle.columns), *self.columns_with_roles()]
        fold = lambda used, work: [work([columns[place] for place in used])]  # noqa: E731 - all rows are one part
        return sums_by_group(self.heading, fold, places, (by, complete), each=each, weight=weight, plain=plain)

    def estimated_levels(
        self, places: Sequence[int], by: Sequence[int], weight: int | None, plain: frozenset[int]
    ) -> Levels:
        """Return the levels of columns without squares, from all rows that have some of them."""
        columns = [*(self._columns(plain) if plain else self.rows.handle.columns), *self.columns_with_roles()]
        return estimated_levels(columns, places, by, weight, plain)

    def _likeness(self) -> list[float]:
        scores = self._numbers()
        numbers = zip(scores, self._lines(), self.table.numbers, strict=True)
        room = np.empty(self.table.numbers.shape[1])
        return [likeness_of(one.values, line.of(values, room)) for one, line, values in numbers]

    def _lines(self) -> list[Line]:
        """Return the lines that standardise the numbers as they are."""
        return self.table.memory.once(_LINES, None, lambda: list(map(line_of, self.table.numbers)))

    def _columns(self, plain: Collection[int] = ()) -> list[NumberColumn | CategoryColumn]:
        table, numbers = self.table, self._numbers()
        number_place = {name: number for number, name in enumerate(table.number_names)}
        made: list[NumberColumn | CategoryColumn] = []
        for at, name in enumerate(table.names):
            if name in number_place:
                number = numbers[number_place[name]]
                values = self._lines()[number_place[name]].of(table.values(name)) if at in plain else None
                made.append(NumberColumn(number.values, number.degree(self.embedding.degree), values))
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

    def columns_with_roles(self) -> list[NumberColumn | CategoryColumn]:
        """Return the columns with a role, which are not embedded."""
        return role_columns(self.table)

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
        if kind != "normal-scores":
            return [line.standardise(values) for line, values in zip(self._lines(), numbers, strict=True)]
        made: dict[int, Standardised] = {}

        def work(low: int, high: int) -> None:
            made.update((place, normal_scores(numbers[place])) for place in range(low, high))

        in_blocks(len(numbers), useful_threads(self.threads, numbers.size), work)
        return [made[place] for place in range(len(numbers))]


#: The share of free memory that columns may take between calls.
_SHARE = 4


class Moments:
    """A source of moments whose rows lie in an engine.

    Columns that were gathered are kept as long as they take little of the free memory. ``rounds`` counts how often rows
    were read.
    """

    def __init__(self, engine: Engine, heading: MomentHeading, rows: Rows, likeness: Floats, read: ReadColumns) -> None:
        self.engine = engine
        self.kind = engine.kind
        self.heading = heading
        self.rounds = 0
        self._rows = rows
        self._likeness = likeness
        self._kept: dict[int, NumberColumn | CategoryColumn] = {}
        self._read = read

    def thinned(self) -> LocalTable:
        """Return about 10,000 of the rows with the values of numbers, the same ones as of a table in memory."""
        self.rounds += 1
        return self._read.thinned()

    def select(
        self, places: Sequence[int], columns: tuple[ColumnKind, ...], notes: tuple[str, ...]
    ) -> Moments | CountSource:
        """Return the moments of some columns, or their counts if none of them is a number and none has a role."""
        heading = self.heading.select(places, columns, notes)
        if not (heading.is_number.any() or heading.roles):
            return self._read.counts(heading.names, columns, notes)
        rows = self._rows.select((*places, *self.heading.role_place.values()))
        return Moments(self.engine, heading, rows, self._likeness[list(places)], self._read)

    def is_one_hot(self, places: Sequence[int]) -> bool:
        """Return whether each row has a single one in some columns of ones and zeros."""
        return int(self._ones(places)[-1]) == self.heading.rows

    def joined(self, sets: Sequence[OneHot]) -> Moments:
        """Return the moments with one-hot columns joined into categories."""
        heading, parts = self.heading, arranged(self.heading.names, sets)
        totals = {one.name: self._ones(at)[:-1] for at, one in parts if one}
        shapes = {name: indicators_of(rows) for name, rows in totals.items()}
        made = heading.joined(sets, shapes, [unit_of(one.levels, totals[one.name]) for one in sets])
        likeness = np.array([np.nan if one else self._likeness[at[0]] for at, one in parts])
        rows = ChosenRows(self._rows, [*parts, *(((place,), None) for place in heading.role_place.values())], shapes)
        return Moments(self.engine, made, rows, likeness, JoinedColumns(self._read, tuple(sets)))

    def _ones(self, places: Sequence[int]) -> Integers:
        found: Integers = np.sum(list(self._rows.fold(places, ones_of)), axis=0)
        return found

    @property
    def moved(self) -> int:
        """Return the bytes that came from the engine, where it tells."""
        return self.engine.moved

    def covariance(self, places: Sequence[int]) -> Floats:
        """Return the covariance matrix of the embedded columns of some columns, block after block."""
        return self._covariance(places, FOR_TESTS)

    def likeness(self, places: Sequence[int]) -> Floats:
        """Return the correlation of the normal scores of each column with its values; NaN where there are no scores."""
        found: Floats = self._likeness[list(places)]
        return found

    def covariance_for_scores(self, places: Sequence[int], plain: Collection[int]) -> Floats:
        """Return the covariance of the columns that are scored; plain numbers must be nearly normal."""
        return self._covariance(places, Embedded(frozenset(plain), SCORED_OF_NUMBER))

    def rows_for_scores(
        self, places: Sequence[int], by: Sequence[int] = ()
    ) -> list[tuple[Floats, Floats | None]] | None:
        """Return the rows of columns without squares, and of numbers as they are; None if they do not fit."""
        if not self._fits(places):
            return None
        if by:
            return rows_about_means(self._gathered([*places, *by]), places, by)
        self._in_memory(sorted(set(places)))
        return [rows_of(self._kept[place]) for place in places]

    def _covariance(self, places: Sequence[int], embedded: Embedded) -> Floats:
        if not len(places):
            return np.zeros((0, 0))

        def among(some: Sequence[int]) -> Embedded:
            return embedded._replace(plain=frozenset(at for at, place in enumerate(some) if place in embedded.plain))

        if not self.heading.missing[list(places)].any():
            self.rounds += 1
            return join_sums(self._rows.fold(places, partial(part_sums, embedded=among(places)))).covariance()
        unique = sorted(set(places))
        if not self._fits(unique):
            return self._estimate(unique, [unique.index(place) for place in places], among(unique))
        rows, numbers = self._in_memory(unique, among(unique))
        return rows.covariance([numbers[place] for place in places])

    def test_rows(self, queries: Sequence[tuple[int, ...]]) -> RowTests:
        """Test x against y given others, for each query (x, y, *given), on the rows that are complete there."""
        used = sorted({place for query in queries for place in query})
        if not self._fits(used):
            return self._tests_of_sums(queries, used)
        rows, numbers = self._in_memory(used)
        return rows.test_rows([tuple(numbers[place] for place in query) for query in queries])

    def duplicates(self, groups: Sequence[Sequence[int]]) -> list[list[int]]:
        """Return the groups of duplicates among the columns of each given group."""
        return duplicates(self._rows, groups, self.heading.is_number)

    def distinct(self, places: Sequence[int], most: int) -> list[int]:
        """Return how many distinct values each column has; one with more than ``most`` has ``most + 1``."""
        if not places:
            return []
        self.rounds += 1
        found = self._rows.reduce(places, partial(distinct_values, most=most), partial(join_values, most=most))
        return [len(values) for values in found]

    def group_sums(
        self,
        places: Sequence[int],
        by: Sequence[int],
        complete: Sequence[int],
        *,
        each: bool,
        weight: int | None = None,
        plain: frozenset[int] = frozenset(),
    ) -> GroupFigures:
        """Add up columns over the rows of each combination of the levels of some categories."""
        self.rounds += 1
        fold = self._rows.fold
        return sums_by_group(self.heading, fold, places, (by, complete), each=each, weight=weight, plain=plain)

    def estimated_levels(
        self, places: Sequence[int], by: Sequence[int], weight: int | None, plain: frozenset[int]
    ) -> Levels:
        """Return the levels of columns without squares, from all rows that have some of them."""
        used = [*places, *by, *(() if weight is None else (weight,))]
        if not self._fits([place for place in used if place < len(self.heading.names)]):
            names = listing([self.heading.names[place] for place in places])
            message = f"the columns {names} have missing values and are too much to gather; take fewer of them"
            raise DataError(message)
        return estimated_levels(self._gathered(used), places, by, weight, plain)

    def _gathered(self, places: Iterable[int]) -> dict[int, NumberColumn | CategoryColumn]:
        """Return the rows of some columns, with a role or without, which are not kept."""
        self.rounds += 1
        used = sorted({*places})
        parts = list(self._rows.fold(used, list))
        return {place: _joined([part[at] for part in parts]) for at, place in enumerate(used)}

    def _estimate(self, places: Sequence[int], order: Sequence[int], embedded: Embedded) -> Floats:
        """Return the covariance of maximum likelihood from the sums of patterns, the blocks of places in an order."""
        for place in places:
            if self.heading.missing[place] == self.heading.rows:
                message = f"all values of {self.heading.names[place]!r} are missing; leave the column out"
                raise DataError(message)
        patterns = join_patterns(self._rows.fold(places, partial(sums_of_patterns, embedded=embedded)))
        if patterns is None:
            message = (
                f"{count_of(len(places), 'column')} of {self.heading.rows:,} rows in {self.engine.origin!r} are too "
                f"much to gather, and their values are missing in more than {MOST_PATTERNS:,} ways; take fewer "
                "columns, or a machine with more memory"
            )
            raise DataError(message)
        is_number = self.heading.is_number[list(places)]
        widths = self.heading.widths[list(places)]
        if embedded.most is not None:
            widths = np.where(is_number, np.minimum(widths, embedded.most), widths)
        ends = np.cumsum(widths)
        columns = np.concatenate([np.arange(ends[at] - widths[at], ends[at]) for at in order])
        return np.ascontiguousarray(estimate_covariance(widths, patterns)[np.ix_(columns, columns)])

    def _tests_of_sums(self, queries: Sequence[tuple[int, ...]], used: Sequence[int]) -> RowTests:
        """Test from sums over the rows that are complete in each query, where columns are too much to gather."""
        shared = share_sums(self.heading, queries)
        sets = [one.among(used) for one in shared]
        parts = list(self._rows.fold(used, partial(sums_of_sets, sets=sets)))
        sums = (join_sums(part[at] for part in parts) for at in range(len(sets)))
        return run_by_sums(self.heading, queries, shared, sums)

    def _in_memory(self, places: Sequence[int], embedded: Embedded = FOR_TESTS) -> tuple[EmbeddedRows, dict[int, int]]:
        """Return the rows of some columns in memory, and where each column is there."""
        absent = [place for place in places if place not in self._kept]
        if absent:
            absent = self._together(places, absent)
            self.rounds += 1
            parts = list(self._rows.fold(absent, list))
            for number, place in enumerate(absent):
                self._kept[place] = _joined([columns[number] for columns in parts])
        handle = embedded.handle([self._kept[place] for place in places], self.heading.rows)
        names = tuple(self.heading.names[place] for place in places)
        return EmbeddedRows(handle, names), {place: number for number, place in enumerate(places)}

    def _together(self, places: Sequence[int], absent: list[int]) -> list[int]:
        """Return which columns to gather in one go, and forget those that are in the way.

        Where rows come in different orders these are all columns, if they fit.
        """
        if self.engine.is_ordered and self._bytes(self._kept) + self._bytes(absent) <= available_memory() // _SHARE:
            return absent
        self._kept.clear()
        every = list(range(len(self.heading.names)))
        return (
            every if not self.engine.is_ordered and 2 * self._bytes(every) <= available_memory() // 2 else list(places)
        )

    def _bytes(self, places: Iterable[int]) -> int:
        return sum(8 if self.heading.is_number[place] else 2 for place in places) * self.heading.rows

    def _fits(self, places: Sequence[int]) -> bool:
        """Return whether some columns may be gathered, twice, since parts are joined."""
        absent = [place for place in places if place not in self._kept]
        room = available_memory() // 2
        most = self._rows.most_gathered
        return 2 * self._bytes(absent) <= (room if most is None else min(room, most))


def _joined(parts: Sequence[NumberColumn | CategoryColumn]) -> NumberColumn | CategoryColumn:
    """Return the parts of a column as one."""
    first = parts[0]
    if isinstance(first, CategoryColumn):
        return first._replace(codes=np.concatenate([one.codes for one in parts if isinstance(one, CategoryColumn)]))
    numbers = [one for one in parts if isinstance(one, NumberColumn)]
    plain = [one.plain for one in numbers if one.plain is not None]
    values = np.concatenate([one.values for one in numbers])
    return first._replace(values=values, plain=np.concatenate(plain) if plain else None)


# --- columns alike ------------------------------------------------------------------------------------------------

Values: TypeAlias = npt.NDArray[np.float64]
#: The signs that fit so far, or the codes that meet; a missing value has the code -1.
Agreement: TypeAlias = frozenset[int] | frozenset[tuple[int, int]]

_FIRST = 4096
#: Far above the rounding of scores, far below the distance of scores of a billion rows.
_ROUNDING = 1e-12


def duplicates(rows: Rows, groups: Sequence[Sequence[int]], is_number: npt.NDArray[np.bool_]) -> list[list[int]]:
    """Return the groups of duplicates among the columns of each given group."""
    asked = sorted({place for group in groups for place in group})
    patterns = dict(zip(asked, rows.first(asked, first_patterns), strict=True)) if asked else {}
    alike = [one for group in groups for one in split(group, (patterns[place] for place in group))]
    return compare(alike, lambda pairs: _compare_all(rows, pairs, is_number))


def _compare_all(rows: Rows, pairs: Pairs, is_number: npt.NDArray[np.bool_]) -> list[bool]:
    """Return whether the two columns of each pair are duplicates."""
    used = sorted({place for pair in pairs for place in pair})
    number = {place: at for at, place in enumerate(used)}
    asked = [(number[one], number[other]) for one, other in pairs]
    answers = list(rows.fold(used, partial(compare_pairs, pairs=asked)))
    return [
        are_duplicates((answer[at] for answer in answers), is_number=bool(is_number[pair[0]]))
        for at, pair in enumerate(pairs)
    ]


def first_patterns(part: Part) -> list[bytes]:
    """Return a digest of how each column divides or orders the first rows; duplicates have the same."""
    return [_digest(_ranks(one) if isinstance(one, NumberColumn) else _classes(one)) for one in part]


def distinct_values(part: Part, most: int) -> list[Values]:
    """Return the distinct values of each number in a part, or ``most + 1`` of them where there are more."""
    return [
        _distinct(one.values if isinstance(one, NumberColumn) else one.codes.astype(np.float64), most) for one in part
    ]


def join_values(parts: Sequence[list[Values]], most: int) -> list[Values]:
    """Return the distinct values of all parts, or ``most + 1`` of them where there are more."""
    return [_distinct(np.concatenate(columns), most) for columns in zip(*parts, strict=True)]


def _distinct(values: Values, most: int) -> Values:
    return np.unique(values[~np.isnan(values)])[: most + 1]


def compare_pairs(part: Part, pairs: Pairs) -> list[Agreement]:
    """Return how the two columns of each pair agree in a part."""
    return [_compare(part[one], part[other]) for one, other in pairs]


def are_duplicates(agreements: Iterable[Agreement], *, is_number: bool) -> bool:
    """Return whether two columns are duplicates, by their agreement in all parts."""
    parts = list(agreements)
    if is_number:
        return bool(parts) and bool(frozenset.intersection(*parts))
    links = {link for part in parts for link in part if isinstance(link, tuple)}
    one_to_one = len({one for one, _ in links}) == len({other for _, other in links}) == len(links)
    return one_to_one and all((one < 0) == (other < 0) for one, other in links)


def _compare(one: NumberColumn | CategoryColumn, other: NumberColumn | CategoryColumn) -> Agreement:
    if isinstance(one, NumberColumn) and isinstance(other, NumberColumn):
        return frozenset(sign for sign in (1, -1) if _are_equal(one.values, sign * other.values))
    if isinstance(one, CategoryColumn) and isinstance(other, CategoryColumn):
        first, second = _codes(one), _codes(other)
        span = int(second.max(initial=0)) + 2
        met = np.unique((first + 1) * span + second + 1)
        return frozenset((int(link) // span - 1, int(link) % span - 1) for link in met)
    return frozenset()


def _are_equal(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> bool:
    gone = np.isnan(one)
    if not np.array_equal(gone, np.isnan(other)):
        return False
    return bool((np.abs(one - other)[~gone] <= _ROUNDING * np.maximum(1.0, np.abs(one[~gone]))).all())


def _codes(column: CategoryColumn) -> npt.NDArray[np.int64]:
    """Return codes, -1 for missing values."""
    codes = column.codes.astype(np.int64)
    return np.where(codes < column.indicators.size, codes, -1)


def _classes(column: CategoryColumn) -> npt.NDArray[np.int64]:
    """Return the first rows by the level that each has, numbered as they occur; -1 for missing values."""
    codes = _codes(column._replace(codes=column.codes[:_FIRST]))
    levels, first, numbers = np.unique(codes, return_index=True, return_inverse=True)
    order = np.empty(len(levels), np.int64)
    order[np.argsort(first)] = np.arange(len(levels))
    return np.where(codes < 0, -1, order[numbers])


def _ranks(column: NumberColumn) -> npt.NDArray[np.int64]:
    """Return the ranks of the first rows, those of the reverse order if these begin lower; -1 for missing values."""
    values = column.values[:_FIRST]
    gone = np.isnan(values)
    ranks = np.where(gone, -1, np.unique(values, return_inverse=True)[1])
    reverse = np.where(gone, -1, ranks.max(initial=0) - ranks)
    return ranks if ranks.tolist() <= reverse.tolist() else reverse


def _digest(numbers: npt.NDArray[np.int64]) -> bytes:
    return blake2b(numbers.astype("<i8").tobytes(), digest_size=16).digest()
