"""Moments of columns that lie elsewhere: added up where the rows are, and columns gathered where that is not enough."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np

from apsl_backends.engines.duplicates import duplicates
from apsl_backends.engines.engine import Engine, Rows
from apsl_backends.engines.groups import sums_by_group
from apsl_backends.engines.sums import (
    MOST_PATTERNS,
    EmbeddedRows,
    estimate_covariance,
    join_patterns,
    join_sums,
    part_sums,
    run_by_sums,
    share_sums,
    sums_of_patterns,
    sums_of_sets,
)
from apsl_backends.kernels.bindings.checks import Floats
from apsl_backends.kernels.bindings.embedded import CategoryColumn, EmbeddedHandle, NumberColumn
from apsl_rules.data import available_memory
from apsl_rules.data.moments import GroupFigures, MomentHeading, RowTests
from apsl_rules.errors import DataError
from apsl_rules.names import count_of

#: The share of free memory that columns may take between calls.
_SHARE = 4


class Moments:
    """A source of moments whose rows lie in an engine.

    Columns that were gathered are kept as long as they take little of the free memory. ``rounds`` counts how often rows
    were read.
    """

    def __init__(self, engine: Engine, heading: MomentHeading, rows: Rows) -> None:
        self.engine = engine
        self.kind = engine.kind
        self.heading = heading
        self.rounds = 0
        self._rows = rows
        self._kept: dict[int, NumberColumn | CategoryColumn] = {}

    @property
    def moved(self) -> int:
        """Return the bytes that came from the engine, where it tells."""
        return self.engine.moved

    def covariance(self, places: Sequence[int]) -> Floats:
        """Return the covariance matrix of the embedded columns of some columns, block after block."""
        if not len(places):
            return np.zeros((0, 0))
        if not self.heading.missing[list(places)].any():
            self.rounds += 1
            return join_sums(self._rows.fold(places, part_sums)).covariance()
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
        return duplicates(self._rows, groups, self.heading.is_number)

    def group_sums(
        self, places: Sequence[int], by: Sequence[int], complete: Sequence[int], *, each: bool
    ) -> GroupFigures:
        """Add up columns over the rows of each combination of the levels of some categories."""
        self.rounds += 1
        return sums_by_group(self.heading, self._rows.fold, places, (by, complete), each=each)

    def _estimate(self, places: Sequence[int], order: Sequence[int]) -> Floats:
        """Return the covariance of maximum likelihood from the sums of patterns, the blocks of places in an order."""
        for place in places:
            if self.heading.missing[place] == self.heading.rows:
                message = f"all values of {self.heading.names[place]!r} are missing; leave the column out"
                raise DataError(message)
        patterns = join_patterns(self._rows.fold(places, sums_of_patterns))
        if patterns is None:
            message = (
                f"{count_of(len(places), 'column')} of {self.heading.rows:,} rows in {self.engine.origin!r} are too "
                f"much to gather, and their values are missing in more than {MOST_PATTERNS:,} ways; take fewer "
                "columns, or a machine with more memory"
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
        parts = list(self._rows.fold(used, partial(sums_of_sets, sets=sets)))
        sums = (join_sums(part[at] for part in parts) for at in range(len(sets)))
        return run_by_sums(self.heading, queries, shared, sums)

    def _in_memory(self, places: Sequence[int]) -> tuple[EmbeddedRows, dict[int, int]]:
        """Return the rows of some columns in memory, and where each column is there."""
        absent = [place for place in places if place not in self._kept]
        if absent:
            absent = self._together(places, absent)
            self.rounds += 1
            parts = list(self._rows.fold(absent, list))
            for number, place in enumerate(absent):
                self._kept[place] = _joined([columns[number] for columns in parts])
        handle = EmbeddedHandle([self._kept[place] for place in places], self.heading.rows)
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
    return first._replace(values=np.concatenate([one.values for one in parts if isinstance(one, NumberColumn)]))
