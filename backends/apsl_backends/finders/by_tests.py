"""Finders by tests: HITON, MMPC, PC-simple, with a bound on false discoveries, and blankets by GSMB."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, log
from typing import Any, Literal, Self

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.evidence import Verdict, log_p_of, weaker
from apsl_rules.names import Node, in_order, order_key
from apsl_rules.neighbours import Candidates
from apsl_rules.oracles import Oracle, Search, Separation, Sweep
from apsl_rules.plugins import FinderSettings


def discoveries(log_p: npt.NDArray[np.float64], share: float, *, tested: int | None = None) -> npt.NDArray[np.bool_]:
    """Mark the discoveries among hypotheses, of which ``tested`` were tried in all (those not given had p = 1).

    NaN stands for a test that could not be made and is no discovery.

    >>> discoveries(np.log([0.001, 0.2, 0.012, 0.9]), 0.05).tolist()
    [True, False, True, False]
    """
    tried = len(log_p) if tested is None else tested
    values = np.where(np.isnan(log_p), 0.0, log_p)
    order = np.argsort(values, kind="stable")
    limits = np.log(np.arange(1, len(values) + 1)) + log(share) - log(max(tried, 1))
    under = np.flatnonzero(values[order] <= limits)
    found = np.zeros(len(values), dtype=np.bool_)
    if under.size:
        found[order[: under[-1] + 1]] = True
    return found


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
        self._oracle.foresee(self._searches(others, pool, (), at_most))

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


_ROUND = 8


class Hiton:
    """Interleaves entry and elimination, strongest association first.

    A newcomer must survive all subsets of the members; an old member then needs to survive only the subsets that
    contain the new member. A marginal test with too few rows counts as independent, unless set otherwise.
    """

    def __init__(self, oracle: Oracle, settings: FinderSettings) -> None:
        self._oracle = oracle
        self._settings = settings
        self._cut = FirstCut.of(settings)

    def foresee(self, nodes: Sequence[Node]) -> None:
        """Announce that the sweeps of these nodes will be asked for."""
        self._oracle.foresee(sweeps=nodes)

    def candidates(self, node: Node) -> Candidates:
        """Find the candidates of one node: inside the oracle if it can, step by step otherwise."""
        if self._oracle.eliminates:
            return self._inside(node)
        trial = Trial(self._oracle, node, self._settings, "independent")
        waiting = list(trial.weakest)
        members: list[Node] = []
        while waiting:
            found = _survivors(trial, waiting, members)
            if not found:
                break
            (newcomer,) = found
            members.append(newcomer)
            for old in reversed(members[:-1]):
                if trial.eliminates(old, members, must_include=(newcomer,)):
                    members.remove(old)
        return trial.result(members)

    def _inside(self, node: Node) -> Candidates:
        settings = self._settings
        sweep = self._oracle.associations(node)
        found = self._oracle.eliminate(
            sweep,
            unreliable=settings.unreliable or "independent",
            cut=self._cut,
            max_size=settings.max_conditioning,
        )
        return Candidates(node, found.members, sweep, found.separations, found.weakest)


def _survivors(trial: Trial, waiting: list[Node], members: list[Node]) -> tuple[Node, ...]:
    """Return the first waiting candidate that the members do not separate, or none; those tried wait no longer.

    Several are tried in one round. What the round says of those behind the survivor is not taken up: they are to be
    tried again with the survivor among the members.
    """
    if not members:
        return (waiting.pop(0),)
    while waiting:
        for separation in trial.search(waiting[:_ROUND], members):
            del waiting[0]
            if not trial.takes(separation):
                return (separation.y,)
    return ()


class Mmpc:
    """Max-min forward phase over all subsets of the members, then a backward phase.

    Each round tries only subsets that contain the newest member, since the others were tried before. The association
    of a candidate is its weakest verdict so far, ranked by p and then by statistic. A marginal test with too few rows
    counts as dependent, unless set otherwise.
    """

    def __init__(self, oracle: Oracle, settings: FinderSettings) -> None:
        self._oracle = oracle
        self._settings = settings

    def foresee(self, nodes: Sequence[Node]) -> None:
        """Announce that the sweeps of these nodes will be asked for."""
        self._oracle.foresee(sweeps=nodes)

    def candidates(self, node: Node) -> Candidates:
        """Find the candidates of one node."""
        trial = Trial(self._oracle, node, self._settings, "dependent")
        waiting = list(trial.weakest)
        members: list[Node] = []
        while waiting:
            newest = min(waiting, key=lambda other: _rank(trial.weakest[other], other))
            members.append(newest)
            waiting.remove(newest)
            outcomes = trial.search(waiting, members, must_include=(newest,))
            waiting = [outcome.y for outcome in outcomes if not trial.takes(outcome)]
        for old in reversed(members[:-1]):
            if trial.eliminates(old, members):
                members.remove(old)
        return trial.result(members)


def _rank(verdict: Verdict, other: Node) -> tuple[Any, ...]:
    """Rank by p, smallest first, then by statistic, largest first, then by name; without p by the statistic alone."""
    log_p = log_p_of(verdict)
    return 0.0 if isnan(log_p) else log_p, -verdict.association, order_key(other)


class PcSimple:
    """Level by level; a separated candidate leaves at once and so shrinks the pool of those after it.

    Candidates go by name. A marginal test with too few rows counts as dependent, unless set otherwise.
    """

    def __init__(self, oracle: Oracle, settings: FinderSettings) -> None:
        self._oracle = oracle
        self._settings = settings

    def foresee(self, nodes: Sequence[Node]) -> None:
        """Announce that the sweeps of these nodes will be asked for."""
        self._oracle.foresee(sweeps=nodes)

    def candidates(self, node: Node) -> Candidates:
        """Find the candidates of one node."""
        trial = Trial(self._oracle, node, self._settings, "dependent")
        members = list(in_order(trial.weakest))
        limit = self._settings.max_conditioning
        level = 1
        while len(members) > level and (limit is None or level <= limit):
            trial.foresee(members, members, at_most=level)
            for other in tuple(members):
                if trial.eliminates(other, members, at_most=level):
                    members.remove(other)
            level += 1
        return trial.result(members)


#: How many tests are announced together while a blanket grows.
_AHEAD = 16


class Growing:
    """Finds blankets by GSMB (Margaritis and Thrun 1999), each once.

    Growth tries the ``strongest`` association first, or the nodes in their order. Shrinking tests each member given the
    other remaining ones, or given all others that were grown ``together``.

    A test with too few rows neither adds a node nor removes a member; on data this ends the growth.
    """

    def __init__(
        self, oracle: Oracle, nodes: Sequence[Node], *, strongest: bool = True, together: bool = False
    ) -> None:
        self._oracle = oracle
        self._nodes = nodes
        self._strongest = strongest
        self._together = together
        self._known: dict[Node, tuple[Node, ...]] = {}
        self._undecided: dict[Node, tuple[Verdict, ...]] = {}

    def blanket(self, node: Node) -> tuple[Node, ...]:
        """Return the blanket of a node in the order of growth."""
        if node not in self._known:
            self._known[node] = self._shrink(node, self._grow(node))
        return self._known[node]

    def undecided(self, node: Node) -> tuple[Verdict, ...]:
        """Return the last verdicts on the nodes that were left out only because there were too few rows."""
        self.blanket(node)
        return self._undecided[node]

    def _grow(self, node: Node) -> list[Node]:
        candidates = [other for other in self._nodes if other != node]
        if self._strongest:
            sweep = self._oracle.associations(node)
            candidates.sort(key=lambda other: -sweep.verdict_on(other).association)
        members: list[Node] = []
        last: dict[Node, Verdict] = {}
        before = -1
        while len(members) > before:
            before = len(members)
            foreseen = 0
            for number, other in enumerate(candidates):
                if other in members:
                    continue
                if number >= foreseen:
                    foreseen = number + _AHEAD
                    self._foresee(node, candidates[number:foreseen], members)
                last[other] = self._oracle.verdict(node, other, members)
                if last[other].dependent:
                    members.append(other)
                    foreseen = 0
        self._undecided[node] = tuple(one for one in last.values() if one.decision == "unreliable")
        return members

    def _foresee(self, node: Node, others: Sequence[Node], members: Sequence[Node]) -> None:
        """Announce tests of some other nodes given the members, in case none of them is added."""
        given = tuple(members)
        self._oracle.foresee([Search(node, other, (), given) for other in others if other not in given])

    def _shrink(self, node: Node, members: list[Node]) -> tuple[Node, ...]:
        kept = list(members)
        for other in members:
            against = members if self._together else kept
            given = [one for one in against if one != other]
            if self._oracle.verdict(node, other, given).independent:
                kept.remove(other)
        return tuple(kept)
