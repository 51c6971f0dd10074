"""Memory of answers: each question is answered once, and old answers give way; and when a run is to end.

A run, a dataset and a file on disk each keep what they were asked. ``Memory`` is the memory of a run, or of several
runs that ask one oracle; ``DatasetMemory`` keeps what was worked out on the rows of a dataset, for later runs. The
cache of verdicts on disk lies below both.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import attrs

if TYPE_CHECKING:
    from apsl_rules.stopping import Stop


#: When the current run is to end.
CURRENT: ContextVar[Stop | None] = ContextVar("apsl_stop", default=None)


def check() -> None:
    """Raise when the current run is to end; loops that may take long call this."""
    stop = CURRENT.get()
    if stop is not None:
        stop.check()


Question = TypeVar("Question", bound=Hashable)
Answer = TypeVar("Answer")


class Memory(Generic[Question, Answer]):
    """Answers by question, at most ``most`` of them: the one that was used longest ago gives way.

    Threads may share a memory.
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self._lock = Lock()
        self._kept: dict[Question, Answer] = {}
        self._asked: dict[Question, Future[Mapping[Question, Answer]]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, question: Question) -> bool:
        return question in self._kept

    def get(self, question: Question) -> Answer | None:
        """Return the answer to a question, if it is kept; it is then the newest."""
        if self._most is None:
            return self._kept.get(question)
        with self._lock:
            if question not in self._kept:
                return None
            answer = self._kept[question] = self._kept.pop(question)
            return answer

    def once(self, question: Question, make: Callable[[], Answer]) -> Answer:
        """Return the answer that is kept, or make it.

        What two threads make at once is made twice, one is kept, and both get that one. So nobody waits for an answer
        that an interrupted thread never gives.
        """
        known = self.get(question)
        if known is not None:
            return known
        made = make()
        with self._lock:
            return self._keep(question, made)

    def _all_kept(self, questions: Sequence[Question]) -> list[Answer] | None:
        """Return the answers if all are kept, the newest now; else None."""
        with self._lock:
            if not all(one in self._kept for one in questions):
                return None
            for one in questions:
                self._kept[one] = self._kept.pop(one)
            return [self._kept[one] for one in questions]

    def recall(
        self, questions: Sequence[Question], ask: Callable[[Sequence[Question]], Sequence[Answer]]
    ) -> list[Answer]:
        """Answer questions; those that are new go to ``ask`` in one round.

        A question that another thread has asked is not asked again: its answer is waited for.
        """
        return self._all_kept(questions) or self._ask_new(questions, ask)

    def _ask_new(
        self, questions: Sequence[Question], ask: Callable[[Sequence[Question]], Sequence[Answer]]
    ) -> list[Answer]:
        found: dict[Question, Answer] = {}
        awaited: dict[Question, Future[Mapping[Question, Answer]]] = {}
        new: list[Question] = []
        mine: Future[Mapping[Question, Answer]] = Future()
        try:
            with self._lock:
                for one in dict.fromkeys(questions):
                    if one in self._kept:
                        found[one] = self._kept[one] = self._kept.pop(one)
                    elif one in self._asked:
                        awaited[one] = self._asked[one]
                    else:
                        new.append(one)
                        self._asked[one] = mine
            if new:
                made = dict(zip(new, ask(new), strict=True))
                with self._lock:
                    for one, answer in made.items():
                        self._keep(one, answer)
                        del self._asked[one]
                mine.set_result(made)
                found |= made
        except BaseException as error:
            with self._lock:
                for one in new:
                    if self._asked.get(one) is mine:
                        del self._asked[one]
            if not mine.done():
                mine.set_exception(error)
            raise
        found.update((one, answers.result()[one]) for one, answers in awaited.items())
        return [found[one] for one in questions]

    def _keep(self, question: Question, answer: Answer) -> Answer:
        """Keep an answer unless there is one, and return the one that is kept; the caller has the lock."""
        kept = self._kept.setdefault(question, answer)
        if self._most is not None and len(self._kept) > self._most:
            del self._kept[next(iter(self._kept))]
        return kept


@attrs.frozen(eq=False)
class Kind(Generic[Answer]):
    """A kind of thing that a dataset keeps, such as the matrix of its covariances."""

    name: str


class DatasetMemory:
    """What was worked out on the rows of one dataset: by kind, and by the settings that it depends on.

    Nothing here may refer to the dataset: it would then not be freed after its last use.
    """

    def __init__(self) -> None:
        self._kept: Memory[tuple[Kind[Any], Hashable], Any] = Memory()

    def __len__(self) -> int:
        return len(self._kept)

    def __reduce__(self) -> tuple[type[DatasetMemory], tuple[()]]:
        return DatasetMemory, ()  # a copy of a dataset begins anew

    def once(self, kind: Kind[Answer], settings: Hashable, make: Callable[[], Answer]) -> Answer:
        """Return what is kept, or make it."""
        return cast("Answer", self._kept.once((kind, settings), make))


#: How many more objects than before there are when Python looks for garbage among them, while something is learned.
_RARE = 100_000
_LOCK = Lock()
_BEFORE: list[tuple[int, int, int]] = []


@contextmanager
def rarely_collecting() -> Iterator[None]:
    """Let Python look for cyclic garbage less often while a block runs: what a run makes stays, and is much.

    The 441 nodes of pigs take a fifth less time so (.55 instead of .70 s); for the 37 of ALARM it makes no difference.
    Where Python never looks, it does not look here. Blocks may overlap, in one thread or in several.
    """
    with _LOCK:
        _BEFORE.append(gc.get_threshold())
        if 0 < _BEFORE[0][0] < _RARE:
            gc.set_threshold(_RARE, *_BEFORE[0][1:])
    try:
        yield
    finally:
        with _LOCK:
            first = _BEFORE[0]
            _BEFORE.pop()
            if not _BEFORE:
                gc.set_threshold(*first)
