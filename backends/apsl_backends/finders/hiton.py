"""HITON-PC (Aliferis, Tsamardinos, Statnikov 2003): entry by association, and each entry re-tries the others."""

from __future__ import annotations

from collections.abc import Sequence

from apsl_backends.finders.trial import FirstCut, Trial
from apsl_rules.names import Node
from apsl_rules.neighbours import Candidates
from apsl_rules.oracles import Eliminating, Oracle, foresee
from apsl_rules.plugins import FinderSettings

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
        self._eliminating: Eliminating | None = getattr(oracle, "eliminating", None)

    def foresee(self, nodes: Sequence[Node]) -> None:
        """Announce that the sweeps of these nodes will be asked for."""
        foresee(self._oracle, sweeps=nodes)

    def candidates(self, node: Node) -> Candidates:
        """Find the candidates of one node: inside the oracle if it can, step by step otherwise."""
        if self._eliminating is not None:
            return self._inside(node, self._eliminating)
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

    def _inside(self, node: Node, eliminating: Eliminating) -> Candidates:
        settings = self._settings
        sweep = self._oracle.associations(node)
        found = eliminating.eliminate(
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
