"""MMPC (Tsamardinos, Aliferis, Statnikov 2003): the candidate whose weakest association is strongest enters next."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import Any

from apsl_backends.finders.trial import Trial
from apsl_rules.evidence import Verdict, log_p_of
from apsl_rules.names import Node, order_key
from apsl_rules.neighbours import Candidates
from apsl_rules.oracles import Oracle, foresee
from apsl_rules.plugins import FinderSettings


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
        foresee(self._oracle, sweeps=nodes)

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
