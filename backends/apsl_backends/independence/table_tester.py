"""Carry out tests on counts: in memory by kernels, elsewhere batch by batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate, chain, combinations, islice
from math import prod
from threading import local
from typing import Protocol

import numpy as np

from apsl_backends.independence.column_oracle import EliminationOutcome, SweptArrays, all_but
from apsl_backends.kernels.bindings.tables import (
    LastTests,
    SearchOutcome,
    SweptTests,
    TableHandle,
    TestBatch,
    TesterHandle,
    is_weaker,
    open_measure,
)
from apsl_backends.kernels.library import (
    ANY_METHOD,
    DEPENDENT,
    DOF,
    DOF_MET,
    G_SQUARE,
    INDEPENDENT,
    OUTCOME_FIELDS,
    ROWS,
    ROWS_MET,
    STATE,
    SUM_FIELDS,
    UNRELIABLE,
    Integers,
    Measure,
    in_blocks,
    useful_threads,
)
from apsl_rules.data import CountedDataset, Table
from apsl_rules.data.counts import Heading, Joint
from apsl_rules.memory import Kind, check
from apsl_rules.stopping import LONG, Flag, heeding_if_long

_HANDLE: Kind[TableHandle] = Kind("table of the kernels")


class MemoryCounts:
    """A table with the form in which the kernels hold it."""

    def __init__(self, table: Table, threads: int = 1) -> None:
        self.threads = threads
        self.handle = table.memory.once(
            _HANDLE, None, lambda: TableHandle(table.codes, table.cards, table.incomplete, threads=threads)
        )


class WeightedCounts:
    """A joint as a table of weighted rows, one for each combination."""

    threads = 1

    def __init__(self, joint: Joint, heading: Heading) -> None:
        places = list(joint.places)
        codes = joint.codes.copy()  # contiguous, as the kernels want it
        self.handle = TableHandle(codes, heading.cards[places], heading.incomplete[places], joint.weights)


class SearchOracle(Protocol):
    """What elimination asks for."""

    def search(self, places: Sequence[int], fixed: int, most: int) -> SearchOutcome:
        """Search the subsets of a pool for a separator; the places are x, y, the fixed columns and the pool."""

    def prepare_entry(self, x: int, members: Sequence[int], waiting: Sequence[int]) -> None:
        """Count what the entry of the first candidate waiting needs."""


def interleave(tester: SearchOracle, x: int, swept: SweptArrays, ranking: Integers, most: int) -> EliminationOutcome:
    """Add the candidates of a ranking one by one; test each, and then those before it again."""
    ranked: list[int] = swept.columns[ranking].tolist()
    record = _Record(swept, ranking, most)
    members: list[int] = []
    tests = 0
    for newcomer in range(len(ranked)):
        tester.prepare_entry(x, [ranked[one] for one in members], ranked[newcomer:])
        members.append(newcomer)
        for candidate in reversed(tuple(members)):
            check()
            fixed = [] if candidate == newcomer else [ranked[newcomer]]
            free = [ranked[one] for one in members if one not in (candidate, newcomer)]
            largest = min(len(free), most - len(fixed))
            if largest >= 0 and (fixed or free):
                found = tester.search([x, ranked[candidate], *fixed, *free], len(fixed), largest)
                tests += found.tests
                record.note(candidate, found, [*fixed, *(free[at] for at in found.chosen)])
            if record.outcomes[candidate, STATE] == INDEPENDENT:
                members.remove(candidate)
                if candidate == newcomer:
                    break
    eliminated = np.flatnonzero(record.outcomes[:, STATE] == INDEPENDENT).tolist()
    ranks = record.ranks if (record.ranks >= 0).any() else None
    return EliminationOutcome(members, eliminated, record.outcomes, record.given, record.statistics, tests, ranks)


class _Record:
    """The last word on each candidate, first that of the sweep."""

    def __init__(self, swept: SweptArrays, ranking: Integers, most: int) -> None:
        self.outcomes = np.zeros((len(ranking), OUTCOME_FIELDS), np.int64)
        self.outcomes[:, STATE] = swept.decisions[ranking]
        self.outcomes[:, DOF_MET] = swept.dofs[ranking]
        self.outcomes[:, ROWS_MET] = swept.rows[ranking]
        self.statistics = swept.statistics[ranking]
        self.given = np.zeros((len(ranking), most + 1), np.int64)
        self.ranks = np.full(len(ranking), -1, np.int64)

    def note(self, candidate: int, found: SearchOutcome, given: list[int]) -> None:
        """Note a search if it separates the candidate, or met the weakest dependence so far."""
        state, dof = int(self.outcomes[candidate, STATE]), int(self.outcomes[candidate, DOF_MET])
        if found.decision != INDEPENDENT and (
            found.decision != DEPENDENT
            or (
                state != UNRELIABLE
                and not is_weaker(found.statistic, found.dof, float(self.statistics[candidate]), dof)
            )
        ):
            return
        self.outcomes[candidate] = found.decision, found.dof, found.rows, len(given)
        self.statistics[candidate] = found.statistic
        self.ranks[candidate] = found.rank
        self.given[candidate, : len(given)] = given


class Countable(Protocol):
    """A table in the forms that the kernels count from."""

    @property
    def handle(self) -> TableHandle:
        """Return the table as the kernels hold it."""

    @property
    def threads(self) -> int:
        """Return how many threads may count."""


class _PerThread(local):
    mine: TesterHandle | None = None


class Tester:
    """The kernels with their table and measure, and working space for each thread that calls them."""

    def __init__(self, counts: Countable, measure: Measure) -> None:
        self.counts = counts
        self.measure = measure
        self._measure = open_measure(measure)
        self._per_thread = _PerThread()

    def test(self, tests: Sequence[Sequence[int]]) -> TestBatch:
        """Carry out a batch of tests, each the places of x, y and what is given."""
        starts = np.array([0, *accumulate(map(len, tests))], np.int64)
        return self.test_columns(starts, np.array([*chain.from_iterable(tests)], np.int64))

    def test_against_all(self, x: int) -> TestBatch:
        """Test x against each column, itself included."""
        count = self.counts.handle.columns
        places = np.full((count, 2), x, np.int64)
        places[:, 1] = np.arange(count)
        return self.test_columns(np.arange(0, 2 * count + 1, 2), places.ravel())

    def sweep(self, x: int) -> SweptArrays:
        """Test x against each other column."""
        count = self.counts.handle.columns - 1
        swept = SweptTests.of(count)

        def work(low: int, high: int) -> None:
            mine = self._own_handle()
            for first in range(low, high, self._short):
                check()
                mine.sweep(x, swept, first, min(first + self._short, high))

        in_blocks(count, useful_threads(self.counts.threads, 2 * count * self.counts.handle.lines), work)
        return SweptArrays(all_but(count + 1, x), *swept)

    def test_columns(self, starts: Integers, places: Integers) -> TestBatch:
        """Carry out tests whose columns are the places from each start to the next."""
        count = len(starts) - 1
        tested = TestBatch(np.empty((count, SUM_FIELDS), np.int64), np.empty(count), np.empty(count, np.int8))

        def work(low: int, high: int) -> None:
            mine = self._own_handle()
            for first in range(low, high, self._short):
                check()
                mine.run_tests(starts, places, tested, first, min(first + self._short, high))

        in_blocks(count, useful_threads(self.counts.threads, len(places) * self.counts.handle.lines), work)
        return tested

    def search(self, places: Sequence[int], fixed: int, most: int) -> SearchOutcome:
        """Search the subsets of a pool for a separator; the places are x, y, the fixed columns and the pool."""
        return heeding_if_long(partial(self._own_handle().search, places, fixed, most), self._short)

    def foresee(self, searches: Sequence[tuple[Sequence[int], int, int]], sweeps: Sequence[int]) -> None:
        """Prepare nothing for later searches and sweeps: all rows are in memory."""

    def eliminate(self, x: int, swept: SweptArrays, ranking: Integers, most: int) -> EliminationOutcome:
        """Add the columns of a sweep in the order of a ranking; after each, test those added before again."""
        handle, ranked = self._own_handle(), swept.columns[ranking]

        def work(stop: Flag) -> EliminationOutcome:
            outcomes = np.zeros((len(ranking), OUTCOME_FIELDS), np.int64)
            outcomes[:, STATE] = swept.decisions[ranking]
            outcomes[:, DOF_MET] = swept.dofs[ranking]
            outcomes[:, ROWS_MET] = swept.rows[ranking]
            statistics = swept.statistics[ranking]
            left = handle.eliminate(x, ranked, most, LastTests(outcomes, statistics), stop)
            eliminated = np.flatnonzero(outcomes[:, STATE] == INDEPENDENT).tolist()
            return EliminationOutcome(left.members, eliminated, outcomes, left.given, statistics, left.tests)

        return heeding_if_long(work, self._short)

    @property
    def _short(self) -> int:
        """Return how many tests one call may make before it counts as long."""
        return max(1, LONG // max(self.counts.handle.lines, 1))

    def _own_handle(self) -> TesterHandle:
        if self._per_thread.mine is None:
            self._per_thread.mine = TesterHandle(self.counts.handle, self._measure)
        return self._per_thread.mine


def measure_of(
    heading: Heading,
    *,
    kind: int = G_SQUARE,
    alpha: float = 0.5,
    full_dof: bool = False,
    rows_per_cell: float = 0.0,
    method: int = ANY_METHOD,
) -> Measure:
    """Say how to decide from the counts of a table; ``method`` forces a counting method."""
    levels = max(2, int(heading.cards.max(initial=0)))
    return Measure(kind, max(heading.rows, 2), levels, alpha, full_dof, rows_per_cell, method)


_TESTERS_KEPT = 64
_TESTS_AT_ONCE = 64
_WINDOW = 1 << 16
_WIDEST_WINDOW = 24

Plan = tuple[Sequence[int], int, int]


class CountTester:
    """What ``Tester`` does, on counts that are asked for in rounds."""

    def __init__(self, kept: CountedDataset, measure: Measure) -> None:
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


def tester_for(data: CountedDataset, measure: Measure, threads: int) -> Tester | CountTester:
    """Return what carries out tests on a dataset: kernels on rows that are here, or counts asked for in rounds."""
    table = data.in_memory
    return CountTester(data, measure) if table is None else Tester(MemoryCounts(table, threads), measure)
