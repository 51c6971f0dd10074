"""Covariances and tests from rows that the kernels can reach, with and without missing values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TypeVar

import attrs
import numpy as np
import numpy.typing as npt

from apsl_backends.kernels.border import EmbeddedHandle, Floats, Integers, Patterns, ProductSums, RowFigures
from apsl_backends.kernels.library import in_blocks
from apsl_rules.data.moments import RowTests
from apsl_rules.errors import DataError
from apsl_rules.names import Node
from apsl_rules.stopping import Flag, Workers, heeding

Result = TypeVar("Result")

#: The rows whose sums are made by themselves; sections are added in order, so threads change nothing.
SECTION = 1 << 16
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
        ratios, inflations, joint_rates = (column.copy() for column in found.measures.T)
        return RowTests(ratios, x_ranks, y_ranks, ranks, rows, inflations, joint_rates)

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
