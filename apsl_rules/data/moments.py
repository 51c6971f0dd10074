"""Moments from anywhere: the protocol of a source of covariances.

Every column of a table is embedded as a block of real columns: a number as itself and polynomials of it, a category as
indicators of its levels. Tests and scores need only the covariance of embedded columns. A table in memory, files larger
than memory and a cluster all give it, so that it does not matter where the rows are.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.counts import CachedCounts, CountSource
from apsl_rules.data.dataset import NO_TRAFFIC, CountedDataset, Dataset, Floats, Integers, Traffic
from apsl_rules.data.derived import notes_on_derived
from apsl_rules.data.duplicates import Pairs, compare, split
from apsl_rules.data.files import content_fingerprint
from apsl_rules.data.kinds import ColumnKind
from apsl_rules.data.levels import GroupFigures, GroupSums, Levels, levels_of
from apsl_rules.data.roles import Roles, role_names
from apsl_rules.data.tables import LocalTable
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.memory import DatasetMemory, Kind
from apsl_rules.names import Node, require_known
from apsl_rules.notes import Note, argument


@attrs.frozen
class Embedding:
    """How numbers become real columns.

    ``numbers`` takes their normal scores (average ranks through the normal quantile function, so that skewed numbers
    and outliers do no harm) or their values. ``degree`` is the highest of the Hermite polynomials z, z² - 1, z³ - 3z
    that stand for a number.
    """

    numbers: Literal["normal-scores", "values"] = "normal-scores"
    degree: Literal[1, 2, 3] = 3


@attrs.frozen
class ColumnUnit:
    """What the embedded columns of a column are in terms of the table.

    ``scale`` is how many units of a number make one of its first embedded column, None where that has ranks. A category
    has ``levels``, ``codes`` of them, and ``indicators`` tells the embedded column of each, -1 for those of the
    reference.
    """

    scale: float | None = None
    levels: tuple[Any, ...] = ()
    indicators: tuple[int, ...] = ()
    codes: tuple[int, ...] = ()


@attrs.frozen(eq=False, slots=False)
class MomentHeading:
    """All of a table with numbers but its rows.

    ``widths`` has the number of embedded columns of each column: the degree for a number, or less if it has few values;
    the levels but one for a category, of which rare ones share a column. ``missing`` counts the missing values.
    ``units`` say what embedded columns are in terms of the table; effects need them, tests and scores do not.
    ``roles`` has the columns that say something of the rows. They are not among the ``names`` and are not embedded;
    their places come after those of the names, and ``role_units`` are theirs.
    """

    names: tuple[Node, ...]
    rows: int
    is_number: npt.NDArray[np.bool_]
    widths: Integers
    missing: Integers
    columns: tuple[ColumnKind, ...] = ()
    notes: tuple[str, ...] = ()
    units: tuple[ColumnUnit, ...] = ()
    roles: Roles = attrs.field(factory=dict)
    role_units: tuple[ColumnUnit, ...] = ()

    def select(self, places: Sequence[int], columns: tuple[ColumnKind, ...], notes: tuple[str, ...]) -> MomentHeading:
        """Return the heading of some columns, with what became of all columns of the source and with notes."""
        chosen = list(places)
        return attrs.evolve(
            self,
            names=tuple(self.names[place] for place in places),
            is_number=self.is_number[chosen],
            widths=self.widths[chosen],
            missing=self.missing[chosen],
            units=tuple(self.units[place] for place in places) if self.units else (),
            columns=columns,
            notes=notes,
        )

    @cached_property
    def role_place(self) -> dict[Node, int]:
        """Return the place of each column with a role: they come after the others."""
        return {name: len(self.names) + number for number, name in enumerate(role_names(self.roles))}

    def unit(self, place: int) -> ColumnUnit:
        """Return what is known of the values of a column, which may have a role."""
        count = len(self.names)
        return self.units[place] if place < count else self.role_units[place - count]

    @cached_property
    def place(self) -> dict[Node, int]:
        """Return the column number of each name."""
        return {name: number for number, name in enumerate(self.names)}


class RowTests(NamedTuple):
    """The figures of tests, each on the rows that are complete in its columns.

    ``ratios`` are ln|S_xz| + ln|S_yz| - ln|S_z| - ln|S_xyz|, ``x_ranks`` and ``y_ranks`` how many columns of x and y
    depend on no given ones, ``ranks`` that of the given columns, ``rows`` the complete rows.

    Of two categories, ``inflations`` say by how much the statistic is too large on average if they are independent,
    since the spread of an indicator follows its rate, and ``joint_rates`` in which share of the rows a level of one
    then meets a level of the other. Both are 1 for other pairs. ``products`` is what the statistic of a row changes by
    if products of given columns move the rates of both as logistic curves do, 0 for other pairs.
    """

    ratios: Floats
    x_ranks: Integers
    y_ranks: Integers
    ranks: Integers
    rows: Integers
    inflations: Floats
    joint_rates: Floats
    products: Floats

    @classmethod
    def empty(cls, tests: int) -> RowTests:
        """Return the figures of tests without rows."""
        x_ranks, y_ranks, ranks, rows = (np.zeros(tests, np.int64) for _ in range(4))
        return cls(np.zeros(tests), x_ranks, y_ranks, ranks, rows, np.ones(tests), np.ones(tests), np.zeros(tests))


@runtime_checkable
class MomentSource(Protocol):
    """An engine that computes moments of the rows of a table where they are."""

    @property
    def kind(self) -> str:
        """Return the name of the method, such as "memory"."""

    @property
    def heading(self) -> MomentHeading:
        """Return the columns and the number of rows."""

    def covariance(self, places: Sequence[int]) -> Floats:
        """Return the covariance matrix of the embedded columns of some columns, block after block.

        Where values are missing it is the estimate of maximum likelihood, by expectation and maximisation.
        """

    def test_rows(self, queries: Sequence[tuple[int, ...]]) -> RowTests:
        """Test x against y given others, for each query (x, y, *given), in one round.

        The first embedded column of a number is tested; all of its columns are given.
        """


@runtime_checkable
class TakesValues(Protocol):
    """A source of moments that can take numbers as they are in the place of their normal scores."""

    def likeness(self, places: Sequence[int]) -> Floats:
        """Return the correlation of the normal scores of each column with its values; NaN where there are no scores."""

    def covariance_for_scores(self, places: Sequence[int], plain: Collection[int]) -> Floats:
        """Return the covariance of the columns that are scored: the first two of a number, all of a category.

        Of the numbers at the ``plain`` places the values stand as they are in the place of their normal scores.
        """

    def rows_for_scores(self, places: Sequence[int]) -> Sequence[tuple[Floats, Floats | None]] | None:
        """Return the rows of columns, or None if they are too many to see.

        Of each column these are its columns of one row without squares, and the values of a number as it is. Missing
        values are NaN.
        """


def is_nearly_normal(likeness: Floats, rows: Integers) -> npt.NDArray[np.bool_]:
    """Return whether numbers are so like their normal scores that ranks would only add noise; NaN is not."""
    return np.asarray(1 - likeness <= _UNLIKE + _UNLIKE_BY_CHANCE / np.maximum(rows, 1))


#: How much less than 1 the correlation of a number with its normal scores may be, and how much of that by chance.
_UNLIKE, _UNLIKE_BY_CHANCE = 0.0005, 2.0


@runtime_checkable
class ComparesColumns(Protocol):
    """A source of moments that can compare its columns row by row."""

    def duplicates(self, groups: Sequence[Sequence[int]]) -> list[list[int]]:
        """Return the groups of duplicates among the columns of each given group.

        Duplicates divide the rows alike, or order them alike or in reverse; values are missing in the same rows.
        """


@runtime_checkable
class CountsDistinct(Protocol):
    """A source of moments that can count the distinct values of its columns."""

    def distinct(self, places: Sequence[int], most: int) -> list[int]:
        """Return how many distinct values each column has; one with more than ``most`` has ``most + 1``."""


@runtime_checkable
class SumsByGroup(Protocol):
    """A source of moments that can add up groups of rows."""

    def group_sums(
        self,
        places: Sequence[int],
        by: Sequence[int],
        complete: Sequence[int],
        *,
        each: bool,
        weight: int | None = None,
    ) -> GroupFigures:
        """Add up columns over the rows of each combination of the levels of some categories, of all without any.

        Rows in which one of all these columns is missing are left out. ``weight`` is the place of the weights of rows.
        """


@runtime_checkable
class EstimatesLevels(Protocol):
    """A source of moments that can estimate covariances inside groups and between them where values are missing."""

    def estimated_levels(self, places: Sequence[int], by: Sequence[int], weight: int | None) -> Levels:
        """Return the levels of columns without squares, from all rows that have some of them."""


@runtime_checkable
class SetsAside(Protocol):
    """A source of moments that can show some of its rows, and leave columns out."""

    def thinned(self) -> LocalTable:
        """Return about 10,000 of the rows with the values of numbers, the same ones as of a table in memory."""

    def select(
        self, places: Sequence[int], columns: tuple[ColumnKind, ...], notes: tuple[str, ...]
    ) -> MomentSource | CountSource:
        """Return the source of some columns, one that counts if no number is left and no column has a role."""


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
        return self.source.rows_for_scores(places) if isinstance(self.source, TakesValues) else None

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

    def levels_for_scores(self, places: Sequence[int]) -> Levels:
        """Return the levels of the columns that are scored: the first two of a number, all of a category.

        Where values are missing they are the estimates of maximum likelihood, without squares.
        """
        is_number, widths = self.heading.is_number[list(places)], self.heading.widths[list(places)]
        if self.heading.missing[list(places)].any():
            if not isinstance(self.source, EstimatesLevels):
                message = f"the source of moments {self.kind!r} estimates nothing by groups; give the table itself"
                raise InvalidArgumentError(message)
            settings = self.embedding, tuple(places)
            return self.memory.once(_ESTIMATED, settings, lambda: self._estimated(places))
        scored = np.where(is_number, np.minimum(widths, SCORED_OF_NUMBER), widths)
        return self.levels(places).with_columns(columns_for_scores(widths, is_number), scored)

    def _estimated(self, places: Sequence[int]) -> Levels:
        assert isinstance(self.source, EstimatesLevels)  # noqa: S101 - asked before
        by = [self.heading.role_place[name] for name in self.roles.get("groups", ())]
        weight = next((self.heading.role_place[name] for name in self.roles.get("sampling_weights", ())), None)
        return self.source.estimated_levels(places, by, weight)

    def _levels(self, places: Sequence[int]) -> Levels:
        if not isinstance(self.source, SumsByGroup):
            message = f"the source of moments {self.kind!r} adds up no groups of rows; give the table itself"
            raise InvalidArgumentError(message)
        heading = self.heading
        by = [heading.role_place[name] for name in self.roles.get("groups", ())]
        weight = next((heading.role_place[name] for name in self.roles.get("sampling_weights", ())), None)
        found = self.source.group_sums(places, by, (), each=False, weight=weight)
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
