"""Subsets of a pool in lexicographic order: their numbers, the next subset, and products over subsets."""

from __future__ import annotations

from typing import Any

from apsl_backends.kernels.arrays import Long
from apsl_backends.kernels.compiled import inlined


@inlined
def number_without(pick: Any, size: Long, left_out: Long, free: Long, binomials: Any) -> Long:
    """Return the number, among subsets of its size, of a subset without its element at one position."""
    k = size - 1
    number = binomials[free, k] - 1
    for i in range(size):
        if i != left_out:
            number -= binomials[free - 1 - pick[i], k]
            k -= 1
    return number


@inlined
def step(pick: Any, size: Long, free: Long) -> Long:
    """Advance to the next subset of this size; return the first position that changed, or -1 after the last."""
    i = size - 1
    while i >= 0 and pick[i] == free - size + i:
        i -= 1
    if i >= 0:
        pick[i] += 1
        for later in range(i + 1, size):
            pick[later] = pick[later - 1] + 1
    return i


@inlined
def add_to_sums(value: Any, sums: Any, most: Long) -> None:
    """Add a value to ``sums[k]``, the sum over all subsets of k values of their product."""
    for k in range(most, 0, -1):
        sums[k] += value * sums[k - 1]


@inlined
def add_in_order(value: Any, ordered: Any, count: Long, most: Long) -> None:
    """Insert a value into the smallest so far, ``ordered[1:]`` in ascending order, if it is one of them."""
    k = min(count, most - 1)
    if k < 0 or (count >= most and ordered[most] <= value):
        return
    while k > 0 and ordered[k] > value:
        ordered[k + 1] = ordered[k]
        k -= 1
    ordered[k + 1] = value
