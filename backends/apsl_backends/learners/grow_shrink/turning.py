"""Directed cycles mended as Grow-Shrink does: the arrows on most cycles are taken out, to be put back turned round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from itertools import islice

from apsl_rules.names import Node, in_order, order_key
from apsl_rules.rules import cyclic_groups

Arrow = tuple[Node, Node]

#: How many cycles are counted before the arrow on most of them is chosen; there can be exponentially many.
COUNTED = 10_000


def arrows_to_turn(arrows: Collection[Arrow]) -> tuple[Arrow, ...]:
    """Return the arrows to turn round, in the order in which they are taken out; by name among equals.

    >>> arrows_to_turn([("a", "b"), ("b", "c"), ("c", "a"), ("b", "a")])
    (('a', 'b'),)
    """
    left = set(arrows)
    taken = []
    while cyclic_groups(left):
        counts = Counter(arrow for cycle in islice(cycles(left), COUNTED) for arrow in cycle)
        worst = min(counts, key=lambda arrow: (-counts[arrow], order_key(arrow)))
        left.remove(worst)
        taken.append(worst)
    return tuple(taken)


def cycles(arrows: Collection[Arrow]) -> Iterator[tuple[Arrow, ...]]:
    """Return every directed cycle without a repeated node, each once: from its first node by name.

    >>> list(cycles([("a", "b"), ("b", "a"), ("b", "c")]))
    [(('a', 'b'), ('b', 'a'))]
    """
    for group in cyclic_groups(arrows):
        inside = [arrow for arrow in arrows if group.issuperset(arrow)]
        onward = {node: in_order(head for tail, head in inside if tail == node) for node in group}
        for start in in_order(group):
            yield from _rounds(onward, (start,))


def _rounds(onward: dict[Node, tuple[Node, ...]], path: tuple[Node, ...]) -> Iterator[tuple[Arrow, ...]]:
    """Go on from a path in all ways that come back to its start through later nodes only."""
    for head in onward[path[-1]]:
        if head == path[0]:
            yield tuple(zip(path, (*path[1:], head), strict=True))
        elif head not in path and order_key(head) > order_key(path[0]):
            yield from _rounds(onward, (*path, head))
