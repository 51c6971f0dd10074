"""The sweeps and eliminations that were carried out, for later runs on the same table."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

from apsl_backends.independence.sweeps import ArraySweep
from apsl_rules.oracles import Elimination

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
