"""Sums over groups of rows: rows, sums of embedded columns and sums of products, section by section."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Any, NamedTuple, TypeAlias, TypeVar

import attrs
import numpy as np
import numpy.typing as npt

from apsl_backends.engines.counts import codes_of
from apsl_backends.engines.engine import Part
from apsl_backends.engines.sums import is_missing, sums_of, take_rows
from apsl_backends.kernels.bindings.embedded import CategoryColumn, NumberColumn, ProductSums
from apsl_backends.kernels.library import Floats, Integers
from apsl_rules.data import SECTION, GroupFigures
from apsl_rules.data.counts import pack_codes, unpack_codes
from apsl_rules.data.moments import MomentHeading
from apsl_rules.errors import DataError
from apsl_rules.names import listing

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
    """What is asked of each section, by the numbers of its columns; ``spans`` bound the codes of those in ``by``."""

    places: tuple[int, ...]
    by: tuple[int, ...]
    spans: tuple[int, ...]
    each: bool
    weight: int | None = None

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
            return _weighted(groups, number, columns, np.asarray(part[self.weight][0], np.float64))
        first = np.concatenate([_first_of(column, number, len(groups)) for column in columns], axis=1)
        second: list[ProductSums] = []
        if self.each:
            order = np.argsort(number, kind="stable")
            apart = np.split(order, np.cumsum(rows)[:-1])
            second = [sums_of([take_rows(column, some) for column in columns], len(some)) for some in apart]
        return SectionSums(groups, rows, first, sums_of(columns, len(number)), second)

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
    )
    return asked.joined(fold(used, asked), int(heading.widths[list(places)].sum()))


def _first_of(column: NumberColumn | CategoryColumn, number: Integers, groups: int) -> Floats:
    """Return the sums of the embedded columns of a column by group."""
    if isinstance(column, CategoryColumn):
        indicators = column.indicators[column.codes]
        kept = indicators >= 0
        cells = number[kept] * column.width + indicators[kept]
        return np.bincount(cells, minlength=groups * column.width).reshape(groups, column.width).astype(np.float64)
    z = column.values
    powers = (z, z * z - 1.0, z * z * z - 3.0 * z)[: column.degree]
    return np.array([np.bincount(number, one, groups) for one in powers]).reshape(column.degree, groups).T


def _weighted(
    groups: Integers, number: Integers, columns: Sequence[NumberColumn | CategoryColumn], weights: Floats
) -> SectionSums:
    """Return the weighted sums of a section."""
    count = len(groups)
    rows = np.concatenate([np.ones((len(number), 1)), *(_rows_of(column) for column in columns)], axis=1)
    counted = rows * weights[:, None]
    first = np.array([np.bincount(number, one, count) for one in counted.T]).reshape(rows.shape[1], count).T
    products = ProductSums(rows.shape[1] - 1)
    products.sums += counted.T @ rows
    squares: Floats = np.bincount(number, weights * weights, count).astype(np.float64)
    return SectionSums(groups, first[:, 0].copy(), np.ascontiguousarray(first[:, 1:]), products, [], squares)


def _rows_of(column: NumberColumn | CategoryColumn) -> Floats:
    """Return the embedded columns of a column, row by row."""
    if isinstance(column, CategoryColumn):
        indicators = column.indicators[column.codes]
        found: Floats = (indicators[:, None] == np.arange(column.width)).astype(np.float64)
        return found
    z = column.values
    return np.array([z, z * z - 1.0, z * z * z - 3.0 * z][: column.degree]).reshape(column.degree, len(z)).T


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
