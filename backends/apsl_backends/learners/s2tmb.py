"""S²TMB (Gao and Ji 2017): a Markov blanket from best graphs over small sets, without checks from the other ends.

A false neighbour is a descendant with a parent that is not a neighbour. Once this missing parent is in the set, the
best graph has no arrow to the false neighbour any more. So the possible neighbours are first found as in SLL; then all
others are tried once more, and spouses are kept as well.
"""

from __future__ import annotations

from typing import Literal

from apsl_backends.learners.sll import Sll
from apsl_backends.learners.small_optima import Optima
from apsl_backends.scores.bde_from_counts import score_for
from apsl_rules.names import Node, in_order
from apsl_rules.neighbours import Blanket
from apsl_rules.oracles import Oracle
from apsl_rules.plugins import FinderSettings

_ESS, _LARGEST = 1.0, 16


class S2tmb:
    """Blankets from best graphs; each is found once.

    With ``spouses`` "at once", spouses are added and dropped at each step. "afterwards" (S²TMB+) first collects the
    nodes that are spouses given the neighbours alone, and then adds these one by one to sets that may shrink.
    """

    def __init__(
        self, oracle: Oracle, settings: FinderSettings, *, spouses: Literal["at once", "afterwards"] = "at once"
    ) -> None:
        ess = float(settings.options.get("ess", _ESS))
        score = score_for(getattr(oracle, "data", None), "the blanket finder 's2tmb'", ess=ess)
        self.optima = Optima(score, largest=int(settings.options.get("largest", _LARGEST)))
        self._sll = Sll(self.optima)
        self._afterwards = spouses == "afterwards"
        self._known: dict[Node, Blanket] = {}

    def blanket(self, node: Node) -> Blanket:
        """Find the blanket of one node."""
        if node not in self._known:
            self._known[node] = self._find(node)
        return self._known[node]

    def _find(self, name: Node) -> Blanket:
        names = self.optima.score.nodes
        node = self.optima.score.numbers([name])[0]
        near = self._sll.possible_neighbours(node)
        others = [one for one in range(len(names)) if one not in near and self.optima.may_be_adjacent(node, one)]
        if self._afterwards:
            others = [other for other in others if other in self.optima.best(near, (node, other)).spouses(node)]
        mates: frozenset[int] = frozenset()
        for other in others:
            graph = self.optima.best(near, mates, (node, other))
            near, mates = graph.neighbours(node), graph.spouses(node)
        graph = self.optima.best((node,), near, mates)
        shared = {
            names[child]: in_order(names[mate] for mate in graph.spouses(node) if mate in graph.parents[child])
            for child in sorted(graph.children[node])
        }
        around = in_order(names[other] for other in graph.neighbours(node))
        unknown = in_order(one for pair in self.optima.unknown if name in pair for one in pair if one != name)
        return Blanket(name, around, {child: who for child, who in shared.items() if who}, untested=unknown)
