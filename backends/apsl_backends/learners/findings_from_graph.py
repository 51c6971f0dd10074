"""A learned graph as findings, from which the rules conclude its arrows.

A score decides which nodes are adjacent and which unshielded triples are V-structures; the rest follows. The findings
at a node are its neighbours and, for each pair of them that is not adjacent, whether the node is a collider between
them. The closure of these findings under the rules is the CPDAG of the graph.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from itertools import combinations
from typing import Literal, TypeAlias

import attrs

from apsl_backends.scores.bde import BDeu
from apsl_backends.scores.missing_values import pays_too_little, seen_too_rarely
from apsl_rules.evidence import Evidence, Verdict
from apsl_rules.graphs import Dag, cpdag
from apsl_rules.names import Node, Pair, count_of, in_order, shown
from apsl_rules.plugins import Visited
from apsl_rules.rules import Finding, adjacent, arrow, chain, collider, gap, settled, untested

Collider: TypeAlias = tuple[Pair, Node]
Output: TypeAlias = Literal["cpdag", "dag"]

SOURCE = "BDeu"


@attrs.frozen(slots=False, eq=False)
class Draft:
    """The result of a search: the edges and the V-structures, each with its evidence.

    ``arrows`` are reported even if they do not follow from the V-structures: those of a method that returns one of many
    equivalent graphs. ``untested`` are pairs that the search could not join because no reliable test was possible, and
    ``unknown`` those that too few rows speak for, each with the reason; they have no edge.
    """

    nodes: tuple[Node, ...]
    edges: Mapping[Pair, Evidence]
    colliders: Mapping[Collider, Evidence]
    arrows: Mapping[tuple[Node, Node], Evidence] = attrs.field(factory=dict)
    untested: Collection[Pair] = frozenset()
    unknown: Mapping[Pair, Evidence] = attrs.field(factory=dict)

    @cached_property
    def neighbours(self) -> Mapping[Node, tuple[Node, ...]]:
        """Return the neighbours of each node by name."""
        found: dict[Node, list[Node]] = {node: [] for node in self.nodes}
        for x, y in self.edges.keys() - self.unknown.keys():
            found[x].append(y)
            found[y].append(x)
        return {node: in_order(others) for node, others in found.items()}

    def findings_at(self, node: Node) -> list[Finding]:
        """Return all findings at a node."""
        around = self.neighbours[node]
        found = [Finding(settled.fact(node), Evidence(SOURCE, note=count_of(len(around), "neighbour")))]
        for other in around:
            found.append(Finding(adjacent.fact(node, other), self.edges[frozenset((node, other))]))
            for tail, head in ((node, other), (other, node)):
                if (tail, head) in self.arrows:
                    found.append(Finding(arrow.fact(tail, head), self.arrows[tail, head]))
        found += [Finding(untested.fact(*pair), why) for pair, why in self.unknown.items() if node in pair]
        for x, y in combinations(around, 2):
            pair = frozenset((x, y))
            if not any(pair in some for some in (self.edges, self.untested, self.unknown)):
                found.append(Finding(gap.fact(x, y), _APART))
                known = self.colliders.get((pair, node))
                relation = chain if known is None else collider
                found.append(Finding(relation.fact(x, node, y), known or _NO_COLLIDER))
        return found

    def visits(self, target: Node) -> list[Visited]:
        """Return the visits to all nodes: by distance from the target, then those not connected with it by name."""
        order = outwards(self.neighbours, target)
        return [Visited(node, self.neighbours[node], tuple(self.findings_at(node))) for node in order]


_APART = Evidence(SOURCE, note="not adjacent")
_NO_COLLIDER = Evidence(SOURCE, note="they do not both point at it")


def outwards(neighbours: Mapping[Node, Collection[Node]], target: Node) -> Iterator[Node]:
    """Return the nodes by distance from a node and by name; those not connected with it come last."""
    seen = {target}
    layer: tuple[Node, ...] = (target,)
    while layer:
        yield from layer
        ahead = {other for node in layer for other in neighbours[node]} - seen
        seen |= ahead
        layer = in_order(ahead)
    yield from in_order(set(neighbours) - seen)


def unseen(score: BDeu) -> dict[Pair, Evidence]:
    """Return the pairs of columns that are seen together in too few rows to score them, each with the reason."""
    return {pair: seen_too_rarely(rows) for pair, rows in score.together.too_few_among(score.nodes).items()}


def unpaid(score: BDeu, dag: Dag) -> dict[Pair, Evidence]:
    """Return the edges of a graph that the rows with both of their ends do not pay for, where values are missing."""
    if score.together.is_complete(score.nodes):
        return {}
    edges = [(tail, head, [one for one in dag.parents_of(head) if one != tail]) for tail, head in dag.edges]
    found: dict[Pair, Evidence] = {}
    for (tail, head, given), rows in zip(edges, score.together.behind(edges), strict=True):
        if not score.pays(score.number[head], score.numbers(given), score.number[tail], rows):
            found[frozenset((tail, head))] = pays_too_little(rows)
    return found


def draft_of(
    dag: Dag,
    score: BDeu,
    *,
    tested: Mapping[Pair, tuple[Verdict, ...]] | None = None,
    untested: Collection[Pair] = frozenset(),
    unknown: Mapping[Pair, Evidence] | None = None,
    output: Output = "cpdag",
) -> Draft:
    """Return the draft of a graph that a search found: each edge with the loss of score without it.

    ``tested`` holds the verdicts behind edges, if there are any, ``untested`` the pairs that were no candidates because
    no reliable test was possible, and ``unknown`` those that are seen together in too few rows. With the output "dag"
    every arrow of the graph is reported, even if equivalent graphs have its reverse.
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
    doubtful = {**(unknown or {}), **unpaid(score, dag)}
    return Draft(dag.nodes, edges, colliders, _arrows_of(dag) if output == "dag" else {}, untested, doubtful)


def _arrows_of(dag: Dag) -> dict[tuple[Node, Node], Evidence]:
    compelled = cpdag(dag).arrows
    notes = {
        True: "an arrow of every graph with the same score",
        False: "an arrow of the graph found; other graphs with the same score have its reverse",
    }
    return {one: Evidence(SOURCE, note=notes[one in compelled]) for one in dag.edges}


def _loss(score: BDeu, dag: Dag, tail: Node, head: Node) -> float:
    """Return the loss of a node's score without one parent, in nats."""
    parents = dag.parents_of(head)
    return score.family(head, parents) - score.family(head, [one for one in parents if one != tail])
