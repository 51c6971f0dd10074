"""Sources of moments: what one can be asked, and all that is known of its columns but their rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.counts import CountSource
from apsl_rules.data.dataset import Floats, Integers, names_joined
from apsl_rules.data.kinds import ColumnKind, Roles, role_names
from apsl_rules.data.levels import GroupFigures, Levels
from apsl_rules.data.one_hot import OneHot, arranged, joined_columns
from apsl_rules.data.tables import LocalTable
from apsl_rules.names import Node


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

    def joined(
        self, sets: Sequence[OneHot], shapes: Mapping[Node, tuple[Integers, int]], units: Sequence[ColumnUnit]
    ) -> MomentHeading:
        """Return the heading with one-hot columns joined into categories of such indicators and units."""
        parts, unit = arranged(self.names, sets), {one.name: unit for one, unit in zip(sets, units, strict=True)}
        columns, notes = joined_columns(self.columns, sets), (*(one.note() for one in sets), *self.notes)
        made = self.select([at[0] for at, _ in parts], columns, notes)
        return attrs.evolve(
            made,
            names=names_joined(self.names, parts),
            widths=np.array([shapes[one.name][1] if one else self.widths[at[0]] for at, one in parts], np.int64),
            units=tuple(unit[one.name] if one else self.units[at[0]] for at, one in parts),
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

    def rows_for_scores(
        self, places: Sequence[int], by: Sequence[int] = ()
    ) -> Sequence[tuple[Floats, Floats | None]] | None:
        """Return the rows of columns, or None if they are too many to see.

        Of each column these are its columns of one row without squares, and the values of a number as it is. Missing
        values are NaN. Where rows are in groups ``by`` others, each stands about the mean of its group.
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
        plain: frozenset[int] = frozenset(),
    ) -> GroupFigures:
        """Add up columns over the rows of each combination of the levels of some categories, of all without any.

        Rows in which one of all these columns is missing are left out. ``weight`` is the place of the weights of rows,
        and numbers at the ``plain`` places stand as they are instead of by their ranks.
        """


@runtime_checkable
class EstimatesLevels(Protocol):
    """A source of moments that can estimate covariances inside groups and between them where values are missing."""

    def estimated_levels(
        self, places: Sequence[int], by: Sequence[int], weight: int | None, plain: frozenset[int]
    ) -> Levels:
        """Return the levels of columns without squares, from all rows that have some of them."""


@runtime_checkable
class JoinsColumns(Protocol):
    """A source of moments that joins one-hot columns into categories."""

    def is_one_hot(self, places: Sequence[int]) -> bool:
        """Return whether each row has a single one in some columns of ones and zeros."""

    def joined(self, sets: Sequence[OneHot]) -> MomentSource:
        """Return the source with one-hot columns joined into categories."""


@runtime_checkable
class SetsAside(Protocol):
    """A source of moments that can show some of its rows, and leave columns out."""

    def thinned(self) -> LocalTable:
        """Return about 10,000 of the rows with the values of numbers, the same ones as of a table in memory."""

    def select(
        self, places: Sequence[int], columns: tuple[ColumnKind, ...], notes: tuple[str, ...]
    ) -> MomentSource | CountSource:
        """Return the source of some columns, one that counts if no number is left and no column has a role."""
