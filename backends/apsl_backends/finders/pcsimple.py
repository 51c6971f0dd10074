"""PC-simple (Bühlmann, Kalisch, Maathuis 2010): all are candidates until a set of size 0, 1, 2, ... separates them."""

from __future__ import annotations

from collections.abc import Sequence

from apsl_backends.finders.trial import Trial
from apsl_rules.names import Node, in_order
from apsl_rules.neighbours import Candidates
from apsl_rules.oracles import Oracle, foresee
from apsl_rules.plugins import FinderSettings


class PcSimple:
    """Level by level; a separated candidate leaves at once and so shrinks the pool of those after it.

    Candidates go by name. A marginal test with too few rows counts as dependent, unless set otherwise.
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
