"""Two levels of rows in groups: covariances inside the groups, and of their means.

With n rows in G groups, the products of all rows about their mean split into those about the means of groups, of n - G
+ 1 rows, and those of the means. A group's mean counts by what it is worth: with an intraclass correlation ρ, n_g rows
tell n_g / (1 + (n_g - 1) ρ) times as much of it as one row does. Tests and scores of the two levels are added. Weights
of a sample count as rows do, but the evidence is that of the effective number of rows (Kish), (Σw)² / Σw².
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.dataset import Floats, Integers
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.names import Node
from apsl_rules.notes import argument

#: What is left of the squares of a column that is constant in groups, as a share: nothing but rounding.
_CONSTANT = 1e-8
_TINY = 1e-300


class GroupFigures(NamedTuple):
    """What an engine adds up for groups of rows.

    ``codes`` has a row for each group that occurs, in rising order: its codes in the grouping columns. ``rows`` and
    ``first`` are the rows of each group and the sums of the embedded columns there; ``products`` are the sums of
    products over all groups, and ``second`` those of each group if they were asked for. With weights all sums are
    weighted, ``rows`` are the sums of the weights, and ``squares`` those of their squares.
    """

    codes: Integers
    rows: Integers
    first: Floats
    products: Floats
    second: Floats | None = None
    squares: Floats | None = None


@attrs.frozen(eq=False, slots=False)
class GroupSums:
    """Sums over the rows of each group, of columns as they are embedded: block after block, in the order of ``names``.

    Attributes
    ----------
    names, widths
        The columns that were added up, and how many embedded columns each has.
    keys
        The levels of the grouping columns in each group, in the order of their codes.
    rows, first
        How many rows each group has, and the sums of the embedded columns in it, groups by columns.
    products
        The sums of products of the embedded columns over all groups.
    second
        The sums of products in each group, if they were asked for.
    squares
        With weights, the sums of their squares in each group; ``rows`` are the sums of weights then.
    """

    names: tuple[Node, ...]
    widths: Integers
    keys: tuple[tuple[Any, ...], ...]
    rows: Integers
    first: Floats
    products: Floats
    second: Floats | None = None
    squares: Floats | None = None

    @cached_property
    def means(self) -> Floats:
        """Return the means of the embedded columns in each group."""
        found: Floats = self.first / self.rows[:, None]
        return found

    @cached_property
    def between(self) -> Floats:
        """Return the products of the means of groups about the mean of all rows, each group by its rows."""
        centred = self.means - self.first.sum(axis=0) / self.rows.sum()
        found: Floats = (centred * self.rows[:, None]).T @ centred
        return found

    @cached_property
    def within(self) -> Floats:
        """Return the products about the means of groups; those of a column that is constant in groups are 0."""
        found: Floats = self.products - self.means.T @ self.first
        found[self.constant, :] = found[:, self.constant] = 0.0
        return (found + found.T) / 2

    @cached_property
    def constant(self) -> npt.NDArray[np.bool_]:
        """Return for each embedded column whether it never varies inside a group."""
        squares = np.diag(self.products)
        inside: npt.NDArray[np.bool_] = squares - (self.means * self.first).sum(axis=0) <= _CONSTANT * squares
        return inside

    def covariance(self, group: int) -> Floats:
        """Return the covariance matrix of the rows of a group, whose own products were asked for."""
        if self.second is None:
            message = f"the products of each group were not asked for; give {argument('each', value=True)}"
            raise InvalidArgumentError(message)
        mean = self.means[group]
        found: Floats = self.second[group] / self.rows[group] - np.outer(mean, mean)
        return found


@attrs.frozen(eq=False)
class Level:
    """A covariance matrix of blocks of columns, how many columns each block has, and the rows that it is worth."""

    matrix: Floats
    widths: Integers
    rows: float

    def select(self, blocks: Sequence[int]) -> Level:
        """Return some of the blocks, in that order."""
        ends = np.cumsum(self.widths)
        columns = [at for one in blocks for at in range(int(ends[one] - self.widths[one]), int(ends[one]))]
        matrix = np.ascontiguousarray(self.matrix[np.ix_(columns, columns)])
        return Level(matrix, self.widths[list(blocks)], self.rows)


@attrs.frozen(eq=False)
class Levels:
    """The level inside groups, the level of their means, and what they are made of.

    Without groups, but with weights, there is only the first level. ``constant`` says which columns never vary inside
    a group, ``correlations`` are the intraclass correlations of columns, ``rows`` are all rows, and ``sizes`` is the
    mean size of the group of a row.
    """

    inside: Level
    between: Level | None
    groups: int
    rows: float
    constant: tuple[bool, ...]
    correlations: tuple[float, ...]
    sizes: float

    def select(self, blocks: Sequence[int]) -> Levels:
        """Return the levels of some of the columns, in that order."""
        return attrs.evolve(
            self,
            inside=self.inside.select(blocks),
            between=None if self.between is None else self.between.select(blocks),
            constant=tuple(self.constant[one] for one in blocks),
            correlations=tuple(self.correlations[one] for one in blocks),
        )

    def with_columns(self, kept: Sequence[int], widths: Integers) -> Levels:
        """Return the levels with some of the columns inside the groups, so many of each block."""
        matrix = np.ascontiguousarray(self.inside.matrix[np.ix_(kept, kept)])
        return attrs.evolve(self, inside=Level(matrix, widths, self.inside.rows))


def levels_of(sums: GroupSums, is_number: npt.NDArray[np.bool_], *, has_groups: bool) -> Levels:
    """Return the two levels of columns that were added up by groups; weights alone make one level.

    Without any row there is one level on which nothing varies, so that no test says anything.
    """
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sums.widths)])
    first = [
        column
        for start, width, number in zip(starts.tolist(), sums.widths.tolist(), is_number, strict=False)
        for column in range(start, start + (min(width, 1) if number else width))
    ]
    total, count = float(sums.rows.sum()), len(sums.rows)
    nothing = (False,) * len(sums.widths)
    if total <= 0:
        level = Level(np.zeros_like(sums.within), sums.widths, 1.0)
        return Levels(level, None, 0, 0.0, nothing, (0.0,) * len(sums.widths), 1.0)
    rows = total if sums.squares is None else total**2 / max(float(sums.squares.sum()), _TINY)
    centre = sums.first.sum(axis=0) / total
    if not has_groups:
        matrix = _symmetric(sums.products / total - np.outer(centre, centre))
        level = Level(_without_rounding(matrix, np.diag(sums.products) / total), sums.widths, max(rows, 1.0))
        return Levels(level, None, 0, rows, nothing, (0.0,) * len(sums.widths), 1.0)
    inside = Level(np.ascontiguousarray(sums.within / total), sums.widths, max(rows - count + 1, 1.0))
    sizes = sums.rows * (rows / total)  # in rows that are worth one each
    spread = np.maximum(np.diag(sums.between) + np.diag(sums.within), _TINY) / total
    size = (rows - float((sizes**2).sum()) / rows) / max(count - 1, 1)
    of_means = rows * np.diag(sums.between) / total / max(count - 1, 1)
    of_rows = rows * np.diag(sums.within) / total / max(rows - count, 1.0)
    correlation = (of_means - of_rows) / np.maximum(of_means + (size - 1) * of_rows, _TINY)
    correlation = np.clip(np.where(spread > _TINY, correlation, 0.0), 0.0, 1.0)
    worth = sizes / (1 + np.maximum(sizes - 1, 0) * (float(correlation[first].mean()) if first else 0.0))
    worth = worth / worth.mean()
    means = sums.means[:, first]
    about = means - (worth[:, None] * means).sum(axis=0) / worth.sum()
    matrix = _symmetric((about * worth[:, None]).T @ about / count)
    between = Level(_without_rounding(matrix, spread[first]), widths_of_means(sums.widths, is_number), float(count))
    blocks = list(zip(starts.tolist(), sums.widths.tolist(), is_number, strict=False))
    constant = tuple(bool(width) and bool(sums.constant[at : at + width].all()) for at, width, _ in blocks)
    correlations = tuple(
        float(correlation[at : at + (1 if number else width)].mean()) if width else 0.0 for at, width, number in blocks
    )
    return Levels(inside, between, count, rows, constant, correlations, float((sizes**2).sum() / rows))


def widths_of_means(widths: Integers, is_number: npt.NDArray[np.bool_]) -> Integers:
    """Return how many columns of each block have means that are compared: of a number only the first one."""
    found: Integers = np.where(is_number, np.minimum(widths, 1), widths).astype(np.int64)
    return found


def _symmetric(matrix: Floats) -> Floats:
    found: Floats = (matrix + matrix.T) / 2
    return found


def _without_rounding(matrix: Floats, scale: Floats) -> Floats:
    """Return a matrix in which columns whose variance is rounding vary not at all."""
    gone = np.diag(matrix) <= _CONSTANT * scale
    matrix[gone, :] = matrix[:, gone] = 0.0
    return np.ascontiguousarray(matrix)
