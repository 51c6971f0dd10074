"""Moments of columns that are fetched, and columns compared row by row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from apsl_backends.engines.duckdb_connection import available_memory
from apsl_backends.engines.memory import EmbeddedRows
from apsl_backends.engines.pattern_sums import (
    MOST_PATTERNS,
    estimate_covariance,
    join_patterns,
    join_sums,
    run_by_sums,
    share_sums,
    sums_of_patterns,
    sums_of_sets,
)
from apsl_backends.kernels.bindings import (
    CategoryColumn,
    EmbeddedHandle,
    Floats,
    NumberColumn,
    ProductSums,
)
from apsl_rules.data.moments import MomentHeading, RowTests
from apsl_rules.errors import DataError
from apsl_rules.names import count_of

Part: TypeAlias = Sequence[NumberColumn | CategoryColumn]
#: The signs that fit so far, or the codes that meet; a missing value has the code -1.
Agreement: TypeAlias = frozenset[int] | frozenset[tuple[int, int]]

_FIRST = 4096
#: Far above the rounding of scores, far below the distance of scores of a billion rows.
_ROUNDING = 1e-12


def first_patterns(part: Part) -> list[bytes]:
    """Return a digest of how each column divides or orders the first rows; duplicates have the same."""
    return [_digest(_ranks(one) if isinstance(one, NumberColumn) else _classes(one)) for one in part]


def compare_pairs(part: Part, pairs: Sequence[tuple[int, int]]) -> list[Agreement]:
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


Answer = TypeVar("Answer")

#: The share of free memory that columns may take between calls.
_SHARE = 4


class GatheredMoments(ABC):
    """A source of moments that adds up where the rows are, and gathers columns where that is not enough.

    Columns that were gathered are kept as long as they take little of the free memory. ``rounds`` counts how often rows
    were read, and ``moved`` the bytes that came, where the source tells.
    """

    def __init__(self, heading: MomentHeading, origin: str) -> None:
        self.heading = heading
        self.origin = origin
        self.rounds = self.moved = 0
        self._kept: dict[int, NumberColumn | CategoryColumn] = {}

    @abstractmethod
    def _sums(self, places: Sequence[int]) -> ProductSums:
        """Return the sums of products of places without missing values."""

    @abstractmethod
    def _parts(self, places: Sequence[int]) -> Iterable[list[NumberColumn | CategoryColumn]]:
        """Return columns in parts, in the order of the rows."""

    def _over_parts(
        self, places: Sequence[int], work: Callable[[list[NumberColumn | CategoryColumn]], Answer]
    ) -> Iterable[Answer]:
        """Do work on some columns of each part of the rows, and return the answers in the order of the rows."""
        return map(work, self._parts(places))

    def covariance(self, places: Sequence[int]) -> Floats:
        """Return the covariance matrix of the embedded columns of some columns, block after block."""
        if not len(places):
            return np.zeros((0, 0))
        if not self.heading.missing[list(places)].any():
            self.rounds += 1
            return self._sums(places).covariance()
        unique = sorted(set(places))
        if not self._fits(unique):
            return self._estimate(unique, [unique.index(place) for place in places])
        rows, numbers = self._in_memory(unique)
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
        asked = sorted({place for group in groups for place in group})
        patterns = dict(zip(asked, self._first_patterns(asked), strict=True))
        left = [one for group in groups for one in _split(group, patterns) if len(one) > 1]
        found = []
        while left:
            pairs = [(group[0], other) for group in left for other in group[1:]]
            alike = {pair for pair, is_alike in zip(pairs, self._compare(pairs), strict=True) if is_alike}
            found += [[one, *twins] for one, *rest in left if (twins := [two for two in rest if (one, two) in alike])]
            apart = [[two for two in rest if (one, two) not in alike] for one, *rest in left]
            left = [group for group in apart if len(group) > 1]
        return found

    def _first_patterns(self, places: Sequence[int]) -> list[bytes]:
        """Return a digest of how each column divides or orders the first rows."""
        return next(iter(self._over_parts(places, first_patterns)), []) if places else []

    def _compare(self, pairs: Sequence[tuple[int, int]]) -> list[bool]:
        """Return whether the two columns of each pair are duplicates."""
        used = sorted({place for pair in pairs for place in pair})
        number = {place: at for at, place in enumerate(used)}
        asked = [(number[one], number[other]) for one, other in pairs]
        answers = list(self._over_parts(used, partial(compare_pairs, pairs=asked)))
        return [
            are_duplicates((answer[at] for answer in answers), is_number=bool(self.heading.is_number[pair[0]]))
            for at, pair in enumerate(pairs)
        ]

    def _estimate(self, places: Sequence[int], order: Sequence[int]) -> Floats:
        """Return the covariance of maximum likelihood from the sums of patterns, the blocks of places in an order."""
        for place in places:
            if self.heading.missing[place] == self.heading.rows:
                message = f"all values of {self.heading.names[place]!r} are missing; leave the column out"
                raise DataError(message)
        patterns = join_patterns(self._over_parts(places, sums_of_patterns))
        if patterns is None:
            message = (
                f"{count_of(len(places), 'column')} of {self.heading.rows:,} rows in {self.origin!r} are too much to "
                f"gather, and their values are missing in more than {MOST_PATTERNS:,} ways; take fewer columns, or a "
                "machine with more memory"
            )
            raise DataError(message)
        widths = self.heading.widths[list(places)]
        ends = np.cumsum(widths)
        columns = np.concatenate([np.arange(ends[at] - widths[at], ends[at]) for at in order])
        return np.ascontiguousarray(estimate_covariance(widths, patterns)[np.ix_(columns, columns)])

    def _tests_of_sums(self, queries: Sequence[tuple[int, ...]], used: Sequence[int]) -> RowTests:
        """Test from sums over the rows that are complete in each query, where columns are too much to gather."""
        shared = share_sums(self.heading, queries)
        sets = [one.among(used) for one in shared]
        parts = list(self._over_parts(used, partial(sums_of_sets, sets=sets)))
        sums = (join_sums(part[at] for part in parts) for at in range(len(sets)))
        return run_by_sums(self.heading, queries, shared, sums)

    def _in_memory(self, places: Sequence[int]) -> tuple[EmbeddedRows, dict[int, int]]:
        """Return the rows of some columns in memory, and where each column is there."""
        absent = [place for place in places if place not in self._kept]
        if absent:
            absent = self._together(places, absent)
            self.rounds += 1
            parts = list(self._parts(absent))
            for number, place in enumerate(absent):
                self._kept[place] = _joined([columns[number] for columns in parts])
        handle = EmbeddedHandle([self._kept[place] for place in places], self.heading.rows)
        names = tuple(self.heading.names[place] for place in places)
        return EmbeddedRows(handle, names), {place: number for number, place in enumerate(places)}

    def _together(self, places: Sequence[int], absent: list[int]) -> list[int]:
        """Return which columns to gather in one go, and forget those that are in the way."""
        if self._bytes(self._kept) + self._bytes(absent) <= available_memory() // _SHARE:
            return absent
        self._kept.clear()
        return list(places)

    def _bytes(self, places: Iterable[int]) -> int:
        return sum(8 if self.heading.is_number[place] else 2 for place in places) * self.heading.rows

    def _fits(self, places: Sequence[int]) -> bool:
        """Return whether some columns may be gathered, twice, since parts are joined."""
        absent = [place for place in places if place not in self._kept]
        return 2 * self._bytes(absent) <= self._room()

    def _room(self) -> int:
        """Return the bytes that gathered columns may take."""
        return available_memory() // 2


def _joined(parts: Sequence[NumberColumn | CategoryColumn]) -> NumberColumn | CategoryColumn:
    """Return the parts of a column as one."""
    first = parts[0]
    if isinstance(first, CategoryColumn):
        return first._replace(codes=np.concatenate([one.codes for one in parts if isinstance(one, CategoryColumn)]))
    return first._replace(values=np.concatenate([one.values for one in parts if isinstance(one, NumberColumn)]))


def _split(group: Sequence[int], patterns: Mapping[int, bytes]) -> list[list[int]]:
    """Divide a group of columns by their patterns."""
    alike: dict[bytes, list[int]] = {}
    for place in group:
        alike.setdefault(patterns[place], []).append(place)
    return list(alike.values())
