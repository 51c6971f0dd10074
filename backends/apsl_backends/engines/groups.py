"""Sums over groups of rows, section by section, and covariances inside groups and between them.

Each value is taken about the mean of its group over the rows that have it. What is missing of the differences, and of
the means where a group has no value at all, is estimated by expectation and maximisation.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple, TypeAlias, TypeVar

import attrs
import numpy as np
import numpy.typing as npt

from apsl_backends.engines.counts import codes_of
from apsl_backends.engines.engine import Part
from apsl_backends.engines.sums import (
    FOR_TESTS,
    Embedded,
    estimate_covariance,
    is_missing,
    patterns_of,
    rows_of,
    sums_of,
    take_rows,
)
from apsl_backends.kernels.bindings.embedded import CategoryColumn, NumberColumn, ProductSums
from apsl_backends.kernels.library import Floats, Integers
from apsl_rules.data import SECTION, GroupFigures, Level, Levels, MixedTable, combined, role_names
from apsl_rules.data.counts import pack_codes, unpack_codes
from apsl_rules.data.moments import ColumnUnit, MomentHeading
from apsl_rules.errors import DataError
from apsl_rules.names import listing

#: Columns by their places.
Columns: TypeAlias = Mapping[int, NumberColumn | CategoryColumn] | Sequence[NumberColumn | CategoryColumn]
#: What is left of the squares of a column that is constant in groups, as a share: nothing but rounding.
_CONSTANT, _TINY = 1e-8, 1e-300


def levels_of_rows(rows: Sequence[Floats], groups: Integers, weights: Floats | None, *, has_groups: bool) -> Levels:
    """Return the levels of columns, each an array with NaN for missing values; ``groups`` has the group of each row."""
    kept = groups >= 0 if weights is None else (groups >= 0) & (weights > 0)
    blocks = [one[kept] for one in rows]
    number = np.unique(groups[kept], return_inverse=True)[1]
    counts = np.ones(len(number)) if weights is None else weights[kept]
    counts = counts * (counts.sum() / (counts**2).sum())  # sums to the effective number of rows
    count = int(number.max(initial=-1)) + 1
    widths = np.array([one.shape[1] for one in blocks], np.int64)
    there = np.array([~np.isnan(one[:, 0]) if one.shape[1] else np.ones(len(one), np.bool_) for one in blocks])
    together = _together(there, counts)
    if not has_groups:
        level = Level(_covariance(blocks, counts), widths, max(together, 1.0))
        nothing = (False,) * len(blocks)
        return Levels(level, None, 0, together, nothing, (0.0,) * len(blocks), 1.0)
    inside, means, constant, correlations, spread = [], [], [], [], list[Floats]()
    sizes = np.bincount(number, counts, count)
    for block, seen in zip(blocks, there, strict=True):
        mass = np.bincount(number[seen], counts[seen], count)
        sums = np.array([np.bincount(number[seen], counts[seen] * one[seen], count) for one in block.T])
        sums = sums.reshape(block.shape[1], count)
        mean = np.divide(sums, mass, out=np.full(sums.shape, np.nan), where=mass > 0)
        about = block - mean.T[number]
        known, weight = block[seen], counts[seen, None]
        squares = (weight * (known - (weight * known).sum(axis=0) / max(weight.sum(), _TINY)) ** 2).sum(axis=0)
        spread.append(squares / max(weight.sum(), _TINY))
        total = float(squares.sum())
        within = float((counts[seen, None] * about[seen] ** 2).sum())
        is_constant = bool(block.shape[1]) and within <= _CONSTANT * max(total, _TINY)
        inside.append(np.where(np.isnan(block), np.nan, 0.0) if is_constant else about)
        means.append(np.ascontiguousarray(mean.T))
        constant.append(is_constant)
        correlations.append(_correlation(total, within, mass.astype(np.float64), block.shape[1]))
    rows_inside = max(together - count + 1, 1.0)
    worth = sizes / (1 + np.maximum(sizes - 1, 0) * float(np.mean(correlations)))
    matrix = _covariance(means, worth / worth.mean())
    is_rounding = np.diag(matrix) <= _CONSTANT * np.concatenate(spread)  # means that are all the same
    matrix[is_rounding, :] = matrix[:, is_rounding] = 0.0
    between = Level(matrix, widths, float(count))
    level = Level(_covariance(inside, counts), widths, rows_inside)
    size = float((sizes**2).sum() / sizes.sum())
    return Levels(level, between, count, together, tuple(constant), tuple(correlations), size)


def _together(there: np.ndarray, counts: Floats) -> float:
    """Return the mean number of rows in which two columns are there."""
    both = (there * counts) @ there.T.astype(np.float64)
    apart = ~np.eye(len(both), dtype=np.bool_)
    return float(both[apart].mean()) if len(both) > 1 else float(both.mean())


def _correlation(total: float, within: float, mass: Floats, width: int) -> float:
    """Return the intraclass correlation of the columns of a block together."""
    rows, groups = float(mass.sum()), int(np.count_nonzero(mass))
    if groups < 2 or rows <= groups or not width or total <= 0:  # noqa: PLR2004 - means that can differ
        return 0.0
    size = (rows - float((mass**2).sum()) / rows) / (groups - 1)
    of_means, of_rows = (total - within) / (groups - 1), within / (rows - groups)
    return float(np.clip((of_means - of_rows) / max(of_means + (size - 1) * of_rows, _TINY), 0.0, 1.0))


def _covariance(blocks: Sequence[Floats], counts: Floats) -> Floats:
    """Return the covariance of maximum likelihood of blocks of columns, whose rows count so much each."""
    gone = [np.isnan(one[:, 0]) if one.shape[1] else None for one in blocks]
    patterns = patterns_of([*gone, np.zeros(len(counts), np.bool_)])
    found = {}
    for number, missing in enumerate(patterns.missing):
        rows = patterns.rows[patterns.starts[number] : patterns.starts[number + 1]]
        seen = [one[rows] for one, is_gone in zip(blocks, missing[:-1].tolist(), strict=True) if not is_gone]
        whole = np.concatenate([np.ones((len(rows), 1)), *seen], axis=1)
        sums = ProductSums(whole.shape[1] - 1)
        sums.sums += (whole * counts[rows, None]).T @ whole
        found[missing[:-1].tobytes()] = sums
    widths = np.array([one.shape[1] for one in blocks], np.int64)
    matrix = estimate_covariance(widths, found)
    return np.ascontiguousarray((matrix + matrix.T) / 2)


def estimated_levels(
    columns: Columns,
    places: Sequence[int],
    by: Sequence[int],
    weight: int | None,
    plain: Collection[int],
) -> Levels:
    """Return the levels of some columns; groups are the combinations of others, and one may have weights."""
    read = [(place in plain, *rows_of(columns[place])) for place in places]
    rows = [scores if values is None or not is_plain else values for is_plain, scores, values in read]
    groups = _groups_of(columns, by) if by else np.zeros(len(rows[0]), np.int64)
    weights = None if weight is None else np.asarray(columns[weight][0], np.float64)
    return levels_of_rows(rows, groups, weights, has_groups=bool(by))


def rows_about_means(columns: Columns, places: Sequence[int], by: Sequence[int]) -> list[tuple[Floats, Floats | None]]:
    """Return the rows of columns without squares, and of numbers as they are, each about the mean of its group."""
    found = [rows_of(columns[place]) for place in places]
    if not by:
        return found
    groups = _groups_of(columns, by)
    return [
        (_about_mean(scores, groups), None if plain is None else _about_mean(plain, groups)) for scores, plain in found
    ]


def _about_mean(rows: Floats, groups: Integers) -> Floats:
    """Return rows less the means of their groups; those in no group are missing."""
    seen = (groups >= 0) & ~np.isnan(rows).any(axis=1)
    made = np.full(rows.shape, np.nan)
    number = groups[seen]
    counts = np.maximum(np.bincount(number), 1)
    means = np.array([np.bincount(number, one) / counts for one in rows[seen].T])
    made[seen] = rows[seen] - means.reshape(rows.shape[1], len(counts)).T[number]
    return made


def _groups_of(columns: Columns, by: Sequence[int]) -> Integers:
    """Return the group of each row, -1 where it has none."""
    return combined([np.where(is_missing(columns[place]), -1, columns[place][0]).astype(np.int64) for place in by])


def role_columns(table: MixedTable) -> list[NumberColumn | CategoryColumn]:
    """Return the columns of a table with a role, which are not embedded."""
    beside, made = table.beside, list[NumberColumn | CategoryColumn]()
    for name in role_names(table.roles):
        assert beside is not None  # noqa: S101 - where columns have roles, their values are there
        if beside.is_category(name):
            place = beside.categories.place[name]
            nothing = np.full(int(beside.categories.cards[place]), -1)
            made.append(CategoryColumn(beside.categories.codes[place], nothing, 0))
        else:
            made.append(NumberColumn(beside.values(name), 0))
    return made


def role_units(table: MixedTable) -> tuple[ColumnUnit, ...]:
    """Return what the values of the columns with a role are in terms of the table."""
    beside = table.beside
    if beside is None:
        return ()
    levels = [beside.categories.levels_of(name) if beside.is_category(name) else () for name in role_names(table.roles)]
    return tuple(
        ColumnUnit(levels=known, codes=tuple(range(len(known)))) if known else ColumnUnit(1.0) for known in levels
    )


Kind = TypeVar("Kind", bound=np.generic)

_MOST_KEYS = 1 << 62


class SectionSums(NamedTuple):
    """The groups of a section by rising key, their rows and sums, the products of all, and those of each group."""

    keys: Integers
    rows: npt.NDArray[Any]
    first: Floats
    products: ProductSums
    second: list[ProductSums]
    squares: Floats | None = None


@attrs.frozen
class Asked:
    """What is asked of each section, by the numbers of its columns; ``spans`` bound the codes of those in ``by``.

    ``embedded`` has the numbers among ``places`` that stand as they are.
    """

    places: tuple[int, ...]
    by: tuple[int, ...]
    spans: tuple[int, ...]
    each: bool
    weight: int | None = None
    embedded: Embedded = FOR_TESTS

    def __call__(self, part: Part) -> list[SectionSums]:
        """Add up each section of a part."""
        rows = len(part[0][0])
        return [
            self._add_up([take_rows(column, slice(low, low + SECTION)) for column in part])
            for low in range(0, rows, SECTION)
        ]

    def _add_up(self, part: Part) -> SectionSums:
        gone = np.logical_or.reduce([is_missing(column) for column in part])
        if gone.any():
            kept = np.flatnonzero(~gone)
            part = [take_rows(column, kept) for column in part]
        length = len(part[0][0])
        keys = pack_codes(codes_of(part, self.by), self.spans)[0] if self.by else np.zeros(length, np.int64)
        groups, number = np.unique(keys, return_inverse=True)
        rows = np.bincount(number, minlength=len(groups)).astype(np.int64)
        columns = [part[place] for place in self.places]
        if self.weight is not None:
            return _weighted(groups, number, columns, np.asarray(part[self.weight][0], np.float64), self.embedded)
        first = np.concatenate(
            [_first_of(column, number, len(groups), self.embedded, at) for at, column in enumerate(columns)], axis=1
        )
        second: list[ProductSums] = []
        if self.each:
            order = np.argsort(number, kind="stable")
            apart = np.split(order, np.cumsum(rows)[:-1])
            second = [
                sums_of([take_rows(column, some) for column in columns], len(some), self.embedded) for some in apart
            ]
        return SectionSums(groups, rows, first, sums_of(columns, len(number), self.embedded), second)

    def joined(self, parts: Iterable[Sequence[SectionSums]], width: int) -> GroupFigures:
        """Add up the sections of all parts in the order of the rows."""
        total = _Total(width)
        for part in parts:
            for section in part:
                total.add(section)
        codes = np.zeros((len(total.keys), 0), np.int64)
        if self.by:
            codes = unpack_codes(total.keys, self.spans, np.dtype(np.uint16)).T.astype(np.int64)
        second = np.array([_whole(total.second[key]) for key in total.keys.tolist()]) if self.each else None
        squares = None if self.weight is None else total.squares
        return GroupFigures(codes, total.rows, total.first + total.lost, _whole(total.products), second, squares)


#: Does work on some columns of each part of the rows, and returns the answers in the order of the rows.
Fold: TypeAlias = Callable[[Sequence[int], Asked], Iterable[Sequence[SectionSums]]]


class _Total:
    """The sums of some sections, with what their additions lost."""

    def __init__(self, width: int) -> None:
        self.keys: Integers = np.zeros(0, np.int64)
        self.rows: npt.NDArray[Any] = np.zeros(0, np.int64)
        self.squares: Floats = np.zeros(0)
        self.first: Floats = np.zeros((0, width))
        self.lost: Floats = np.zeros((0, width))
        self.products = ProductSums(width)
        self.second: dict[int, ProductSums] = {}

    def add(self, section: SectionSums) -> None:
        """Add one more section."""
        keys = np.union1d(self.keys, section.keys)
        if len(keys) > len(self.keys):
            at = np.searchsorted(keys, self.keys)
            self.rows, self.squares = _spread(self.rows, at, len(keys)), _spread(self.squares, at, len(keys))
            self.first, self.lost = _spread(self.first, at, len(keys)), _spread(self.lost, at, len(keys))
            self.keys = keys
        at = np.searchsorted(keys, section.keys)
        if section.squares is not None:
            self.rows = self.rows.astype(np.float64)
            self.squares[at] += section.squares
        self.rows[at] += section.rows
        before, more = self.first[at], section.first
        after = before + more
        part = after - before
        self.first[at] = after
        self.lost[at] += (before - (after - part)) + (more - part)
        self.products.add(section.products)
        for key, sums in zip(section.keys.tolist(), section.second, strict=False):
            if key in self.second:
                self.second[key].add(sums)
            else:
                self.second[key] = sums


def sums_by_group(
    heading: MomentHeading,
    fold: Fold,
    places: Sequence[int],
    groups: tuple[Sequence[int], Sequence[int]],
    *,
    each: bool,
    weight: int | None = None,
    plain: frozenset[int] = frozenset(),
) -> GroupFigures:
    """Add up columns over the rows of each group.

    ``groups`` are the categories whose levels make them, none for all rows, and the other columns that must be
    complete. ``weight`` is the place of the weights of rows.
    """
    by, complete = groups
    spans = [1 + max(heading.unit(place).codes, default=0) for place in by]
    if prod(spans) > _MOST_KEYS:
        every = (*heading.names, *heading.role_place)
        names = listing([every[place] for place in by])
        message = f"the columns {names} have too many combinations of levels for groups; take fewer of them"
        raise DataError(message)
    used = sorted({*places, *by, *complete, *(() if weight is None else (weight,))})
    number = {place: at for at, place in enumerate(used)}
    asked = Asked(
        tuple(number[one] for one in places),
        tuple(number[one] for one in by),
        tuple(spans),
        each,
        None if weight is None else number[weight],
        Embedded(frozenset(at for at, place in enumerate(places) if place in plain)),
    )
    return asked.joined(fold(used, asked), int(heading.widths[list(places)].sum()))


def _first_of(
    column: NumberColumn | CategoryColumn, number: Integers, groups: int, embedded: Embedded, place: int
) -> Floats:
    """Return the sums of the embedded columns of a column by group."""
    if isinstance(column, CategoryColumn):
        indicators = column.indicators[column.codes]
        kept = indicators >= 0
        cells = number[kept] * column.width + indicators[kept]
        return np.bincount(cells, minlength=groups * column.width).reshape(groups, column.width).astype(np.float64)
    powers = _powers_of(column, embedded, place)
    return np.array([np.bincount(number, one, groups) for one in powers]).reshape(column.degree, groups).T


def _weighted(groups: Integers, number: Integers, columns: Part, weights: Floats, embedded: Embedded) -> SectionSums:
    """Return the weighted sums of a section."""
    count = len(groups)
    rows = np.concatenate(
        [np.ones((len(number), 1)), *(_rows_of(one, embedded, at) for at, one in enumerate(columns))], axis=1
    )
    counted = rows * weights[:, None]
    first = np.array([np.bincount(number, one, count) for one in counted.T]).reshape(rows.shape[1], count).T
    products = ProductSums(rows.shape[1] - 1)
    products.sums += counted.T @ rows
    squares: Floats = np.bincount(number, weights * weights, count).astype(np.float64)
    return SectionSums(groups, first[:, 0].copy(), np.ascontiguousarray(first[:, 1:]), products, [], squares)


def _rows_of(column: NumberColumn | CategoryColumn, embedded: Embedded, place: int) -> Floats:
    """Return the embedded columns of a column, row by row."""
    if isinstance(column, CategoryColumn):
        indicators = column.indicators[column.codes]
        found: Floats = (indicators[:, None] == np.arange(column.width)).astype(np.float64)
        return found
    return np.array(_powers_of(column, embedded, place)).reshape(column.degree, len(column.values)).T


def _powers_of(column: NumberColumn, embedded: Embedded, place: int) -> tuple[Floats, ...]:
    """Return the polynomials of a number, the first of its values where it stands as it is."""
    z = column.values
    first = column.plain if place in embedded.plain and column.plain is not None else z
    return (first, z * z - 1.0, z * z * z - 3.0 * z)[: column.degree]


def _spread(values: npt.NDArray[Kind], at: Integers, rows: int) -> npt.NDArray[Kind]:
    """Return values at their new places among so many rows."""
    made = np.zeros((rows, *values.shape[1:]), values.dtype)
    made[at] = values
    return made


def _whole(sums: ProductSums) -> Floats:
    """Return the matrix of products, without the constant."""
    upper = np.triu((sums.sums + sums.errors)[1:, 1:])
    found: Floats = upper + np.triu(upper, 1).T
    return found
