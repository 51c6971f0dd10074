"""Directed cycles broken as in Grow-Shrink: the arrows on most cycles are removed, and later added in reverse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from itertools import islice

from apsl_rules.names import Node, in_order, order_key
from apsl_rules.rules import cyclic_groups

Arrow = tuple[Node, Node]

#: The most cycles that are counted to choose the arrow on most of them; there can be exponentially many.
COUNTED = 10_000


def arrows_to_turn(arrows: Collection[Arrow]) -> tuple[Arrow, ...]:
    """Return the arrows to reverse, in the order of their removal; ties are broken by name.

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
    """Yield every directed cycle without a repeated node once, starting from its first node by name.

    >>> list(cycles([("a", "b"), ("b", "a"), ("b", "c")]))
    [(('a', 'b'), ('b', 'a'))]
    """
    for group in cyclic_groups(arrows):
        inside = [arrow for arrow in arrows if group.issuperset(arrow)]
        onward = {node: in_order(head for tail, head in inside if tail == node) for node in group}
        for start in in_order(group):
            yield from _rounds(onward, (start,))


def _rounds(onward: dict[Node, tuple[Node, ...]], path: tuple[Node, ...]) -> Iterator[tuple[Arrow, ...]]:
    """Yield the cycles that extend a path back to its start through nodes later by name only."""
    for head in onward[path[-1]]:
        if head == path[0]:
            yield tuple(zip(path, (*path[1:], head), strict=True))
        elif head not in path and order_key(head) > order_key(path[0]):
            yield from _rounds(onward, (*path, head))
