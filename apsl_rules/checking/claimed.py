"""What a graph claims: a separator for each pair that it does not join, found by bits of whole numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import combinations
from typing import Literal, TypeAlias

import attrs

from apsl_rules.graphs import Dag, DagWithHidden
from apsl_rules.names import Node

#: Nodes as the bits of a whole number.
Bits: TypeAlias = int
Claim: TypeAlias = tuple[int, int, Bits]
#: "join" is a common cause that is hidden.
Change: TypeAlias = tuple[Literal["add", "turn", "join"], int, int]


def places(bits: Bits) -> Iterator[int]:
    """Give the places of the bits that are set, in ascending order."""
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low


@attrs.frozen(eq=False, slots=False)
class ClaimedGraph:
    """A graph without cycles, by places: the measured nodes come first, ``width`` of them, then those that are hidden.

    ``parents`` has those of each place as bits. ``sizes`` says how many levels each measured node has; of several
    separators the one with fewer cells is claimed.
    """

    nodes: tuple[Node, ...]
    width: int
    parents: tuple[Bits, ...]
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, known: DagWithHidden, sizes: Mapping[Node, int]) -> ClaimedGraph:
        """Return the claims of a known graph; those of its nodes that are hidden can be in no claim."""
        nodes = (*known.nodes, *known.hidden)
        place = {node: at for at, node in enumerate(nodes)}
        parents = tuple(sum(1 << place[one] for one in known.dag.parents_of(node)) for node in nodes)
        return cls(nodes, len(known.nodes), parents, tuple(sizes.get(node, 2) for node in known.nodes))

    @property
    def has_hidden(self) -> bool:
        """Return whether some nodes are hidden."""
        return len(self.nodes) > self.width

    @cached_property
    def order(self) -> tuple[int, ...] | None:
        """Return the places, parents first; None if there is a cycle."""
        left, done, order = list(range(len(self.nodes))), 0, list[int]()
        while left:
            waiting = []
            for at in left:
                if self.parents[at] & ~done:
                    waiting.append(at)
                else:
                    order.append(at)
                    done |= 1 << at
            if len(waiting) == len(left):
                return None
            left = waiting
        return tuple(order)

    @cached_property
    def ancestors(self) -> tuple[Bits, ...]:
        """Return the ancestors of each place, itself among them."""
        found = [0] * len(self.nodes)
        for at in self.order or ():
            found[at] = 1 << at
            for one in places(self.parents[at]):
                found[at] |= found[one]
        return tuple(found)

    @cached_property
    def _children(self) -> tuple[Bits, ...]:
        found = [0] * len(self.nodes)
        for at, before in enumerate(self.parents):
            for one in places(before):
                found[one] |= 1 << at
        return tuple(found)

    def are_joined(self, x: int, y: int) -> bool:
        """Return whether an arrow joins two places."""
        return bool(self.parents[x] >> y & 1 or self.parents[y] >> x & 1)

    def separates(self, x: int, y: int, given: Bits) -> bool:
        """Return whether two places are d-separated: no path in the moral graph of the ancestors leads past ``given``.

        Where nodes are hidden this is m-separation of those that are measured.
        """
        kept = self.ancestors[x] | self.ancestors[y]
        for one in places(given):
            kept |= self.ancestors[one]
        goal, seen, ahead = 1 << y, 1 << x | given, [x]
        while ahead:
            at = ahead.pop()
            children = self._children[at] & kept
            near = self.parents[at] | children
            for child in places(children):
                near |= self.parents[child]
            near &= ~seen
            if near & goal:
                return False
            seen |= near
            ahead += places(near)
        return True

    def separator(self, x: int, y: int) -> Bits | None:
        """Return a separator that no node can be left out of, of few cells; None if nothing separates the two."""
        if self.has_hidden:
            given = (self.ancestors[x] | self.ancestors[y]) & ((1 << self.width) - 1) & ~(1 << x | 1 << y)
            if not self.separates(x, y, given):
                return None
        else:
            above = [self.parents[a] for a, b in ((x, y), (y, x)) if not self.ancestors[b] >> a & 1]
            given = min(above, key=self._cells) if len(above) > 1 else above[0]
        for one in sorted(places(given), key=lambda at: -self.sizes[at]):
            if self.separates(x, y, given & ~(1 << one)):
                given &= ~(1 << one)
        return given

    def _cells(self, given: Bits) -> int:
        cells = 1
        for one in places(given):
            cells *= self.sizes[one]
        return cells

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """Return an implied independence for each pair that can be separated, by places."""
        pairs = combinations(range(self.width), 2)
        asked = ((x, y, None if self.are_joined(x, y) else self.separator(x, y)) for x, y in pairs)
        return tuple((x, y, given) for x, y, given in asked if given is not None)

    @cached_property
    def _above(self) -> dict[Claim, Bits]:
        """Return the ancestors of the places of each claim."""
        found = {}
        for x, y, given in self.claims:
            found[x, y, given] = self.ancestors[x] | self.ancestors[y]
            for one in places(given):
                found[x, y, given] |= self.ancestors[one]
        return found

    def lost_by(self, turn: Change, claims: Iterable[Claim]) -> list[Claim]:
        """Return which of its claims the graph does not make with an arrow turned round.

        Only those can be lost that have the tail of the arrow above them.
        """
        after, tail = self.changed(turn), turn[1]
        return [one for one in claims if self._above[one] >> tail & 1 and not after.separates(*one)]

    # --- changes -----------------------------------------------------------------------------------------------------

    def changed(self, change: Change) -> ClaimedGraph:
        """Return the graph with an arrow added or turned, or a hidden cause of two nodes; it may have a cycle."""
        kind, tail, head = change
        parents, nodes = list(self.parents), self.nodes
        if kind == "join":
            cause = 1 << len(nodes)
            parents[tail] |= cause
            parents[head] |= cause
            return attrs.evolve(self, nodes=(*nodes, ("hidden cause", nodes[tail], nodes[head])), parents=(*parents, 0))
        if kind == "turn":
            parents[head] &= ~(1 << tail)
            tail, head = head, tail
        parents[head] |= 1 << tail
        return attrs.evolve(self, parents=tuple(parents))

    def without(self, x: int, y: int) -> ClaimedGraph:
        """Return the graph without the arrow between two places, and without hidden causes of these two alone."""
        parents = list(self.parents)
        parents[x] &= ~(1 << y)
        parents[y] &= ~(1 << x)
        both = 1 << x | 1 << y
        for cause in range(self.width, len(self.nodes)):
            if self._children[cause] == both:
                parents[x] &= ~(1 << cause)
                parents[y] &= ~(1 << cause)
        return attrs.evolve(self, parents=tuple(parents))

    @cached_property
    def arrows(self) -> tuple[tuple[int, int], ...]:
        """Return the arrows between measured nodes as (from, to)."""
        return tuple((one, at) for at in range(self.width) for one in places(self.parents[at]) if one < self.width)

    @cached_property
    def hidden_pairs(self) -> tuple[tuple[int, int], ...]:
        """Return the pairs of measured nodes without an arrow that are all children of a hidden node."""
        found = {
            (x, y)
            for cause in range(self.width, len(self.nodes))
            for x, y in [tuple(places(self._children[cause]))] * (self._children[cause].bit_count() == 2)  # noqa: PLR2004
            if y < self.width and not self.are_joined(x, y)
        }
        return tuple(sorted(found))

    @property
    def dag(self) -> DagWithHidden:
        """Return the graph as a known one."""
        named = {
            node: [self.nodes[one] for one in places(before)]
            for node, before in zip(self.nodes, self.parents, strict=True)
        }
        return DagWithHidden(Dag(named), self.nodes[self.width :])
