"""An oracle on columns of a table: asks its tester, and keeps what was answered."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Mapping, MutableMapping, Sequence
from functools import cached_property
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from apsl_backends.independence.column_verdicts import (
    ArraySweep,
    ColumnVerdicts,
    EliminationOutcome,
    Outcome,
    SweptArrays,
    name_ranks_of,
)
from apsl_backends.kernels.border import Integers, SearchOutcome
from apsl_backends.kernels.library import UNRELIABLE, in_blocks
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.evidence import Decision, Verdict
from apsl_rules.names import Node, listing, require_known
from apsl_rules.oracles import BaseOracle, Cut, Elimination, Query, RankedNodes, Search, Separation, Sweep
from apsl_rules.stopping import repeat_call

Answer = TypeVar("Answer")

#: The most figures of sweeps that are kept.
_MOST_FIGURES = 1 << 21


class Newest(Generic[Answer]):
    """Answers by question; the oldest one gives way when there are too many.

    Threads may share them; what two of them make at once is made twice, and one is kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._change = Lock()
        self._answers: dict[Hashable, Answer] = {}

    def get(self, question: Hashable) -> Answer | None:
        """Return an answer that is known."""
        return self._answers.get(question)

    def put(self, question: Hashable, make: Callable[[], Answer]) -> Answer:
        """Make an answer and keep it, unless another thread was faster; return the one that is kept."""
        made = make()
        with self._change:
            kept = self._answers.setdefault(question, made)
            if len(self._answers) > self._most:
                del self._answers[next(iter(self._answers))]
        return kept


class Remembered:
    """The sweeps of a table under one measure, and the eliminations that followed them."""

    def __init__(self, columns: int) -> None:
        most = max(1, _MOST_FIGURES // max(columns, 1))
        self.sweeps: Newest[ArraySweep] = Newest(most)
        self.eliminations: Newest[Elimination] = Newest(most)


class ColumnTester(Protocol):
    """What carries out tests: columns are named by their places."""

    def sweep(self, x: int) -> SweptArrays:
        """Test x against each other column."""

    def search(self, places: Sequence[int], fixed: int, most: int) -> SearchOutcome:
        """Search the subsets of a pool for a separator; the places are x, y, the fixed columns and the pool."""

    def eliminate(self, x: int, swept: SweptArrays, ranking: Integers, most: int) -> EliminationOutcome:
        """Add the columns of a sweep in the order of a ranking; after each, test those added before again."""


class ColumnOracle(BaseOracle):
    """An oracle on the columns of a table.

    A subclass makes its ``tester`` and its ``verdicts_of``, and runs batches of tests. ``answers`` is where a table
    keeps what was found, ``measure`` the settings that an answer depends on.
    """

    tester: ColumnTester
    verdicts_of: ColumnVerdicts

    def __init__(
        self,
        nodes: tuple[Node, ...],
        place: Mapping[Node, int],
        *,
        threads: int,
        answers: MutableMapping[Hashable, Any],
        measure: Hashable,
    ) -> None:
        self.nodes = nodes
        self._place = place
        self._threads = threads
        self._answers = answers
        self._remembered: Remembered = answers.setdefault(measure, Remembered(len(nodes)))

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

    def foresee(self, searches: Sequence[Search] = (), sweeps: Sequence[Node] = ()) -> None:
        """Prepare nothing for later searches and sweeps, unless a subclass has a use for it."""

    def associations(self, x: Node) -> ArraySweep:
        """Test x against every other node with nothing given, as arrays."""
        (place,) = self.places((x,))
        known = self._remembered.sweeps.get(x)
        if known is not None:
            return known
        return self._remembered.sweeps.put(
            x, lambda: self.verdicts_of.sweep(x, self.tester.sweep(place), self._name_ranks)
        )

    def eliminate(self, sweep: Sweep, *, unreliable: Decision, cut: Cut | None, max_size: int | None) -> Elimination:
        """Carry out HITON's elimination for the node of a sweep inside the kernel."""
        if self._remembered.sweeps.get(sweep.x) is not sweep:
            return self._eliminate(sweep, unreliable, cut, max_size)
        question = sweep.x, unreliable, cut, max_size
        known = self._remembered.eliminations.get(question)
        if known is not None:
            repeat_call(known.tests)
            return known
        return self._remembered.eliminations.put(question, lambda: self._eliminate(sweep, unreliable, cut, max_size))

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
        if RankedNodes not in self._answers:
            self._answers[RankedNodes] = RankedNodes.of(self.nodes)
        ranked: RankedNodes = self._answers[RankedNodes]
        return ranked

    @cached_property
    def _name_ranks(self) -> npt.NDArray[np.int64]:
        if name_ranks_of not in self._answers:
            self._answers[name_ranks_of] = name_ranks_of(self.ranked_nodes)
        ranks: npt.NDArray[np.int64] = self._answers[name_ranks_of]
        return ranks

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
