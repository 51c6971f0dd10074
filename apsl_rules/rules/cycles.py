"""Directed cycles among arrows: the groups of nodes that lie on them, and a shortest path between two nodes."""

from __future__ import annotations

from collections.abc import Iterable

from apsl_rules.names import Node, in_order, order_key
from apsl_rules.rules.facts import Nodes


def _ends(arrows: Iterable[Nodes]) -> dict[Node, list[Node]]:
    onward: dict[Node, list[Node]] = {}
    for tail, end in arrows:
        onward.setdefault(tail, []).append(end)
    return onward


def cyclic_groups(arrows: Iterable[Nodes]) -> list[frozenset[Node]]:
    """Return the strongly connected groups of two or more nodes, by the name of their first node.

    >>> cyclic_groups([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]) == [frozenset("abc")]
    True
    """
    onward = _ends(arrows)
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}
    stack: list[Node] = []
    on_stack: set[Node] = set()
    groups: list[frozenset[Node]] = []
    for root in onward:
        work = [(root, iter(onward.get(root, ())))] if root not in index else []
        while work:
            node, ends = work[-1]
            if node not in index:
                index[node] = low[node] = len(index)
                stack.append(node)
                on_stack.add(node)
            for end in ends:
                if end not in index:
                    work.append((end, iter(onward.get(end, ()))))
                    break
                if end in on_stack:
                    low[node] = min(low[node], index[end])
            else:
                work.pop()
                if work:
                    above = work[-1][0]
                    low[above] = min(low[above], low[node])
                if low[node] == index[node]:
                    cut = stack.index(node)
                    group = frozenset(stack[cut:])
                    del stack[cut:]
                    on_stack -= group
                    if len(group) > 1:
                        groups.append(group)
    return sorted(groups, key=lambda group: order_key(in_order(group)[0]))


def shortest_path(start: Node, goal: Node, arrows: Iterable[Nodes]) -> tuple[tuple[Node, Node], ...]:
    """Return the arrows of a shortest directed path from start to goal, or nothing when there is none."""
    onward = _ends(sorted(arrows, key=lambda nodes: tuple(order_key(node) for node in nodes)))
    came_from: dict[Node, Node] = {}
    layer = [start]
    while layer and goal not in came_from:
        ahead = []
        for tail in layer:
            for end in onward.get(tail, ()):
                if end not in came_from and end != start:
                    came_from[end] = tail
                    ahead.append(end)
        layer = ahead
    steps: list[tuple[Node, Node]] = []
    while goal != start:
        if goal not in came_from:
            return ()
        steps.append((came_from[goal], goal))
        goal = came_from[goal]
    return tuple(reversed(steps))
