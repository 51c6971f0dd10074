"""Dynamic programming over subsets of nodes, in machine code, one layer of subsets of the same size after another.

Subsets are integers, with bit i for node i. The best parents of a node among a set are the whole set, or the best
parents among a set with one node less. In a best graph over a set of nodes, some node is last: it has its best parents
among the others, and these form a best graph among themselves.
"""
# ruff: noqa: PLR0917 - machine code takes its arguments by position

from __future__ import annotations

from itertools import pairwise
from math import comb
from typing import Any

import numpy as np

from apsl_backends.search.compiling import allocating, compiled

_NEVER = np.iinfo(np.int64).min


def layer_bytes(width: int) -> int:
    """Estimate the memory for ``width`` nodes: the subsets, and the two largest layers of choices."""
    layers = [comb(width, size) * (width - size) for size in range(width)]
    return (21 << width) + 12 * max((one + two for one, two in pairwise(layers)), default=1)


@compiled
def _size_of(subset: int) -> int:
    """Count the nodes of a subset."""
    found = 0
    while subset:
        subset &= subset - 1
        found += 1
    return found


@compiled
def _is_simpler(one: int, other: int) -> bool:
    """Return whether a set of parents precedes another: smaller sets first, then by the first node that differs."""
    if _size_of(one) != _size_of(other):
        return _size_of(one) < _size_of(other)
    different = one ^ other
    return one & different & -different != 0


@compiled
def _choose(subset: int, node: int, own: int, place: Any, scores: Any, parents: Any) -> tuple[int, int]:
    """Choose the best parents of a node from a subset: all of it, with the score ``own``, or the best of a smaller one.

    ``scores`` and ``parents`` are the choices in the layer below: a row for each subset, a column for each other node.
    """
    top, choice = own, subset
    column = node - _size_of(subset & ((1 << node) - 1))
    rest = subset
    while rest:
        bit = rest & -rest
        rest ^= bit
        row, at = place[subset ^ bit], column + (1 if bit < 1 << node else 0)
        if scores[row, at] > top or (scores[row, at] == top and _is_simpler(parents[row, at], choice)):
            top, choice = scores[row, at], parents[row, at]
    return top, choice


@allocating
def best_graph(
    joints: Any, allowed: Any, most: int, penalty: int, best: Any, last: Any, chosen: Any, stop: Any
) -> None:
    """Find for each subset the score of its best graph, the last node there, and the parents of that node.

    ``joints[s]`` is the score of subset s as one joint column, ``allowed[i]`` the nodes that may be parents of node i,
    ``most`` the most parents of a node. Of equally good last nodes, the one with the lowest number is taken. The search
    ends early once ``stop`` is set.
    """
    width = len(allowed)
    place = np.empty(1 << width, np.int32)
    filled = np.zeros(width + 1, np.int64)
    for subset in range(1 << width):
        size = _size_of(subset)
        place[subset] = filled[size]
        filled[size] += 1
    best[:] = _NEVER
    best[0] = 0
    below, below_parents = np.empty((0, 0), np.int64), np.empty((0, 0), np.int32)
    for size in range(width):
        scores = np.empty((filled[size], width - size), np.int64)
        parents = np.empty((filled[size], width - size), np.int32)
        subset = (1 << size) - 1
        for row in range(filled[size]):
            if stop[0]:
                return
            column = 0
            for node in range(width):
                whole = subset | 1 << node
                if whole == subset:
                    continue
                own = _NEVER
                if size <= most and subset & ~allowed[node] == 0:
                    own = joints[whole] - joints[subset] - size * penalty
                top, choice = _choose(subset, node, own, place, below, below_parents)
                scores[row, column], parents[row, column] = top, choice
                column += 1
                value = best[subset] + top
                if value > best[whole] or (value == best[whole] and node < last[whole]):
                    best[whole], last[whole], chosen[whole] = value, node, choice
            subset = _next(subset)
        below, below_parents = scores, parents


@compiled
def _next(subset: int) -> int:
    """Return the next larger number with as many ones; after the empty set, the empty set."""
    if not subset:
        return 0
    lowest = subset & -subset
    ripple = subset + lowest
    return ripple | ((subset ^ ripple) // lowest >> 2)
