"""A class of graphs over the nodes near a target, searched by score and grown until the asked part is settled.

Tests say who may matter: candidates, and candidates of candidates. The score says who is adjacent and in which
direction, over all of these nodes at once: a search among tested pairs only would mend each missed candidate with
wrong arrows. The ball grows as any part does: nodes of the asked depth join its core, then the nearest ones that lines
lead to, and each time the search goes on with the newcomers, until nobody joins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Literal, TypeAlias

import attrs
import numpy as np

from apsl_backends.independence.sweeps import name_ranks_of
from apsl_backends.scores.bde import BDeu, Integers
from apsl_backends.search.rounds import Effort, Found, Open, search_rounds
from apsl_rules.names import Depth
from apsl_rules.parts import inside

Pairs: TypeAlias = Literal["all", "inner", "candidates"]


@attrs.frozen(slots=False, eq=False)
class Ball:
    """What was found around a target: the class, its core, and how far each node is.

    ``rank`` is the place of each numbered node among the names: what users see goes by name.
    """

    found: Found
    target: int
    core: frozenset[int]
    rank: Integers

    @cached_property
    def place(self) -> dict[int, int]:
        """Return the place of each node among the members."""
        return {node: at for at, node in enumerate(self.found.members)}

    @cached_property
    def neighbours(self) -> dict[int, tuple[int, ...]]:
        """Return the neighbours of each node by name."""
        marks, members = self.found.marks, self.found.members
        return {node: self._by_name(members[at] for at in np.flatnonzero(marks[at_node] | marks[:, at_node]).tolist())
                for at_node, node in enumerate(members)}  # fmt: skip

    @cached_property
    def distances(self) -> dict[int, int]:
        """Return the distance of each node that is connected with the target, nearest first and then by name."""
        found = {self.target: 0}
        layer: tuple[int, ...] = (self.target,)
        while layer:
            ahead = {other for node in layer for other in self.neighbours[node]} - found.keys()
            further = found[layer[0]] + 1
            layer = self._by_name(ahead)
            found |= dict.fromkeys(layer, further)
        return found

    def _by_name(self, nodes: Iterable[int]) -> tuple[int, ...]:
        return tuple(sorted(nodes, key=self.rank.__getitem__))

    def joining(self, depth: Depth) -> set[int]:
        """Return the nodes that are to join the core: those of the asked depth, or else the nearest at open lines."""
        inner = [node for node, distance in self.distances.items() if inside(depth, distance)]
        joining = set(inner) - self.core
        seen, layer = set(inner), inner
        while layer and not joining:
            layer = sorted({other for node in layer for other in self._lined(node)} - seen)
            seen.update(layer)
            joining = set(layer) - self.core
        return joining

    def _lined(self, node: int) -> list[int]:
        marks, at = self.found.marks, self.place[node]
        return [self.found.members[other] for other in np.flatnonzero(marks[at] & marks[:, at]).tolist()]


class Balls:
    """Makes balls around targets: whom to take in, which pairs are open to the search, and how hard to search.

    ``candidates`` gives those of a node; ``limits`` is asked before each search, so that a run can be stopped.
    """

    def __init__(
        self,
        score: BDeu,
        candidates: Callable[[int], Iterable[int]],
        *,
        radius: int,
        pairs: Pairs,
        effort: Effort,
        limits: Callable[[], None] = lambda: None,
    ) -> None:
        from apsl_backends.search.families import book_of, with_room

        self._with_room = with_room
        self.book = book_of(score)
        self._rank = name_ranks_of(score.nodes)
        self._candidates = candidates
        self._radius = radius
        self._pairs = pairs
        self._effort = effort
        self._limits = limits

    def around(self, target: int, depth: Depth) -> Ball:
        """Grow the ball around a target until the part of the asked depth is settled."""
        core = {target}
        ball = self._searched(target, core, None)
        while joining := ball.joining(depth):
            core |= joining
            ball = self._searched(target, core, ball.found)
        return ball

    def _searched(self, target: int, core: set[int], before: Found | None) -> Ball:
        """Search the ball around a core, from where the search of the smaller ball ended."""
        near = self._reached(core, self._radius - 1)
        members = sorted(near.union(*map(self._candidates, near)))
        self._limits()
        self.book = self._with_room(self.book, len(members))
        found = search_rounds(self.book, members, self._open(members, core, near), self._effort, before)
        return Ball(found, target, frozenset(core), self._rank)

    def _reached(self, core: set[int], steps: int) -> set[int]:
        reached, ring = set(core), set(core)
        for _ in range(steps):
            ring = {other for node in ring for other in self._candidates(node)} - reached
            reached |= ring
        return reached

    def _open(self, members: list[int], core: set[int], near: set[int]) -> Open:
        """Say which pairs may be joined: all, those with an end inside, or besides these only candidates."""
        if self._pairs == "all":
            return np.ones((len(members), len(members)), np.bool_)
        within = np.array([node in (near if self._pairs == "inner" else core) for node in members])
        opened: Open = within[:, None] | within[None, :]
        place = {node: at for at, node in enumerate(members)}
        for node in near:
            for other in self._candidates(node):
                opened[place[node], place[other]] = opened[place[other], place[node]] = True
        return opened
