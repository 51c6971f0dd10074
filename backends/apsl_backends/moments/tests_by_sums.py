"""Tests from sums over the rows that are complete in their columns, where columns are too much to gather."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs
import numpy as np

from apsl_backends.kernels.border import MatrixBlocks, ProductSums, matrix_tests
from apsl_backends.moments.embedded_rows import queries_of
from apsl_backends.moments.pattern_sums import RowSet
from apsl_rules.data.moments import MomentHeading, RowTests


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
