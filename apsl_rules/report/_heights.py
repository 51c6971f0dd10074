"""The height of each slot in its column: as near as possible to the slots that it is joined to, with space between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from apsl_rules.report._columns import Grid, Slot

_PASSES = 16


def place_slots(grid: Grid, tall: Mapping[Slot, float], space: Mapping[Slot, float]) -> dict[Slot, float]:
    """Return the middle of each slot; ``tall`` is its height and ``space`` the free space it needs above and below."""
    near: dict[Slot, list[Slot]] = {slot: [] for column in grid.columns for slot in column}
    for chain in grid.chains:
        for x, y in pairwise(chain):
            near[x].append(y)
            near[y].append(x)
    steps = [
        [(tall[above] + tall[below]) / 2 + min(space[above], space[below]) for above, below in pairwise(column)]
        for column in grid.columns
    ]
    middle = {
        slot: at
        for column, step in zip(grid.columns, steps, strict=True)
        for slot, at in zip(column, spread([0.0] * len(column), step), strict=True)
    }
    for turn in range(_PASSES):
        order = range(len(grid.columns)) if turn % 2 else range(len(grid.columns) - 1, -1, -1)
        for at in order:
            column = grid.columns[at]
            wanted = [
                sum(middle[other] for other in near[slot]) / len(near[slot]) if near[slot] else middle[slot]
                for slot in column
            ]
            middle.update(zip(column, spread(wanted, steps[at]), strict=True))
    top = min(middle[slot] - tall[slot] / 2 for slot in middle)
    return {slot: at - top for slot, at in middle.items()}


def spread(wanted: Sequence[float], steps: Sequence[float]) -> list[float]:
    """Return the places nearest to the wanted ones, in squares, that keep their order and at least the steps between.

    >>> spread([0.0, 0.0, 9.0], [2.0, 2.0])
    [-1.0, 1.0, 9.0]
    """
    shifts = [0.0]
    for step in steps:
        shifts.append(shifts[-1] + step)
    pools: list[tuple[float, int]] = []  # the sum and the number of wants that share one place
    for want, shift in zip(wanted, shifts, strict=False):
        total, size = want - shift, 1
        while pools and pools[-1][0] * size >= total * pools[-1][1]:
            before, many = pools.pop()
            total, size = total + before, size + many
        pools.append((total, size))
    level = [total / size for total, size in pools for _ in range(size)]
    return [at + shift for at, shift in zip(level, shifts, strict=False)]
