"""Every edge that a run ever had, and how it looked at each moment of the run."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

import attrs

from apsl_rules.names import Node, in_order, inside, order_key
from apsl_rules.parts import Part
from apsl_rules.rules import MarkStore, adjacent, arrow, conflict, head

_MARKED = (adjacent, arrow, conflict, head)
_DRAWN = frozenset(relation.name for relation in _MARKED)


class Look(StrEnum):
    """How a pair of nodes is drawn; ``ahead`` and ``back`` are arrows along and against the pair.

    ``maybe ahead`` and ``maybe back`` are lines with a suggested direction. With hidden causes, ``partial ahead`` has
    an arrowhead at the second node and a circle at the first, ``partial back`` the other way round, ``two heads`` two
    arrowheads, and ``open`` two circles.
    """

    NONE = "none"
    LINE = "line"
    AHEAD = "ahead"
    BACK = "back"
    MAYBE_AHEAD = "maybe ahead"
    MAYBE_BACK = "maybe back"
    BOTH = "both"
    CONFLICT = "conflict"
    PARTIAL_AHEAD = "partial ahead"
    PARTIAL_BACK = "partial back"
    TWO_HEADS = "two heads"
    OPEN = "open"


_BY_ARROWS = {(True, True): Look.BOTH, (True, False): Look.AHEAD, (False, True): Look.BACK}
_BY_HEADS = {(True, True): Look.TWO_HEADS, (False, True): Look.PARTIAL_AHEAD, (True, False): Look.PARTIAL_BACK}


@attrs.frozen
class Edge:
    """A pair by name, whether it lies within the asked depth, and its looks, each with the position it begins at.

    Position 0 is the empty store, position k the state after k entries of the history. Where contradictions were
    settled afterwards, one more position shows the part itself.
    """

    pair: tuple[Node, Node]
    within: bool
    looks: tuple[tuple[int, Look], ...]

    @property
    def last(self) -> Look:
        """Return how the edge looks in the part."""
        return self.looks[-1][1]

    @property
    def is_contradicted(self) -> bool:
        """Return whether the edge is ever in conflict or has both arrows."""
        return any(look in {Look.BOTH, Look.CONFLICT} for _, look in self.looks)


def positions(part: Part) -> int:
    """Return the last position of the replay: the length of the history, and one more if it was settled afterwards."""
    return len(part.history) + (part.store is not part.history)


def edges_of(part: Part) -> tuple[Edge, ...]:
    """Return every pair that was ever drawn in a run, by name, with all its looks."""
    looks: dict[tuple[Node, Node], list[tuple[int, Look]]] = {}
    entries = part.history.entries
    for position, state in enumerate(part.states()):
        if position and entries[position - 1].fact.relation in _DRAWN:
            _note(looks, part, state, position, [entries[position - 1].fact.nodes])
    if part.store is not part.history:
        facts = (fact for relation in _MARKED for fact in part.store.facts(relation))
        _note(looks, part, part.store, positions(part), [*looks, *(fact.nodes for fact in facts)])
    ordered = sorted(looks, key=lambda pair: tuple(map(order_key, pair)))
    return tuple(Edge(pair, _is_within(part, pair), tuple(looks[pair])) for pair in ordered)


def look(store: MarkStore, x: Node, y: Node) -> Look:
    """Return how a pair is drawn in a state of a run."""
    if conflict.fact(x, y) in store:
        return Look.CONFLICT if adjacent.fact(x, y) in store else Look.NONE
    arrows = store.has_arrow(x, y), store.has_arrow(y, x)
    heads = store.relates(head, x, y), store.relates(head, y, x)
    if any(arrows):
        return _BY_ARROWS[arrows]
    if any(heads):
        return _BY_HEADS[heads]
    joined = Look.OPEN if head.name in store.relations else Look.LINE
    return joined if adjacent.fact(x, y) in store else Look.NONE


def _note(
    looks: dict[tuple[Node, Node], list[tuple[int, Look]]],
    part: Part,
    store: MarkStore,
    position: int,
    pairs: Iterable[tuple[Node, ...]],
) -> None:
    for nodes in list(pairs):
        x, y = in_order(nodes)
        now = look(store, x, y)
        if now is Look.AHEAD and part.store.has_arrow(x, y) and (x, y) not in part.all_arrows:
            now = Look.MAYBE_AHEAD if (x, y) in part.all_suggested else Look.LINE
        elif now is Look.BACK and part.store.has_arrow(y, x) and (y, x) not in part.all_arrows:
            now = Look.MAYBE_BACK if (y, x) in part.all_suggested else Look.LINE
        before = looks[x, y][-1][1] if (x, y) in looks else Look.NONE
        if now is not before:
            looks.setdefault((x, y), []).append((position, now))


def _is_within(part: Part, pair: tuple[Node, Node]) -> bool:
    known = [part.distances[node] for node in pair if node in part.distances]
    return any(inside(part.depth, distance) for distance in known)
