"""One oracle behind many runs: every question is answered once, whichever run asks it first.

Each run keeps its own record of what it asked, so that a part learned among many is the part learned alone, counts
included; the difference is what sharing saved.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from apsl_rules.evidence import Decision, Verdict
from apsl_rules.names import Node, order_key
from apsl_rules.oracles.protocol import (
    BatchedOracle,
    Eliminating,
    Elimination,
    Oracle,
    Query,
    Search,
    Separation,
    Sweep,
    foresee,
)


class SharedOracle(BatchedOracle):
    """An oracle in front of another one that remembers every answer; ``tests`` counts those that had to be computed.

    Threads that ask the same question at the same time wait for one answer, so the count is the same for any number.
    """

    def __init__(self, oracle: Oracle) -> None:
        self.nodes = tuple(oracle.nodes)
        self.name = oracle.name
        self.perfect = oracle.perfect
        self.data: object = getattr(oracle, "data", None)
        self.tests = 0
        self._oracle = oracle
        self._answers: dict[Hashable, Future[Any]] = {}
        self._lock = Lock()
        self._rank = {node: rank for rank, node in enumerate(sorted(self.nodes, key=order_key))}

    def foresee(self, searches: Sequence[Search] = (), sweeps: Sequence[Node] = ()) -> None:
        """Announce what may be asked next and was not asked by any run."""
        new = [search for search in searches if search not in self._answers]
        foresee(self._oracle, new, [node for node in sweeps if node not in self._answers])

    def flush(self) -> None:
        """Write what the oracle keeps on disk."""
        flush = getattr(self._oracle, "flush", None)
        if flush is not None:
            flush()

    def verdicts(self, queries: Sequence[Query]) -> Sequence[Verdict]:
        """Answer a batch; new questions go to the oracle in one round."""
        asked = [self._normalise(query) for query in queries]
        return self._together(asked, self._oracle.verdicts, lambda _verdict: 1)

    def associations(self, x: Node) -> Sweep:
        """Test x against every other node, once for all runs."""
        sweep: Sweep = self._together([x], lambda _one: [self._oracle.associations(x)], len)[0]
        return sweep

    def separators(self, searches: Sequence[Search]) -> Sequence[Separation]:
        """Carry out a batch of searches; new ones go to the oracle in one round."""
        return self._together(searches, self._oracle.separators, lambda separation: separation.tests)

    def _normalise(self, query: Query) -> Query:
        """Return a question as everybody asks it: x before y and Z by name."""
        x, y, given = query
        if self._rank[y] < self._rank[x]:
            x, y = y, x
        return x, y, tuple(sorted(given, key=self._rank.__getitem__))

    def _together(
        self, questions: Sequence[Any], ask: Callable[[Sequence[Any]], Sequence[Any]], cost: Callable[[Any], int]
    ) -> list[Any]:
        """Answer questions, each asked of the oracle by the first thread; others wait for that answer."""
        with self._lock:
            mine = [one for one in dict.fromkeys(questions) if one not in self._answers]
            self._answers.update((one, Future()) for one in mine)
        if mine:
            self._ask(mine, ask, cost)
        return [self._answers[one].result() for one in questions]

    def _ask(
        self, mine: Sequence[Any], ask: Callable[[Sequence[Any]], Sequence[Any]], cost: Callable[[Any], int]
    ) -> None:
        try:
            answers = ask(mine)
        except BaseException as error:
            for one in mine:
                self._answers.pop(one).set_exception(error)
            raise
        for one, answer in zip(mine, answers, strict=True):
            self._answers[one].set_result(answer)
        with self._lock:
            self.tests += sum(map(cost, answers))


class SharedEliminatingOracle(SharedOracle):
    """A shared oracle whose oracle has HITON's elimination built in."""

    def eliminate(
        self, sweep: Sweep, *, unreliable: Decision, among: npt.NDArray[np.bool_] | None, max_size: int | None
    ) -> Elimination:
        """Carry out an elimination once for all runs."""
        oracle = self._oracle
        assert isinstance(oracle, Eliminating)  # noqa: S101 - share() puts this class before such oracles only
        key = ("eliminate", sweep.x, unreliable, None if among is None else among.tobytes(), max_size)

        def ask(_questions: Sequence[Any]) -> Sequence[Elimination]:
            return [oracle.eliminate(sweep, unreliable=unreliable, among=among, max_size=max_size)]

        found: Elimination = self._together([key], ask, lambda elimination: elimination.tests)[0]
        return found


def share_memory(oracle: Oracle) -> SharedOracle:
    """Return an oracle whose answers several runs share."""
    return SharedEliminatingOracle(oracle) if isinstance(oracle, Eliminating) else SharedOracle(oracle)
