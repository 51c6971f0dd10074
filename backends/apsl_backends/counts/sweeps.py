"""x against all others as arrays: verdicts are made one by one only when asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import overload

import attrs
import numpy as np
import numpy.typing as npt

from apsl_backends.counts.arrays import DEPENDENT, UNRELIABLE
from apsl_rules.names import Node
from apsl_rules.oracle import Decision, Sweep, Verdict

DECISIONS: tuple[Decision, ...] = ("independent", "dependent", "unreliable")


@attrs.frozen(eq=False)
class SweptFigures:
    """The figures of a sweep, one entry for each other column in the order of the table.

    Where the decision is unreliable, statistic and dof say nothing.
    """

    columns: npt.NDArray[np.int64]
    statistic: npt.NDArray[np.float64]
    dof: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]
    decision: npt.NDArray[np.int8]


class ArraySweep(Sweep):
    """A sweep kept as arrays, for tables of very many columns."""

    def __init__(
        self,
        x: Node,
        figures: SweptFigures,
        *,
        place_of: Callable[[Node], int],
        name_ranks: npt.NDArray[np.int64],
        verdict_at: Callable[[SweptFigures, int], Verdict],
        log_tails: Callable[[npt.NDArray[np.float64], npt.NDArray[np.int64]], npt.NDArray[np.float64]],
    ) -> None:
        super().__init__(x, _Verdicts(figures, verdict_at))
        self.figures = figures
        self._place_of = place_of
        self._name_ranks = name_ranks
        self._log_tails = log_tails

    def verdict_on(self, y: Node) -> Verdict:
        """Give the verdict on one other node."""
        place = int(np.searchsorted(self.figures.columns, self._place_of(y)))
        return self[place]

    def ranked(self, *, unreliable: Decision) -> tuple[Verdict, ...]:
        """Give the dependent verdicts, strongest first and by name among equals; say how unreliable ones count."""
        figures = self.figures
        unmeasured = figures.decision == UNRELIABLE
        kept = figures.decision == DEPENDENT
        if unreliable == "dependent":
            kept |= unmeasured
        places = np.flatnonzero(kept)
        strength = np.where(unmeasured, np.inf, figures.statistic)[places]
        order = np.lexsort((self._name_ranks[figures.columns[places]], -strength))
        return tuple(self[int(place)] for place in places[order])

    def log_p(self) -> npt.NDArray[np.float64]:
        """Give ln p for each other column, NaN where the test is unreliable."""
        figures = self.figures
        return np.where(figures.decision == UNRELIABLE, np.nan, self._log_tails(figures.statistic, figures.dof))


class _Verdicts(Sequence[Verdict]):
    """The verdicts of a sweep, each made when it is looked at."""

    def __init__(self, figures: SweptFigures, verdict_at: Callable[[SweptFigures, int], Verdict]) -> None:
        self._figures = figures
        self._verdict_at = verdict_at

    def __len__(self) -> int:
        return len(self._figures.columns)

    @overload
    def __getitem__(self, index: int) -> Verdict: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Verdict]: ...
    def __getitem__(self, index: int | slice) -> Verdict | Sequence[Verdict]:
        if isinstance(index, slice):
            return [self._verdict_at(self._figures, place) for place in range(*index.indices(len(self)))]
        place = range(len(self))[index]
        return self._verdict_at(self._figures, place)
