"""The journal of a run on resamples: what each showed is appended as soon as it is learned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from apsl_rules._files import Log
from apsl_rules.names import Node, Pair
from apsl_rules.parts.journal_task import SECONDS, take_up_task
from apsl_rules.parts.stability_result import Tally

FORMAT = "apsl_rules resamples"


class TallyJournal:
    """A file of tallies by the number of their resample; open it with ``with``, by one process at a time.

    ``task`` says what they are learned from and how; a file with another task is refused.
    """

    def __init__(self, path: Path, task: Mapping[str, str], nodes: Sequence[Node]) -> None:
        self._log = Log(path, seconds=SECONDS)
        self._path = path
        self._task = task
        self._nodes = tuple(nodes)
        self._numbers = {node: number for number, node in enumerate(nodes)}

    def __enter__(self) -> Self:
        self._log.__enter__()
        try:
            take_up_task(self._log, self._path, FORMAT, self._task)
        except BaseException:
            self._log.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._log.__exit__(kind, error, at)

    def __contains__(self, resample: int) -> bool:
        return str(resample) in self._log

    def add(self, resample: int, tally: Tally) -> None:
        """Append what a resample showed, unless that is there."""
        if resample in self:
            return
        edges = sorted((*self._pair(pair), shown) for pair, shown in tally.edges.items())
        self._log.add(
            {
                "key": str(resample),
                "edges": edges,
                "outside": self._pairs(tally.outside),
                "gaps": self._pairs(tally.gaps),
                "settled": sorted(self._numbers[node] for node in tally.settled),
                "untested": self._pairs(tally.untested),
                "tests": tally.tests,
            }
        )

    def tally(self, resample: int) -> Tally:
        """Return what a resample showed."""
        data = self._log[str(resample)]
        return Tally(
            {self._read(pair): shown for *pair, shown in data["edges"]},
            frozenset(map(self._read, data["outside"])),
            frozenset(map(self._read, data["gaps"])),
            frozenset(self._nodes[number] for number in data["settled"]),
            frozenset(map(self._read, data["untested"])),
            data["tests"],
            None,
        )

    def _pair(self, pair: Pair) -> list[int]:
        return sorted(self._numbers[node] for node in pair)

    def _pairs(self, pairs: Iterable[Pair]) -> list[list[int]]:
        return sorted(map(self._pair, pairs))

    def _read(self, pair: Any) -> Pair:
        return frozenset(self._nodes[number] for number in pair)
