"""Tests and searches on counts that come from elsewhere: the kernels run on the combinations that occur.

Every answer equals that of the same kernel on all rows, and so does the number of tests: sums are of whole numbers, so
it does not matter whether a combination is met once with its weight or row by row. What differs is who counts, and
that questions are put together first: a round trip costs far more than a table that turns out not to be needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations, islice
from math import prod

import numpy as np

from apsl_backends.independence._weighted_rows import WeightedCounts
from apsl_backends.independence.column_verdicts import EliminationOutcome
from apsl_backends.independence.count_elimination import interleave
from apsl_backends.independence.sweeps import SweptArrays, all_but
from apsl_backends.independence.table_tester import Tester
from apsl_backends.kernels.border import Integers, SearchOutcome, TestBatch, is_weaker
from apsl_backends.kernels.library import (
    DEPENDENT,
    DOF,
    INDEPENDENT,
    ROWS,
    SUM_FIELDS,
    UNRELIABLE,
    Measure,
)
from apsl_rules.data.counts import CachedCounts, Joint
from apsl_rules.stopping import check

_TESTERS_KEPT = 64
_TESTS_AT_ONCE = 64
_WINDOW = 1 << 16
_WIDEST_WINDOW = 24

Plan = tuple[Sequence[int], int, int]


class CountTester:
    """What ``Tester`` does, on counts that are asked for in rounds."""

    def __init__(self, kept: CachedCounts, measure: Measure) -> None:
        self.kept = kept
        self.measure = measure
        self._cards = kept.heading.cards.tolist()
        self._varied = kept.heading.varied.tolist()
        self._most_levels = kept.heading.rows / measure.rows_per_cell if measure.rows_per_cell else np.inf
        self._testers: dict[tuple[int, ...], tuple[Joint, Tester]] = {}

    # --- tests -------------------------------------------------------------------------------------------------------

    def test(self, tests: Sequence[Sequence[int]]) -> TestBatch:
        """Carry out a batch of tests, each the places of x, y and what is given, in one round."""
        count = len(tests)
        tested = TestBatch(np.zeros((count, SUM_FIELDS), np.int64), np.zeros(count), np.empty(count, np.int8))
        tested.sums[:, ROWS] = -1
        asked = []
        for number, places in enumerate(tests):
            if not (self._varied[places[0]] and self._varied[places[1]]):
                tested.decisions[number] = INDEPENDENT
            elif self._levels(places) > self._most_levels:
                tested.decisions[number] = UNRELIABLE
            else:
                asked.append(number)
        self.kept.fetch((tests[number] for number in asked), needed=True)
        self.kept.fetch_complete(tests[number] for number in set(range(count)).difference(asked))
        for joint, numbers in self._by_joint(tests, asked):
            done = self._tester(joint).test([[joint.places.index(one) for one in tests[number]] for number in numbers])
            tested.sums[numbers] = done.sums
            tested.statistics[numbers] = done.statistics
            tested.decisions[numbers] = done.decisions
        return tested

    def test_against_all(self, x: int) -> TestBatch:
        """Test x against each column, itself included, in one round."""
        return self.test([(x, y) for y in range(len(self._cards))])

    def sweep(self, x: int) -> SweptArrays:
        """Test x against each other column, in one round."""
        columns = all_but(len(self._cards), x)
        tested = self.test([(x, y) for y in columns.tolist()])
        return SweptArrays(columns, tested.statistics, tested.sums[:, DOF], tested.sums[:, ROWS], tested.decisions)

    def _levels(self, places: Sequence[int]) -> int:
        return prod(self._cards[place] for place in places)

    def _by_joint(self, tests: Sequence[Sequence[int]], asked: Iterable[int]) -> Iterator[tuple[Joint, list[int]]]:
        """Return the tests that the same counts answer together."""
        groups: dict[tuple[int, ...], tuple[Joint, list[int]]] = {}
        for number in asked:
            joint = self.kept.near(tests[number])
            groups.setdefault(joint.places, (joint, []))[1].append(number)
        return iter(groups.values())

    def _tester(self, joint: Joint) -> Tester:
        """Return the kernels on a joint; a few of them are kept."""
        known = self._testers.get(joint.places)
        if known is None or known[0] is not joint:
            if len(self._testers) >= _TESTERS_KEPT:
                del self._testers[next(iter(self._testers))]
            known = self._testers[joint.places] = joint, Tester(WeightedCounts(joint, self.kept.heading), self.measure)
        return known[1]

    # --- searches ----------------------------------------------------------------------------------------------------

    def search(self, places: Sequence[int], fixed: int, most: int) -> SearchOutcome:
        """Search the subsets of a pool for a separator; the places are x, y, the fixed columns and the pool.

        If the columns have few combinations these are counted in one round; otherwise table by table, a round for
        many of them.
        """
        if not (self._varied[places[0]] and self._varied[places[1]]):
            return SearchOutcome(INDEPENDENT, 0.0, 0, -1, 1, [])
        if not self.kept.fits(places):
            return self._search_by_tests(places, fixed, most)
        self.kept.fetch([places])
        if not self.kept.has(places):  # there were more combinations than guessed
            return self._search_by_tests(places, fixed, most)
        joint = self.kept.joint(sorted(places))
        return self._tester(joint).search([joint.places.index(place) for place in places], fixed, most)

    def _search_by_tests(self, places: Sequence[int], fixed: int, most: int) -> SearchOutcome:
        base, pool = list(places[: 2 + fixed]), list(places[2 + fixed :])
        best = SearchOutcome(UNRELIABLE, 0.0, 0, -1, 0, [])
        tests = 0
        subsets = chain.from_iterable(combinations(range(len(pool)), size) for size in range(most + 1))
        while subset := list(islice(subsets, _TESTS_AT_ONCE)):
            check()
            tested = self.test([[*base, *(pool[at] for at in chosen)] for chosen in subset])
            outcomes = zip(subset, tested.decisions.tolist(), tested.statistics.tolist(), tested.sums, strict=True)
            for chosen, decision, statistic, sums in outcomes:
                tests += 1
                dof, rows = int(sums[DOF]), int(sums[ROWS])
                if decision == INDEPENDENT:
                    return SearchOutcome(decision, statistic, dof, rows, tests, list(chosen))
                if decision == DEPENDENT and (
                    best.decision == UNRELIABLE or is_weaker(statistic, dof, best.statistic, best.dof)
                ):
                    best = SearchOutcome(decision, statistic, dof, rows, tests, list(chosen))
        return best._replace(tests=tests)

    def foresee(self, searches: Sequence[Plan], sweeps: Sequence[int]) -> None:
        """Count in one round what searches and sweeps need, or only their first tests where that is too much."""
        sets: list[Sequence[int]] = []
        for places, fixed, most in searches:
            if self._varied[places[0]] and self._varied[places[1]]:
                sets += [places] if self.kept.fits(places) else self._first_tests(places, fixed, most)
        for x in sweeps:
            sets += [
                (x, y) for y in range(len(self._cards)) if self._varied[y] and self._levels((x, y)) <= self._most_levels
            ]
        self.kept.fetch(sets)

    def _first_tests(self, places: Sequence[int], fixed: int, most: int) -> list[Sequence[int]]:
        base, pool = list(places[: 2 + fixed]), places[2 + fixed :]
        subsets = chain.from_iterable(combinations(pool, size) for size in range(most + 1))
        first = [[*base, *chosen] for chosen in islice(subsets, _TESTS_AT_ONCE)]
        return [test for test in first if self._levels(test) <= self._most_levels]

    # --- elimination -------------------------------------------------------------------------------------------------

    def eliminate(self, x: int, swept: SweptArrays, ranking: Integers, most: int) -> EliminationOutcome:
        """Add the columns of a sweep in the order of a ranking; after each, test those added before again."""
        return interleave(self, x, swept, ranking, most)

    def prepare_entry(self, x: int, members: Sequence[int], waiting: Sequence[int]) -> None:
        """Count what the entry of the first candidate waiting needs, and of those after it while that is cheap."""
        window = {x, *members, waiting[0]}
        if self.kept.has(window) or not self.kept.fits(window):
            return
        for other in waiting[1:]:
            wider = window | {other}
            if len(wider) > _WIDEST_WINDOW or not self.kept.fits(wider, _WINDOW):
                break
            window = wider
        self.kept.fetch([window])
