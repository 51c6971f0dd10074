"""Graphs with lines and arrows as square tables of marks, in machine code: extensions, classes, ways.

``marks[i, j]`` without ``marks[j, i]`` is an arrow from i to j, both are a line, neither is a gap. The pattern (CPDAG)
of a class of graphs with the same independences has an arrow where all of them have it, and a line elsewhere.
"""
# ruff: noqa: FBT001, PLR0917, C901 - machine code is called by position and spelt out

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from apsl_backends.search.compiling import compiled, inner, keep_apart


class Paper(NamedTuple):
    """Working space: neighbours of each node, how many, who is left, an order, and places."""

    near: npt.NDArray[np.int16]
    degrees: npt.NDArray[np.int64]
    left: npt.NDArray[np.bool_]
    order: npt.NDArray[np.int64]
    ahead: npt.NDArray[np.int64]


def paper_for(width: int) -> Paper:
    """Make working space for so many nodes."""
    return Paper(
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
    """Return whether a line joins two nodes."""
    return marks[x, y] & marks[y, x]


@inner
def copy(marks: Any, out: Any) -> None:
    """Copy a table of marks."""
    for x in range(len(marks)):
        for y in range(len(marks)):
            out[x, y] = marks[x, y]


@inner
def _can_be_last(marks: Any, left: Any, near: Any, degree: int, node: int) -> bool:
    """Return whether all that is left around a node may point at it."""
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
def extend(marks: Any, dag: Any, paper: Any) -> bool:
    """Direct all lines such that neither a cycle nor a new V-structure appears (Dor and Tarsi 1992), if that can be."""
    keep_apart()
    width = len(marks)
    near, degrees, left = paper.near, paper.degrees, paper.left
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
def order_of(dag: Any, paper: Any) -> None:
    """Order the nodes of a graph without cycles such that parents come before their children."""
    width = len(dag)
    waiting, order = paper.degrees, paper.order
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
def pattern(dag: Any, marks: Any, paper: Any) -> None:
    """Find the arrows that all graphs of a class share (Chickering 1995); the last parent of a node decides."""
    keep_apart()
    width = len(dag)
    order, parents = paper.order, paper.ahead
    order_of(dag, paper)
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
def leads(marks: Any, start: int, end: int, seen: Any, skip: bool, ahead: Any) -> bool:
    """Return whether arrows and lines lead from one node to another past none that is ``seen`` already.

    With ``skip`` the step straight from the start to the end does not count.
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
