"""Small known graphs for tests, and slow but obvious references to check the fast code against."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from itertools import combinations, product

import numpy as np

from apsl_rules.errors import GraphError
from apsl_rules.graphs.dag import Dag
from apsl_rules.graphs.equivalence import Cpdag
from apsl_rules.names import Node


def dag_of(arrows: str, *, order: str = "") -> Dag:
    """Make a graph from text such as "a->b b->c"; nodes come in the given order, others as first mentioned."""
    pairs = [tuple(arrow.split("->")) for arrow in arrows.split()]
    nodes = dict.fromkeys([*order, *(node for pair in pairs for node in pair)])
    return Dag({node: [x for x, y in pairs if y == node] for node in nodes})


def arrows_of(text: str) -> frozenset[tuple[Node, Node]]:
    """Read arrows such as "a->b b->c"."""
    return frozenset((x, y) for x, y in (arrow.split("->") for arrow in text.split()))


def cpdag_of(dag: Dag, *, lines: str = "") -> Cpdag:
    """Make the CPDAG of a graph in which the named edges, such as "a-b b-c", are lines and all others arrows."""
    pairs = frozenset(frozenset[Node](line.split("-")) for line in lines.split())
    return Cpdag(dag.nodes, frozenset(edge for edge in dag.edges if frozenset(edge) not in pairs), pairs)


#: The micro-networks N1 to N8: each shows one way in which local learning can go wrong.
MICRO: dict[str, Dag] = {
    "N1": dag_of("a->b a->t b->c b->t c->t"),
    "N2": dag_of("a->t b->t a->z b->z t->z"),
    "N3": dag_of("T->A B->A A->X B->X"),
    "N4": dag_of("X->W W->Y B->W B->Y X->A Y->A"),
    "N5": dag_of("4->3 4->5 1->3 1->2 3->0 3->5 0->5 0->2 5->2", order="012345"),
    "N6": dag_of("X->A W->A X->Z W->Z V->Z Z->A"),
    "N7": dag_of("P->T Q->T T->C"),
    "N8": dag_of("A->B A->C B->D C->D D->E"),
}

#: What independences alone can tell of each of them.
MICRO_CPDAG: dict[str, Cpdag] = {
    "N1": cpdag_of(MICRO["N1"], lines="a-b b-c"),
    "N2": cpdag_of(MICRO["N2"], lines="t-z"),
    "N3": cpdag_of(MICRO["N3"]),
    "N4": cpdag_of(MICRO["N4"]),
    "N5": cpdag_of(MICRO["N5"]),
    "N6": cpdag_of(MICRO["N6"]),
    "N7": cpdag_of(MICRO["N7"]),
    "N8": cpdag_of(MICRO["N8"], lines="A-B A-C"),
}


def all_dags(n: int) -> Iterator[Dag]:
    """Enumerate all labelled graphs on the nodes 0 to n-1; there are 543 for n = 4."""
    pairs = list(combinations(range(n), 2))
    for choice in product((None, False, True), repeat=len(pairs)):
        chosen = zip(pairs, choice, strict=True)
        arrows = {(y, x) if turned else (x, y) for (x, y), turned in chosen if turned is not None}
        if (dag := acyclic(tuple(range(n)), arrows)) is not None:
            yield dag


def random_dag(seed: int, nodes: int, mean_degree: float) -> Dag:
    """Draw a sparse graph on "v000", "v001", ... whose hidden topological order is random."""
    random = np.random.default_rng(seed)
    names = [f"v{number:03d}" for number in range(nodes)]
    hidden = random.permutation(nodes)
    possible = nodes * (nodes - 1) // 2
    wanted = min(possible, round(nodes * mean_degree / 2))
    parents: dict[Node, list[Node]] = {name: [] for name in names}
    arrows: set[tuple[int, int]] = set()
    while len(arrows) < wanted:
        early, late = sorted(random.integers(nodes, size=2).tolist())
        if early < late and (early, late) not in arrows:
            arrows.add((early, late))
            parents[names[hidden[late]]].append(names[hidden[early]])
    return Dag(parents)


def brute_force_cpdag(dag: Dag) -> Cpdag:
    """Turn the edges of a small graph in all ways; what all graphs with the same colliders share is an arrow."""
    edges = sorted(dag.edges, key=repr)
    colliders = colliders_of(dag)
    shared = set(edges)
    for turns in product((False, True), repeat=len(edges)):
        arrows = {(y, x) if turned else (x, y) for (x, y), turned in zip(edges, turns, strict=True)}
        other = acyclic(dag.nodes, arrows)
        if other is not None and colliders_of(other) == colliders:
            shared &= arrows
    return Cpdag(dag.nodes, frozenset(shared), frozenset(frozenset(edge) for edge in edges if edge not in shared))


def acyclic(nodes: tuple[Node, ...], arrows: AbstractSet[tuple[Node, Node]]) -> Dag | None:
    """Make a graph of arrows, unless they go in a circle."""
    try:
        return Dag({node: {x for x, y in arrows if y == node} for node in nodes})
    except GraphError:
        return None


def colliders_of(dag: Dag) -> set[tuple[Node, frozenset[Node]]]:
    """Return the V-structures of a graph: each middle with its two unconnected parents."""
    return {
        (node, frozenset((x, y)))
        for node in dag.nodes
        for x, y in combinations(dag.parents_of(node), 2)
        if x not in dag.neighbours_of(y)
    }
