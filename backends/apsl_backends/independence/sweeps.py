"""x against all others as arrays: verdicts are made one by one only when asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log
from typing import NamedTuple, overload

import numpy as np
import numpy.typing as npt

from apsl_backends.kernels.border import Floats, Integers, tails, thresholds
from apsl_backends.kernels.library import DEPENDENT, INDEPENDENT, UNRELIABLE
from apsl_rules.evidence import Decision, Verdict
from apsl_rules.names import Node
from apsl_rules.oracles import RankedNodes, Sweep

#: How far below its critical value a statistic may be for its p to be computed.
_ROUNDING = 1e-9


class SweptArrays(NamedTuple):
    """The other columns in the order of the table, and the figures of the test with each (rows -1 if not counted)."""

    columns: Integers
    statistics: Floats
    dofs: Integers
    rows: Integers
    decisions: npt.NDArray[np.int8]


def all_but(count: int, column: int) -> Integers:
    """Return the columns of a table without one."""
    others = np.arange(count - 1)
    others[column:] += 1
    return others


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
        column = self._column_of(y)
        return column - (column > self._column_of(self.x))

    def log_p(self) -> Floats:
        """Return ln p on each other node, NaN where the test is unreliable."""
        return np.where(self.arrays.decisions == UNRELIABLE, np.nan, self._log_p())

    def discoverable(self, share: float) -> tuple[npt.NDArray[np.intp], Floats]:
        """Return the places of the verdicts with p at most a share, and their ln p; no other p is computed."""
        _, statistics, dofs, _, decisions = self.arrays
        limits = thresholds(share)
        limit = np.where(dofs < len(limits), limits[np.minimum(dofs, len(limits) - 1)], 0.0)
        places = np.flatnonzero((decisions != UNRELIABLE) & (statistics >= limit * (1 - _ROUNDING)))
        log_p = tails(statistics[places], dofs[places]).log_p
        kept = log_p <= log(share) + _ROUNDING
        return places[kept], log_p[kept]

    def untested(self) -> tuple[Verdict, ...]:
        """Return the verdicts on the nodes for which there were too few rows, in order."""
        return tuple(self[place] for place in (self.arrays.decisions == UNRELIABLE).nonzero()[0].tolist())

    def ranked(self, *, unreliable: Decision, among: npt.NDArray[np.bool_] | None = None) -> tuple[Verdict, ...]:
        """Return the dependent verdicts, strongest first and by name among equals."""
        return tuple(self[place] for place in self.ranking(unreliable=unreliable, among=among).tolist())

    def ranking(self, *, unreliable: Decision, among: npt.NDArray[np.bool_] | None = None) -> Integers:
        """Return the places in this sweep of the verdicts that ``ranked`` gives."""
        decisions = self.arrays.decisions
        kept = decisions != INDEPENDENT if unreliable == "dependent" else decisions == DEPENDENT
        if among is not None:
            kept &= among
        places: Integers = kept.nonzero()[0]
        association = self.arrays.statistics[places]
        if unreliable == "dependent":
            association[decisions[places] == UNRELIABLE] = np.inf
        order = np.lexsort((self._name_ranks[self.arrays.columns[places]], -association))
        ranking: Integers = places[order]
        return ranking


def name_ranks_of(nodes: RankedNodes) -> Integers:
    """Return the place of each node in the order of names."""
    return np.fromiter(map(nodes.rank.__getitem__, nodes.nodes), np.int64, len(nodes.nodes))


class _Verdicts(Sequence[Verdict]):
    """The verdicts of a sweep, each made when it is looked at."""

    def __init__(self, count: int, verdict_at: Callable[[int], Verdict]) -> None:
        self._places = range(count)
        self._verdict_at = verdict_at
        self._made: dict[int, Verdict] = {}

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> Verdict: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Verdict]: ...
    def __getitem__(self, index: int | slice) -> Verdict | Sequence[Verdict]:
        if isinstance(index, slice):
            return [self[place] for place in self._places[index]]
        place = self._places[index]
        if place not in self._made:
            self._made[place] = self._verdict_at(place)
        return self._made[place]
