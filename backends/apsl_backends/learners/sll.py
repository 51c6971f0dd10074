"""SLL (Niinimäki and Parviainen 2012): neighbours and spouses from best graphs over small sets of nodes.

Nodes are tried one by one: the neighbours of the target in the best graph over the target, the new node and those kept
so far are kept. As with tests, false neighbours may remain, so both ends must find each other. Spouses are sought in
the same way among the neighbours of neighbours, and it is enough that either end finds the other.

The whole graph is assembled from these in one of two ways: SLL+C takes the V-structures of the small graphs and lets
the rules conclude the rest, SLL+G climbs among the neighbours.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

import attrs

from apsl_backends.learners.climbing import ClimbOptions, climb_graph, score_of
from apsl_backends.learners.findings_from_graph import SOURCE, Collider, Draft
from apsl_backends.learners.small_optima import Optima, SmallGraph
from apsl_backends.scores.bde import BDeu
from apsl_rules.evidence import Evidence
from apsl_rules.names import Node, Pair, shown
from apsl_rules.plugins import Context, State, build


@attrs.frozen
class SllOptions:
    """The settings of SLL: the score's ``ess``, the most nodes of an exact best graph, and how the graph is assembled.

    ``tabu`` and ``patience`` are those of the climb when ``assembly`` is "greedy".
    """

    ess: float = 1.0
    largest: int = 16
    assembly: Literal["constraints", "greedy"] = "constraints"
    tabu: int = 100
    patience: int = 15


class Sll:
    """Neighbours and spouses of numbered nodes, each set found once."""

    def __init__(self, optima: Optima) -> None:
        self._optima = optima
        self._everyone = range(len(optima.score.nodes))
        self.possible_neighbours = cache(self._possible_neighbours)
        self.neighbours = cache(self._neighbours)
        self.possible_spouses = cache(self._possible_spouses)

    def _possible_neighbours(self, node: int) -> frozenset[int]:
        """Try all others one by one (PotNbr)."""
        kept: frozenset[int] = frozenset()
        for other in self._everyone:
            if self._optima.may_be_adjacent(node, other):
                kept = self._optima.best(kept, (node, other)).neighbours(node)
        return kept

    def _neighbours(self, node: int) -> frozenset[int]:
        """Keep the nodes that find each other (Nbr)."""
        possible = self.possible_neighbours(node)
        return frozenset(other for other in possible if node in self.possible_neighbours(other))

    def _possible_spouses(self, node: int) -> frozenset[int]:
        """Try the neighbours of neighbours one by one (PotSp)."""
        kept: frozenset[int] = frozenset()
        for other in self._beyond(node):
            kept = self._optima.best(self.neighbours(node), kept, (node, other)).spouses(node)
        return kept

    def spouses(self, node: int) -> frozenset[int]:
        """Return the spouses that either end finds (Sp)."""
        found = self.possible_spouses(node)
        return found.union(other for other in self._beyond(node) if node in self.possible_spouses(other))

    def _beyond(self, node: int) -> list[int]:
        """Return the neighbours of neighbours that are no neighbours themselves, in order; only they can be spouses."""
        around = self.neighbours(node)
        return sorted({other for near in around for other in self.neighbours(near)} - around - {node})

    def blanket_graph(self, node: int) -> SmallGraph:
        """Return the best graph over a node, its neighbours and its possible spouses."""
        return self._optima.best((node,), self.neighbours(node), self.possible_spouses(node))


class SllFindings:
    """Learns the whole graph at once."""

    whole = True

    def __init__(self, context: Context) -> None:
        self._context = context
        self._options = build(SllOptions, context.spec.options, f"spec {context.spec.name!r}, options")

    def join(self, state: State, nodes: tuple[Node, ...]) -> State:  # noqa: ARG002 - all nodes are learned together
        """Return the state after the whole graph was learned."""
        context, options = self._context, self._options
        score = score_of(context, options.ess)
        optima = Optima(score, largest=options.largest, limits=context.asker.within_limits)
        sll = Sll(optima)
        edges = _edges(score, sll)
        if options.assembly == "greedy":
            climb = ClimbOptions(ess=options.ess, tabu=options.tabu, patience=options.patience)
            learned = climb_graph(context, state, score, climb, dict.fromkeys(edges, ()))
        else:
            draft = attrs.evolve(_draft(score, sll, edges), unknown=optima.unknown)
            learned = state.told(*draft.visits(context.target))
        return learned.told(notes=optima.notes)


def _edges(score: BDeu, sll: Sll) -> dict[Pair, Evidence]:
    edges: dict[Pair, Evidence] = {}
    for node, name in enumerate(score.nodes):
        for other in sorted(sll.neighbours(node)):
            note = "each is a neighbour of the other in the best graphs around them"
            edges[frozenset((name, score.nodes[other]))] = Evidence(SOURCE, note=note)
    return edges


def _draft(score: BDeu, sll: Sll, edges: dict[Pair, Evidence]) -> Draft:
    names = score.nodes
    colliders: dict[Collider, Evidence] = {}
    for node in range(len(names)):
        graph = sll.blanket_graph(node)
        note = f"so in the best graph over {len(graph.parents)} nodes around {shown(names[node])}"
        for spouse in sorted(graph.spouses(node)):
            for child in graph.shared_children(node, spouse):
                if child in sll.neighbours(node) and child in sll.neighbours(spouse):
                    ends = frozenset((names[node], names[spouse]))
                    colliders.setdefault((ends, names[child]), Evidence(SOURCE, note=note))
    return Draft(names, edges, colliders)
