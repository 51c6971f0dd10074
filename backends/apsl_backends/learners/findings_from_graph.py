"""A learned graph as findings, from which the rules conclude its arrows.

What a score settles is which nodes are adjacent and which unshielded triples collide; all else follows. Each node is
told in turn: its neighbours, and of each pair of them that is not adjacent whether the node is a collider between the
two or not. The closure of these findings under the rules is the CPDAG of the graph.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from itertools import combinations
from typing import Literal, TypeAlias

import attrs

from apsl_backends.scores.bde import BDeu
from apsl_rules.evidence import Evidence, Verdict
from apsl_rules.graphs import Dag, cpdag
from apsl_rules.names import Node, Pair, in_order, shown
from apsl_rules.plugins import Visited
from apsl_rules.rules import Finding, adjacent, arrow, chain, collider, gap, settled

Collider: TypeAlias = tuple[Pair, Node]
Output: TypeAlias = Literal["cpdag", "dag"]

SOURCE = "BDeu"


@attrs.frozen(slots=False, eq=False)
class Draft:
    """What a search settled: the edges, the pairs of nodes that are apart and point at a third one, and why.

    ``arrows`` are drawn as they are, whether or not they follow from the colliders: those of a method that believes in
    one graph of many. ``untested`` are pairs that the search could not join because no test could make them candidates.
    """

    nodes: tuple[Node, ...]
    edges: Mapping[Pair, Evidence]
    colliders: Mapping[Collider, Evidence]
    arrows: Mapping[tuple[Node, Node], Evidence] = attrs.field(factory=dict)
    untested: Collection[Pair] = frozenset()

    @cached_property
    def neighbours(self) -> Mapping[Node, tuple[Node, ...]]:
        """Return the neighbours of each node by name."""
        found: dict[Node, list[Node]] = {node: [] for node in self.nodes}
        for pair in self.edges:
            x, y = pair
            found[x].append(y)
            found[y].append(x)
        return {node: in_order(others) for node, others in found.items()}

    def findings_at(self, node: Node) -> list[Finding]:
        """Return all that is to be told of a node."""
        around = self.neighbours[node]
        found = [Finding(settled.fact(node), Evidence(SOURCE, note=neighbour_count(len(around))))]
        for other in around:
            found.append(Finding(adjacent.fact(node, other), self.edges[frozenset((node, other))]))
            for tail, head in ((node, other), (other, node)):
                if (tail, head) in self.arrows:
                    found.append(Finding(arrow.fact(tail, head), self.arrows[tail, head]))
        for x, y in combinations(around, 2):
            if frozenset((x, y)) not in self.edges and frozenset((x, y)) not in self.untested:
                found.append(Finding(gap.fact(x, y), _APART))
                known = self.colliders.get((frozenset((x, y)), node))
                relation = chain if known is None else collider
                found.append(Finding(relation.fact(x, node, y), known or _NO_COLLIDER))
        return found

    def visits(self, target: Node) -> list[Visited]:
        """Return the visits to all nodes: outwards from the target, then those not connected with it by name."""
        order = outwards(self.neighbours, target)
        return [Visited(node, self.neighbours[node], tuple(self.findings_at(node))) for node in order]


_APART = Evidence(SOURCE, note="not joined")
_NO_COLLIDER = Evidence(SOURCE, note="they do not both point at it")


def neighbour_count(number: int) -> str:
    """Say how many neighbours there are."""
    return f"{number} neighbour{'' if number == 1 else 's'}"


def outwards(neighbours: Mapping[Node, Collection[Node]], target: Node) -> Iterator[Node]:
    """Walk outwards from a node, equally distant ones by name, and then to all that is not connected with it."""
    seen = {target}
    layer: tuple[Node, ...] = (target,)
    while layer:
        yield from layer
        ahead = {other for node in layer for other in neighbours[node]} - seen
        seen |= ahead
        layer = in_order(ahead)
    yield from in_order(set(neighbours) - seen)


def draft_of(
    dag: Dag,
    score: BDeu,
    *,
    tested: Mapping[Pair, tuple[Verdict, ...]] | None = None,
    untested: Collection[Pair] = frozenset(),
    output: Output = "cpdag",
) -> Draft:
    """Draft a graph that a search found: each edge with what the graph would lose without it.

    ``tested`` holds the verdicts behind edges, if there are any, ``untested`` the pairs that were no candidates because
    no test could tell. With the output "dag" every arrow of the graph is
    drawn, also one that graphs with the same score have the other way round.
    """
    losses = {(tail, head): _loss(score, dag, tail, head) for tail, head in dag.edges}
    edges: dict[Pair, Evidence] = {}
    for (tail, head), loss in losses.items():
        note = f"the best graph scores {loss:.4g} nats less without {shown(tail)} -> {shown(head)}"
        edges[frozenset((tail, head))] = Evidence(SOURCE, (tested or {}).get(frozenset((tail, head)), ()), note)
    colliders: dict[Collider, Evidence] = {}
    for middle in dag.nodes:
        for x, y in combinations(in_order(dag.parents_of(middle)), 2):
            if frozenset((x, y)) not in edges:
                note = (
                    f"the best graph scores {losses[x, middle]:.4g} nats less without {shown(x)} -> {shown(middle)}, "
                    f"{losses[y, middle]:.4g} without {shown(y)} -> {shown(middle)}"
                )
                colliders[frozenset((x, y)), middle] = Evidence(SOURCE, note=note)
    return Draft(dag.nodes, edges, colliders, _drawn(dag) if output == "dag" else {}, untested)


def _drawn(dag: Dag) -> dict[tuple[Node, Node], Evidence]:
    compelled = cpdag(dag).arrows
    ways = {
        True: "drawn so in every graph that scores the same",
        False: "drawn so in the graph found, the other way round in others that score the same",
    }
    return {one: Evidence(SOURCE, note=ways[one in compelled]) for one in dag.edges}


def _loss(score: BDeu, dag: Dag, tail: Node, head: Node) -> float:
    """Return the nats that the family of a node loses without one parent."""
    parents = dag.parents_of(head)
    return score.family(head, parents) - score.family(head, [one for one in parents if one != tail])
