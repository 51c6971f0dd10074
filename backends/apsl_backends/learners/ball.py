"""A class of graphs over the nodes near a target, searched by score around a core that grows with the part.

Tests say who may matter: candidates, and candidates of candidates. The score says who is adjacent and in which
direction, over all of these nodes at once: a search among tested pairs only would mend each missed candidate with
wrong arrows. Each time nodes join the core, the search goes on with the newcomers from where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

import attrs
import numpy as np

from apsl_backends.search.constraints import arrows_allowed, fitting_graph, mended_graph, orient, pairs_allowed
from apsl_backends.search.rounds import CLOSED, OPEN, Effort, Found, Marks, Open, climb_rounds, search_rounds
from apsl_rules.names import Node, in_order
from apsl_rules.rules import Knowledge, Mark

if TYPE_CHECKING:
    from apsl_backends.search.local_bde import LocalBde

Pairs: TypeAlias = Literal["all", "inner", "candidates"]


@attrs.frozen(slots=False, eq=False)
class Ball:
    """What was found around a target: the class, and how far each node is.

    ``free`` is the class that the search found without regard to known directions; where these fit it, the same.
    """

    score: LocalBde
    found: Found
    free: Found
    allowed: Open
    target: Node

    @cached_property
    def members(self) -> tuple[Node, ...]:
        """Return the nodes of the ball, in the order of the search."""
        return tuple(self.score.nodes[number] for number in self.found.members)

    @cached_property
    def place(self) -> dict[Node, int]:
        """Return the place of each node among the members."""
        return {node: at for at, node in enumerate(self.members)}

    @cached_property
    def known_marks(self) -> Marks:
        """Return the pattern with the arrows that knowledge compels."""
        if (self.allowed == OPEN).all():
            return self.found.marks
        oriented = orient(self.found.marks, self.allowed)
        return self.found.marks if oriented is None else oriented

    @cached_property
    def neighbours(self) -> Mapping[Node, tuple[Node, ...]]:
        """Return the neighbours of each node by name."""
        joined = (self.found.marks > 0) | (self.found.marks.T > 0)
        return {
            node: in_order(self.members[other] for other in np.flatnonzero(joined[at]).tolist())
            for at, node in enumerate(self.members)
        }

    @cached_property
    def distances(self) -> Mapping[Node, int]:
        """Return the distance of each node that is connected with the target, nearest first and then by name."""
        found: dict[Node, int] = {self.target: 0}
        layer: tuple[Node, ...] = (self.target,)
        while layer:
            ahead = {other for node in layer for other in self.neighbours[node]} - found.keys()
            further = found[layer[0]] + 1
            layer = in_order(ahead)
            found |= dict.fromkeys(layer, further)
        return found

    def neighbours_of(self, node: Node) -> tuple[Node, ...]:
        """Return the nodes that are adjacent to a node."""
        return self.neighbours[node]

    def mark(self, x: Node, y: Node) -> Mark:
        """Return the mark of a pair."""
        marks, one, other = self.known_marks, self.place[x], self.place[y]
        if marks[one, other] and marks[other, one]:
            return Mark.LINE
        return Mark.ARROW if marks[one, other] or marks[other, one] else Mark.GAP

    def has_arrow(self, tail: Node, head: Node) -> bool:
        """Return whether an arrow goes from one node to another."""
        at, to = self.place[tail], self.place[head]
        return bool(self.known_marks[at, to] and not self.known_marks[to, at])


class Balls:
    """Searches balls: whom to take in, which pairs are open to the search, and how hard to search.

    ``candidates`` gives those of a node; ``prepare`` is told whose will be asked for.
    """

    def __init__(
        self,
        score: LocalBde,
        candidates: Callable[[Node], Iterable[Node]],
        prepare: Callable[[Iterable[Node]], None],
        *,
        radius: int,
        pairs: Pairs,
        effort: Effort,
        knowledge: Knowledge,
    ) -> None:
        self._score = score
        self._candidates = candidates
        self._prepare = prepare
        self._radius = radius
        self._pairs = pairs
        self._effort = effort
        self._knowledge = knowledge

    def around(self, target: Node, core: Iterable[Node], before: Ball | None) -> Ball:
        """Search the ball around a core, from where the search of a smaller ball ended."""
        inner = set(core)
        near = self._reached(inner, self._radius - 1)
        self._prepare(in_order(near))
        everyone = near.union(*map(self._candidates, in_order(near)))
        numbers = self._score.join(in_order(everyone))
        members = [self._score.nodes[number] for number in numbers]
        allowed = self._open(members, inner, near)
        start = None if before is None or self._score.imputes else before.free
        book = self._score.book
        free = search_rounds(book, numbers, pairs_allowed(allowed), self._effort, start)
        found = free
        if not (allowed == OPEN).all():
            fitting = fitting_graph(free.marks, allowed)
            if fitting is None:
                dag = mended_graph(free.dag, allowed)
                found = climb_rounds(
                    book, numbers, dag, gain=self._gain(numbers, dag), allowed=allowed, effort=self._effort
                )
            else:
                found = attrs.evolve(free, dag=fitting)
        return Ball(self._score, found, free, allowed, target)

    def _gain(self, numbers: tuple[int, ...], dag: Marks) -> int:
        """Return what a graph scores more than none."""
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
        """Return which arrows may be drawn: all, those with an end inside, or besides these only candidates."""
        allowed = arrows_allowed(members, self._knowledge)
        if self._pairs == "all":
            return allowed
        within = np.array([node in (near if self._pairs == "inner" else core) for node in members])
        opened = within[:, None] | within[None, :]
        place = {node: at for at, node in enumerate(members)}
        for node in near:
            for other in self._candidates(node):
                opened[place[node], place[other]] = opened[place[other], place[node]] = True
        allowed[~opened] = CLOSED
        return allowed
