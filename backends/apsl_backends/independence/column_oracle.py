"""An oracle on columns of a table: asks its tester, makes verdicts of the figures, and keeps what was answered."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import log
from typing import NamedTuple, Protocol, TypeAlias, TypeVar, overload

import numpy as np
import numpy.typing as npt

from apsl_backends.kernels.bindings.tables import SearchOutcome, tail, tails, thresholds
from apsl_backends.kernels.library import DEPENDENT, DOF_MET, INDEPENDENT, UNRELIABLE, Floats, Integers, in_blocks
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.evidence import Decision, Verdict
from apsl_rules.memory import DatasetMemory, Kind, Memory
from apsl_rules.names import Node, listing, require_known
from apsl_rules.oracles import Cut, Elimination, Oracle, Query, RankedNodes, Search, Separation, Sweep
from apsl_rules.stopping import repeat_call

Value = TypeVar("Value")


class LazyMapping(Mapping[Node, Value]):
    """A mapping with known keys, whose values are made on demand."""

    def __init__(self, keys: Iterable[Node], make: Callable[[Node], Value]) -> None:
        self._values: dict[Node, Value | None] = dict.fromkeys(keys)
        self._make = make

    def __getitem__(self, key: Node) -> Value:
        value = self._values[key]
        if value is None:
            value = self._values[key] = self._make(key)
        return value

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[Node]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


#: How far below its critical value a statistic may be for its p to be computed.
_ROUNDING = 1e-9


class SweptArrays(NamedTuple):
    """The other columns in the order of the table, and the figures of the test with each (rows -1 if not counted)."""

    columns: Integers
    statistics: Floats
    dofs: Integers
    rows: Integers
    decisions: npt.NDArray[np.int8]


def all_but(count: int, column: int) -> Integers:
    """Return the columns of a table without one."""
    others = np.arange(count - 1)
    others[column:] += 1
    return others


class ArraySweep(Sweep):
    """A sweep kept as arrays, for tables of very many columns."""

    def __init__(
        self,
        x: Node,
        arrays: SweptArrays,
        *,
        place_of: Callable[[Node], int],
        name_ranks: Integers,
        verdict_at: Callable[[int], Verdict],
        log_p: Callable[[], Floats],
    ) -> None:
        super().__init__(x, _Verdicts(len(arrays.columns), verdict_at))
        self.arrays = arrays
        self._column_of = place_of
        self._name_ranks = name_ranks
        self._log_p = log_p

    def place_of(self, y: Node) -> int:
        """Return the place of the verdict on one other node."""
        column = self._column_of(y)
        return column - (column > self._column_of(self.x))

    def log_p(self) -> Floats:
        """Return ln p on each other node, NaN where the test is unreliable."""
        return np.where(self.arrays.decisions == UNRELIABLE, np.nan, self._log_p())

    def discoverable(self, share: float) -> tuple[npt.NDArray[np.intp], Floats]:
        """Return the places of the verdicts with p at most a share, and their ln p; no other p is computed."""
        _, statistics, dofs, _, decisions = self.arrays
        limits = thresholds(share)
        limit = np.where(dofs < len(limits), limits[np.minimum(dofs, len(limits) - 1)], 0.0)
        places = np.flatnonzero((decisions != UNRELIABLE) & (statistics >= limit * (1 - _ROUNDING)))
        log_p = tails(statistics[places], dofs[places]).log_p
        kept = log_p <= log(share) + _ROUNDING
        return places[kept], log_p[kept]

    def untested(self) -> tuple[Verdict, ...]:
        """Return the verdicts on the nodes for which there were too few rows, in order."""
        return tuple(self[place] for place in (self.arrays.decisions == UNRELIABLE).nonzero()[0].tolist())

    def ranked(self, *, unreliable: Decision, among: npt.NDArray[np.bool_] | None = None) -> tuple[Verdict, ...]:
        """Return the dependent verdicts, strongest first and by name among equals."""
        return tuple(self[place] for place in self.ranking(unreliable=unreliable, among=among).tolist())

    def ranking(self, *, unreliable: Decision, among: npt.NDArray[np.bool_] | None = None) -> Integers:
        """Return the places in this sweep of the verdicts that ``ranked`` gives."""
        decisions = self.arrays.decisions
        kept = decisions != INDEPENDENT if unreliable == "dependent" else decisions == DEPENDENT
        if among is not None:
            kept &= among
        places: Integers = kept.nonzero()[0]
        association = self.arrays.statistics[places]
        if unreliable == "dependent":
            association[decisions[places] == UNRELIABLE] = np.inf
        order = np.lexsort((self._name_ranks[self.arrays.columns[places]], -association))
        ranking: Integers = places[order]
        return ranking


def name_ranks_of(nodes: RankedNodes) -> Integers:
    """Return the place of each node in the order of names."""
    return np.fromiter(map(nodes.rank.__getitem__, nodes.nodes), np.int64, len(nodes.nodes))


class _Verdicts(Sequence[Verdict]):
    """The verdicts of a sweep, each made when it is looked at."""

    def __init__(self, count: int, verdict_at: Callable[[int], Verdict]) -> None:
        self._places = range(count)
        self._verdict_at = verdict_at
        self._made: dict[int, Verdict] = {}

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> Verdict: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Verdict]: ...
    def __getitem__(self, index: int | slice) -> Verdict | Sequence[Verdict]:
        if isinstance(index, slice):
            return [self[place] for place in self._places[index]]
        place = self._places[index]
        if place not in self._made:
            self._made[place] = self._verdict_at(place)
        return self._made[place]


_DECISIONS: tuple[Decision, ...] = ("independent", "dependent", "unreliable")


class Outcome(NamedTuple):
    """The outcome of a test: decision, statistic, degrees of freedom, and rows (-1 if they were not counted).

    ``rank`` is that of the given columns, for tests on moments (-1 for others).
    """

    decision: int
    statistic: float
    dof: int
    rows: int
    rank: int = -1


class EliminationOutcome(NamedTuple):
    """The outcome of HITON's elimination: candidates left and eliminated, by number, and the last test of each.

    ``outcomes`` has a row for each candidate: decision, degrees of freedom, rows, and how many of the columns in
    its row of ``given`` were given. ``ranks`` are those of the given columns, for tests on moments.
    """

    members: list[int]
    eliminated: list[int]
    outcomes: Integers
    given: Integers
    statistics: Floats
    tests: int
    ranks: Integers | None = None


class ColumnVerdicts:
    """Makes the verdicts of one kind of test; ``rows_used`` counts the rows in which no column is missing.

    ``between`` returns, for the places of a test, the statistic between groups and how many there are.
    """

    def __init__(
        self,
        nodes: tuple[Node, ...],
        place: Mapping[Node, int],
        symbol: str,
        rows_used: Callable[[Sequence[int]], int],
        *,
        has_ranks: bool = False,
        between: Callable[[Sequence[int]], tuple[float, int] | None] | None = None,
    ) -> None:
        self._nodes = nodes
        self._place = place
        self._symbol = symbol
        self._rows_used = rows_used
        self._sweep_rank = 0 if has_ranks else -1
        self._between = between

    def verdict(
        self,
        x: Node,
        y: Node,
        given: tuple[Node, ...],
        outcome: Outcome,
        found: tuple[float, float] | None = None,
    ) -> Verdict:
        """Make a verdict; ``found`` are p and its logarithm where they are known."""
        decision, statistic, dof, rows, rank = outcome
        n = rows if rows >= 0 else self._rows_used([self._place[node] for node in (x, y, *given)])
        if decision == UNRELIABLE:
            return Verdict(x, y, given, "unreliable", self._symbol, n=n)
        p, log_p = found or tail(statistic, dof)
        known_rank = None if rank < 0 else rank
        figures = statistic, p, dof, n, log_p, known_rank
        level = None if self._between is None else self._between([self._place[node] for node in (x, y, *given)])
        if level is None:
            return Verdict(x, y, given, _DECISIONS[decision], self._symbol, *figures)
        inside, groups = max(statistic - level[0], 0.0), level[1]
        return Verdict(x, y, given, _DECISIONS[decision], self._symbol, *figures, inside=inside, groups=groups)

    def sweep(self, x: Node, swept: SweptArrays, name_ranks: Integers) -> ArraySweep:
        """Return a sweep with its verdicts."""
        columns, statistics, dofs, rows, decisions = swept

        def verdict_at(at: int) -> Verdict:
            outcome = Outcome(decisions.item(at), statistics.item(at), dofs.item(at), rows.item(at), self._sweep_rank)
            return self.verdict(x, self._nodes[columns.item(at)], (), outcome)

        def log_p() -> Floats:
            return tails(statistics, dofs.copy()).log_p

        place_of = self._place.__getitem__
        return ArraySweep(x, swept, place_of=place_of, name_ranks=name_ranks, verdict_at=verdict_at, log_p=log_p)

    def elimination(self, x: Node, ranked: Sequence[Node], done: EliminationOutcome) -> Elimination:
        """Return an elimination with the separator of each node that left, and the weakest dependence of each other."""
        number = {node: at for at, node in enumerate(ranked)}
        nodes, outcomes, statistics = self._nodes, done.outcomes.tolist(), done.statistics.tolist()
        ranks = [-1] * len(ranked) if done.ranks is None else done.ranks.tolist()
        p, log_p = (part.tolist() for part in tails(done.statistics, done.outcomes[:, DOF_MET].copy()))

        def last_verdict(y: Node) -> Verdict:
            at = number[y]
            decision, dof, rows, size = outcomes[at]
            given = tuple(nodes[column] for column in done.given[at, :size].tolist())
            return self.verdict(
                x, y, given, Outcome(decision, statistics[at], dof, rows, ranks[at]), (p[at], log_p[at])
            )

        def separation(y: Node) -> Separation:
            verdict = last_verdict(y)
            return Separation(x, y, verdict.given, verdict)

        members = tuple(ranked[at] for at in done.members)
        eliminated = [ranked[at] for at in done.eliminated]
        return Elimination(members, LazyMapping(eliminated, separation), LazyMapping(members, last_verdict), done.tests)


#: The most figures of sweeps that are kept.
_MOST_FIGURES = 1 << 21


_Elimination: TypeAlias = tuple[Node, Decision, Cut | None, int | None]


class TestsMade:
    """The sweeps of a table under one measure, and the eliminations that followed them."""

    __test__ = False

    def __init__(self, columns: int) -> None:
        most = max(1, _MOST_FIGURES // max(columns, 1))
        self.sweeps: Memory[Node, ArraySweep] = Memory(most)
        self.eliminations: Memory[_Elimination, Elimination] = Memory(most)


_TESTS_MADE: Kind[TestsMade] = Kind("tests made")
_RANKED_NODES: Kind[RankedNodes] = Kind("nodes by name")
_NAME_RANKS: Kind[Integers] = Kind("ranks of names")


class ColumnTester(Protocol):
    """What carries out tests: columns are named by their places."""

    def sweep(self, x: int) -> SweptArrays:
        """Test x against each other column."""

    def search(self, places: Sequence[int], fixed: int, most: int) -> SearchOutcome:
        """Search the subsets of a pool for a separator; the places are x, y, the fixed columns and the pool."""

    def eliminate(self, x: int, swept: SweptArrays, ranking: Integers, most: int) -> EliminationOutcome:
        """Add the columns of a sweep in the order of a ranking; after each, test those added before again."""


class ColumnOracle(Oracle):
    """An oracle on the columns of a table.

    A subclass makes its ``tester`` and its ``verdicts_of``, and runs batches of tests. ``memory`` is that of the
    table, ``measure`` the settings that an answer depends on.
    """

    eliminates = True
    tester: ColumnTester
    verdicts_of: ColumnVerdicts

    def __init__(
        self,
        nodes: tuple[Node, ...],
        place: Mapping[Node, int],
        *,
        threads: int,
        memory: DatasetMemory,
        measure: Hashable,
    ) -> None:
        self.nodes = nodes
        self._place = place
        self._threads = threads
        self._memory = memory
        self._made = memory.once(_TESTS_MADE, measure, lambda: TestsMade(len(nodes)))

    @abstractmethod
    def run_tests(self, tests: Sequence[Sequence[int]]) -> Sequence[Outcome]:
        """Carry out a batch of tests, each the places of x, y and what is given."""

    def verdict(self, x: Node, y: Node, given: Sequence[Node] = ()) -> Verdict:
        """Answer one question."""
        return self.verdicts([(x, y, tuple(given))])[0]

    def verdicts(self, queries: Sequence[Query]) -> Sequence[Verdict]:
        """Answer a batch of questions in one call of the kernel."""
        if not queries:
            return []
        tested = self.run_tests([self.places((x, y, *given)) for x, y, given in queries])
        return [
            self.verdicts_of.verdict(x, y, given, outcome)
            for (x, y, given), outcome in zip(queries, tested, strict=True)
        ]

    def separator(
        self,
        x: Node,
        y: Node,
        pool: Sequence[Node],
        *,
        must_include: Sequence[Node] = (),
        max_size: int | None = None,
    ) -> Separation:
        """Search the subsets of a pool, small ones first, inside the kernel."""
        return self._outcome(Search(x, y, tuple(pool), tuple(must_include), max_size))

    def separators(self, searches: Sequence[Search]) -> Sequence[Separation]:
        """Carry out a batch of searches, on several threads if there are."""
        found: dict[int, Separation] = {}

        def work(low: int, high: int) -> None:
            for place in range(low, high):
                found[place] = self._outcome(searches[place])

        self.foresee(searches)
        in_blocks(len(searches), self._threads, work)
        return [found[place] for place in range(len(searches))]

    def associations(self, x: Node) -> ArraySweep:
        """Test x against every other node with nothing given, as arrays."""
        (place,) = self.places((x,))
        return self._made.sweeps.once(x, lambda: self.verdicts_of.sweep(x, self.tester.sweep(place), self._name_ranks))

    def eliminate(self, sweep: Sweep, *, unreliable: Decision, cut: Cut | None, max_size: int | None) -> Elimination:
        """Carry out HITON's elimination for the node of a sweep inside the kernel."""
        if self._made.sweeps.get(sweep.x) is not sweep:
            return self._eliminate(sweep, unreliable, cut, max_size)
        question = sweep.x, unreliable, cut, max_size
        known = self._made.eliminations.get(question)
        if known is not None:
            repeat_call(known.tests)
            return known
        return self._made.eliminations.once(question, lambda: self._eliminate(sweep, unreliable, cut, max_size))

    def _eliminate(self, sweep: Sweep, unreliable: Decision, cut: Cut | None, max_size: int | None) -> Elimination:
        swept = sweep if isinstance(sweep, ArraySweep) else self.associations(sweep.x)
        ranking = swept.ranking(unreliable=unreliable, among=None if cut is None else cut(swept))
        most = len(ranking) if max_size is None else min(max_size, len(ranking))
        (x,) = self.places((sweep.x,))
        ranked = [self.nodes[column] for column in swept.arrays.columns[ranking].tolist()]
        return self.verdicts_of.elimination(sweep.x, ranked, self.tester.eliminate(x, swept.arrays, ranking, most))

    @cached_property
    def ranked_nodes(self) -> RankedNodes:
        """Return the nodes in the order of their names, worked out once for a table."""
        return self._memory.once(_RANKED_NODES, None, lambda: RankedNodes.of(self.nodes))

    @cached_property
    def _name_ranks(self) -> Integers:
        return self._memory.once(_NAME_RANKS, None, lambda: name_ranks_of(self.ranked_nodes))

    def places(self, nodes: Sequence[Node]) -> list[int]:
        """Return the places of the nodes of a test, which must differ."""
        try:
            places = [self._place[node] for node in nodes]
        except KeyError:
            for node in nodes:
                require_known(node, self.nodes, "node")
            raise
        if len(set(places)) < len(places):
            message = f"the nodes of a test must differ, but {listing(nodes)} were asked together; name each once"
            raise InvalidArgumentError(message)
        return places

    def plan(self, search: Search) -> tuple[list[int], int, int] | None:
        """Return a search as places, the number of fixed ones, and how many more may be chosen; None if none may."""
        fixed, free = search.must_include, search.pool
        if fixed:
            free = tuple(node for node in free if node not in fixed)
        places = self.places((search.x, search.y, *fixed, *free))
        most = len(free) if search.max_size is None else min(len(free), search.max_size - len(fixed))
        return None if most < 0 else (places, len(fixed), most)

    def _outcome(self, search: Search) -> Separation:
        x, y = search.x, search.y
        plan = self.plan(search)
        if plan is None:
            return Separation(x, y, None, None)
        places, fixed, _ = plan
        found = self.tester.search(*plan)
        if found.decision == UNRELIABLE:
            return Separation(x, y, None, None, found.tests)
        chosen = [*places[2 : 2 + fixed], *(places[2 + fixed + at] for at in found.chosen)]
        given = tuple(self.nodes[place] for place in chosen)
        outcome = Outcome(found.decision, found.statistic, found.dof, found.rows, found.rank)
        verdict = self.verdicts_of.verdict(x, y, given, outcome)
        return Separation(x, y, given if verdict.independent else None, verdict, found.tests)
