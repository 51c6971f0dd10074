"""One oracle behind many runs: every question is answered once, whichever run asks it first.

Each run keeps its own record of what it asked, so that a part learned among many is the part learned alone, counts
included; the difference is what sharing saved. Memory is bounded: old answers give way and are computed again where
they are still needed, which is seldom, since what later runs need of a sweep is the elimination that followed it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from threading import Lock
from typing import Any, Literal, TypeAlias, TypeVar, overload

import numpy as np
import numpy.typing as npt

from apsl_rules.evidence import Decision, Verdict
from apsl_rules.memory import Memory
from apsl_rules.names import Node
from apsl_rules.oracles.protocol import (
    Cut,
    Elimination,
    FrontOracle,
    Oracle,
    Query,
    Search,
    Separation,
    Sweep,
)

Answer = TypeVar("Answer")
_Elimination: TypeAlias = tuple[Literal["eliminate"], Node, Decision, Cut | None, int | None]

#: The most verdicts of sweeps, and the most other answers of each kind, that are kept.
_MOST_SWEPT, _MOST_OTHERS = 1 << 22, 1 << 18


class SharedOracle(FrontOracle):
    """An oracle that remembers answers for several runs; ``tests`` counts those that had to be computed.

    Threads that ask the same question at the same time wait for one answer, so the count is the same for any number.
    A question whose answer gave way is counted once.
    """

    def __init__(self, oracle: Oracle, *, most_swept: int = _MOST_SWEPT, most_others: int = _MOST_OTHERS) -> None:
        super().__init__(oracle)
        self.tests = 0
        self._lock = Lock()
        self._sweeps: Memory[Node, Sweep] = Memory(max(most_swept // max(len(self.nodes), 1), 1))
        self._verdicts: Memory[Query, Verdict] = Memory(most_others)
        self._searches: Memory[Search, Separation] = Memory(most_others)
        self._eliminations: Memory[_Elimination, Elimination] = Memory(most_others)
        self._complete: set[Node] = set()
        self._swept: set[Node] = set()
        self._counted: set[bytes] = set()
        self._uncollected: list[tuple[bytes, int]] = []

    def foresee(self, searches: Sequence[Search] = (), sweeps: Sequence[Node] = ()) -> None:
        """Announce what may be asked next and was not asked by any run."""
        new = [search for search in searches if search not in self._searches]
        self._oracle.foresee(new, [node for node in sweeps if node not in self._swept])

    def verdicts(self, queries: Sequence[Query]) -> Sequence[Verdict]:
        """Answer a batch; new questions go to the oracle in one round."""

        def ask(new: Sequence[Query]) -> Sequence[Verdict]:
            return self._computed(new, self._oracle.verdicts(new), lambda _verdict: 1)

        return self._verdicts.recall([self.normalise(query) for query in queries], ask)

    def associations(self, x: Node) -> Sweep:
        """Test x against every other node, once for all runs; a sweep that gave way is made again if it is read."""
        if x not in self._swept:
            self._sweep(x)
        return KeptSweep(x, len(self.nodes) - 1, lambda: self._sweep(x), is_complete=x in self._complete)

    def _sweep(self, x: Node) -> Sweep:
        def ask(new: Sequence[Node]) -> Sequence[Sweep]:
            sweep = self._oracle.associations(x)
            if x not in self._swept and not sweep.untested():
                self._complete.add(x)
            self._swept.add(x)
            return self._computed(new, [sweep], len)

        return self._sweeps.recall([x], ask)[0]

    def separators(self, searches: Sequence[Search]) -> Sequence[Separation]:
        """Carry out a batch of searches; new ones go to the oracle in one round."""

        def ask(new: Sequence[Search]) -> Sequence[Separation]:
            return self._computed(new, self._oracle.separators(new), lambda separation: separation.tests)

        return self._searches.recall(searches, ask)

    def eliminate(self, sweep: Sweep, *, unreliable: Decision, cut: Cut | None, max_size: int | None) -> Elimination:
        """Carry out an elimination once for all runs."""

        def ask(new: Sequence[_Elimination]) -> Sequence[Elimination]:
            made = sweep.made if isinstance(sweep, KeptSweep) else sweep
            found = self._oracle.eliminate(made, unreliable=unreliable, cut=cut, max_size=max_size)
            return self._computed(new, [found], lambda elimination: elimination.tests)

        return self._eliminations.recall([("eliminate", sweep.x, unreliable, cut, max_size)], ask)[0]

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

    def _computed(
        self, questions: Sequence[object], answers: Sequence[Answer], cost: Callable[[Answer], int]
    ) -> Sequence[Answer]:
        """Count the tests that answers took, and return them."""
        digests = [_digest(one) for one in questions]
        with self._lock:
            for digest, answer in zip(digests, answers, strict=True):
                tests = cost(answer)
                if self._count(digest, tests):
                    self._uncollected.append((digest, tests))
        return answers


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


def _digest(question: object) -> bytes:
    """Return a short digest of a question, the same in every process."""
    return blake2b(repr(question).encode("utf-8", "backslashreplace"), digest_size=8).digest()
