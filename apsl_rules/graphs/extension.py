"""A graph with a direction for every edge, out of one in which some directions are open.

The algorithm is that of Dor and Tarsi (1992): some node can be last, with everything around it pointing at it. It has
no arrow to another node, and each node that a line joins to it is adjacent to all others around it, so that no new
V-structure appears. Take it away and look for the next.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from apsl_rules.errors import GraphError
from apsl_rules.graphs.dag import Dag, known_dag
from apsl_rules.names import Node, Pair, in_order, listing


def extension(nodes: Iterable[Node], arrows: Collection[tuple[Node, Node]], lines: Collection[Pair]) -> Dag:
    """Direct all lines such that neither a cycle nor a new V-structure appears; the first by name comes last.

    >>> extension("abc", [("a", "b")], [frozenset("bc")]).edges == {("a", "b"), ("b", "c")}
    True
    """
    everyone = list(nodes)
    around: dict[Node, set[Node]] = {node: set() for node in everyone}
    onward: dict[Node, set[Node]] = {node: set() for node in everyone}
    for x, y in (*arrows, *map(tuple, lines)):
        around[x].add(y)
        around[y].add(x)
    for tail, head in arrows:
        onward[tail].add(head)
    parents: dict[Node, tuple[Node, ...]] = {}
    left = list(in_order(everyone))
    while left:
        last = next((node for node in left if _can_be_last(node, around, onward)), None)
        if last is None:
            message = f"no graph without cycles and new V-structures has these arrows: they clash at {listing(left)}"
            raise GraphError(message)
        parents[last] = in_order(around.pop(last))
        left.remove(last)
        for other in parents[last]:
            around[other].discard(last)
            onward[other].discard(last)
    return known_dag({node: parents[node] for node in everyone})


def _can_be_last(node: Node, around: dict[Node, set[Node]], onward: dict[Node, set[Node]]) -> bool:
    """Return whether all that is around a node may point at it."""
    if onward[node]:
        return False
    near = around[node]
    return all(node in onward[other] or near - {other} <= around[other] for other in near)
