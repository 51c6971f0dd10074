"""Directed cycles and shortest directed paths: what arrows must not form, and what shows that they do."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

from apsl_rules.names import in_order, order_key

N = TypeVar("N", bound=Hashable)


def _ends(arrows: Iterable[tuple[N, ...]]) -> dict[N, list[N]]:
    onward: dict[N, list[N]] = {}
    for tail, end in arrows:
        onward.setdefault(tail, []).append(end)
    return onward


def cyclic_groups(arrows: Iterable[tuple[N, ...]]) -> list[frozenset[N]]:
    """Return the strongly connected groups of two or more nodes, by the name of their first node.

    >>> cyclic_groups([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]) == [frozenset("abc")]
    True
    """
    onward = _ends(arrows)
    index: dict[N, int] = {}
    low: dict[N, int] = {}
    stack: list[N] = []
    on_stack: set[N] = set()
    groups: list[frozenset[N]] = []
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


def shortest_path(start: N, goal: N, arrows: Iterable[tuple[N, ...]]) -> tuple[tuple[N, N], ...]:
    """Return the arrows of a shortest directed path from start to goal, or nothing when there is none."""
    onward = _ends(sorted(arrows, key=lambda nodes: tuple(order_key(node) for node in nodes)))
    came_from: dict[N, N] = {}
    layer = [start]
    while layer and goal not in came_from:
        ahead = []
        for tail in layer:
            for end in onward.get(tail, ()):
                if end not in came_from and end != start:
                    came_from[end] = tail
                    ahead.append(end)
        layer = ahead
    steps: list[tuple[N, N]] = []
    while goal != start:
        if goal not in came_from:
            return ()
        steps.append((came_from[goal], goal))
        goal = came_from[goal]
    return tuple(reversed(steps))
