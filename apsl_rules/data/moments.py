"""Moments from anywhere: the protocol of a source of covariances.

Every column of a table is embedded as a block of real columns: a number as itself and polynomials of it, a category as
indicators of its levels. Tests and scores need only the covariance of embedded columns. A table in memory, files larger
than memory and a cluster all give it, so that it does not matter where the rows are.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from apsl_rules.data.counts import CachedCounts, CountSource
from apsl_rules.data.dataset import NO_TRAFFIC, CountedDataset, Dataset, Floats, Integers, Traffic
from apsl_rules.data.derived import notes_on_derived
from apsl_rules.data.duplicates import Pairs, compare, content_fingerprint, split
from apsl_rules.data.levels import GroupSums, Levels, levels_of
from apsl_rules.data.moment_sources import (
    ColumnUnit,
    ComparesColumns,
    CountsDistinct,
    Embedding,
    EstimatesLevels,
    JoinsColumns,
    MomentHeading,
    MomentSource,
    RowTests,
    SetsAside,
    SumsByGroup,
    TakesValues,
    is_nearly_normal,
)
from apsl_rules.data.one_hot import OneHot
from apsl_rules.data.tables import LocalTable
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.memory import DatasetMemory, Kind
from apsl_rules.names import Node, require_known
from apsl_rules.notes import Note, argument

__all__ = [
    "MOST_DISTINCT",
    "MOST_ROWS_SEEN",
    "MOST_WIDTH",
    "SCORED_OF_NUMBER",
    "ColumnUnit",
    "ComparesColumns",
    "CountsDistinct",
    "Embedding",
    "EstimatesLevels",
    "KeptMoments",
    "MomentHeading",
    "MomentSource",
    "RowTests",
    "SetsAside",
    "SumsByGroup",
    "TakesValues",
    "columns_for_scores",
    "is_nearly_normal",
    "is_opened",
]

#: Distinct values are told apart up to so many.
MOST_DISTINCT = 1000
#: The most embedded columns of which one matrix is made.
MOST_WIDTH = 1 << 10
_ESTIMATED: Kind[Levels] = Kind("estimated covariances inside groups and between them")
_THINNED: Kind[LocalTable] = Kind("some of the rows")
_LEVELS: Kind[Levels] = Kind("covariances inside groups and between them")
_MATRIX: Kind[Floats] = Kind("covariances of complete columns")
_SCORED: Kind[Floats] = Kind("covariances of scored columns")
#: The rows of larger tables are not looked at one by one for scores.
MOST_ROWS_SEEN = 1 << 20
#: The embedded columns of a number that are scored: its scores or its values, and the squares of its scores.
SCORED_OF_NUMBER = 2
#: What is left of the variance of a duplicate given the other column: nothing but rounding.
_ROUNDING = 1e-9


class KeptMoments(Dataset):
    """Rows of which moments are taken; the rows of complete columns are passed over once.

    The matrix of these stays in the memory of the dataset, for other objects on the same rows and embedding.
    """

    can = frozenset({"moments"})

    def __init__(self, source: MomentSource, memory: DatasetMemory, embedding: Hashable) -> None:
        self.source = source
        self.memory = memory
        self.embedding = embedding
        self.kind = source.kind
        self.heading = heading = source.heading
        self.names, self.columns, self.notes = heading.names, heading.columns, heading.notes
        self.roles = heading.roles
        self.number_names = tuple(name for name, one in zip(self.names, heading.is_number, strict=True) if one)
        complete = np.flatnonzero(heading.missing == 0)
        self._complete: list[int] = complete.tolist()
        self.has_matrix = int(heading.widths[complete].sum()) <= MOST_WIDTH
        ends = np.array([0, *accumulate(heading.widths[complete].tolist())], np.int64)
        self._first = dict(zip(self._complete, ends.tolist(), strict=False))

    def covariance(self, places: Sequence[int]) -> Floats:
        """Return the covariance matrix of the embedded columns of some columns, block after block."""
        if not self.has_matrix or any(place not in self._first for place in places):
            return self.source.covariance(places)
        matrix = self.memory.once(_MATRIX, self.embedding, lambda: self.source.covariance(self._complete))
        if list(places) == self._complete:
            return matrix
        columns = [self._first[place] + at for place in places for at in range(int(self.heading.widths[place]))]
        return np.ascontiguousarray(matrix[np.ix_(columns, columns)])

    def likeness(self, places: Sequence[int]) -> Floats:
        """Return the correlation of the normal scores of each column with its values; NaN where that is not known."""
        if isinstance(self.source, TakesValues):
            return self.source.likeness(places)
        return np.full(len(places), np.nan)

    def rows_for_scores(self, places: Sequence[int]) -> Sequence[tuple[Floats, Floats | None]] | None:
        """Return the rows of columns without squares, and of numbers as they are; None if they cannot be seen."""
        by = [self.heading.role_place[name] for name in self.roles.get("groups", ())]
        return self.source.rows_for_scores(places, by) if isinstance(self.source, TakesValues) else None

    def covariance_for_scores(self, places: Sequence[int], plain: frozenset[int] = frozenset()) -> Floats:
        """Return the covariance of the columns that are scored, some numbers as they are instead of by their ranks."""
        source = self.source
        if isinstance(source, TakesValues) and (plain or self.heading.missing[list(places)].any()):
            settings = self.embedding, tuple(places), plain
            return self.memory.once(_SCORED, settings, lambda: source.covariance_for_scores(places, plain))
        whole, widths = self.covariance(places), self.heading.widths[list(places)]
        kept = columns_for_scores(widths, self.heading.is_number[list(places)])
        return np.ascontiguousarray(whole[np.ix_(kept, kept)])

    def test_rows(self, queries: Sequence[tuple[int, ...]]) -> RowTests:
        """Test x against y given others, for each query (x, y, *given), on the rows that are complete there."""
        return self.source.test_rows(queries)

    def sums(
        self, names: Sequence[Node], *, by: Sequence[Node], complete: Sequence[Node] = (), each: bool = False
    ) -> GroupSums:
        """Add up columns over the rows of each group.

        Where all columns are categories no sums are needed: the joint counts by group are those of
        ``CountedDataset.joint`` with the places of the grouping columns added to those of the others.

        Parameters
        ----------
        names
            The columns to add up, as they are embedded: numbers and their polynomials, indicators of categories.
        by
            The categories whose combinations of levels are the groups; read identifiers as such by ``kinds``.
        complete
            More columns that must not be missing. A row counts if no value of it is missing in any of all these.
        each
            Whether to add up products for each group too, groups by columns by columns.
        """
        for name in (*names, *complete):
            require_known(name, self.place, "column")
        for name in by:
            require_known(name, {**self.place, **self.heading.role_place}, "column")
            if name in self.number_names:
                given = argument("kinds", {name: "category"})
                message = f"column {name!r} holds numbers, and groups are levels; give {given}"
                raise InvalidArgumentError(message)
        if not by or not names:
            message = "sums by groups need a column to add up and a column of groups; name both"
            raise InvalidArgumentError(message)
        if not isinstance(self.source, SumsByGroup):
            message = f"the source of moments {self.kind!r} adds up no groups of rows; give the table itself"
            raise InvalidArgumentError(message)
        where = {**self.place, **self.heading.role_place}
        places, groups, needed = ([where[name] for name in some] for some in (names, by, complete))
        found = self.source.group_sums(places, groups, needed, each=each)
        units = [self.heading.unit(place) for place in groups]
        levels = [dict(zip(unit.codes, unit.levels, strict=True)) for unit in units]
        keys = tuple(
            tuple(level[code] for level, code in zip(levels, codes, strict=True)) for codes in found.codes.tolist()
        )
        return GroupSums(tuple(names), self.heading.widths[places], keys, *found[1:])

    @cached_property
    def constant_in_groups(self) -> tuple[Node, ...]:
        """Return the columns that are the same in all rows of each group, where rows are in groups."""
        if not self.roles.get("groups"):
            return ()
        constant = self.levels(self._complete).constant
        return tuple(self.names[place] for place, same in zip(self._complete, constant, strict=True) if same)

    @property
    def has_levels(self) -> bool:
        """Return whether rows belong together or have weights, so that figures come from ``levels``."""
        return bool(self.roles)

    def levels(self, places: Sequence[int]) -> Levels:
        """Return the covariances of columns inside groups and between them, on the rows that are complete in all."""
        known = all(place in self._first for place in places) and self.has_matrix
        if not known:
            return self._levels(places)
        whole = self.memory.once(_LEVELS, self.embedding, lambda: self._levels(self._complete))
        at = {place: number for number, place in enumerate(self._complete)}
        return whole.select([at[place] for place in places])

    def levels_for_scores(self, places: Sequence[int], plain: frozenset[int] = frozenset()) -> Levels:
        """Return the levels of the columns that are scored: the first two of a number, all of a category.

        Numbers at the ``plain`` places are taken as they are, others by their ranks.

        Where values are missing they are the estimates of maximum likelihood, without squares.
        """
        is_number, widths = self.heading.is_number[list(places)], self.heading.widths[list(places)]
        if self.heading.missing[list(places)].any():
            if not isinstance(self.source, EstimatesLevels):
                message = f"the source of moments {self.kind!r} estimates nothing by groups; give the table itself"
                raise InvalidArgumentError(message)
            settings = self.embedding, tuple(places), plain
            return self.memory.once(_ESTIMATED, settings, lambda: self._estimated(places, plain))
        scored = np.where(is_number, np.minimum(widths, SCORED_OF_NUMBER), widths)
        levels = self._levels(places, plain) if plain else self.levels(places)
        return levels.with_columns(columns_for_scores(widths, is_number), scored)

    def _estimated(self, places: Sequence[int], plain: frozenset[int]) -> Levels:
        assert isinstance(self.source, EstimatesLevels)  # noqa: S101 - asked before
        by = [self.heading.role_place[name] for name in self.roles.get("groups", ())]
        weight = next((self.heading.role_place[name] for name in self.roles.get("sampling_weights", ())), None)
        return self.source.estimated_levels(places, by, weight, plain)

    def _levels(self, places: Sequence[int], plain: frozenset[int] = frozenset()) -> Levels:
        if not isinstance(self.source, SumsByGroup):
            message = f"the source of moments {self.kind!r} adds up no groups of rows; give the table itself"
            raise InvalidArgumentError(message)
        heading = self.heading
        by = [heading.role_place[name] for name in self.roles.get("groups", ())]
        weight = next((heading.role_place[name] for name in self.roles.get("sampling_weights", ())), None)
        found = self.source.group_sums(places, by, (), each=False, weight=weight, plain=plain)
        widths = heading.widths[list(places)]
        sums = GroupSums(tuple(heading.names[place] for place in places), widths, (), *found[1:])
        return levels_of(sums, heading.is_number[list(places)], has_groups=bool(by))

    # --- as a dataset ------------------------------------------------------------------------------------------------

    def thinned(self) -> LocalTable | None:
        """Return about 10,000 of the rows, asked for once; None where the engine gives no rows."""
        source = self.source
        return self.memory.once(_THINNED, None, source.thinned) if isinstance(source, SetsAside) else None

    def set_aside(self, reasons: Mapping[Node, str], notes: Sequence[str]) -> Dataset:
        """Return the moments of the columns but for some, each set aside for a reason; counts if no number is left."""
        if not isinstance(self.source, SetsAside):
            return super().set_aside(reasons, notes)
        places = [place for place, name in enumerate(self.names) if name not in reasons]
        left = self.source.select(places, self._columns_without(reasons), (*self.notes, *notes))
        return (
            KeptMoments(left, DatasetMemory(), self.embedding) if isinstance(left, MomentSource) else CachedCounts(left)
        )

    def levels_of(self, node: Node) -> tuple[Any, ...]:
        """Return the levels of a category in the order of their codes."""
        return self.heading.units[self.place[node]].levels

    @property
    def _joining(self) -> JoinsColumns | None:
        return self.source if isinstance(self.source, JoinsColumns) else None

    def is_one_hot(self, members: Sequence[Node]) -> bool:
        """Return whether each row has a single one in some columns; False where the engine cannot tell."""
        return self._joining is not None and self._joining.is_one_hot([self.place[name] for name in members])

    def joined(self, sets: Sequence[OneHot]) -> Dataset:
        """Return the moments with one-hot columns joined into categories."""
        if not sets or self._joining is None:
            return super().joined(sets)
        made = KeptMoments(self._joining.joined(sets), DatasetMemory(), self.embedding)
        made.before = self
        return made

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return self.heading.rows

    @property
    def missing(self) -> Integers:
        """Return how many values are missing in each column."""
        return self.heading.missing

    @property
    def categories(self) -> CountedDataset:  # type: ignore[override]
        """Refuse to count: there are sums of products alone."""
        message = "a source of moments counts nothing; give the table itself"
        raise InvalidArgumentError(message)

    def distinct(self, node: Node) -> int | None:
        """Return how many distinct values a column has, counted where the rows are; None where that is not possible."""
        place = self.place[node]
        return self._distinct.get(node) if self.heading.is_number[place] else len(self.heading.units[place].levels)

    @cached_property
    def _distinct(self) -> Mapping[Node, int]:
        if not isinstance(self.source, CountsDistinct):
            return {}
        places = [self.place[name] for name in self.number_names]
        return dict(zip(self.number_names, self.source.distinct(places, MOST_DISTINCT), strict=True))

    def complete(self, sets: Sequence[tuple[int, ...]]) -> list[int]:
        """Count, for each set of columns by place, the rows in which none of them is missing."""
        found: list[int] = self.source.test_rows(sets).rows.tolist()
        return found

    @property
    def traffic(self) -> Traffic:
        """Return what came back so far, where the engine tells."""
        return Traffic(getattr(self.source, "rounds", 0), getattr(self.source, "moved", 0))

    def notes_on(self, members: Sequence[Node], before: Traffic = NO_TRAFFIC, unused: Sequence[str] = ()) -> list[str]:
        """Return what stands out, and where the moments came from."""
        came = f" {self.traffic.since(before)}" if hasattr(self.source, "rounds") else ""
        return [
            *self.notes,
            *notes_on_derived(self, members),
            *unused,
            Note(f"moments came from {self.kind}{came}", "moments elsewhere"),
        ]

    @property
    def content(self) -> str:
        """Return a hash of the heading, and of files that stay where they are."""
        of_column = getattr(self.source, "fingerprint", None)
        return content_fingerprint((self.heading, b"" if of_column is None else of_column(0)))

    def _alike(self) -> list[list[int]]:
        """Compare columns row by row; where the engine cannot, complete ones that determine each other are alike."""
        heading, source = self.heading, self.source
        places = np.flatnonzero(heading.widths > 0).tolist()
        keys = zip(heading.is_number.tolist(), heading.widths.tolist(), heading.missing.tolist(), strict=True)
        known = list(keys)
        if isinstance(source, ComparesColumns):
            return source.duplicates(split(places, (known[place] for place in places)))
        places = [place for place in places if place in self._first] if self.has_matrix else []
        return compare(split(places, (known[place] for place in places)), self._are_determined)

    def _are_determined(self, pairs: Pairs) -> list[bool]:
        """Return whether nothing is left of the variance of one column of each pair given the other."""
        found = []
        for one, other in pairs:
            matrix, width = self.covariance((one, other)), int(self.heading.widths[one])
            if self.heading.is_number[one]:
                matrix, width = matrix[np.ix_((0, width), (0, width))], 1
            cross = matrix[:width, width:]
            explained = cross.T @ np.linalg.lstsq(matrix[:width, :width], cross, rcond=None)[0]
            variances = np.diag(matrix)[width:]
            found.append(bool((variances - np.diag(explained) < _ROUNDING * variances).all()))
        return found


def columns_for_scores(widths: Integers, is_number: npt.NDArray[np.bool_]) -> list[int]:
    """Return the embedded columns that are scored, of blocks of such widths."""
    ends = np.cumsum(widths).tolist()
    blocks = zip(ends, widths.tolist(), is_number.tolist(), strict=True)
    return [
        column
        for end, width, number in blocks
        for column in range(end - width, end - width + (min(width, SCORED_OF_NUMBER) if number else width))
    ]


def is_opened(source: object) -> bool:
    """Return whether a source says itself how its columns are read: a dataset, or an engine of one's own."""
    return isinstance(source, Dataset | CountSource | MomentSource)
