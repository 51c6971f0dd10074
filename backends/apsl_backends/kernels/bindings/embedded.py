"""Covariances and tests from the rows of columns that are embedded on the fly, behind a handle."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from ctypes import byref, c_int64
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from apsl_backends.kernels import library as checks
from apsl_backends.kernels.bindings.moments import TOLERANCE
from apsl_backends.kernels.library import Codes, Floats, Integers, in_blocks, useful_threads
from apsl_rules.stopping import Flag

_MOST_DEGREE = 3
_MOST_LEVELS = 1 << 31
_MEASURES, _FIGURES = 4, 4
_PAIR = 2


class NumberColumn(NamedTuple):
    """A number: its standardised values, NaN where missing, and the highest polynomial that stands for it, or 0.

    ``plain`` are other standardised values that may stand in the place of the first polynomial.
    """

    values: Floats
    degree: int
    plain: Floats | None = None


class CategoryColumn(NamedTuple):
    """A category: its codes, and for each level the number of its indicator or -1; a missing value has the next code.

    ``width`` is the number of indicators.
    """

    codes: Codes
    indicators: Integers
    width: int


class Patterns(NamedTuple):
    """Rows by what is missing: pattern p has the rows from ``starts[p]`` to ``starts[p + 1]`` of ``rows``.

    ``missing[p, k]`` says whether the values of the k-th place are missing there.
    """

    rows: Integers
    starts: Integers
    missing: npt.NDArray[np.bool_]


class RowFigures(NamedTuple):
    """The figures of tests, in columns.

    ``measures`` are the log ratio, the inflation by pairs of levels, the joint rate of these and what products of
    given columns add; ``figures`` are the ranks of x, of y and of the given ones, and the complete rows.
    """

    measures: Floats
    figures: Integers

    @classmethod
    def of(cls, tests: int) -> RowFigures:
        """Return space for so many tests."""
        return cls(np.empty((tests, _MEASURES)), np.empty((tests, _FIGURES), np.int64))

    def targets(self) -> tuple[int, int]:
        """Return the addresses to write to."""
        return (
            checks.target(self.measures, np.float64, self.measures.shape, "measures"),
            checks.target(self.figures, np.int64, self.figures.shape, "figures"),
        )


class ProductSums:
    """Sums of products of a constant and some embedded columns, with what their additions lost."""

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.sums = np.zeros((columns + 1, columns + 1))
        self.errors = np.zeros((columns + 1, columns + 1))

    def addresses(self) -> tuple[int, int]:
        """Return the addresses of the sums and of the errors."""
        shape = self.columns + 1, self.columns + 1
        return (
            checks.target(self.sums, np.float64, shape, "sums"),
            checks.target(self.errors, np.float64, shape, "errors"),
        )

    def add(self, other: ProductSums) -> None:
        """Add the sums over other rows; the order of additions matters for the last bits only."""
        checks.require(other.columns == self.columns, "columns", other.columns)
        checks.kernels().apsl_add_sums(*self.addresses(), *other.addresses(), self.sums.size)

    def covariance(self) -> Floats:
        """Return the covariance matrix of the columns, divided by the number of rows; there must be some."""
        checks.require(bool(self.sums[0, 0] >= 1), "rows", float(self.sums[0, 0]))
        out = np.empty((self.columns, self.columns))
        at_out = checks.target(out, np.float64, out.shape, "out")
        checks.kernels().apsl_covariance(*self.addresses(), self.columns, at_out)
        return out


class EmbeddedHandle:
    """The columns of a table with numbers, from which rows of embedded values are made; it keeps their arrays.

    A number z stands for z, z² - 1 and z³ - 3z up to its degree, a category for indicators of its levels. ``widths``
    are the numbers of embedded columns and ``missing`` those of missing values. At the ``plain`` places other values
    stand in the place of z, and the highest degree is the ``most``. Threads may share a handle.
    """

    def __init__(
        self,
        columns: Sequence[NumberColumn | CategoryColumn],
        rows: int,
        threads: int = 1,
        *,
        plain: Collection[int] = (),
        most: int | None = None,
    ) -> None:
        checks.require(rows >= 0, "rows", rows)
        self.rows, self.count = rows, len(columns)
        self.widths = np.zeros(self.count, np.int64)
        self.missing = np.zeros(self.count, np.int64)
        self.columns = [
            one._replace(indicators=one.indicators.copy())
            if isinstance(one, CategoryColumn)
            else one._replace(
                degree=one.degree if most is None else min(one.degree, most),
                plain=one.plain if place in plain else None,
            )
            for place, one in enumerate(columns)
        ]
        self._handle = checks.opened(checks.kernels().apsl_embedded_open(rows, self.count))
        checks.close_with(self, checks.kernels().apsl_embedded_close, self._handle)
        in_blocks(self.count, useful_threads(threads, rows * self.count), self._set)

    def _set(self, low: int, high: int) -> None:
        for place in range(low, high):
            column = self.columns[place]
            if isinstance(column, CategoryColumn):
                self._set_category(place, column)
            else:
                self._set_number(place, column)

    def _set_number(self, place: int, column: NumberColumn) -> None:
        values = checks.address(column.values, np.float64, (self.rows,), "values")
        checks.require(0 <= column.degree <= _MOST_DEGREE, "degree", column.degree)
        missing = c_int64()
        plain = None
        if column.plain is not None:
            plain = checks.address(column.plain, np.float64, (self.rows,), "plain")
        status = checks.kernels().apsl_embedded_set_number(
            self._handle, place, values, plain, column.degree, byref(missing)
        )
        checks.require_status(status)
        self.widths[place], self.missing[place] = column.degree, missing.value

    def _set_category(self, place: int, column: CategoryColumn) -> None:
        codes, width, _, _ = checks.codes(column.codes.reshape(1, -1) if column.codes.ndim == 1 else column.codes)
        checks.address(column.codes, column.codes.dtype.type, (self.rows,), "codes")
        levels = column.indicators.size
        indicators = checks.address(column.indicators, np.int64, (levels,), "indicators")
        checks.require(levels < _MOST_LEVELS, "levels", levels)
        checks.require(0 <= column.width <= levels, "width", column.width)
        lowest, highest = column.indicators.min(initial=-1), column.indicators.max(initial=-1)
        checks.require(lowest >= -1 and highest < column.width, "indicators", column.indicators.tolist())
        missing = c_int64()
        status = checks.kernels().apsl_embedded_set_category(
            self._handle, place, codes, width, indicators, levels, column.width, byref(missing)
        )
        checks.require_status(status)
        self.widths[place], self.missing[place] = column.width, missing.value

    def width_of(self, places: Integers) -> int:
        """Return the number of embedded columns of some places."""
        return int(self.widths[places].sum())

    def is_missing(self, place: int) -> npt.NDArray[np.bool_] | None:
        """Return in which rows the value of a place is missing, or None if it is in none."""
        column = self.columns[place]
        if not self.missing[place]:
            return None
        if isinstance(column, CategoryColumn):
            return column.codes >= column.indicators.size
        return np.isnan(column.values)

    def section_sums(self, places: Integers, low: int, high: int, stop: Flag) -> ProductSums | None:
        """Return the sums over the rows from low to high of places without missing values; None if stopped."""
        at_places = checks.indices(places, self.count, "places")
        checks.require(0 <= low <= high <= self.rows, "rows", (low, high))
        checks.require(not self.missing[places].any(), "places with missing values", places.tolist())
        sums = ProductSums(self.width_of(places))
        status = checks.kernels().apsl_add_rows(
            self._handle, at_places, len(places), low, high, *sums.addresses(), checks.flag(stop)
        )
        return sums if checks.require_status(status) else None

    def row_tests(
        self, starts: Integers, places: Integers, stop: Flag, *, tolerance: float = TOLERANCE
    ) -> RowFigures | None:
        """Run tests on complete rows: the places of one (x, y, given) go from its start to that of the next."""
        tests = len(starts) - 1
        at_starts = checks.sections(starts, len(places), _PAIR, "starts")
        at_places = checks.indices(places, self.count, "places")
        checks.require(0.0 < tolerance < 1.0, "tolerance", tolerance)
        found = RowFigures.of(tests)
        status = checks.kernels().apsl_row_tests(
            *(self._handle, at_starts, at_places, tests, tolerance), *found.targets(), checks.flag(stop)
        )
        return found if checks.require_status(status) else None

    def incomplete_covariance(
        self, places: Integers, patterns: Patterns, stop: Flag, *, tolerance: float, iterations: int
    ) -> tuple[Floats, int] | None:
        """Return the covariance of maximum likelihood where values are missing, and the iterations; None if stopped.

        Each place must be present in some row, and the patterns must be those of the rows.
        """
        number = len(patterns.starts) - 1
        shape = number, len(places)
        at_places = checks.indices(places, self.count, "places")
        at_rows = checks.indices(patterns.rows, self.rows, "rows")
        at_starts = checks.sections(patterns.starts, len(patterns.rows), 1, "starts")
        at_missing = checks.address(patterns.missing, np.bool_, shape, "missing")
        checks.require(number > 0 and not patterns.missing.all(axis=0).any(), "missing", "all of a place")
        checks.require(0.0 <= tolerance < 1.0, "tolerance", tolerance)
        checks.require(iterations >= 0, "iterations", iterations)
        width = self.width_of(places)
        out, made = np.empty((width, width)), c_int64()
        status = checks.kernels().apsl_incomplete_covariance(
            *(self._handle, at_places, len(places), at_rows, at_starts, at_missing, number, tolerance, iterations),
            *(checks.target(out, np.float64, (width, width), "out"), byref(made), checks.flag(stop)),
        )
        return (out, made.value) if checks.require_status(status) else None


class MatrixBlocks(NamedTuple):
    """The covariance matrix of blocks: how many columns each has, how many are tested, and which are categories."""

    matrix: Floats
    widths: Integers
    leading: Integers
    categories: npt.NDArray[np.bool_]


def matrix_tests(of: MatrixBlocks, starts: Integers, places: Integers) -> RowFigures:
    """Run the tests of ``EmbeddedHandle.row_tests`` from a covariance matrix; rows are not counted."""
    matrix, widths, leading, categories = of
    blocks = np.concatenate([np.zeros(1, np.int64), np.cumsum(widths)])
    count, tests, columns = len(widths), len(starts) - 1, int(blocks[-1])
    at_matrix = checks.address(matrix, np.float64, (columns, columns), "matrix")
    at_blocks = checks.sections(blocks, columns, 0, "blocks")
    at_leading = checks.address(leading, np.int64, (count,), "leading")
    checks.require(bool(((leading >= 0) & (leading <= widths)).all()), "leading", leading.tolist())
    at_categories = checks.address(categories, np.bool_, (count,), "categories")
    at_starts = checks.sections(starts, len(places), _PAIR, "starts")
    at_places = checks.indices(places, count, "places")
    found = RowFigures.of(tests)
    status = checks.kernels().apsl_matrix_tests(
        *(at_matrix, at_blocks, at_leading, at_categories, count, at_starts, at_places, tests, TOLERANCE),
        *found.targets(),
    )
    checks.require_status(status)
    return found
