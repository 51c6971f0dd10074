"""Findings from a searched ball: edges, gaps, colliders and chains, each with its lead over the best rival.

The closure of these findings under the rules is the pattern of the class that was found, so an arrow has a proof from
scores just as it has one from tests. Verdicts of tests are reported together with the scores.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from apsl_backends.learners.ball import Ball
from apsl_backends.search.rounds import CLOSED, OPEN, REQUIRED, Found
from apsl_rules.evidence import Evidence, Verdict
from apsl_rules.names import Node, count_of, in_order, shown
from apsl_rules.plugins import Visited
from apsl_rules.rules import Fact, Finding, Knowledge, Relation, adjacent, chain, collider, gap, settled

if TYPE_CHECKING:
    from apsl_backends.search.rivals import Rival

Feature: TypeAlias = tuple[Relation, tuple[Node, ...]]
Leads: TypeAlias = "dict[tuple[Node, ...], Rival | None]"
Tested: TypeAlias = Callable[[Node, Node, bool], tuple[Verdict, ...]]

#: The lead in nats from which evidence against background knowledge is reported: odds of 150 to 1, very strong evidence
#: on the scale of Kass and Raftery (1995).
AGAINST_KNOWLEDGE = 5.0


def find_leads(ball: Ball, max_parents: int, *, compare: bool) -> Leads:
    """Find the best rival for each feature of all nodes that are connected with the target, or seek none."""
    from apsl_backends.search.rivals import Rival

    listed = [nodes for node in ball.distances for _, nodes in _around(ball, ball.found, node)]
    if not compare:
        return dict.fromkeys(listed, Rival(0, (), sought=False))
    return _compare(ball, ball.found, listed, max_parents)


def _compare(ball: Ball, found: Found, features: Iterable[tuple[Node, ...]], max_parents: int) -> Leads:
    from apsl_backends.search.rivals import rivals

    listed = list(features)
    width = len(found.members)
    places = [tuple(ball.place[node] for node in nodes) for nodes in listed]
    everything = np.full((width, width), OPEN, np.uint8)
    return dict(zip(listed, rivals(ball.score.families, found, everything, max_parents, places), strict=True))


def visits_of(ball: Ball, core: Collection[Node], leads: Leads, *, tested: Tested, scored: Collection[Node],
              against: Mapping[Fact, Finding]) -> list[Visited]:  # fmt: skip
    """Return the visits that report a ball: all nodes that are connected with the target, by distance.

    Nodes of the core are visited; the findings at the others belong to the visit that leads to them. ``tested`` returns
    the verdicts for a pair that is adjacent, or that is not. ``scored`` are nodes whose pairs were all open to the
    search. A search that ended early settles no neighbours: nothing is known of pairs that it does not report.
    ``against`` are the findings that contradict background knowledge.
    """
    visits = []
    left = dict(against)
    for visited, nodes in _owners(ball, core).items():
        around = ball.neighbours[visited]
        told: dict[Fact, Finding] = {}
        if ball.found.finished:
            fact = settled.fact(visited)
            told[fact] = Finding(fact, Evidence(ball.score.name, note=count_of(len(around), "neighbour")))
        for node in nodes:
            for relation, names in _around(ball, ball.found, node):
                fact = relation.fact(*names)
                if fact not in told and _is_told(relation, leads[names]):
                    verdicts = _supporting(relation, names, tested(names[0], names[-1], relation is adjacent))
                    told[fact] = Finding(fact, _evidence(ball, leads[names], verdicts))
        for fact in [one for one in left if visited in one.nodes]:
            told.setdefault(fact, left.pop(fact))
        visits.append(Visited(visited, around, tuple(told.values()), frozenset(scored)))
    return visits


def find_contradictions(
    ball: Ball, core: Collection[Node], knowledge: Knowledge, max_parents: int
) -> dict[Fact, Finding]:
    """Return the findings that contradict background knowledge, if graphs without it are far ahead.

    These are edges between nodes that must not be adjacent, and V-structures with a forbidden arrow.
    """
    apart = [
        (node, other)
        for node in core
        for other in ball.members
        if node != other and knowledge.why_apart(node, other) is not None
    ]
    found: dict[Fact, Finding] = {}
    for pair, lead in _compare(ball, ball.found, apart, max_parents).items():
        if lead is not None and lead.sought and ball.score.nats(-lead.ahead) >= AGAINST_KNOWLEDGE:
            nats = ball.score.nats(-lead.ahead)
            note = f"a graph with this edge is {nats:.4g} nats ahead"
            found[adjacent.fact(*pair)] = Finding(adjacent.fact(*pair), Evidence(ball.score.name, (), note, nats))
    if ball.score.nats(ball.free.gain - ball.found.gain) < AGAINST_KNOWLEDGE:
        return found
    wrong = [
        names
        for node in core
        for relation, names in _around(ball, ball.free, node)
        if relation is collider and any(_is_excluded(ball, end, names[1]) for end in (names[0], names[2]))
    ]
    for names, lead in _compare(ball, ball.free, wrong, max_parents).items():
        x, middle, y = names
        facts = (collider.fact(*names), adjacent.fact(x, middle), adjacent.fact(middle, y))
        for fact in facts:
            found.setdefault(fact, Finding(fact, _evidence(ball, lead, ())))
    return found


def _is_excluded(ball: Ball, tail: Node, head: Node) -> bool:
    at, to = ball.place[tail], ball.place[head]
    return bool(ball.allowed[at, to] == CLOSED or ball.allowed[to, at] == REQUIRED)


def _is_told(relation: Relation, rival: Rival | None) -> bool:
    """Return whether a feature is reported: gaps and triples only if a rival was sought."""
    return relation is adjacent or rival is None or rival.sought


def _owners(ball: Ball, core: Collection[Node]) -> dict[Node, list[Node]]:
    """Return the nodes to report at each visit: itself, and those outside the core that were reached from it."""
    owner: dict[Node, Node] = {}
    for node in ball.distances:
        if node in core:
            owner[node] = node
        else:
            nearer = [one for one in ball.connected_to(node) if one in owner]
            owner[node] = owner[min(nearer, key=ball.distances.__getitem__)]
    owned: dict[Node, list[Node]] = {node: [] for node in ball.distances if node in core}
    for node, visited in owner.items():
        owned[visited].append(node)
    return owned


def _around(ball: Ball, found: Found, node: Node) -> Iterator[Feature]:
    """Yield the features at a node: its edges, and its unshielded triples with their gaps."""
    marks, place = found.marks, ball.place
    at = place[node]
    joined = np.flatnonzero((marks[at] > 0) | (marks[:, at] > 0)).tolist()
    around = in_order(ball.members[other] for other in joined)
    for other in around:
        x, y = in_order((node, other))
        yield adjacent, (x, y)
    for x, y in combinations(around, 2):
        first, last = place[x], place[y]
        if not marks[first, last] and not marks[last, first]:
            yield gap, (x, y)
            yield chain if marks[at, first] or marks[at, last] else collider, (x, node, y)


def _supporting(relation: Relation, names: tuple[Node, ...], verdicts: tuple[Verdict, ...]) -> tuple[Verdict, ...]:
    """Return the verdicts that support a feature: for a chain those given its middle, for a collider the others."""
    if relation in (adjacent, gap):
        return verdicts
    return tuple(verdict for verdict in verdicts if (names[1] in verdict.given) == (relation is chain))


def _evidence(ball: Ball, rival: Rival | None, verdicts: tuple[Verdict, ...]) -> Evidence:
    score = ball.score
    if rival is None:
        return Evidence(score.name, verdicts, "no rival is allowed")
    if not rival.sought:
        return Evidence(score.name, verdicts, "not compared with rivals", 0.0)
    nats = score.nats(rival.ahead)
    compared = "; ".join(
        f"{shown(score.nodes[one.node])} given {_listed(ball, one.ours)} against {_listed(ball, one.theirs)}"
        for one in rival.families
    )
    where = "ahead of the best rival" if nats >= 0 else "behind a rival that was not open to the search"
    return Evidence(score.name, verdicts, f"{abs(nats):.4g} nats {where}: {compared}", nats)


def _listed(ball: Ball, numbers: Iterable[int]) -> str:
    return ", ".join(map(shown, in_order(ball.score.nodes[number] for number in numbers))) or "nothing"
