"""Partially directed graphs as square matrices of marks, in machine code: extensions, classes, paths.

``marks[i, j]`` without ``marks[j, i]`` is an arrow from i to j, both are an undirected edge (line), neither is a gap.
The pattern (CPDAG) of an equivalence class has an arrow where all graphs of the class have it, and a line elsewhere.
"""
# ruff: noqa: FBT001, PLR0917, C901 - machine code is long, and takes its arguments by position

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from apsl_backends.search.compiling import compiled, inner, keep_apart


class PatternSpace(NamedTuple):
    """Working space: the neighbours of each node, their number, the remaining nodes, an order, and a list."""

    near: npt.NDArray[np.int16]
    degrees: npt.NDArray[np.int64]
    left: npt.NDArray[np.bool_]
    order: npt.NDArray[np.int64]
    ahead: npt.NDArray[np.int64]


def pattern_space_for(width: int) -> PatternSpace:
    """Make working space for ``width`` nodes."""
    return PatternSpace(
        np.empty((width, width), np.int16),
        np.zeros(width, np.int64),
        np.zeros(width, np.bool_),
        np.zeros(width, np.int64),
        np.zeros(width, np.int64),
    )


@inner
def joined(marks: Any, x: int, y: int) -> Any:
    """Return whether two nodes are adjacent."""
    return marks[x, y] | marks[y, x]


@inner
def lined(marks: Any, x: int, y: int) -> Any:
    """Return whether a line connects two nodes."""
    return marks[x, y] & marks[y, x]


@inner
def copy(marks: Any, out: Any) -> None:
    """Copy a matrix of marks."""
    for x in range(len(marks)):
        for y in range(len(marks)):
            out[x, y] = marks[x, y]


@inner
def _can_be_last(marks: Any, left: Any, near: Any, degree: int, node: int) -> bool:
    """Return whether all remaining neighbours of a node may point at it."""
    for at in range(degree):
        other = near[node, at]
        if not left[other]:
            continue
        if not marks[other, node]:
            return False
        if marks[node, other]:
            for place in range(degree):
                third = near[node, place]
                if left[third] and third != other and not joined(marks, other, third):
                    return False
    return True


@compiled
def extend(marks: Any, dag: Any, space: Any) -> bool:
    """Direct all lines without a cycle or a new V-structure (Dor and Tarsi 1992); return whether that is possible."""
    keep_apart()
    width = len(marks)
    near, degrees, left = space.near, space.degrees, space.left
    for node in range(width):
        degrees[node], left[node] = 0, True
        for other in range(width):
            dag[node, other] = 0
            if joined(marks, node, other):
                near[node, degrees[node]] = other
                degrees[node] += 1
    remaining = width
    while remaining:
        before = remaining
        for node in range(width - 1, -1, -1):
            if left[node] and _can_be_last(marks, left, near, degrees[node], node):
                left[node] = False
                remaining -= 1
                for at in range(degrees[node]):
                    if left[near[node, at]]:
                        dag[near[node, at], node] = 1
        if remaining == before:
            return False
    return True


@inner
def order_of(dag: Any, space: Any) -> None:
    """Order the nodes of an acyclic graph so that parents come before their children."""
    width = len(dag)
    waiting, order = space.degrees, space.order
    for node in range(width):
        waiting[node] = 0
        for parent in range(width):
            waiting[node] += dag[parent, node]
    found = 0
    for node in range(width):
        if not waiting[node]:
            order[found] = node
            found += 1
    at = 0
    while at < found:
        for child in range(width):
            if dag[order[at], child]:
                waiting[child] -= 1
                if not waiting[child]:
                    order[found] = child
                    found += 1
        at += 1


@compiled
def pattern(dag: Any, marks: Any, space: Any) -> None:
    """Find the pattern of a graph's class (Chickering 1995); the last parent of a node decides about its arrows."""
    keep_apart()
    width = len(dag)
    order, parents = space.order, space.ahead
    order_of(dag, space)
    for node in range(width):
        for other in range(width):
            marks[node, other] = dag[node, other] | dag[other, node]
    for at in range(width):
        node = order[at]
        count = 0
        for place in range(at):
            if dag[order[place], node]:
                parents[count] = order[place]
                count += 1
        if not count:
            continue
        last = parents[count - 1]
        compelled = False
        for place in range(count - 1):
            compelled |= not dag[parents[place], last]
        for other in range(width):
            compelled |= marks[other, last] and not marks[last, other] and not dag[other, node]
        for place in range(count):
            parent = parents[place]
            if compelled or (parent != last and marks[parent, last] and not marks[last, parent]):
                marks[node, parent] = 0


@inner
def has_path(marks: Any, start: int, end: int, seen: Any, skip: bool, ahead: Any) -> bool:
    """Return whether a path of arrows and lines leads from one node to another without a ``seen`` node.

    With ``skip``, the edge from start to end itself does not count.
    """
    seen[start] = True
    ahead[0] = start
    count = 1
    while count:
        count -= 1
        node = ahead[count]
        for other in range(len(marks)):
            if marks[node, other] and not (skip and node == start and other == end):
                if other == end:
                    return True
                if not seen[other]:
                    seen[other] = True
                    ahead[count] = other
                    count += 1
    return False
