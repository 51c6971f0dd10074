"""Findings from a searched ball: edges, gaps, colliders and chains, each with its lead over the best rival.

The closure of these findings under the rules is the pattern of the class that was found, so an arrow has a proof from
scores just as it has one from tests. Verdicts of tests are reported together with the scores.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from apsl_backends.learners.ball import Ball, UnplacedEdges
from apsl_backends.scores.columns import seen_too_rarely
from apsl_backends.search.rounds import CLOSED, NEAR, OPEN, REQUIRED, Found
from apsl_rules.evidence import Evidence, Verdict, times
from apsl_rules.knowledge import Knowledge
from apsl_rules.names import Node, Pair, count_of, shown
from apsl_rules.plugins import Visited
from apsl_rules.rules import (
    Fact,
    Finding,
    Relation,
    adjacent,
    chain,
    collider,
    gap,
    instead,
    left_open,
    settled,
    untested,
)

if TYPE_CHECKING:
    from apsl_backends.search.rounds import Rival

Feature: TypeAlias = tuple[Relation, Fact]
Features: TypeAlias = Mapping[Node, Sequence[Feature]]
Leads: TypeAlias = "dict[tuple[Node, ...], Rival | None]"
#: The evidence for an edge between two nodes, as it counts where rows of a group vary together.
Doubted: TypeAlias = Callable[[Node, Node, Evidence], Evidence]
Tested: TypeAlias = Callable[[Node, Node, bool], tuple[Verdict, ...]]

#: The lead in nats from which evidence against background knowledge is reported: odds of 150 to 1, very strong evidence
#: on the scale of Kass and Raftery (1995).
AGAINST_KNOWLEDGE = 5.0


def features_of(ball: Ball) -> Features:
    """Return the features at each node that is told."""
    return _features_at(ball, ball.found, ball.told)


def find_leads(ball: Ball, features: Features, max_parents: int, *, compare: bool) -> Leads:
    """Find the best rival for each feature, or seek none."""
    from apsl_backends.search.rounds import Rival

    listed = list(dict.fromkeys(fact.nodes for around in features.values() for _, fact in around))
    if not compare:
        return dict.fromkeys(listed, Rival(0, (), sought=False))
    return _compare(ball, ball.found, listed, max_parents)


def _compare(ball: Ball, found: Found, features: Iterable[tuple[Node, ...]], max_parents: int) -> Leads:
    from apsl_backends.search.rounds import rivals

    listed = list(features)
    width = len(found.members)
    places = [tuple(ball.place[node] for node in nodes) for nodes in listed]
    everything = np.full((width, width), OPEN, np.uint8)
    return dict(zip(listed, rivals(ball.score.handle, found, everything, max_parents, places), strict=True))


def visits_of(ball: Ball, core: Collection[Node], features: Features, leads: Leads, *, tested: Tested,
              scored: Collection[Node], against: Mapping[Fact, Finding], duplicates: Mapping[Node, tuple[Node, ...]],
              absent: Mapping[Pair, Finding] | None = None, near: Sequence[Finding] = (),
              doubted: Doubted | None = None) -> list[Visited]:  # fmt: skip
    """Return the visits that report a ball: its nodes that are told, by distance from the target.

    Nodes of the core are visited; the findings at the others belong to the visit that leads to them. ``tested`` returns
    the verdicts for a pair that is adjacent, or that is not. ``scored`` are nodes whose pairs were all open to the
    search. A search that ended early settles no neighbours: nothing is known of pairs that it does not report.
    ``against`` are the findings that contradict background knowledge. No data can tell which of several ``duplicates``
    has an edge: pairs with one of them are not told as gaps if another one has an edge there. Pairs that too few rows
    speak for are told as untested. ``absent`` says what stands for each missing edge, where that was asked: then a gap
    is told only with a witness, and no triple whose ends are left open. ``near`` are near ties. ``doubted`` returns the
    evidence for an edge as it counts where rows of a group vary together.
    """
    visits = []
    unplaced = UnplacedEdges(ball, duplicates)
    left = dict(against)
    words = _Words(ball)
    everyone = frozenset(scored)
    missing = _missing_by_node(absent or {})
    for visited, nodes in _owners(ball, core).items():
        around = ball.neighbours[visited]
        told: dict[Fact, Finding] = {}
        if ball.found.finished and (absent is None or absent or len(ball.members) - 1 == len(around)):
            fact = settled.fact(visited)
            told[fact] = Finding(fact, Evidence(ball.score.name, note=count_of(len(around), "neighbour")))
        told |= {one.fact: _with_test(one, tested) for one in _unknown_at(ball, visited, nodes)}
        for node in nodes:
            told |= {one.fact: one for one in unplaced.at(node)}
            for relation, fact in features[node]:
                names = fact.nodes
                if fact in told or (relation is not adjacent and unplaced.is_open(names[0], names[-1])):
                    continue
                witness = None if absent is None else absent.get(frozenset((names[0], names[-1])))
                if not _is_told(relation, leads[names], absent is None or _is_gap(witness)):
                    continue
                verdicts = tested(names[0], names[-1], relation is adjacent)
                if relation is not adjacent and witness is not None:
                    verdicts = (*(verdicts if relation is not gap else ()), *witness.evidence.verdicts)
                verdicts = _supporting(relation, names, verdicts)
                evidence = words.evidence(leads[names], verdicts)
                if doubted is not None and relation is adjacent:
                    evidence = doubted(names[0], names[1], evidence)
                told[fact] = Finding(fact, evidence)
        told |= {one.fact: one for one in _of_missing(missing, nodes) if one.fact not in told}
        told |= {one.fact: one for one in near if one.fact.nodes[0] == visited}
        for fact in [one for one in left if visited in one.nodes]:
            told.setdefault(fact, left.pop(fact))
        visits.append(Visited(visited, around, tuple(told.values()), everyone))
    return visits


def pairs_without_edges(
    ball: Ball,
    core: Collection[Node],
    features: Features,
    knowledge: Knowledge,
    duplicates: Mapping[Node, tuple[Node, ...]],
) -> list[tuple[Node, Node]]:
    """Return the pairs that no edge joins and of which something is to be told: at the core, and ends of triples."""
    unplaced = UnplacedEdges(ball, duplicates)
    ends = (fact.nodes for around in features.values() for relation, fact in around if relation is gap)
    at_core = (gap.fact(one, other).nodes for one in core for other in ball.members if other != one)
    return [
        (x, y)
        for x, y in dict.fromkeys([*ends, *at_core])
        if y not in ball.neighbours[x]
        and frozenset((x, y)) not in ball.unknown
        and frozenset((x, y)) not in ball.contradicted
        and knowledge.why_apart(x, y) is None
        and not unplaced.is_open(x, y)
    ]


def leads_of_missing(ball: Ball, pairs: Sequence[tuple[Node, Node]], max_parents: int) -> dict[tuple[Node, ...], int]:
    """Return by how many units the graph found is ahead of the best one with an edge between two nodes."""
    found = _compare(ball, ball.found, pairs, max_parents)
    return {pair: rival.ahead for pair, rival in found.items() if rival is not None and rival.sought}


def _unknown_at(ball: Ball, visited: Node, nodes: Collection[Node]) -> Iterator[Finding]:
    """Return the pairs that too few rows speak for: of a visited node with any other, and of told nodes in the ball."""
    for pair, rows in ball.score.together.too_few_at(visited).items():
        yield Finding(untested.fact(*pair), seen_too_rarely(rows))
    yield from (finding for pair, finding in ball.unknown.items() if not pair.isdisjoint(nodes))


def _with_test(finding: Finding, tested: Tested) -> Finding:
    """Return what is left open by a near graph with a test of the pair beside it."""
    x, y = finding.fact.nodes
    is_open = finding.fact.relation == left_open.name
    if not is_open:
        return finding
    verdicts = tested(x, y, is_open)
    return attrs.evolve(finding, evidence=attrs.evolve(finding.evidence, verdicts=verdicts))


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
        if node != other
        and knowledge.why_apart(node, other) is not None
        and frozenset((node, other)) not in ball.unknown
    ]
    found: dict[Fact, Finding] = {}
    for pair, lead in _compare(ball, ball.found, apart, max_parents).items():
        if lead is not None and lead.sought and ball.score.nats(-lead.ahead) >= AGAINST_KNOWLEDGE:
            nats = ball.score.nats(-lead.ahead)
            note = f"a graph with this edge is {times(nats)} as probable ({nats:.4g} nats)"
            found[adjacent.fact(*pair)] = Finding(adjacent.fact(*pair), Evidence(ball.score.name, (), note, nats))
    if ball.score.nats(ball.free.gain - ball.found.gain) < AGAINST_KNOWLEDGE:
        return found
    wrong = [
        fact.nodes
        for around in _features_at(ball, ball.free, core).values()
        for relation, fact in around
        if relation is collider and any(_is_excluded(ball, end, fact.nodes[1]) for end in fact.nodes[::2])
    ]
    for names, lead in _compare(ball, ball.free, wrong, max_parents).items():
        x, middle, y = names
        facts = (collider.fact(*names), adjacent.fact(x, middle), adjacent.fact(middle, y))
        for fact in facts:
            found.setdefault(fact, Finding(fact, _Words(ball).evidence(lead, ())))
    return found


def _is_excluded(ball: Ball, tail: Node, head: Node) -> bool:
    at, to = ball.place[tail], ball.place[head]
    return bool(ball.allowed[at, to] == CLOSED or ball.allowed[to, at] == REQUIRED)


def _is_told(relation: Relation, rival: Rival | None, has_gap: bool) -> bool:  # noqa: FBT001 - of its ends
    """Return whether a feature is reported: gaps and triples only if a rival was sought, and their ends have a gap."""
    return relation is adjacent or (has_gap and (rival is None or rival.sought))


def _is_gap(finding: Finding | None) -> bool:
    return finding is not None and finding.fact.relation == gap.name


def _missing_by_node(absent: Mapping[Pair, Finding]) -> dict[Node, list[tuple[int, Finding]]]:
    """Return what is told of the missing edges at each node, numbered in their order."""
    found: dict[Node, list[tuple[int, Finding]]] = {}
    for number, (pair, finding) in enumerate(absent.items()):
        for node in pair:
            found.setdefault(node, []).append((number, finding))
    return found


def _of_missing(missing: Mapping[Node, Sequence[tuple[int, Finding]]], nodes: Collection[Node]) -> list[Finding]:
    """Return what is told of missing edges at some nodes."""
    found = {number: one for node in nodes for number, one in missing.get(node, ())}
    return [found[number] for number in sorted(found)]


def _owners(ball: Ball, core: Collection[Node]) -> dict[Node, list[Node]]:
    """Return the nodes to report at each visit: itself, and those outside the core that were reached from it."""
    owner: dict[Node, Node] = {}
    for node in ball.told:
        if node in core:
            owner[node] = node
        else:
            nearer = [one for one in ball.connected_to(node) if one in owner]
            owner[node] = owner[min(nearer, key=ball.distances.__getitem__)]
    owned: dict[Node, list[Node]] = {node: [] for node in ball.told if node in core}
    for node, visited in owner.items():
        owned[visited].append(node)
    return owned


def _features_at(ball: Ball, found: Found, nodes: Iterable[Node]) -> dict[Node, list[Feature]]:
    """Return the features at some nodes: edges, and unshielded triples with their gaps, sorted by the names of ends."""
    names, rank = ball.members, ball.ranks
    marks: list[list[int]] = found.marks.tolist()
    joined = ball.places_around(found)

    def around(at: int) -> Iterator[Feature]:
        near = sorted(joined[at], key=rank.__getitem__)
        for other in near:
            first, last = (at, other) if rank[at] < rank[other] else (other, at)
            yield adjacent, Fact(adjacent.name, (names[first], names[last]))
        for first, last in combinations(near, 2):
            if frozenset((names[first], names[last])) in ball.unknown:
                continue
            if not marks[first][last] and not marks[last][first]:
                relation = chain if marks[at][first] or marks[at][last] else collider
                yield gap, Fact(gap.name, (names[first], names[last]))
                yield relation, Fact(relation.name, (names[first], names[at], names[last]))

    return {node: list(around(ball.place[node])) for node in nodes}


def _supporting(relation: Relation, names: tuple[Node, ...], verdicts: tuple[Verdict, ...]) -> tuple[Verdict, ...]:
    """Return the verdicts that support a feature: for a chain those given its middle, for a collider the others.

    Where there is none, one that does not is told.
    """
    if relation in (adjacent, gap):
        return verdicts
    supporting = [verdict for verdict in verdicts if (names[1] in verdict.given) == (relation is chain)]
    return tuple(supporting[:1] or verdicts[:1])


class _Words:
    """Words for the leads in a ball; rivals that several findings share are worded once."""

    def __init__(self, ball: Ball) -> None:
        self._score = ball.score
        self._spelling = ball.spelling
        best = f"; no graph over these {len(ball.members)} nodes scores higher"
        self._certificate = best if ball.certified and ball.found.is_best else ""
        self._notes: dict[int, tuple[str, float]] = {}
        self._lists: dict[tuple[int, ...], str] = {}

    def evidence(self, rival: Rival | None, verdicts: tuple[Verdict, ...]) -> Evidence:
        """Return the evidence for a finding that is ahead of a rival; the rival must be kept meanwhile."""
        if rival is None:
            return Evidence(self._score.name, verdicts, "no rival is allowed")
        if not rival.sought:
            return Evidence(self._score.name, verdicts, "not compared with rivals", 0.0)
        worded = self._notes.get(id(rival))
        if worded is None:
            worded = self._notes[id(rival)] = self._worded(rival)
        return Evidence(self._score.name, verdicts, *worded)

    def _worded(self, rival: Rival) -> tuple[str, float]:
        nats = self._score.nats(rival.ahead)
        compared = "; ".join(
            f"{self._spelling[one.node][1]} given {self._listed(one.ours)} against {self._listed(one.theirs)}"
            for one in rival.families
        )
        ahead = f"{times(nats)} as probable as the best rival ({nats:.4g} nats)"
        if nats < 0:
            ahead = f"a rival that was not open to the search is {times(-nats)} as probable ({-nats:.4g} nats)"
        return f"{ahead}: {compared}{self._certificate}", nats

    def _listed(self, numbers: tuple[int, ...]) -> str:
        if numbers not in self._lists:
            spelt = sorted(self._spelling[number] for number in numbers)
            self._lists[numbers] = ", ".join(text for _, text in spelt) or "nothing"
        return self._lists[numbers]


# --- near ties --------------------------------------------------------------------------------------------------------

Graph = npt.NDArray[np.bool_]


def ties_near(ball: Ball, nodes: Collection[Node]) -> Iterator[Finding]:
    """Yield which columns would serve almost as well as neighbours of some nodes.

    In the graph found, one parent of a node is replaced by each column that is no descendant of it. What the best of
    these loses, in nats, is how far apart the two are.
    """
    dag = ball.found.dag > 0
    for tail, head in np.argwhere(dag).tolist():
        if frozenset((ball.members[tail], ball.members[head])) in ball.unknown:
            continue
        for replaced, kept in ((tail, head), (head, tail)):
            is_turned = replaced == head
            if ball.members[kept] not in nodes or (is_turned and not _is_covered(dag, tail, head)):
                continue
            yield from _ties_of(ball, dag, replaced, kept)


def _is_covered(dag: Graph, tail: int, head: int) -> bool:
    """Return whether an arrow can be turned without another change of the class."""
    others = dag[:, head].copy()
    others[tail] = False
    return bool((others == dag[:, tail]).all())


def _ties_of(ball: Ball, dag: Graph, replaced: int, kept: int) -> Iterator[Finding]:
    """Yield the columns that serve almost as well as a parent of a node, which that is or can become."""
    numbers, score = ball.found.members, ball.score
    parents = [at for at in np.flatnonzero(dag[:, kept]).tolist() if at != replaced]
    descendants = _descendants(dag, kept)
    rivals = [
        at
        for at in range(len(numbers))
        if at not in (replaced, kept)
        and at not in parents
        and not descendants[at]
        and not dag[at, kept]
        and frozenset((ball.members[at], ball.members[kept])) not in ball.unknown
    ]
    if not rivals:
        return
    given = np.array(sorted(numbers[at] for at in parents), np.int64)
    others = np.array([numbers[at] for at in (replaced, *rivals)], np.int64)
    gains = score.handle.gains(numbers[kept], given, others).tolist()
    for at, gain in zip(rivals, gains[1:], strict=True):
        apart = score.nats(gains[0] - gain)
        if gain > 0 and apart < NEAR:
            fact = instead.fact(ball.members[kept], ball.members[replaced], ball.members[at])
            behind = max(apart, 0.0)
            one, other = shown(fact.nodes[1]), shown(fact.nodes[2])
            words = f"the graph with {one} is {times(behind)} as probable as with {other} instead ({behind:.2g} nats)"
            yield Finding(fact, Evidence(score.name, (), words, behind))


def _descendants(dag: Graph, node: int) -> Graph:
    found = np.zeros(len(dag), np.bool_)
    ahead = dag[node].copy()
    while (ahead & ~found).any():
        found |= ahead
        ahead = dag[found].any(axis=0)
    return found
