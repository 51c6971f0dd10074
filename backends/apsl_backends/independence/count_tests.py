"""Verdicts from counts: what G² and χ² have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from apsl_backends.independence._count_statistics import Degrees
from apsl_backends.independence.count_verdicts import CountVerdicts, Outcome
from apsl_backends.independence.remembered import Remembered
from apsl_backends.independence.sweeps import ArraySweep, name_ranks_of
from apsl_backends.kernels.fields import DOF, ROWS, UNRELIABLE
from apsl_backends.kernels.threads import in_blocks
from apsl_rules.data import Table
from apsl_rules.data.counts import CachedCounts, Heading
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.evidence import Decision, Verdict
from apsl_rules.names import Node, listing, nearest, require_known
from apsl_rules.oracles import BaseOracle, Elimination, Query, Search, Separation, Sweep
from apsl_rules.stopping import repeat_call

if TYPE_CHECKING:
    from apsl_backends.independence.count_tester import CountTester
    from apsl_backends.independence.table_tester import Tester

Reliability = Literal["five-per-cell", "none"]

_DEGREES = ("adjusted", "full")
_ROWS_PER_CELL = {"five-per-cell": 5.0, "none": 0.0}


class CountOracle(BaseOracle):
    """An oracle on a table of discrete columns; compiled kernels count and compare with critical values.

    The table is in memory, or its counts come from elsewhere, batch by batch, and give the same verdicts.

    A test is independent when p > alpha. Under ``reliability="five-per-cell"`` a test with less than five rows
    for each cell of its whole table is unreliable and has no figures. A column that never varies is independent
    of every other. Rows with a missing value in one of a test's columns are left out of that test.
    """

    kind: ClassVar[int]
    symbol: ClassVar[str]

    def __init__(
        self,
        table: Table | CachedCounts,
        *,
        alpha: float = 0.01,
        dof: Degrees = "adjusted",
        reliability: Reliability = "five-per-cell",
        threads: int = 1,
    ) -> None:
        _check(alpha, dof, reliability, threads)
        from apsl_backends.counting.memory import MemoryCounts
        from apsl_backends.independence.count_tester import CountTester
        from apsl_backends.independence.table_tester import Tester, measure_of

        self.data = table
        self._heading: Table | Heading = table if isinstance(table, Table) else table.heading
        self.nodes = self._heading.names
        self.source = MemoryCounts(table, threads) if isinstance(table, Table) else table
        self._threads = threads if isinstance(table, Table) else 1
        measure = measure_of(
            self._heading,
            kind=self.kind,
            alpha=alpha,
            full_dof=dof == "full",
            rows_per_cell=_ROWS_PER_CELL[reliability],
        )
        self.tester: Tester | CountTester = (
            Tester(self.source, measure) if isinstance(self.source, MemoryCounts) else CountTester(self.source, measure)
        )
        rows_used: Callable[[Sequence[int]], int] = self.source.rows_used
        self._verdicts = CountVerdicts(self.nodes, self._heading.place, self.symbol, rows_used)
        answers = table.answers if isinstance(table, Table) else {}
        self._remembered: Remembered = answers.setdefault(measure, Remembered(len(self.nodes)))

    def verdict(self, x: Node, y: Node, given: Sequence[Node] = ()) -> Verdict:
        """Answer one question."""
        return self.verdicts([(x, y, tuple(given))])[0]

    def verdicts(self, queries: Sequence[Query]) -> Sequence[Verdict]:
        """Answer a batch of questions in one call of the kernel."""
        if not queries:
            return []
        tested = self.tester.test([self._places((x, y, *given)) for x, y, given in queries])
        return [
            self._verdicts.verdict(x, y, given, Outcome(decision, statistic, sums[DOF], sums[ROWS]))
            for (x, y, given), sums, statistic, decision in zip(
                queries, *(array.tolist() for array in tested), strict=True
            )
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

    def foresee(self, searches: Sequence[Search] = (), sweeps: Sequence[Node] = ()) -> None:
        """Count in one round what later searches and sweeps may need, if the rows are not in memory."""
        if isinstance(self.data, CachedCounts):
            planned = [plan for search in searches if (plan := self._plan(search)) is not None]
            self.tester.foresee(planned, self._places(sweeps))

    def associations(self, x: Node) -> ArraySweep:
        """Test x against every other node with nothing given, as arrays."""
        (place,) = self._places((x,))
        known = self._remembered.sweeps.get(x)
        if known is not None:
            return known
        return self._remembered.sweeps.put(
            x, lambda: self._verdicts.sweep(x, self.tester.sweep(place), self._name_ranks)
        )

    def eliminate(
        self, sweep: Sweep, *, unreliable: Decision, among: npt.NDArray[np.bool_] | None, max_size: int | None
    ) -> Elimination:
        """Carry out HITON's elimination for the node of a sweep inside the kernel."""
        if self._remembered.sweeps.get(sweep.x) is not sweep:
            return self._eliminate(sweep, unreliable, among, max_size)
        question = sweep.x, unreliable, None if among is None else among.tobytes(), max_size
        known = self._remembered.eliminations.get(question)
        if known is not None:
            repeat_call(known.tests)
            return known
        return self._remembered.eliminations.put(question, lambda: self._eliminate(sweep, unreliable, among, max_size))

    def _eliminate(
        self, sweep: Sweep, unreliable: Decision, among: npt.NDArray[np.bool_] | None, max_size: int | None
    ) -> Elimination:
        swept = sweep if isinstance(sweep, ArraySweep) else self.associations(sweep.x)
        ranking = swept.ranking(unreliable=unreliable, among=among)
        most = len(ranking) if max_size is None else min(max_size, len(ranking))
        (x,) = self._places((sweep.x,))
        ranked = [self.nodes[column] for column in swept.arrays.columns[ranking].tolist()]
        return self._verdicts.elimination(sweep.x, ranked, self.tester.eliminate(x, swept.arrays, ranking, most))

    @cached_property
    def _name_ranks(self) -> npt.NDArray[np.int64]:
        answers = self.data.answers if isinstance(self.data, Table) else {}
        if name_ranks_of not in answers:
            answers[name_ranks_of] = name_ranks_of(self.nodes)
        ranks: npt.NDArray[np.int64] = answers[name_ranks_of]
        return ranks

    def _places(self, nodes: Sequence[Node]) -> list[int]:
        try:
            places = [self._heading.place[node] for node in nodes]
        except KeyError:
            for node in nodes:
                require_known(node, self.nodes, "node")
            raise
        if len(set(places)) < len(places):
            message = f"the nodes of a test must differ, but {listing(nodes)} were asked together; name each once"
            raise InvalidArgumentError(message)
        return places

    def _plan(self, search: Search) -> tuple[list[int], int, int] | None:
        """Return a search as places, the number of fixed ones, and how many more may be chosen; None if none may."""
        fixed, free = search.must_include, search.pool
        if fixed:
            free = tuple(node for node in free if node not in fixed)
        places = self._places((search.x, search.y, *fixed, *free))
        most = len(free) if search.max_size is None else min(len(free), search.max_size - len(fixed))
        return None if most < 0 else (places, len(fixed), most)

    def _outcome(self, search: Search) -> Separation:
        x, y = search.x, search.y
        plan = self._plan(search)
        if plan is None:
            return Separation(x, y, None, None)
        places, fixed, _ = plan
        found = self.tester.search(*plan)
        if found.decision == UNRELIABLE:
            return Separation(x, y, None, None, found.tests)
        chosen = [*places[2 : 2 + fixed], *(places[2 + fixed + at] for at in found.chosen)]
        given = tuple(self.nodes[place] for place in chosen)
        verdict = self._verdicts.verdict(x, y, given, Outcome(*found[:4]))
        return Separation(x, y, given if verdict.independent else None, verdict, found.tests)


def _check(alpha: float, dof: str, reliability: str, threads: int) -> None:
    if not 0.0 < alpha < 1.0:
        message = f"alpha is {alpha!r} but must lie between 0 and 1, ends excluded; 0.01 is usual"
        raise InvalidArgumentError(message)
    for name, value, allowed in (("dof", dof, _DEGREES), ("reliability", reliability, tuple(_ROWS_PER_CELL))):
        if value not in allowed:
            message = f"{name} is {value!r} but must be one of {listing(allowed)}{nearest(str(value), allowed)}"
            raise InvalidArgumentError(message)
    if threads < 1:
        message = f"threads is {threads!r} but must be at least 1"
        raise InvalidArgumentError(message)
