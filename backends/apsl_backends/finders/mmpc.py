"""MMPC (Tsamardinos, Aliferis, Statnikov 2003): the candidate whose weakest association is strongest enters next."""

from __future__ import annotations

from math import inf, log
from typing import Any

from apsl_backends.finders.elimination import Elimination
from apsl_rules.names import Node, order_key
from apsl_rules.neighbours import Candidates
from apsl_rules.offers import FinderSettings
from apsl_rules.oracle import Oracle, Verdict


class Mmpc:
    """Max-min forward phase over all subsets of the members, then a backward phase.

    Each round tries only subsets that contain the newest member, since the others were tried before. The association
    of a candidate is its weakest verdict so far, ranked by p and then by statistic. A marginal test with too few rows
    counts as dependent, unless told otherwise.
    """

    def __init__(self, oracle: Oracle, settings: FinderSettings) -> None:
        self._oracle = oracle
        self._settings = settings

    def candidates(self, node: Node) -> Candidates:
        """Find the candidates of one node."""
        trial = Elimination(self._oracle, node, self._settings, "dependent")
        waiting = list(trial.weakest)
        members: list[Node] = []
        while waiting:
            newest = min(waiting, key=lambda other: _rank(trial.weakest[other], other))
            members.append(newest)
            waiting.remove(newest)
            gone = set(trial.separate(waiting, members, must_include=(newest,)))
            waiting = [other for other in waiting if other not in gone]
        for old in reversed(members[:-1]):
            if trial.separate([old], members):
                members.remove(old)
        return trial.kept(members)


def _rank(verdict: Verdict, other: Node) -> tuple[Any, ...]:
    """Rank by p, smallest first, then by statistic, largest first, then by name."""
    log_p = verdict.log_p
    if log_p is None:
        log_p = 0.0 if verdict.p is None else log(verdict.p) if verdict.p > 0 else -inf
    return log_p, -verdict.strength, order_key(other)
