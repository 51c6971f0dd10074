"""SLL (Niinimäki and Parviainen 2012): neighbours and spouses from best graphs over small sets of nodes.

Nodes are tried one by one: whoever is a neighbour of the target in the best graph over the target, the newcomer and
those kept so far is kept. So false neighbours remain, as with tests, and the word of both ends is asked. Spouses are
sought among the neighbours of neighbours in the same way, and either end's word is enough.

The whole graph is put together from these in one of two ways: SLL+C draws the V-structures that the small graphs show
and lets the rules do the rest, SLL+G climbs among the neighbours.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

import attrs

from apsl_backends.learners.climbing import ClimbOptions, climbed_part, task_score
from apsl_backends.learners.findings_from_graph import SOURCE, Collider, Draft
from apsl_backends.learners.small_optima import Optima, SmallGraph
from apsl_backends.scores.bde import BDeu
from apsl_rules.errors import LimitReachedError
from apsl_rules.evidence import Evidence
from apsl_rules.learning import Assembly
from apsl_rules.names import Pair, shown
from apsl_rules.parts import Part
from apsl_rules.plugins import Task, build


@attrs.frozen
class SllOptions:
    """The settings of SLL: the score's ``ess``, how large a best graph may be, and how the graph is put together.

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
            if other != node:
                kept = self._optima.best(kept, (node, other)).neighbours(node)
        return kept

    def _neighbours(self, node: int) -> frozenset[int]:
        """Keep those who find each other (Nbr)."""
        possible = self.possible_neighbours(node)
        return frozenset(other for other in possible if node in self.possible_neighbours(other))

    def _possible_spouses(self, node: int) -> frozenset[int]:
        """Try the neighbours of neighbours one by one (PotSp)."""
        kept: frozenset[int] = frozenset()
        for other in self._beyond(node):
            kept = self._optima.best(self.neighbours(node), kept, (node, other)).spouses(node)
        return kept

    def spouses(self, node: int) -> frozenset[int]:
        """Keep those whom either end finds (Sp)."""
        found = self.possible_spouses(node)
        return found.union(other for other in self._beyond(node) if node in self.possible_spouses(other))

    def _beyond(self, node: int) -> list[int]:
        """Return the neighbours of neighbours that are none themselves, in order; nobody else can be a spouse."""
        around = self.neighbours(node)
        return sorted({other for near in around for other in self.neighbours(near)} - around - {node})

    def blanket_graph(self, node: int) -> SmallGraph:
        """Return the best graph over a node, its neighbours and the spouses that it finds itself."""
        return self._optima.best((node,), self.neighbours(node), self.possible_spouses(node))


def learn_sll(task: Task) -> Part:
    """Learn the whole graph and cut out the asked part."""
    options = build(SllOptions, task.spec.options, f"spec {task.spec.name!r}, options")
    score = task_score(task, options.ess)
    optima = Optima(score, largest=options.largest, limits=task.oracle.within_limits)
    sll = Sll(optima)
    try:
        edges = _edges(score, sll)
        part = _greedy(task, score, options, edges) if options.assembly == "greedy" else _drawn(task, score, sll, edges)
    except LimitReachedError as limit:
        return Assembly(task).part(f"stopped at {limit} before the graph was complete; nothing is learned yet")
    return attrs.evolve(part, notes=(*part.notes, *optima.notes))


def _edges(score: BDeu, sll: Sll) -> dict[Pair, Evidence]:
    edges: dict[Pair, Evidence] = {}
    for node, name in enumerate(score.nodes):
        for other in sorted(sll.neighbours(node)):
            note = "each is a neighbour of the other in the best graphs around them"
            edges[frozenset((name, score.nodes[other]))] = Evidence(SOURCE, note=note)
    return edges


def _greedy(task: Task, score: BDeu, options: SllOptions, edges: dict[Pair, Evidence]) -> Part:
    climb = ClimbOptions(ess=options.ess, tabu=options.tabu, patience=options.patience)
    return climbed_part(task, score, climb, dict.fromkeys(edges, ()))


def _drawn(task: Task, score: BDeu, sll: Sll, edges: dict[Pair, Evidence]) -> Part:
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
    assembly = Assembly(task)
    Draft(names, edges, colliders).tell(assembly, task.target)
    return assembly.part()
