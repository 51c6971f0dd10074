"""Sums of products over rows, made section by section, and the tests and estimates that follow from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple, TypeVar

import attrs
import numpy as np
import numpy.typing as npt

from apsl_backends.engines.engine import Part
from apsl_backends.kernels.bindings.embedded import (
    CategoryColumn,
    EmbeddedHandle,
    MatrixBlocks,
    NumberColumn,
    Patterns,
    ProductSums,
    RowFigures,
    matrix_tests,
)
from apsl_backends.kernels.library import Floats, Integers, in_blocks
from apsl_rules.data import SECTION
from apsl_rules.data.moments import MomentHeading, RowTests
from apsl_rules.errors import DataError
from apsl_rules.names import Node
from apsl_rules.stopping import Flag, Workers, heeding

Result = TypeVar("Result")

#: How expectation and maximisation end: the change of covariances, in standard deviations, and the iterations.
TOLERANCE, MOST_ITERATIONS = 1e-4, 60
#: Products of a call that takes long enough to be waited for in another thread, and of one worth a thread.
_LONG, _WORTH_A_THREAD = 1 << 29, 1 << 24


@attrs.frozen(eq=False)
class EmbeddedRows:
    """What a source needs of rows in memory: the handle on the columns, their names, and how many threads to use."""

    handle: EmbeddedHandle
    names: tuple[Node, ...]
    threads: int = 1

    def covariance(self, places: Sequence[int]) -> Floats:
        """Return the covariance matrix of the embedded columns of some places, also where values are missing."""
        asked = np.array(places, np.int64)
        if self.handle.rows == 0:
            message = "the table has no rows, so there are no covariances; give one with rows"
            raise DataError(message)
        if self.handle.missing[asked].any():
            return self._of_incomplete(asked)
        return self.sums(asked).covariance()

    def sums(self, places: Integers) -> ProductSums:
        """Return the sums of products of places without missing values."""
        total = ProductSums(self.handle.width_of(places))
        for sums in self._sections(places):
            total.add(sums)
        return total

    def test_rows(self, queries: Sequence[tuple[int, ...]]) -> RowTests:
        """Test x against y given others, for each query (x, y, *given), on the rows that are complete there."""
        starts, places = queries_of(queries)
        found = RowFigures.of(len(queries))
        work = self.handle.rows * len(places)

        def run(low: int, high: int) -> None:
            cut = starts[low : high + 1] - starts[low]
            some = places[starts[low] : starts[high]]
            done = heeding(lambda flag: self.handle.row_tests(cut, some, flag), is_long=work > _LONG // 4)
            if done is not None:
                found.measures[low:high], found.figures[low:high] = done

        in_blocks(len(queries), max(1, min(self.threads, work // _WORTH_A_THREAD)), run)
        x_ranks, y_ranks, ranks, rows = (column.copy() for column in found.figures.T)
        ratios, inflations, joint_rates, products = (column.copy() for column in found.measures.T)
        return RowTests(ratios, x_ranks, y_ranks, ranks, rows, inflations, joint_rates, products)

    def _sections(self, places: Integers) -> Iterator[ProductSums]:
        """Yield the sums of sections in the order of the rows."""
        rows, width = self.handle.rows, self.handle.width_of(places)
        lows = range(0, rows, SECTION)
        is_long = SECTION * (width + 1) ** 2 > _LONG

        def section(low: int) -> ProductSums:
            def add(flag: Flag) -> ProductSums | None:
                return self.handle.section_sums(places, low, min(low + SECTION, rows), flag)

            return _finished(heeding(add, is_long=is_long))

        threads = max(1, min(self.threads, len(lows), rows * width * width // _WORTH_A_THREAD))
        if threads == 1:
            yield from map(section, lows)
            return
        with Workers(threads) as pool:
            left = iter(lows)
            running = [pool.submit(section, low) for low in islice(left, 2 * threads)]
            while running:
                yield running.pop(0).result()
                running.extend(pool.submit(section, low) for low in islice(left, 1))

    def _of_incomplete(self, places: Integers) -> Floats:
        """Return the covariance of maximum likelihood, by expectation and maximisation."""
        for place in places.tolist():
            if self.handle.missing[place] == self.handle.rows:
                message = f"all values of {self.names[place]!r} are missing; leave the column out"
                raise DataError(message)
        patterns = patterns_of([self.handle.is_missing(place) for place in places.tolist()])

        def estimate(flag: Flag) -> tuple[Floats, int] | None:
            return self.handle.incomplete_covariance(
                places, patterns, flag, tolerance=TOLERANCE, iterations=MOST_ITERATIONS
            )

        work = self.handle.rows * (self.handle.width_of(places) + 1) ** 2
        found, _ = _finished(heeding(estimate, is_long=work > _LONG // 16))
        return found


def _finished(result: Result | None) -> Result:
    """Return what a call gave; one that was stopped has ended the run before."""
    assert result is not None  # noqa: S101 - heeding raises when a run is stopped
    return result


def queries_of(queries: Sequence[tuple[int, ...]]) -> tuple[Integers, Integers]:
    """Return where the places of each query begin, with the end of the last, and all their places."""
    sizes = np.fromiter(map(len, queries), np.int64, len(queries))
    places = np.fromiter((place for query in queries for place in query), np.int64, int(sizes.sum()))
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)]), places


def patterns_of(missing: Sequence[npt.NDArray[np.bool_] | None]) -> Patterns:
    """Group rows by the columns whose values are missing there; None stands for a column without missing values."""
    rows = next(len(one) for one in missing if one is not None)
    numbers = np.zeros(rows, np.int64)
    found = np.zeros((1, len(missing)), np.bool_)
    for place, gone in enumerate(missing):
        if gone is None:
            continue
        pairs, numbers = np.unique(2 * numbers + gone, return_inverse=True)
        found = found[pairs >> 1]
        found[:, place] = (pairs & 1).astype(np.bool_)
    order = np.argsort(numbers, kind="stable")
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(numbers, minlength=len(found)))])
    return Patterns(order.astype(np.int64), starts.astype(np.int64), found)


#: The most patterns of which sums are made.
MOST_PATTERNS = 1 << 12
#: The share of each variance that is added to it before the inverse is taken.
_RIDGE = 1e-7


class RowSet(NamedTuple):
    """Columns whose products are summed over the rows that are complete in some others."""

    columns: tuple[int, ...]
    complete: tuple[int, ...]


class Embedded(NamedTuple):
    """How columns are embedded: the places of numbers whose values stand in the place of z, and the highest degree."""

    plain: frozenset[int] = frozenset()
    most: int | None = None

    def handle(self, columns: Part, rows: int, threads: int = 1) -> EmbeddedHandle:
        """Return a handle on columns."""
        return EmbeddedHandle(columns, rows, threads, plain=self.plain, most=self.most)


#: As tests have it.
FOR_TESTS = Embedded()


def part_sums(part: Part, embedded: Embedded = FOR_TESTS) -> ProductSums:
    """Return the sums of products of columns without missing values over a part of the rows."""
    return sums_of(part, _rows(part), embedded)


def sums_of(columns: Part, rows: int, embedded: Embedded = FOR_TESTS) -> ProductSums:
    """Return the sums of products of columns without missing values."""
    return EmbeddedRows(embedded.handle(columns, rows), ()).sums(np.arange(len(columns), dtype=np.int64))


def sums_of_sets(part: Part, sets: Sequence[RowSet]) -> list[ProductSums]:
    """Return the sums of each set over a part of the rows."""
    found: dict[int, ProductSums] = {}
    by_rows: dict[tuple[int, ...], list[int]] = {}
    for number, one in enumerate(sets):
        by_rows.setdefault(one.complete, []).append(number)
    for complete, numbers in by_rows.items():
        kept = np.flatnonzero(~np.logical_or.reduce([np.zeros(_rows(part), np.bool_), *_gaps(part, complete)]))
        used = sorted({column for number in numbers for column in sets[number].columns})
        place = {column: at for at, column in enumerate(used)}
        rows = EmbeddedRows(EmbeddedHandle([take_rows(part[column], kept) for column in used], len(kept)), ())
        for number in numbers:
            found[number] = rows.sums(np.array([place[column] for column in sets[number].columns], np.int64))
    return [found[number] for number in range(len(sets))]


def sums_of_patterns(part: Part, embedded: Embedded = FOR_TESTS) -> dict[bytes, ProductSums] | None:
    """Return for each pattern the sums of its observed columns over a part of the rows; None for too many patterns."""
    gaps = [is_missing(column) for column in part]
    patterns = patterns_of(gaps)
    if len(patterns.missing) > MOST_PATTERNS:
        return None
    found = {}
    for number, gone in enumerate(patterns.missing):
        rows = patterns.rows[patterns.starts[number] : patterns.starts[number + 1]]
        there = np.flatnonzero(~gone).tolist()
        plain = frozenset(at for at, place in enumerate(there) if place in embedded.plain)
        observed = [take_rows(part[place], rows) for place in there]
        found[gone.tobytes()] = sums_of(observed, len(rows), embedded._replace(plain=plain))
    return found


def join_sums(parts: Iterable[ProductSums]) -> ProductSums:
    """Add up the sums of parts in their order."""
    total: ProductSums | None = None
    for sums in parts:
        if total is None:
            total = sums
        else:
            total.add(sums)
    return ProductSums(0) if total is None else total


def join_patterns(parts: Iterable[Mapping[bytes, ProductSums] | None]) -> dict[bytes, ProductSums] | None:
    """Add up the sums of patterns over parts of the rows; None if they are too many."""
    total: dict[bytes, ProductSums] = {}
    for part in parts:
        for pattern, sums in ({} if part is None else part).items():
            if pattern in total:
                total[pattern].add(sums)
            else:
                total[pattern] = sums
        if part is None or len(total) > MOST_PATTERNS:
            return None
    return {pattern: total[pattern] for pattern in sorted(total)}


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
    return [is_missing(part[column]) for column in columns]


def is_missing(column: NumberColumn | CategoryColumn) -> npt.NDArray[np.bool_]:
    """Return in which rows the value of a column is missing."""
    if isinstance(column, CategoryColumn):
        return column.codes >= column.indicators.size
    return np.isnan(column.values)


def take_rows(column: NumberColumn | CategoryColumn, rows: Integers | slice) -> NumberColumn | CategoryColumn:
    """Return some rows of a column."""
    if isinstance(column, CategoryColumn):
        return column._replace(codes=column.codes[rows])
    return column._replace(values=column.values[rows], plain=None if column.plain is None else column.plain[rows])


def rows_of(column: NumberColumn | CategoryColumn) -> tuple[Floats, Floats | None]:
    """Return the rows of a column without squares, NaN where they are missing, and those of a number as it is."""
    if isinstance(column, NumberColumn):
        return column.values[:, None], None if column.plain is None else column.plain[:, None]
    indicators = np.append(column.indicators, -1)[np.minimum(column.codes, column.indicators.size)]
    rows = (indicators[:, None] == np.arange(column.width)).astype(np.float64)
    rows[is_missing(column)] = np.nan
    return rows, None


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
        for column, measures in enumerate((found.ratios, found.inflations, found.joint_rates, found.products)):
            measures[one.tests] = tested.measures[:, column]
        for column, ranks in enumerate((found.x_ranks, found.y_ranks, found.ranks)):
            ranks[one.tests] = tested.figures[:, column]
    return found


def _products(heading: MomentHeading, places: Sequence[int]) -> int:
    """Return how many products of embedded columns the sums of some places have."""
    return int(heading.widths[list(places)].sum()) ** 2
