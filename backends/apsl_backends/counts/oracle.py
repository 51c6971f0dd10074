"""Verdicts from counts: what G² and χ² have in common."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from apsl_backends.counts.arrays import INDEPENDENT, UNRELIABLE
from apsl_backends.counts.sweeps import DECISIONS, ArraySweep, SweptFigures
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.names import Node, listing, nearest, order_key, require_known
from apsl_rules.oracle import BaseOracle, Query, Search, Separation, Sweep, Verdict
from apsl_rules.table import Table

Degrees = Literal["adjusted", "full"]
Reliability = Literal["five-per-cell", "none"]

Question = tuple[list[int], int, int, int]

_DEGREES = ("adjusted", "full")
_ROWS_PER_CELL = {"five-per-cell": 5.0, "none": 0.0}


class CountOracle(BaseOracle):
    """An oracle on a table of discrete columns; compiled kernels count and compare with critical values.

    A test is independent when p > alpha. Under ``reliability="five-per-cell"`` a test with less than five rows
    for each cell of its whole table is unreliable and has no figures. A column that never varies is independent
    of every other. Rows with a missing value in one of a test's columns are left out of that test.
    """

    kind: ClassVar[int]
    symbol: ClassVar[str]

    def __init__(
        self,
        table: Table,
        *,
        alpha: float = 0.01,
        dof: Degrees = "adjusted",
        reliability: Reliability = "five-per-cell",
        threads: int = 1,
    ) -> None:
        _check(alpha, dof, reliability, threads)
        from scipy.special import chdtrc

        from apsl_backends.counts import memory, tail

        self.nodes = table.names
        self.table = table
        self.source = memory.MemoryCounts(table, threads)
        self.measure = memory.measure_of(
            table, kind=self.kind, alpha=alpha, full_dof=dof == "full", rows_per_cell=_ROWS_PER_CELL[reliability]
        )
        self._tail, self._log_tail, self._log_tails = chdtrc, tail.log_tail, tail.log_tails

    def verdict(self, x: Node, y: Node, given: Sequence[Node] = ()) -> Verdict:
        """Answer one question."""
        return self.verdicts([(x, y, tuple(given))])[0]

    def verdicts(self, queries: Sequence[Query]) -> Sequence[Verdict]:
        """Answer a batch of questions in one call of the kernel."""
        found = self.separators([Search(x, y, (), given) for x, y, given in queries])
        return [
            one.verdict or self._unreliable(x, y, given) for one, (x, y, given) in zip(found, queries, strict=True)
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
        return self.separators([Search(x, y, tuple(pool), tuple(must_include), max_size)])[0]

    def separators(self, searches: Sequence[Search]) -> Sequence[Separation]:
        """Carry out a batch of searches in one call of the kernel."""
        questions = [self._question(search) for search in searches]
        asked = [place for place, question in enumerate(questions) if question[3] >= 0]
        found = [Separation(search.x, search.y, None, None) for search in searches]
        if asked:
            answers, chosen, statistics = self.source.search(self.measure, [questions[place] for place in asked])
            for place, answer, picked, statistic in zip(
                asked, answers.tolist(), chosen.tolist(), statistics.tolist(), strict=True
            ):
                found[place] = self._separation(searches[place], questions[place], answer, picked, statistic)
        return found

    def associations(self, x: Node) -> Sweep:
        """Test x against every other node with nothing given, as arrays."""
        place = self._places([x])[0]
        return ArraySweep(
            x,
            self.source.sweep(self.measure, place),
            place_of=self.table.place.__getitem__,
            name_ranks=self._name_ranks,
            verdict_at=lambda figures, at: self._swept(x, figures, at),
            log_tails=self._log_tails,
        )

    @cached_property
    def _name_ranks(self) -> npt.NDArray[np.int64]:
        order = sorted(range(len(self.nodes)), key=lambda place: order_key(self.nodes[place]))
        ranks = np.empty(len(order), np.int64)
        ranks[order] = np.arange(len(order))
        return ranks

    def _places(self, nodes: Sequence[Node]) -> list[int]:
        try:
            places = [self.table.place[node] for node in nodes]
        except KeyError:
            for node in nodes:
                require_known(node, self.nodes, "node")
            raise
        if len(set(places)) < len(places):
            message = f"the nodes of a test must differ, but {listing(nodes)} were asked together; name each once"
            raise InvalidArgumentError(message)
        return places

    def _question(self, search: Search) -> Question:
        fixed = search.must_include
        free = [node for node in search.pool if node not in fixed] if fixed else search.pool
        places = self._places((search.x, search.y, *fixed, *free))
        most = len(free) if search.max_size is None else min(len(free), search.max_size - len(fixed))
        return places, len(fixed), len(free), most

    def _separation(
        self, search: Search, question: Question, answer: list[int], picked: list[int], statistic: float
    ) -> Separation:
        state, dof, rows, tests, size = answer
        if state == UNRELIABLE:
            return Separation(search.x, search.y, None, None, tests)
        places, fixed, _, _ = question
        columns = places[: 2 + fixed] + [places[2 + fixed + pick] for pick in picked[:size]]
        given = tuple(self.nodes[place] for place in columns[2:])
        n = rows if rows >= 0 else self.source.rows_used(columns)
        verdict = self._verdict(search.x, search.y, given, state, statistic, dof, n)
        return Separation(search.x, search.y, given if state == INDEPENDENT else None, verdict, tests)

    def _verdict(
        self, x: Node, y: Node, given: tuple[Node, ...], decision: int, statistic: float, dof: int, n: int
    ) -> Verdict:
        p, log_p = 1.0, 0.0
        if dof > 0:
            p, log_p = float(self._tail(dof, statistic)), self._log_tail(statistic, dof)
        return Verdict(x, y, given, DECISIONS[decision], self.symbol, statistic, p, dof, n, log_p)

    def _unreliable(self, x: Node, y: Node, given: tuple[Node, ...]) -> Verdict:
        n = self.source.rows_used(self._places((x, y, *given)))
        return Verdict(x, y, given, "unreliable", self.symbol, n=n)

    def _swept(self, x: Node, figures: SweptFigures, at: int) -> Verdict:
        column = int(figures.columns[at])
        y = self.nodes[column]
        decision = int(figures.decision[at])
        if decision == UNRELIABLE:
            return self._unreliable(x, y, ())
        n = int(figures.rows[at])
        if n < 0:
            n = self.source.rows_used([self.table.place[x], column])
        return self._verdict(x, y, (), decision, float(figures.statistic[at]), int(figures.dof[at]), n)


def _check(alpha: float, dof: str, reliability: str, threads: int) -> None:
    if not 0.0 < alpha < 1.0:
        message = f"alpha is {alpha!r} but must lie between 0 and 1, ends excluded; 0.01 is usual"
        raise InvalidArgumentError(message)
    for name, value, allowed in (("dof", dof, _DEGREES), ("reliability", reliability, _ROWS_PER_CELL)):
        if value not in allowed:
            message = f"{name} is {value!r} but must be one of {listing(allowed)}{nearest(str(value), allowed)}"
            raise InvalidArgumentError(message)
    if threads < 1:
        message = f"threads is {threads!r} but must be at least 1"
        raise InvalidArgumentError(message)
