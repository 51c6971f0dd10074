"""The dynamic program over subsets of nodes, in machine code, one layer of equally large subsets after another.

Subsets are whole numbers, bit i for node i. For each node and each set it may choose its parents from, the best choice
is the whole set or the best choice from a set with one node less. For each set of nodes, some node is the last of a
best graph: it chooses its parents from the others, and these form a best graph among themselves.
"""
# ruff: noqa: PLR0917 - machine code is called by position

from __future__ import annotations

from itertools import pairwise
from math import comb
from typing import Any

import numpy as np

from apsl_backends.search.compiling import allocating, compiled

_NEVER = np.iinfo(np.int64).min


def layer_bytes(width: int) -> int:
    """Estimate the memory of the program for so many nodes: the subsets, and the two largest layers of choices."""
    layers = [comb(width, size) * (width - size) for size in range(width)]
    return (21 << width) + 12 * max((one + two for one, two in pairwise(layers)), default=1)


@compiled
def _ones(subset: int) -> int:
    """Count the nodes of a subset."""
    found = 0
    while subset:
        subset &= subset - 1
        found += 1
    return found


@compiled
def _simpler(one: int, other: int) -> bool:
    """Return whether a set of parents comes before another: fewer first, then by the first node that differs."""
    if _ones(one) != _ones(other):
        return _ones(one) < _ones(other)
    different = one ^ other
    return one & different & -different != 0


@compiled
def _choose(subset: int, node: int, own: int, place: Any, scores: Any, parents: Any) -> tuple[int, int]:
    """Choose the best parents of a node from a subset: all of it, which scores ``own``, or the best of what is less.

    ``scores`` and ``parents`` are the choices in the layer below, where the columns of a subset are the nodes outside.
    """
    top, choice = own, subset
    column = node - _ones(subset & ((1 << node) - 1))
    rest = subset
    while rest:
        bit = rest & -rest
        rest ^= bit
        row, at = place[subset ^ bit], column + (1 if bit < 1 << node else 0)
        if scores[row, at] > top or (scores[row, at] == top and _simpler(parents[row, at], choice)):
            top, choice = scores[row, at], parents[row, at]
    return top, choice


@allocating
def best_graph(joints: Any, allowed: Any, most: int, price: int, best: Any, last: Any, chosen: Any, stop: Any) -> None:
    """Find for each subset the score of its best graph, the last node there, and the parents of that node.

    ``joints[s]`` is the score of subset s as one joint column, ``allowed[i]`` the nodes that may be parents of node i,
    ``most`` how many parents a node may have. The first of equally good nodes is the last one.
    It ends early once ``stop`` is set.
    """
    width = len(allowed)
    place = np.empty(1 << width, np.int32)
    filled = np.zeros(width + 1, np.int64)
    for subset in range(1 << width):
        size = _ones(subset)
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
                    own = joints[whole] - joints[subset] - size * price
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
    """Return the next larger number with as many bits; nothing comes after the empty set."""
    if not subset:
        return 0
    lowest = subset & -subset
    ripple = subset + lowest
    return ripple | ((subset ^ ripple) // lowest >> 2)
