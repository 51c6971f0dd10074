"""What a searched ball tells the rules: edges, gaps, colliders and chains, each with its lead over the best rival.

The closure of these findings under the rules is the pattern of the class that was found, so an arrow has a proof from
scores just as it has one from tests. Tests that were made on the way are told beside the scores.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from apsl_backends.learners.ball import Ball
from apsl_backends.scores.bde import BDeu, Numbers
from apsl_rules.evidence import Evidence, Verdict
from apsl_rules.learning import Assembly
from apsl_rules.names import Node, in_order, shown
from apsl_rules.rules import Finding, Relation, adjacent, chain, collider, gap, settled

if TYPE_CHECKING:
    from apsl_backends.search.families import Book
    from apsl_backends.search.rivals import Rival

Feature: TypeAlias = tuple[Relation, Numbers]
Leads: TypeAlias = "dict[Numbers, Rival | None]"
Tested: TypeAlias = Callable[[Node, Node, bool], tuple[Verdict, ...]]


def leads_of(ball: Ball, *, book: Book, max_parents: int) -> Leads:
    """Find the best rival of each feature of all nodes that are connected with the target."""
    from apsl_backends.search.rivals import rivals

    listed = [nodes for node in ball.distances for _, nodes in _around(ball, node)]
    width = len(ball.found.members)
    opened = np.ones((width, width), np.bool_)
    places = [tuple(ball.place[node] for node in nodes) for nodes in listed]
    return dict(zip(listed, rivals(book, ball.found, opened, max_parents, places), strict=True))


def tell_ball(
    assembly: Assembly, ball: Ball, score: BDeu, leads: Leads, *, tested: Tested, scored: Collection[Node]
) -> None:
    """Tell an assembly of all nodes that are connected with the target, outwards.

    Nodes of the core are visited; what is known of the others comes with the visit that leads to them. ``tested`` gives
    the verdicts behind a pair that is joined, or that is not; ``scored`` are nodes all pairs of which were open to the
    search. A search that ended early settles nobody's neighbours: of pairs that it does not tell nothing is known.
    """
    features = {node: list(_around(ball, node)) for node in ball.distances}
    owned = _owners(ball)
    for visited, nodes in owned.items():
        around = [score.nodes[other] for other in ball.neighbours[visited]]
        told: dict[object, Finding] = {}
        first = Finding(settled.fact(score.nodes[visited]), Evidence(score.name, note=f"{len(around)} neighbours"))
        settles = [first] if ball.found.finished else []
        for node in nodes:
            for relation, places_of in features[node]:
                names = tuple(score.nodes[one] for one in places_of)
                fact = relation.fact(*names)
                if fact not in told and _is_known(relation, leads[places_of]):
                    verdicts = _telling(relation, names, tested(names[0], names[-1], relation is adjacent))
                    told[fact] = Finding(fact, _evidence(score, leads[places_of], verdicts))
        assembly.tell(score.nodes[visited], around, [*settles, *told.values()], scored=scored)


def _is_known(relation: Relation, rival: Rival | None) -> bool:
    """Whether a feature is told: what says that two nodes are apart needs a rival that was looked for."""
    return relation is adjacent or rival is None or rival.sought


def _owners(ball: Ball) -> dict[int, list[int]]:
    """Return the nodes to tell of at each visit: itself, and those outside the core that were reached from it."""
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
    """Return the features at a node: its edges, and its unshielded triples with their gaps."""
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
    if not rival.sought:
        return Evidence(score.name, verdicts, "not compared with rivals", 0.0)
    nats = score.nats(rival.ahead)
    compared = "; ".join(
        f"{shown(score.nodes[one.node])} given {_listed(score, one.ours)} against {_listed(score, one.theirs)}"
        for one in rival.families
    )
    where = "ahead of the best rival" if nats >= 0 else "behind a rival with a pair that is not open to the search"
    return Evidence(score.name, verdicts, f"{abs(nats):.4g} nats {where}: {compared}", nats)


def _listed(score: BDeu, nodes: Numbers) -> str:
    return ", ".join(map(shown, in_order(score.nodes[node] for node in nodes))) or "nothing"
