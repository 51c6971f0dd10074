"""The column of each node, and the order in each column, so that few edges cross.

A layer of the part, the nodes at one distance from the target, is one column or several. An edge that passes a column
gets a slot of its own there, as a node has one, so that no edge ever runs across a name.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise
from math import ceil, sqrt
from typing import TypeAlias

import attrs

Slot: TypeAlias = int  # a node by its number, or a place where an edge passes a column, numbered after the nodes

_ROWS = 18
_SWEEPS = 12
_FEW = 160  # slots, up to which every swap of neighbours in a column is tried


@attrs.frozen
class Grid:
    """Columns of slots from top to bottom, and the slots along each edge from left to right."""

    columns: tuple[tuple[Slot, ...], ...]
    chains: tuple[tuple[Slot, ...], ...]


def arrange(layer_of: Sequence[int], edges: Sequence[tuple[int, int]]) -> Grid:
    """Arrange nodes 0, 1, ... with known layers; the order of the nodes settles what is equal otherwise."""
    columns = _fill_columns(layer_of, edges)
    place = {node: at for at, column in enumerate(columns) for node in column}
    count = len(layer_of)
    chains = []
    for x, y in edges:
        left, right = sorted((x, y), key=lambda node: (place[node], node))
        passing = range(place[left] + 1, place[right])
        chains.append((left, *range(count, count + len(passing)), right))
        for slot, column in enumerate(passing, start=count):
            columns[column].append(slot)
        count += len(passing)
    return Grid(tuple(map(tuple, _reduce_crossings(columns, chains))), tuple(chains))


def _fill_columns(layer_of: Sequence[int], edges: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Fill the columns of each layer: nodes that lead on to the next layer stand nearest to it."""
    rows = max(_ROWS, round(1.5 * sqrt(len(layer_of))))
    onward = [0] * len(layer_of)
    for x, y in edges:
        onward[x] += layer_of[y] > layer_of[x]
        onward[y] += layer_of[x] > layer_of[y]
    columns: list[list[int]] = []
    for layer in sorted(set(layer_of)):
        nodes = sorted((node for node, one in enumerate(layer_of) if one == layer), key=lambda node: onward[node])
        parts = ceil(len(nodes) / rows)
        size = ceil(len(nodes) / parts)
        columns += [sorted(nodes[begin : begin + size]) for begin in range(0, len(nodes), size)]
    return columns


def _reduce_crossings(columns: Sequence[Sequence[Slot]], chains: Iterable[tuple[Slot, ...]]) -> list[list[Slot]]:
    """Sort each column by where the neighbours stand, to and fro, and keep the order with the fewest crossings."""
    links = _Links(columns, chains)
    order = [list(column) for column in columns]
    best, fewest = [list(column) for column in columns], links.crossings(order)
    for sweep in range(_SWEEPS):
        rightwards = sweep % 2 == 0
        for at in range(len(order)) if rightwards else reversed(range(len(order))):
            behind = {at, at - 1 if rightwards else at + 1}
            sides = behind if sweep < _SWEEPS - 4 else {at - 1, at, at + 1}
            order[at] = links.sort_column(order, at, sides)
        crossings = links.crossings(order)
        if crossings < fewest:
            best, fewest = [list(column) for column in order], crossings
    return _swap_adjacent(best, links) if sum(map(len, columns)) <= _FEW else best


def _swap_adjacent(order: list[list[Slot]], links: _Links) -> list[list[Slot]]:
    """Swap neighbours in a column for as long as that saves crossings."""
    fewest = links.crossings(order)
    improved = True
    while improved:
        improved = False
        for column in order:
            for at in range(len(column) - 1):
                column[at], column[at + 1] = column[at + 1], column[at]
                crossings = links.crossings(order)
                if crossings < fewest:
                    fewest, improved = crossings, True
                else:
                    column[at], column[at + 1] = column[at + 1], column[at]
    return order


class _Links:
    """The pieces of edges between neighbouring columns, and the bows beside a column."""

    def __init__(self, columns: Sequence[Sequence[Slot]], chains: Iterable[tuple[Slot, ...]]) -> None:
        self._column_of = {slot: at for at, column in enumerate(columns) for slot in column}
        self._near: dict[Slot, list[Slot]] = {slot: [] for slot in self._column_of}
        self._across: dict[int, list[tuple[Slot, Slot]]] = {}
        self._bows: dict[int, list[tuple[Slot, Slot]]] = {}
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
            leaving = [rank[x] for x, _ in self._across.get(at, ())]
            total += sum(top < one < bottom for top, bottom in bows for one in leaving)
            total += sum(top < other[0] < bottom < other[1] for top, bottom in bows for other in bows)
        return total
