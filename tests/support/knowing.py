"""Background knowledge for tests: true knowledge drawn from a graph, and what it leaves open, by brute force."""

from __future__ import annotations

from itertools import combinations, product
from random import Random

from apsl_rules.graphs.dag import Dag
from apsl_rules.graphs.equivalence import Cpdag
from apsl_rules.knowledge import Knowledge
from apsl_rules.names import Node
from support.graphs import acyclic, colliders_of


def drawn_knowledge(dag: Dag, random: Random, share: float) -> Knowledge:
    """Draw true knowledge: some of the arrows, of the reversed ones, of the gaps, and tiers that fit the graph."""

    def some(pairs: list[tuple[Node, Node]]) -> list[tuple[Node, Node]]:
        return [pair for pair in pairs if random.random() < share]

    arrows = sorted(dag.edges, key=repr)
    gaps = [pair for pair in combinations(dag.nodes, 2) if not {pair, pair[::-1]} & dag.edges]
    tiers: list[list[Node]] = []
    if random.random() < share:
        for node in dag.topological_order:
            if not tiers or random.random() < 0.3:
                tiers.append([])
            is_caused = any((cause, node) in dag.edges for cause in {*dag.nodes}.difference(tiers[0]))
            if random.random() < 0.8 and (len(tiers) > 1 or not is_caused):  # nothing outside causes the first tier
                tiers[-1].append(node)
    within = [
        number
        for number, tier in enumerate(tiers, start=1)
        if not any(edge in dag.edges for edge in product(tier, repeat=2)) and random.random() < 0.5
    ]
    return Knowledge(
        required=some(arrows),
        forbidden=[*some([(head, tail) for tail, head in arrows]), *some(gaps)],
        tiers=tiers,
        apart=some(gaps),
        apart_within=within,
    )


def brute_force_known(dag: Dag, knowledge: Knowledge) -> Cpdag:
    """Turn the edges in all ways; what all allowed graphs with the same colliders share is an arrow."""
    edges = sorted(dag.edges, key=repr)
    colliders = colliders_of(dag)
    shared = set(edges)
    for turns in product((False, True), repeat=len(edges)):
        arrows = {(y, x) if turned else (x, y) for (x, y), turned in zip(edges, turns, strict=True)}
        if not arrows.issuperset(knowledge.required) or not arrows.isdisjoint(knowledge.forbidden):
            continue
        if _goes_back(arrows, knowledge):
            continue
        other = acyclic(dag.nodes, arrows)
        if other is not None and colliders_of(other) == colliders:
            shared &= arrows
    return Cpdag(dag.nodes, frozenset(shared), frozenset(frozenset(edge) for edge in edges if edge not in shared))


def _goes_back(arrows: set[tuple[Node, Node]], knowledge: Knowledge) -> bool:
    """Return whether an arrow goes from a later tier to an earlier one, or from a node in no tier to the first."""
    tier = {node: number for number, tier in enumerate(knowledge.tiers) for node in tier}
    return any(tier.get(tail, 0.5) > tier.get(head, 1e9) for tail, head in arrows)
