"""HITON-PC (Aliferis, Tsamardinos, Statnikov 2003): entry by association, and each entry re-tries the others."""

from __future__ import annotations

from apsl_backends.finders.elimination import Elimination
from apsl_rules.names import Node
from apsl_rules.neighbours import Candidates
from apsl_rules.offers import FinderSettings
from apsl_rules.oracle import Oracle


class Hiton:
    """Interleaves entry and elimination, strongest association first.

    A newcomer must survive all subsets of the members; an old member then needs to survive only the subsets that
    contain the newcomer. A marginal test with too few rows counts as independent, unless told otherwise.
    """

    def __init__(self, oracle: Oracle, settings: FinderSettings) -> None:
        self._oracle = oracle
        self._settings = settings

    def candidates(self, node: Node) -> Candidates:
        """Find the candidates of one node."""
        trial = Elimination(self._oracle, node, self._settings, "independent")
        members: list[Node] = []
        for newcomer in tuple(trial.weakest):
            if members and trial.separate([newcomer], members):
                continue
            members.append(newcomer)
            for old in reversed(members[:-1]):
                if trial.separate([old], members, must_include=(newcomer,)):
                    members.remove(old)
        return trial.kept(members)
