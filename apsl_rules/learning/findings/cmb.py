"""Independence changes (CMB, Gao and Ji 2015): what giving the middle of a triple does to its ends.

X and Y are neighbours of T. Independent given Z and dependent once T is given too: T is a collider between them.
Dependent given Z and independent once T is given too: T is none. The sets Z tried are nothing, what is known to
separate X and Y, and the Markov blankets of the two ends, each without T, X and Y. The published procedure tries
nothing and the blanket of the first end: a common child in that blanket hides a collider, and a whole blanket
leaves few rows for each of its cells.
"""

from __future__ import annotations

from collections.abc import Iterator

from apsl_rules.evidence import Verdict
from apsl_rules.names import Node
from apsl_rules.neighbours import BlanketFinder, Neighbours
from apsl_rules.oracles import Oracle
from apsl_rules.rules import Relation, chain, collider


class Changes:
    """Tells colliders from chains by changes of independence."""

    def __init__(
        self,
        oracle: Oracle,
        neighbours: Neighbours,
        blankets: BlanketFinder,
        *,
        first_only: bool = False,
        accept_unreliable: bool = False,
    ) -> None:
        self._oracle = oracle
        self._neighbours = neighbours
        self._blankets = blankets
        self._first_only = first_only
        self._accept = accept_unreliable

    def kind(self, x: Node, middle: Node, y: Node) -> tuple[Relation | None, tuple[Verdict, ...]]:
        """Say what the middle is between two of its neighbours; the verdict that separates them comes first.

        Without a relation it is undecided, and without verdicts nothing was found that separates the two.
        """
        apart: tuple[Verdict, ...] = ()
        for given in self._conditioning(x, middle, y):
            without, within = self._oracle.verdicts([(x, y, given), (x, y, (*given, middle))])
            if without.independent and self._dependent(within):
                return collider, (without, within)
            if within.independent and self._dependent(without):
                return chain, (within, without)
            apart = apart or tuple(verdict for verdict in (without, within) if verdict.independent)[:1]
        return None, apart

    def _dependent(self, verdict: Verdict) -> bool:
        return verdict.dependent or (self._accept and verdict.decision == "unreliable")

    def _conditioning(self, x: Node, middle: Node, y: Node) -> Iterator[tuple[Node, ...]]:
        """Return the sets to condition on, each once; blankets are found only when all before was of no use."""
        tried = set()
        for nodes in self._sources(x, y):
            given = tuple(node for node in nodes if node not in (x, middle, y))
            if frozenset(given) not in tried:
                tried.add(frozenset(given))
                yield given

    def _sources(self, x: Node, y: Node) -> Iterator[tuple[Node, ...]]:
        yield ()
        if not self._first_only:
            separation = self._neighbours.separation(x, y)
            if separation is not None and separation.given is not None:
                yield separation.given
        yield self._blankets.blanket(x).members
        if not self._first_only:
            yield self._blankets.blanket(y).members
