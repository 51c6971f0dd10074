"""Columns of a drawing: which node stands where, and how high."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise
from math import ceil, sqrt
from typing import TypeAlias

import attrs

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


Slot: TypeAlias = int  # a node by its number, or a place where an edge passes a column, numbered after the nodes

_ROWS = 18
_SWEEPS = 12
_FEW = 160  # slots, up to which every swap of neighbours in a column is tried
_BELOW = 2  # up to this many open neighbours stand below the target, more on both sides of it


@attrs.frozen
class Grid:
    """Columns of slots from top to bottom, the slots along each edge from left to right, the target and its column.

    ``bow_sides`` says for each column on which side an edge between two of its nodes runs: 1 right, -1 left.
    """

    columns: tuple[tuple[Slot, ...], ...]
    chains: tuple[tuple[Slot, ...], ...]
    target: Slot
    middle: int
    bow_sides: tuple[int, ...]


def arrange(target: int, place_of: Sequence[int], edges: Sequence[tuple[int, int]]) -> Grid:
    """Arrange nodes 0, 1, ... by their places: 0 in the column of the target, -1, -2, ... to the left of it, 1, 2, ...

    The order of the nodes settles what is equal otherwise.
    """
    columns = _fill_columns(target, place_of, edges)
    place = {node: at for at, column in enumerate(columns) for node in column}
    count = len(place_of)
    chains = []
    for x, y in edges:
        left, right = sorted((x, y), key=lambda node: (place[node], node))
        passing = range(place[left] + 1, place[right])
        chains.append((left, *range(count, count + len(passing)), right))
        for slot, column in enumerate(passing, start=count):
            columns[column].append(slot)
        count += len(passing)
    middle = place[target]
    quieter = 1 if sum(one > 0 for one in place_of) <= sum(one < 0 for one in place_of) else -1
    bow_sides = tuple(quieter if at == middle else -1 if at < middle else 1 for at in range(len(columns)))
    centre = _Centre(target, middle, len(place_of))
    order = _reduce_crossings(columns, _Links(columns, chains, bow_sides), centre)
    return Grid(tuple(map(tuple, order)), tuple(chains), target, middle, bow_sides)


def _fill_columns(target: int, place_of: Sequence[int], edges: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Fill the columns of each place: nodes that lead on outwards stand farthest out."""
    rows = max(_ROWS, round(1.5 * sqrt(len(place_of))))
    onward = [0] * len(place_of)
    for one, other in (way for pair in edges for way in (pair, pair[::-1])):
        onward[one] += abs(place_of[other]) > abs(place_of[one])
    columns: list[list[int]] = []
    for place in sorted(set(place_of)):
        nodes = sorted((node for node, one in enumerate(place_of) if one == place), key=lambda node: onward[node])
        parts = ceil(len(nodes) / rows)
        size = ceil(len(nodes) / parts)
        if place == 0:  # the target stands in the middle one of its columns
            nodes.remove(target)
            nodes.insert(size * (parts // 2), target)
        filled = [sorted(nodes[begin : begin + size]) for begin in range(0, len(nodes), size)]
        columns += filled if place >= 0 else filled[::-1]
    return columns


@attrs.frozen
class _Centre:
    """The target, which keeps its place between the other nodes of its column."""

    target: int
    column: int
    nodes: int

    def restore(self, order: list[Slot]) -> list[Slot]:
        """Put the target where as many nodes are above it as below, and few ones all below."""
        others = [slot for slot in order if slot != self.target]
        places = [at for at, slot in enumerate(others) if slot < self.nodes]
        above = 0 if len(places) <= _BELOW else len(places) // 2
        if not places:
            return order
        start = places[above - 1] + 1 if above else 0
        free = range(start, places[above] + 1)
        wanted = min(free, key=lambda at: abs(at - order.index(self.target)))
        return [*others[:wanted], self.target, *others[wanted:]]

    def forbids(self, one: Slot, other: Slot) -> bool:
        """Return whether two neighbours in a column may not be swapped."""
        return self.target in (one, other) and max(one, other) < self.nodes


def _reduce_crossings(columns: Sequence[Sequence[Slot]], links: _Links, centre: _Centre) -> list[list[Slot]]:
    """Sort each column by where the neighbours stand, to and fro, and keep the order with the fewest crossings."""
    order = [list(column) for column in columns]
    order[centre.column] = centre.restore(order[centre.column])
    best, fewest = [list(column) for column in order], links.crossings(order)
    for sweep in range(_SWEEPS):
        rightwards = sweep % 2 == 0
        for at in range(len(order)) if rightwards else reversed(range(len(order))):
            behind = {at, at - 1 if rightwards else at + 1}
            sides = behind if sweep < _SWEEPS - 4 else {at - 1, at, at + 1}
            order[at] = links.sort_column(order, at, sides)
            if at == centre.column:
                order[at] = centre.restore(order[at])
        crossings = links.crossings(order)
        if crossings < fewest:
            best, fewest = [list(column) for column in order], crossings
    return _swap_adjacent(best, links, centre) if sum(map(len, columns)) <= _FEW else best


def _swap_adjacent(order: list[list[Slot]], links: _Links, centre: _Centre) -> list[list[Slot]]:
    """Swap neighbours in a column for as long as that saves crossings."""
    fewest = links.crossings(order)
    improved = True
    while improved:
        improved = False
        for column in order:
            for at in range(len(column) - 1):
                if centre.forbids(column[at], column[at + 1]):
                    continue
                column[at], column[at + 1] = column[at + 1], column[at]
                crossings = links.crossings(order)
                if crossings < fewest:
                    fewest, improved = crossings, True
                else:
                    column[at], column[at + 1] = column[at + 1], column[at]
    return order


class _Links:
    """The pieces of edges between neighbouring columns, and the bows beside a column."""

    def __init__(
        self, columns: Sequence[Sequence[Slot]], chains: Iterable[tuple[Slot, ...]], bow_sides: Sequence[int]
    ) -> None:
        self._column_of = {slot: at for at, column in enumerate(columns) for slot in column}
        self._near: dict[Slot, list[Slot]] = {slot: [] for slot in self._column_of}
        self._across: dict[int, list[tuple[Slot, Slot]]] = {}
        self._bows: dict[int, list[tuple[Slot, Slot]]] = {}
        self._bow_sides = bow_sides
        for x, y in (link for chain in chains for link in pairwise(chain)):
            self._near[x].append(y)
            self._near[y].append(x)
            at = self._column_of[x]
            (self._bows if self._column_of[y] == at else self._across).setdefault(at, []).append((x, y))

    def sort_column(self, order: Sequence[Sequence[Slot]], at: int, sides: AbstractSet[int]) -> list[Slot]:
        """Sort a column by the mean place of what its slots are joined to in some columns."""
        seen = [column for number, column in enumerate(order) if number in sides]
        rank = {slot: (place + 0.5) / len(column) for column in seen for place, slot in enumerate(column)}

        def pull(slot: Slot) -> tuple[float, float]:
            ranks = [rank[other] for other in self._near[slot] if other in rank]
            return sum(ranks) / len(ranks) if ranks else rank[slot], rank[slot]

        return sorted(order[at], key=pull)

    def crossings(self, order: Sequence[Sequence[Slot]]) -> int:
        """Count the pairs of links that cross: between two columns, under a bow, and of bows."""
        rank = {slot: place for column in order for place, slot in enumerate(column)}
        total = 0
        for links in self._across.values():
            seen: list[int] = []
            for _, end in sorted((rank[x], rank[y]) for x, y in links):
                total += len(seen) - bisect_right(seen, end)
                insort(seen, end)
        for at, pairs in self._bows.items():
            bows = [sorted((rank[x], rank[y])) for x, y in pairs]
            leaving = (
                [rank[x] for x, _ in self._across.get(at, ())]
                if self._bow_sides[at] > 0
                else [rank[y] for _, y in self._across.get(at - 1, ())]
            )
            total += sum(top < one < bottom for top, bottom in bows for one in leaving)
            total += sum(top < other[0] < bottom < other[1] for top, bottom in bows for other in bows)
        return total
