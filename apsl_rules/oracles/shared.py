"""One oracle behind many runs: every question is answered once, whichever run asks it first.

Each run keeps its own record of what it asked, so that a part learned among many is the part learned alone, counts
included; the difference is what sharing saved. Memory is bounded: old answers give way and are computed again where
they are still needed, which is seldom, since what later runs need of a sweep is the elimination that followed it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from concurrent.futures import Future
from hashlib import blake2b
from threading import Lock
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from apsl_rules.evidence import Decision, Verdict
from apsl_rules.names import Node
from apsl_rules.oracles.protocol import (
    BatchedOracle,
    Cut,
    Eliminating,
    Elimination,
    Oracle,
    Query,
    RankedNodes,
    Search,
    Separation,
    Sweep,
    foresee,
)

#: The most verdicts of sweeps, and the most other answers, that are kept.
_MOST_SWEPT, _MOST_OTHERS = 1 << 22, 1 << 18


class SharedOracle(BatchedOracle):
    """An oracle in front of another one that remembers answers; ``tests`` counts those that had to be computed.

    Threads that ask the same question at the same time wait for one answer, so the count is the same for any number.
    A question whose answer gave way is counted once.
    """

    def __init__(self, oracle: Oracle, *, most_swept: int = _MOST_SWEPT, most_others: int = _MOST_OTHERS) -> None:
        self.ranked_nodes: RankedNodes = getattr(oracle, "ranked_nodes", None) or RankedNodes.of(oracle.nodes)
        self.nodes = self.ranked_nodes.nodes
        self.name = oracle.name
        self.perfect = oracle.perfect
        self.data: object = getattr(oracle, "data", None)
        self.tests = 0
        self._oracle = oracle
        self._lock = Lock()
        self._sweeps = _Newest(most_swept // max(len(self.nodes), 1))
        self._others = _Newest(most_others)
        self._complete: set[Node] = set()
        self._swept: set[Node] = set()
        self._counted: set[bytes] = set()
        self._uncollected: list[tuple[bytes, int]] = []

    def foresee(self, searches: Sequence[Search] = (), sweeps: Sequence[Node] = ()) -> None:
        """Announce what may be asked next and was not asked by any run."""
        new = [search for search in searches if search not in self._others]
        foresee(self._oracle, new, [node for node in sweeps if node not in self._swept])

    def flush(self) -> None:
        """Write what the oracle keeps on disk."""
        flush = getattr(self._oracle, "flush", None)
        if flush is not None:
            flush()

    def verdicts(self, queries: Sequence[Query]) -> Sequence[Verdict]:
        """Answer a batch; new questions go to the oracle in one round."""
        asked = [self._normalise(query) for query in queries]
        return self._together(self._others, asked, self._oracle.verdicts, lambda _verdict: 1)

    def associations(self, x: Node) -> Sweep:
        """Test x against every other node, once for all runs; a sweep that gave way is made again if it is read."""
        if x not in self._swept:
            self._sweep(x)
        return KeptSweep(x, len(self.nodes) - 1, lambda: self._sweep(x), is_complete=x in self._complete)

    def _sweep(self, x: Node) -> Sweep:
        def ask(_one: Sequence[Any]) -> Sequence[Sweep]:
            sweep = self._oracle.associations(x)
            if x not in self._swept and not sweep.untested():
                self._complete.add(x)
            self._swept.add(x)
            return [sweep]

        sweep: Sweep = self._together(self._sweeps, [x], ask, len)[0]
        return sweep

    def separators(self, searches: Sequence[Search]) -> Sequence[Separation]:
        """Carry out a batch of searches; new ones go to the oracle in one round."""
        return self._together(self._others, searches, self._oracle.separators, lambda separation: separation.tests)

    # --- what was computed -------------------------------------------------------------------------------------------

    def collect_computed(self) -> list[tuple[str, int]]:
        """Return the questions computed since the last call, each as a short digest with its number of tests."""
        with self._lock:
            collected, self._uncollected = self._uncollected, []
        return [(digest.hex(), tests) for digest, tests in collected]

    def count_computed(self, computed: Iterable[tuple[str, int]]) -> None:
        """Count questions that an earlier process has computed, so that they are not counted again."""
        with self._lock:
            for digest, tests in computed:
                self._count(bytes.fromhex(digest), tests)

    def _count(self, digest: bytes, tests: int) -> bool:
        if digest in self._counted:
            return False
        self._counted.add(digest)
        self.tests += tests
        return True

    # --- answers -----------------------------------------------------------------------------------------------------

    def _normalise(self, query: Query) -> Query:
        """Return a question as everybody asks it: x before y and Z by name."""
        x, y, given = query
        rank = self.ranked_nodes.rank
        if rank[y] < rank[x]:
            x, y = y, x
        return x, y, tuple(sorted(given, key=rank.__getitem__))

    def _together(
        self,
        known: _Newest,
        questions: Sequence[Any],
        ask: Callable[[Sequence[Any]], Sequence[Any]],
        cost: Callable[[Any], int],
    ) -> list[Any]:
        """Answer questions, each asked of the oracle by the first thread; others wait for that answer."""
        awaited: dict[Any, Future[Any]] = {}
        mine: list[Any] = []
        with self._lock:
            for one in dict.fromkeys(questions):
                answer = known.get(one)
                if answer is None:
                    answer = known.put(one, Future())
                    mine.append(one)
                awaited[one] = answer
        if mine:
            self._ask(known, {one: awaited[one] for one in mine}, ask, cost)
        return [awaited[one].result() for one in questions]

    def _ask(
        self,
        known: _Newest,
        mine: dict[Any, Future[Any]],
        ask: Callable[[Sequence[Any]], Sequence[Any]],
        cost: Callable[[Any], int],
    ) -> None:
        try:
            answers = ask(list(mine))
        except BaseException as error:
            with self._lock:
                for one, future in mine.items():
                    known.drop(one, future)
            for future in mine.values():
                future.set_exception(error)
            raise
        digests = [_digest(one) for one in mine]
        for future, answer in zip(mine.values(), answers, strict=True):
            future.set_result(answer)
        with self._lock:
            for digest, answer in zip(digests, answers, strict=True):
                tests = cost(answer)
                if self._count(digest, tests):
                    self._uncollected.append((digest, tests))


class SharedEliminatingOracle(SharedOracle):
    """A shared oracle whose oracle has HITON's elimination built in."""

    def eliminate(self, sweep: Sweep, *, unreliable: Decision, cut: Cut | None, max_size: int | None) -> Elimination:
        """Carry out an elimination once for all runs."""
        oracle = self._oracle
        assert isinstance(oracle, Eliminating)  # noqa: S101 - share_memory() puts this class before such oracles only
        key = ("eliminate", sweep.x, unreliable, cut, max_size)

        def ask(_questions: Sequence[Any]) -> Sequence[Elimination]:
            made = sweep.made if isinstance(sweep, KeptSweep) else sweep
            return [oracle.eliminate(made, unreliable=unreliable, cut=cut, max_size=max_size)]

        found: Elimination = self._together(self._others, [key], ask, lambda elimination: elimination.tests)[0]
        return found


def share_memory(oracle: Oracle) -> SharedOracle:
    """Return an oracle whose answers several runs share."""
    return SharedEliminatingOracle(oracle) if isinstance(oracle, Eliminating) else SharedOracle(oracle)


class KeptSweep(Sweep):
    """A sweep that its oracle keeps while there is room, and makes again when a verdict is read after that.

    ``is_complete`` says that every pair could be tested.
    """

    def __init__(self, x: Node, size: int, make: Callable[[], Sweep], *, is_complete: bool) -> None:
        super().__init__(x, ())
        self._size = size
        self._make = make
        self._is_complete = is_complete

    @property
    def made(self) -> Sweep:
        """Return the sweep itself, made again if need be."""
        return self._make()

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, index: int) -> Verdict: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Verdict]: ...
    def __getitem__(self, index: int | slice) -> Verdict | Sequence[Verdict]:
        return self.made[index]

    def __iter__(self) -> Any:
        return iter(self.made)

    def place_of(self, y: Node) -> int:
        """Return the place of the verdict on one other node."""
        return self.made.place_of(y)

    def verdict_on(self, y: Node) -> Verdict:
        """Return the verdict on one other node."""
        return self.made.verdict_on(y)

    def log_p(self) -> npt.NDArray[np.float64]:
        """Return ln p of each verdict in order, NaN where there is none."""
        return self.made.log_p()

    def discoverable(self, share: float) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]:
        """Return the places of the verdicts with p at most a share, and their ln p."""
        return self.made.discoverable(share)

    def untested(self) -> tuple[Verdict, ...]:
        """Return the verdicts on the nodes for which there were too few rows, in order."""
        return () if self._is_complete else self.made.untested()

    def ranked(self, *, unreliable: Decision, among: npt.NDArray[np.bool_] | None = None) -> tuple[Verdict, ...]:
        """Return the dependent verdicts, strongest first and by name among equals."""
        return self.made.ranked(unreliable=unreliable, among=among)


class _Newest:
    """Answers by question, those used last; the caller holds the lock."""

    def __init__(self, most: int) -> None:
        self._most = max(most, 1)
        self._answers: dict[Hashable, Future[Any]] = {}

    def __contains__(self, question: Hashable) -> bool:
        return question in self._answers

    def get(self, question: Hashable) -> Future[Any] | None:
        """Return an answer, which is then the newest."""
        answer = self._answers.pop(question, None)
        if answer is not None:
            self._answers[question] = answer
        return answer

    def put(self, question: Hashable, answer: Future[Any]) -> Future[Any]:
        """Keep an answer; the oldest gives way."""
        self._answers[question] = answer
        while len(self._answers) > self._most:
            del self._answers[next(iter(self._answers))]
        return answer

    def drop(self, question: Hashable, answer: Future[Any]) -> None:
        """Forget an answer that could not be given."""
        if self._answers.get(question) is answer:
            del self._answers[question]


def _digest(question: object) -> bytes:
    """Return a short digest of a question, the same in every process."""
    return blake2b(repr(question).encode("utf-8", "backslashreplace"), digest_size=8).digest()
