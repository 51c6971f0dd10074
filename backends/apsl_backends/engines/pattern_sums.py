"""Sums for each pattern of missing values, and tests and estimates from these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from apsl_backends.engines.memory import MOST_ITERATIONS, TOLERANCE, EmbeddedRows, patterns_of, queries_of
from apsl_backends.kernels.bindings import (
    CategoryColumn,
    EmbeddedHandle,
    Floats,
    Integers,
    MatrixBlocks,
    NumberColumn,
    ProductSums,
    matrix_tests,
)
from apsl_rules.data.moments import MomentHeading, RowTests

Part: TypeAlias = Sequence[NumberColumn | CategoryColumn]
#: Sums of products of a constant and embedded columns, and what their additions lost.
Sums: TypeAlias = tuple[Floats, Floats]

#: The most patterns of which sums are made.
MOST_PATTERNS = 1 << 12
#: The share of each variance that is added to it before the inverse is taken.
_RIDGE = 1e-7


class RowSet(NamedTuple):
    """Columns whose products are summed over the rows that are complete in some others."""

    columns: tuple[int, ...]
    complete: tuple[int, ...]


def sums_of_sets(part: Part, sets: Sequence[RowSet]) -> list[Sums]:
    """Return the sums of each set over a part of the rows."""
    found: list[Sums | None] = [None] * len(sets)
    by_rows: dict[tuple[int, ...], list[int]] = {}
    for number, one in enumerate(sets):
        by_rows.setdefault(one.complete, []).append(number)
    for complete, numbers in by_rows.items():
        kept = np.flatnonzero(~np.logical_or.reduce([np.zeros(_rows(part), np.bool_), *_gaps(part, complete)]))
        used = sorted({column for number in numbers for column in sets[number].columns})
        place = {column: at for at, column in enumerate(used)}
        rows = EmbeddedRows(EmbeddedHandle([_take(part[column], kept) for column in used], len(kept)), ())
        for number in numbers:
            sums = rows.sums(np.array([place[column] for column in sets[number].columns], np.int64))
            found[number] = sums.sums, sums.errors
    return [one for one in found if one is not None]


def sums_of_patterns(part: Part) -> dict[bytes, Sums] | None:
    """Return for each pattern the sums of its observed columns over a part of the rows; None for too many patterns."""
    gaps = [_is_missing(column) for column in part]
    patterns = patterns_of(gaps)
    if len(patterns.missing) > MOST_PATTERNS:
        return None
    found = {}
    for number, gone in enumerate(patterns.missing):
        rows = patterns.rows[patterns.starts[number] : patterns.starts[number + 1]]
        observed = [_take(column, rows) for column, is_gone in zip(part, gone, strict=True) if not is_gone]
        sums = EmbeddedRows(EmbeddedHandle(observed, len(rows)), ()).sums(np.arange(len(observed), dtype=np.int64))
        found[gone.tobytes()] = sums.sums, sums.errors
    return found


def join_sums(parts: Iterable[Sums]) -> ProductSums:
    """Add up the sums of parts in their order."""
    total: ProductSums | None = None
    for sums, errors in parts:
        added = ProductSums(len(sums) - 1)
        added.sums[:], added.errors[:] = sums, errors
        if total is None:
            total = added
        else:
            total.add(added)
    return ProductSums(0) if total is None else total


def join_patterns(parts: Iterable[Mapping[bytes, Sums] | None]) -> dict[bytes, ProductSums] | None:
    """Add up the sums of patterns over parts of the rows; None if they are too many."""
    listed: dict[bytes, list[Sums]] = {}
    for part in parts:
        for pattern, sums in ({} if part is None else part).items():
            listed.setdefault(pattern, []).append(sums)
        if part is None or len(listed) > MOST_PATTERNS:
            return None
    return {pattern: join_sums(listed[pattern]) for pattern in sorted(listed)}


class _Pattern(NamedTuple):
    """The observed and the missing embedded columns of a pattern, its rows, their sums and products about the start."""

    observed: Integers
    missing: Integers
    rows: float
    sums: Floats
    products: Floats


def estimate_covariance(widths: Integers, patterns: Mapping[bytes, ProductSums]) -> Floats:
    """Return the covariance of maximum likelihood, by expectation and maximisation, as the kernel does from rows."""
    known = _about_means(widths, patterns)
    columns = int(widths.sum())
    rows = sum(pattern.rows for pattern in known)
    products = np.zeros((columns, columns))
    for pattern in known:
        products[np.ix_(pattern.observed, pattern.observed)] += pattern.products
    matrix = products / rows
    matrix = (matrix + np.diag(np.diag(matrix))) / 2
    mean = np.zeros(columns)
    for _ in range(MOST_ITERATIONS):
        shift, improved = _improve(known, matrix, mean, rows)
        mean += shift
        variances = np.diag(matrix)
        scale = np.outer(variances, variances)
        change = np.divide((improved - matrix) ** 2, scale, out=np.zeros_like(scale), where=scale > 0)
        matrix = improved
        if change.max(initial=0.0) <= TOLERANCE**2:
            break
    return np.ascontiguousarray(matrix)


def _about_means(widths: Integers, patterns: Mapping[bytes, ProductSums]) -> list[_Pattern]:
    """Return the patterns with their sums about the means of what is observed."""
    owner = np.repeat(np.arange(len(widths)), widths)
    first, seen = np.zeros(len(owner)), np.zeros(len(owner))
    raw = []
    for key, found in patterns.items():
        gone = np.frombuffer(key, np.bool_)[owner]
        observed, missing = np.flatnonzero(~gone), np.flatnonzero(gone)
        whole = np.triu(found.sums + found.errors)
        whole += np.triu(whole, 1).T
        first[observed] += whole[0, 1:]
        seen[observed] += whole[0, 0]
        raw.append((observed, missing, whole))
    means = first / seen
    made = []
    for observed, missing, whole in raw:
        rows, sums, about = float(whole[0, 0]), whole[0, 1:], means[observed]
        products = whole[1:, 1:] - np.outer(about, sums) - np.outer(sums, about) + rows * np.outer(about, about)
        made.append(_Pattern(observed, missing, rows, sums - rows * about, products))
    return made


def _improve(patterns: Sequence[_Pattern], matrix: Floats, mean: Floats, rows: float) -> tuple[Floats, Floats]:
    """Return by how much the means change, and the next covariance."""
    first, second = np.zeros(len(mean)), np.zeros_like(matrix)
    inverse = _inverse(matrix + _RIDGE * np.diag(np.diag(matrix)))
    for observed, missing, count, sums, products in patterns:
        about = mean[observed]
        row = sums - count * about
        square = products - np.outer(about, sums) - np.outer(sums, about) + count * np.outer(about, about)
        spread = _inverse(inverse[np.ix_(missing, missing)])
        slopes = -spread @ inverse[np.ix_(missing, observed)]
        across = slopes @ square
        first[observed] += row
        first[missing] += slopes @ row
        second[np.ix_(observed, observed)] += square
        second[np.ix_(missing, observed)] += across
        second[np.ix_(observed, missing)] += across.T
        second[np.ix_(missing, missing)] += across @ slopes.T + count * spread
    shift = first / rows
    improved = second / rows - np.outer(shift, shift)
    return shift, (improved + improved.T) / 2


def _inverse(matrix: Floats) -> Floats:
    """Return the inverse of a symmetric matrix; columns that never vary get a tiny variance."""
    if not len(matrix):
        return matrix
    return np.linalg.inv(matrix + np.diag(np.where(np.diag(matrix) > 0, 0.0, 1e-30)))


def _rows(part: Part) -> int:
    return len(part[0][0]) if part else 0


def _gaps(part: Part, columns: Sequence[int]) -> list[npt.NDArray[np.bool_]]:
    return [_is_missing(part[column]) for column in columns]


def _is_missing(column: NumberColumn | CategoryColumn) -> npt.NDArray[np.bool_]:
    if isinstance(column, CategoryColumn):
        return column.codes >= column.indicators.size
    return np.isnan(column.values)


def _take(column: NumberColumn | CategoryColumn, rows: Integers) -> NumberColumn | CategoryColumn:
    if isinstance(column, CategoryColumn):
        return column._replace(codes=column.codes[rows])
    return column._replace(values=column.values[rows])


@attrs.frozen
class SharedSums:
    """The places whose sums some tests share, those that must be complete, and the numbers of the tests."""

    places: tuple[int, ...]
    complete: tuple[int, ...]
    tests: list[int]

    def among(self, used: Sequence[int]) -> RowSet:
        """Return the set of rows and columns, by the numbers of the places among those used."""
        number = {place: at for at, place in enumerate(used)}
        return RowSet(tuple(number[one] for one in self.places), tuple(number[one] for one in self.complete))


def share_sums(heading: MomentHeading, queries: Sequence[tuple[int, ...]]) -> list[SharedSums]:
    """Return the sums that tests need: one for all that leave out the same rows, or one for each where that is less."""
    by_rows: dict[tuple[int, ...], list[int]] = {}
    for test, query in enumerate(queries):
        by_rows.setdefault(tuple(sorted({place for place in query if heading.missing[place]})), []).append(test)
    shared: list[SharedSums] = []
    for complete, tests in by_rows.items():
        every = tuple(sorted({place for test in tests for place in queries[test]}))
        apart = sum(_products(heading, queries[test]) for test in tests)
        if _products(heading, every) <= apart:
            shared.append(SharedSums(every, complete, tests))
        else:
            shared += [SharedSums(tuple(sorted(set(queries[test]))), complete, [test]) for test in tests]
    return shared


def run_by_sums(
    heading: MomentHeading,
    queries: Sequence[tuple[int, ...]],
    shared: Sequence[SharedSums],
    found_sums: Iterable[ProductSums],
) -> RowTests:
    """Carry out all tests from the sums that they share."""
    found = RowTests.empty(len(queries))
    for one, sums in zip(shared, found_sums, strict=True):
        rows = round(float(sums.sums[0, 0]))
        found.rows[one.tests] = rows
        if not rows:
            continue
        places = list(one.places)
        number = {place: at for at, place in enumerate(places)}
        starts, blocks = queries_of([tuple(number[place] for place in queries[test]) for test in one.tests])
        widths = heading.widths[places]
        leading = np.where(heading.is_number[places], np.minimum(widths, 1), widths)
        tested = matrix_tests(
            MatrixBlocks(sums.covariance(), widths, leading, ~heading.is_number[places]), starts, blocks
        )
        for column, measures in enumerate((found.ratios, found.inflations, found.joint_rates)):
            measures[one.tests] = tested.measures[:, column]
        for column, ranks in enumerate((found.x_ranks, found.y_ranks, found.ranks)):
            ranks[one.tests] = tested.figures[:, column]
    return found


def _products(heading: MomentHeading, places: Sequence[int]) -> int:
    """Return how many products of embedded columns the sums of some places have."""
    return int(heading.widths[list(places)].sum()) ** 2
