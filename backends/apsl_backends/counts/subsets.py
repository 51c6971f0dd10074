"""Subsets of a pool in order: how many there are, their numbers, the next one."""

from __future__ import annotations

from typing import Any

import numpy as np

from apsl_backends.counts.compiled import kernel

_MOST = 1 << 62


@kernel
def binomials(free: int, most: int) -> Any:
    """Tabulate how many subsets of each size there are, up to a number beyond all use."""
    table = np.zeros((free + 1, most + 1), np.int64)
    for n in range(free + 1):
        table[n, 0] = 1
        for k in range(1, min(n, most) + 1):
            table[n, k] = min(table[n - 1, k - 1] + table[n - 1, k], _MOST)
    return table


@kernel
def number_without(pick: Any, size: int, left_out: int, free: int, ways: Any) -> int:
    """Give the number, within its size, of a subset less its element at one position."""
    number = ways[free, size - 1] - 1
    k = size - 1
    for i in range(size):
        if i != left_out:
            number -= ways[free - 1 - pick[i], k]
            k -= 1
    return number


@kernel
def step(pick: Any, size: int, free: int) -> int:
    """Move on to the next subset of this size; give the first position that changed, or -1 after the last."""
    i = size - 1
    while i >= 0 and pick[i] == free - size + i:
        i -= 1
    if i >= 0:
        pick[i] += 1
        for later in range(i + 1, size):
            pick[later] = pick[later - 1] + 1
    return i


@kernel
def least_products(values: Any) -> Any:
    """Give for each size the smallest product of so many of the values."""
    ordered = np.empty(len(values), np.float64)
    for i in range(len(values)):
        k = i
        while k > 0 and ordered[k - 1] > values[i]:
            ordered[k] = ordered[k - 1]
            k -= 1
        ordered[k] = values[i]
    products = np.ones(len(values) + 1, np.float64)
    for i in range(len(values)):
        products[i + 1] = products[i] * ordered[i]
    return products


@kernel
def sums_of_products(values: Any, most: int) -> Any:
    """Give for each size up to the most the sum, over all subsets of that size, of the product of their values."""
    sums = np.zeros(most + 1, np.float64)
    sums[0] = 1.0
    for value in values:
        for size in range(most, 0, -1):
            sums[size] += value * sums[size - 1]
    return sums
