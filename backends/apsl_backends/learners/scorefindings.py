"""What a searched ball tells the rules: edges, gaps, colliders and chains, each with its lead over the best rival.

The closure of these findings under the rules is the pattern of the class that was found, so an arrow has a proof from
scores just as it has one from tests. Tests that were made on the way are told beside the scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from apsl_backends.learners.ball import Ball
from apsl_backends.scores.bdeu import BDeu, Numbers
from apsl_rules.assembly import Assembly
from apsl_rules.facts import Evidence, Finding, Relation, adjacent, chain, collider, gap, settled
from apsl_rules.names import Node, shown
from apsl_rules.oracle import Verdict

if TYPE_CHECKING:
    from apsl_backends.search.families import Book
    from apsl_backends.search.rivals import Rival

Feature: TypeAlias = tuple[Relation, Numbers]
Tested: TypeAlias = Callable[[Node, Node, bool], tuple[Verdict, ...]]


def tell_ball(assembly: Assembly, ball: Ball, score: BDeu, *, book: Book, max_parents: int, tested: Tested) -> None:
    """Tell an assembly of all nodes that are connected with the target, outwards.

    Nodes of the core are visited; what is known of the others comes with the visit that leads to them. ``tested`` gives
    the verdicts behind a pair that is joined, or that is not.
    """
    from apsl_backends.search.rivals import rivals

    features = {node: list(_around(ball, node)) for node in ball.distances}
    listed = [nodes for node in features for _, nodes in features[node]]
    width = len(ball.found.members)
    opened = np.ones((width, width), np.bool_)
    places = [tuple(ball.place[node] for node in nodes) for nodes in listed]
    leads = dict(zip(listed, rivals(book, ball.found, opened, max_parents, places), strict=True))
    owned = _owners(ball)
    for visited, nodes in owned.items():
        around = [score.nodes[other] for other in ball.neighbours[visited]]
        told: dict[object, Finding] = {}
        note = f"{len(around)} neighbours"
        first = Finding(settled.fact(score.nodes[visited]), Evidence(score.name, note=note))
        for node in nodes:
            for relation, places_of in features[node]:
                names = tuple(score.nodes[one] for one in places_of)
                fact = relation.fact(*names)
                if fact not in told:
                    verdicts = _telling(relation, names, tested(names[0], names[-1], relation is adjacent))
                    told[fact] = Finding(fact, _evidence(score, leads[places_of], verdicts))
        assembly.tell(score.nodes[visited], around, [first, *told.values()])


def _owners(ball: Ball) -> dict[int, list[int]]:
    """Give the nodes to tell of at each visit: itself, and those outside the core that were reached from it."""
    owner: dict[int, int] = {}
    for node in ball.distances:
        if node in ball.core:
            owner[node] = node
        else:
            nearer = [one for one in ball.neighbours[node] if one in owner]
            owner[node] = owner[min(nearer, key=ball.distances.__getitem__)]
    owned: dict[int, list[int]] = {node: [] for node in ball.distances if node in ball.core}
    for node, visited in owner.items():
        owned[visited].append(node)
    return owned


def _around(ball: Ball, node: int) -> Iterator[Feature]:
    """Give the features at a node: its edges, and its unshielded triples with their gaps."""
    marks, place = ball.found.marks, ball.place
    around = ball.neighbours[node]
    for other in around:
        yield adjacent, (min(node, other), max(node, other))
    for x, y in combinations(around, 2):
        if y not in ball.neighbours[x]:
            yield gap, (x, y)
            at, first, last = place[node], place[x], place[y]
            kind = chain if marks[at, first] or marks[at, last] else collider
            yield kind, (x, node, y)


def _telling(relation: Relation, names: tuple[Node, ...], verdicts: tuple[Verdict, ...]) -> tuple[Verdict, ...]:
    """Keep the verdicts that speak for a feature: those on the ends of a triple with its middle given or not."""
    if relation in (adjacent, gap):
        return verdicts
    return tuple(verdict for verdict in verdicts if (names[1] in verdict.given) == (relation is chain))


def _evidence(score: BDeu, rival: Rival | None, verdicts: tuple[Verdict, ...]) -> Evidence:
    if rival is None:
        return Evidence(score.name, verdicts, "no rival is allowed")
    nats = score.nats(rival.ahead)
    compared = "; ".join(
        f"{shown(score.nodes[one.node])} given {_listed(score, one.ours)} against {_listed(score, one.theirs)}"
        for one in rival.families
    )
    where = "ahead of the best rival" if nats >= 0 else "behind a rival with a pair that is not open to the search"
    return Evidence(score.name, verdicts, f"{abs(nats):.4g} nats {where}: {compared}", nats)


def _listed(score: BDeu, nodes: Numbers) -> str:
    return ", ".join(shown(score.nodes[node]) for node in nodes) or "nothing"
