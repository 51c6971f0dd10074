"""Search the nodes near a target: a ball that grows, with edges at duplicates."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from functools import cached_property
from math import inf, log
from typing import TYPE_CHECKING, Literal, TypeAlias

import attrs
import numpy as np

from apsl_backends.scores.columns import TOO_MANY_LEVELS, pays_too_little, seen_too_rarely
from apsl_backends.search.exact import certify, is_quick
from apsl_backends.search.local_score import arrows_allowed, find_fitting_graph, orient, pairs_allowed, repair_graph
from apsl_backends.search.rounds import (
    CLOSED,
    FAR,
    OPEN,
    REQUIRED,
    Effort,
    Found,
    Marks,
    Open,
    climb_rounds,
    rivals,
    search_rounds,
)
from apsl_rules.evidence import EITHER, SAME, Evidence, times
from apsl_rules.knowledge import Knowledge
from apsl_rules.names import Node, Pair, in_order, order_key, shown
from apsl_rules.rules import Finding, Mark, duplicate, left_open, untested

if TYPE_CHECKING:
    from apsl_backends.search.local_score import LocalScore

#: An edge is drawn if the best graph without it is at least so many nats behind (odds of 2 to 1). Of the edges of drawn
#: tables with a smaller lead 71 % were true, of the next ones 84 %.
DRAWN_FROM = log(2)


@attrs.frozen
class UnplacedEdges:
    """What no data can tell at duplicate columns of a ball: which of them has an edge."""

    ball: Ball
    duplicates: Mapping[Node, tuple[Node, ...]]

    def is_open(self, x: Node, y: Node) -> bool:
        """Return whether two nodes that are not adjacent may be, since a duplicate of one is adjacent to the other."""
        if y in self.duplicates.get(x, ()):
            return True
        return any(
            twin != one and twin in self.ball.place and other in self.ball.neighbours[twin]
            for one, other in ((x, y), (y, x))
            for twin in self.duplicates.get(one, ())
        )

    def at(self, node: Node) -> Iterator[Finding]:
        """Return that a node has duplicates, and which of its pairs are open therefore; most are left out of a ball."""
        near = self.ball.neighbours
        for twin in self.duplicates.get(node, ()):
            if twin == node:
                continue
            yield Finding(duplicate.fact(node, twin), SAME)
            if twin not in self.ball.place:
                yield Finding(untested.fact(node, twin), SAME)
                continue
            for other in near[twin]:
                if other != node and other not in near[node]:
                    yield Finding(untested.fact(node, other), EITHER)
        for other in near[node]:
            for twin in self.duplicates.get(other, ()):
                if twin not in self.ball.place:
                    yield Finding(untested.fact(node, twin), EITHER)


Pairs: TypeAlias = Literal["all", "inner", "candidates"]


@attrs.frozen(slots=False, eq=False)
class Ball:
    """The class of graphs that was found around a target, with the distance of each node.

    ``free`` is the class that the search found without regard to known directions; ``found`` differs from it only if
    these do not fit. ``unknown`` are pairs that too few rows speak for, each with what is told of it: the search could
    not join them, or it did, and they count as not joined. So do edges that a graph nearly as good has not.
    ``contradicted`` are pairs that knowledge keeps apart and the data do not; they count for distances, so that the
    part reaches their ends. Of a ``whole`` graph also what is not connected with the target is told. One that is to be
    ``certified`` says whether a better one can be.
    """

    score: LocalScore
    found: Found
    free: Found
    allowed: Open
    target: Node
    unknown: Mapping[Pair, Finding] = attrs.field(factory=dict)
    contradicted: frozenset[Pair] = frozenset()
    whole: bool = False
    certified: bool = False

    @cached_property
    def members(self) -> tuple[Node, ...]:
        """Return the nodes of the ball, in the order of the search."""
        return tuple(self.score.nodes[number] for number in self.found.members)

    @cached_property
    def place(self) -> dict[Node, int]:
        """Return the place of each node among the members."""
        return {node: at for at, node in enumerate(self.members)}

    @cached_property
    def spelling(self) -> Mapping[int, tuple[int, str]]:
        """Return the rank of each joined node by name, and its name in words, by number."""
        nodes = self.score.nodes
        by_name = sorted(nodes, key=lambda number: order_key(nodes[number]))
        return {number: (rank, shown(nodes[number])) for rank, number in enumerate(by_name)}

    @cached_property
    def ranks(self) -> list[int]:
        """Return the rank of each member by name, among all joined nodes."""
        return [self.spelling[number][0] for number in self.found.members]

    @cached_property
    def known_marks(self) -> Marks:
        """Return the pattern with the arrows that background knowledge implies."""
        if (self.allowed == OPEN).all():
            return self.found.marks
        oriented = orient(self.found.marks, self.allowed)
        return self.found.marks if oriented is None else oriented

    @cached_property
    def neighbours(self) -> Mapping[Node, tuple[Node, ...]]:
        """Return the neighbours of each node by name."""
        near = (sorted(places, key=self.ranks.__getitem__) for places in self.places_around(self.found))
        return {node: tuple(self.members[at] for at in places) for node, places in zip(self.members, near, strict=True)}

    @cached_property
    def distances(self) -> Mapping[Node, int]:
        """Return the distance of each node that is connected with the target, nearest first and then by name."""
        found: dict[Node, int] = {self.target: 0}
        layer: tuple[Node, ...] = (self.target,)
        while layer:
            ahead = {other for node in layer for other in self.connected_to(node)} - found.keys()
            further = found[layer[0]] + 1
            layer = tuple(sorted(ahead, key=lambda node: self.ranks[self.place[node]]))
            found |= dict.fromkeys(layer, further)
        return found

    @cached_property
    def told(self) -> tuple[Node, ...]:
        """Return the nodes whose edges are told: by distance from the target; of a whole graph all, by name."""
        return tuple(in_order(self.members)) if self.whole else tuple(self.distances)

    def connected_to(self, node: Node) -> tuple[Node, ...]:
        """Return the neighbours of a node, and the nodes that only knowledge separates from it."""
        others = (other for pair in self.contradicted if node in pair for other in pair if other != node)
        return (*self.neighbours[node], *in_order(others))

    def neighbours_of(self, node: Node) -> tuple[Node, ...]:
        """Return the nodes that are adjacent to a node; none are to one that was left out."""
        return self.neighbours.get(node, ())

    def behind(self, x: Node, y: Node) -> float:
        """Return by how many nats the best graph seen is behind that answers otherwise for a pair; infinite if none."""
        units = self.found.behind_otherwise(self.place[x], self.place[y])
        return inf if units >= FAR else self.score.nats(units)

    def mark(self, x: Node, y: Node) -> Mark:
        """Return the mark of a pair."""
        if frozenset((x, y)) in self.unknown:
            return Mark.UNKNOWN
        marks, one, other = self.known_marks, self.place[x], self.place[y]
        if marks[one, other] and marks[other, one]:
            return Mark.LINE
        return Mark.ARROW if marks[one, other] or marks[other, one] else Mark.GAP

    def has_arrow(self, tail: Node, head: Node) -> bool:
        """Return whether an arrow goes from one node to another."""
        at, to = self.place[tail], self.place[head]
        return frozenset((tail, head)) not in self.unknown and bool(
            self.known_marks[at, to] and not self.known_marks[to, at]
        )

    def places_around(self, found: Found) -> list[list[int]]:
        """Return the places of the neighbours of each place in a class over the members, in ascending order."""
        joined = (found.marks | found.marks.T) > 0
        for pair in self.unknown:
            one, other = (self.place[node] for node in pair)
            joined[one, other] = joined[other, one] = False
        near: list[list[int]] = [[] for _ in found.members]
        for one, other in np.argwhere(joined).tolist():
            near[one].append(other)
        return near


def without_near_ties(ball: Ball) -> Ball:
    """Return a ball where edges that a graph nearly as good has not count as not joined."""
    torn = {}
    for x, y in np.argwhere(ball.found.dag).tolist():
        one, other = ball.members[x], ball.members[y]
        nats = ball.behind(one, other)
        if nats < DRAWN_FROM and REQUIRED not in (ball.allowed[x, y], ball.allowed[y, x]):
            evidence = Evidence(ball.score.name, (), left_open_by(nats, "without"), nats)
            torn[frozenset((one, other))] = Finding(left_open.fact(one, other), evidence)
    return attrs.evolve(ball, unknown={**torn, **ball.unknown}) if torn else ball


def left_open_by(nats: float, has: Literal["with", "without"]) -> str:
    """Say that a graph nearly as good answers otherwise for an edge: that ``with`` it, or ``without`` it."""
    return f"left open: the graph found is only {times(nats)} as probable as one {has} this edge ({nats:.2g} nats)"


class Balls:
    """Searches balls: which nodes belong to them, which pairs the search may join, and with what effort.

    ``candidates`` returns those of a node; ``prepare`` is called with the nodes whose candidates will be needed.
    ``certified`` compares what is found with the best graph of all, by an exact search, if there are few nodes, and
    says so. One that ``settles`` does the same without a word where that is quick.
    ``everyone`` are nodes that are in every ball; then one search serves all balls that allow the same arrows, and
    ``remember`` keeps what it found. ``crowded`` returns the pairs that have too many combinations of levels.
    """

    def __init__(
        self,
        score: LocalScore,
        candidates: Callable[[Node], Iterable[Node]],
        prepare: Callable[[Iterable[Node]], None],
        *,
        radius: int,
        pairs: Pairs,
        effort: Effort,
        knowledge: Knowledge,
        certified: bool = False,
        settles: bool = False,
        everyone: Collection[Node] = (),
        remember: Callable[[Hashable, Callable[[], Found]], Found] = lambda _, search: search(),
        crowded: Callable[[Collection[Node]], Iterable[tuple[Node, Node]]] = lambda _members: (),
    ) -> None:
        self._score = score
        self._candidates = candidates
        self._prepare = prepare
        self._radius = radius
        self._pairs = pairs
        self._effort = effort
        self._knowledge = knowledge
        self._certified = certified
        self._settles = settles
        self._everyone = everyone
        self._remember = remember
        self._crowded = crowded

    def around(self, target: Node, core: Iterable[Node], before: Ball | None) -> Ball:
        """Search the ball around a core, starting from the class found in a smaller ball."""
        inner = set(core)
        numbers, allowed, unknown = self._gather(inner)
        free = self._search_free(numbers, allowed, before, inner)
        handle = self._score.handle
        found = free
        if self._knowledge and not (allowed == OPEN).all():
            fitting = find_fitting_graph(free.marks, allowed)
            if fitting is None:
                dag = repair_graph(free.dag, allowed, self._effort.max_parents)
                found = climb_rounds(
                    handle, numbers, dag, gain=self._gain(numbers, dag), allowed=allowed, effort=self._effort
                )
            else:
                found = attrs.evolve(free, dag=fitting)
        unknown |= self._unpaid(found, allowed)
        told = {pair: Finding(untested.fact(*pair), why) for pair, why in unknown.items()}
        return Ball(self._score, found, free, allowed, target, told, certified=self._certified)

    def _gather(self, core: set[Node]) -> tuple[tuple[int, ...], Open, dict[Pair, Evidence]]:
        """Return the numbers of the nodes around a core, which arrows between them are allowed, and unknown pairs.

        Pairs that are seen together in too few rows are unknown; the search may not join them unless it must.
        """
        near = self._reached(core, self._radius - 1)
        self._prepare(in_order(near))
        further = [self._everyone] if self._everyone else map(self._candidates, in_order(near))
        everyone = core.union(*further) if self._everyone else near.union(*further)
        numbers = self._score.join(in_order(everyone))
        members = [self._score.nodes[number] for number in numbers]
        allowed = self._open(members, core, near)
        place = {node: at for at, node in enumerate(members)}
        unknown: dict[Pair, Evidence] = {frozenset(pair): TOO_MANY_LEVELS for pair in self._crowded(members)}
        few = self._score.together.too_few_among(members)
        unknown |= {pair: seen_too_rarely(rows) for pair, rows in few.items()}
        for pair in list(unknown):
            one, other = (place[node] for node in pair)
            if REQUIRED in (allowed[one, other], allowed[other, one]):
                del unknown[pair]
            else:
                allowed[one, other] = allowed[other, one] = CLOSED
        return numbers, allowed, unknown

    def _unpaid(self, found: Found, allowed: Open) -> dict[Pair, Evidence]:
        """Return the edges of a class that the rows with both ends do not pay for, where values are missing."""
        score = self._score
        nodes = [score.nodes[number] for number in found.members]
        edges = [(x, y) for x, y in np.argwhere(np.triu(found.marks | found.marks.T)).tolist()]
        edges = [(x, y) for x, y in edges if REQUIRED not in (allowed[x, y], allowed[y, x])]
        if not edges or score.together.is_complete(nodes):
            return {}
        everything = np.full(allowed.shape, OPEN, np.uint8)
        without = rivals(score.handle, found, everything, self._effort.max_parents, edges)
        families = [one.families[0] for one in without if one is not None and one.families]
        added = [(one.node, one.theirs, set(one.ours).difference(one.theirs).pop()) for one in families]
        rows = score.together.behind(
            [(score.nodes[y], score.nodes[x], [score.nodes[one] for one in given]) for y, given, x in added]
        )
        return {
            frozenset((score.nodes[y], score.nodes[x])): pays_too_little(seen)
            for (y, given, x), seen in zip(added, rows, strict=True)
            if not score.pays(y, given, x, seen)
        }

    def _search_free(self, numbers: tuple[int, ...], allowed: Open, before: Ball | None, core: set[Node]) -> Found:
        """Search the class without regard to known directions, from the class found before if its score is the same."""
        score, opened = self._score, pairs_allowed(allowed)
        start = None if before is None or score.is_changed else before.free
        if before is not None and start is not None and start.members == numbers and (before.allowed == allowed).all():
            return start  # a search that begins where one has ended finds nothing better
        inside = [number for number in numbers if self._everyone or score.nodes[number] in core]

        def search() -> Found:
            found = search_rounds(score.handle, numbers, opened, self._effort, start, core=inside)
            is_settled = self._certified or (self._settles and is_quick(score.handle, len(numbers)))
            return certify(score.handle, found, opened, self._effort.max_parents) if is_settled else found

        asked = tuple(score.nodes[number] for number in numbers), opened.tobytes()
        return self._remember(asked, search) if self._everyone else search()

    def _gain(self, numbers: tuple[int, ...], dag: Marks) -> int:
        """Return the gain of a graph over the empty graph."""
        gain = 0
        for at, number in enumerate(numbers):
            parents = [numbers[other] for other in np.flatnonzero(dag[:, at]).tolist()]
            if parents:
                gain += self._score.local(number, parents) - self._score.local(number, ())
        return gain

    def _reached(self, core: set[Node], steps: int) -> set[Node]:
        reached, ring = set(core), set(core)
        for _ in range(steps):
            self._prepare(in_order(ring))
            ring = {other for node in in_order(ring) for other in self._candidates(node)} - reached
            reached |= ring
        return reached

    def _open(self, members: list[Node], core: set[Node], near: set[Node]) -> Open:
        """Return which arrows are allowed: all, or those with an end inside and those between candidates."""
        allowed = arrows_allowed(members, self._knowledge)
        if self._pairs == "all":
            return allowed
        within = np.array([node in (near if self._pairs == "inner" else core) for node in members])
        opened = within[:, None] | within[None, :]
        place = {node: at for at, node in enumerate(members)}
        for node in near:
            for other in self._candidates(node):
                opened[place[node], place[other]] = opened[place[other], place[node]] = True
        allowed[~opened & (allowed != REQUIRED)] = CLOSED
        return allowed
