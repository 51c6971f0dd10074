"""x against all others as arrays: verdicts are made one by one only when asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, overload

import numpy as np
import numpy.typing as npt

from apsl_backends.kernels.arrays import DEPENDENT, UNRELIABLE, Floats, Integers
from apsl_rules.evidence import Decision, Verdict
from apsl_rules.names import Node, order_key
from apsl_rules.oracles import Sweep


class SweptArrays(NamedTuple):
    """The other columns in the order of the table, and the figures of the test with each (rows -1 if not counted)."""

    columns: Integers
    statistics: Floats
    dofs: Integers
    rows: Integers
    decisions: npt.NDArray[np.int8]


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
        return int(np.searchsorted(self.arrays.columns, self._column_of(y)))

    def log_p(self) -> Floats:
        """Return ln p on each other node, NaN where the test is unreliable."""
        return np.where(self.arrays.decisions == UNRELIABLE, np.nan, self._log_p())

    def untested(self) -> tuple[Verdict, ...]:
        """Return the verdicts on the nodes for which there were too few rows, in order."""
        return tuple(self[place] for place in np.flatnonzero(self.arrays.decisions == UNRELIABLE).tolist())

    def ranked(self, *, unreliable: Decision, among: npt.NDArray[np.bool_] | None = None) -> tuple[Verdict, ...]:
        """Return the dependent verdicts, strongest first and by name among equals."""
        return tuple(self[place] for place in self.ranking(unreliable=unreliable, among=among).tolist())

    def ranking(self, *, unreliable: Decision, among: npt.NDArray[np.bool_] | None = None) -> Integers:
        """Return the places in this sweep of the verdicts that ``ranked`` gives."""
        unmeasured = self.arrays.decisions == UNRELIABLE
        kept = self.arrays.decisions == DEPENDENT
        if unreliable == "dependent":
            kept |= unmeasured
        if among is not None:
            kept &= among
        places = np.flatnonzero(kept)
        association = np.where(unmeasured, np.inf, self.arrays.statistics)[places]
        order = np.lexsort((self._name_ranks[self.arrays.columns[places]], -association))
        return places[order]


def name_ranks_of(nodes: Sequence[Node]) -> Integers:
    """Return the place of each node in the order of names."""
    order = sorted(range(len(nodes)), key=lambda place: order_key(nodes[place]))
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return ranks


class _Verdicts(Sequence[Verdict]):
    """The verdicts of a sweep, each made when it is looked at."""

    def __init__(self, count: int, verdict_at: Callable[[int], Verdict]) -> None:
        self._places = range(count)
        self._verdict_at = verdict_at

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> Verdict: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Verdict]: ...
    def __getitem__(self, index: int | slice) -> Verdict | Sequence[Verdict]:
        if isinstance(index, slice):
            return [self._verdict_at(place) for place in self._places[index]]
        return self._verdict_at(self._places[index])
