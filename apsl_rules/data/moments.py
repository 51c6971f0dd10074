"""Moments from anywhere: the protocol of a source of covariances.

Every column of a table is embedded as a block of real columns: a number as itself and polynomials of it, a category as
indicators of its levels. Tests and scores need only the covariance of embedded columns. A table in memory, files larger
than memory and a cluster all give it, so that it does not matter where the rows are.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.kinds import ColumnKind
from apsl_rules.names import Node

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]


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
    has ``levels``, and ``indicators`` tells the embedded column of each, -1 for those of the reference.
    """

    scale: float | None = None
    levels: tuple[Any, ...] = ()
    indicators: tuple[int, ...] = ()


@attrs.frozen(eq=False, slots=False)
class MomentHeading:
    """All of a table with numbers but its rows.

    ``widths`` has the number of embedded columns of each column: the degree for a number, or less if it has few values;
    the levels but one for a category, of which rare ones share a column. ``missing`` counts the missing values.
    ``units`` say what embedded columns are in terms of the table; effects need them, tests and scores do not.
    """

    names: tuple[Node, ...]
    rows: int
    is_number: npt.NDArray[np.bool_]
    widths: Integers
    missing: Integers
    columns: tuple[ColumnKind, ...] = ()
    notes: tuple[str, ...] = ()
    units: tuple[ColumnUnit, ...] = ()

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
    then meets a level of the other. Both are 1 for other pairs.
    """

    ratios: Floats
    x_ranks: Integers
    y_ranks: Integers
    ranks: Integers
    rows: Integers
    inflations: Floats
    joint_rates: Floats

    @classmethod
    def empty(cls, tests: int) -> RowTests:
        """Return the figures of tests without rows."""
        x_ranks, y_ranks, ranks, rows = (np.zeros(tests, np.int64) for _ in range(4))
        return cls(np.zeros(tests), x_ranks, y_ranks, ranks, rows, np.ones(tests), np.ones(tests))


@runtime_checkable
class MomentSource(Protocol):
    """Whatever computes moments of the rows of a table."""

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
class ComparesColumns(Protocol):
    """A source of moments that can compare its columns row by row."""

    def duplicates(self, groups: Sequence[Sequence[int]]) -> list[list[int]]:
        """Return the groups of duplicates among the columns of each given group.

        Duplicates divide the rows alike, or order them alike or in reverse; values are missing in the same rows.
        """
