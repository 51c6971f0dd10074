"""What all finders share: the first sweep, the search for separators, and the record of both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Self

import attrs
import numpy as np
import numpy.typing as npt

from apsl_backends.finders.falsediscovery import discoveries
from apsl_rules.evidence import Verdict, weaker
from apsl_rules.names import Node, in_order
from apsl_rules.neighbours import Candidates
from apsl_rules.oracles import Oracle, Search, Separation, Sweep, foresee
from apsl_rules.plugins import FinderSettings


@attrs.frozen
class FirstCut:
    """Leaves out hidden nodes, and bounds the ``share`` of false discoveries by the marginal p-values.

    The largest p over all subsets tried is not cut as well: that loses a quarter of the true neighbours on wide
    tables, while false ones hardly ever pass the cut on their own side too, which symmetry asks of them.
    """

    share: float | None
    hidden: tuple[Node, ...]

    @classmethod
    def of(cls, settings: FinderSettings) -> Self:
        """Return the cut of some settings."""
        return cls(settings.false_discoveries, in_order(settings.hidden))

    def __call__(self, sweep: Sweep, /) -> npt.NDArray[np.bool_] | None:
        """Return whether each node of a sweep may be a candidate."""
        passing: npt.NDArray[np.bool_] | None = None
        if self.share is not None:
            # No p above the share is a discovery, so that only the few below it are computed and sorted.
            places, log_p = sweep.discoverable(self.share)
            passing = np.zeros(len(sweep), np.bool_)
            passing[places[discoveries(log_p, self.share, tested=len(sweep))]] = True
        if not self.hidden:
            return passing
        seen = np.ones(len(sweep), np.bool_) if passing is None else passing.copy()
        seen[[sweep.place_of(node) for node in self.hidden if node != sweep.x]] = False
        return seen


class Trial:
    """The candidates of one node while they are being eliminated.

    ``weakest`` holds, for everyone who was dependent in the first sweep, the weakest dependence met so far; its order
    is that of the sweep: strongest association first, then by name.
    """

    def __init__(
        self, oracle: Oracle, node: Node, settings: FinderSettings, habit: Literal["independent", "dependent"]
    ) -> None:
        self._oracle = oracle
        self._node = node
        self._limit = settings.max_conditioning
        self._sweep = oracle.associations(node)
        ranked = self._sweep.ranked(unreliable=settings.unreliable or habit, among=FirstCut.of(settings)(self._sweep))
        self.weakest: dict[Node, Verdict] = {verdict.y: verdict for verdict in ranked}
        self._separations: dict[Node, Separation] = {}

    def search(
        self,
        others: Sequence[Node],
        pool: Sequence[Node],
        *,
        must_include: tuple[Node, ...] = (),
        at_most: int | None = None,
    ) -> Sequence[Separation]:
        """Search, in one round, a separator for each of the others within the pool."""
        return self._oracle.separators(self._searches(others, pool, must_include, at_most))

    def foresee(self, others: Sequence[Node], pool: Sequence[Node], *, at_most: int | None = None) -> None:
        """Announce that a separating set for each of the others may be searched within the pool."""
        foresee(self._oracle, self._searches(others, pool, (), at_most))

    def _searches(
        self, others: Sequence[Node], pool: Sequence[Node], must_include: tuple[Node, ...], at_most: int | None
    ) -> list[Search]:
        sizes = [size for size in (self._limit, at_most) if size is not None]
        largest = min(sizes, default=None)
        return [
            Search(self._node, other, tuple(one for one in pool if one != other), must_include, largest)
            for other in others
        ]

    def takes(self, separation: Separation) -> bool:
        """Record the outcome of a search; return whether it eliminates the candidate."""
        if separation.found:
            self._separations[separation.y] = separation
        elif separation.verdict is not None and weaker(separation.verdict, self.weakest[separation.y]):
            self.weakest[separation.y] = separation.verdict
        return separation.found

    def eliminates(
        self,
        other: Node,
        pool: Sequence[Node],
        *,
        must_include: tuple[Node, ...] = (),
        at_most: int | None = None,
    ) -> bool:
        """Search a separator for one candidate and take up the outcome."""
        return self.takes(self.search([other], pool, must_include=must_include, at_most=at_most)[0])

    def result(self, members: Sequence[Node]) -> Candidates:
        """Return the candidates that are left, with all that was learned of the others."""
        weakest = {member: self.weakest[member] for member in members}
        return Candidates(self._node, tuple(members), self._sweep, self._separations, weakest)
