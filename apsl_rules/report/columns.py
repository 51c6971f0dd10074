"""Which node stands in which column, and in what order, so that few edges cross.

A layer of the part, the nodes at one distance from the target, is one column or several. An edge that passes a column
gets a slot of its own there, as a node has one, so that no edge ever runs across a name.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import ceil, sqrt
from typing import TypeAlias

import attrs

Slot: TypeAlias = int  # a node by its number, or a place where an edge passes a column, numbered after the nodes

_ROWS = 18
_SWEEPS = 12


@attrs.frozen
class Grid:
    """Columns of slots from top to bottom, the layer of each column, and the slots along each edge, left to right."""

    columns: tuple[tuple[Slot, ...], ...]
    layers: tuple[int, ...]
    chains: tuple[tuple[Slot, ...], ...]


def arranged(layer_of: Sequence[int], edges: Sequence[tuple[int, int]]) -> Grid:
    """Arrange nodes 0, 1, ... with known layers; the order of the nodes settles what is equal otherwise."""
    columns, layers = _filled(layer_of, edges)
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
    return Grid(tuple(map(tuple, _untangled(columns, chains))), tuple(layers), tuple(chains))


def _filled(layer_of: Sequence[int], edges: Sequence[tuple[int, int]]) -> tuple[list[list[int]], list[int]]:
    """Fill the columns of each layer: nodes that lead on to the next layer stand nearest to it."""
    rows = max(_ROWS, round(1.5 * sqrt(len(layer_of))))
    onward = [0] * len(layer_of)
    for x, y in edges:
        onward[x] += layer_of[y] > layer_of[x]
        onward[y] += layer_of[x] > layer_of[y]
    columns: list[list[int]] = []
    layers: list[int] = []
    for layer in sorted(set(layer_of)):
        nodes = sorted((node for node, one in enumerate(layer_of) if one == layer), key=lambda node: onward[node])
        parts = ceil(len(nodes) / rows)
        size = ceil(len(nodes) / parts)
        columns += [sorted(nodes[begin : begin + size]) for begin in range(0, len(nodes), size)]
        layers += [layer] * (len(columns) - len(layers))
    return columns, layers


def _untangled(columns: Sequence[Sequence[Slot]], chains: Iterable[tuple[Slot, ...]]) -> list[list[Slot]]:
    """Sort each column by where the neighbours stand, to and fro, and keep the order with the fewest crossings."""
    column_of = {slot: at for at, column in enumerate(columns) for slot in column}
    links = [link for chain in chains for link in pairwise(chain)]
    near: dict[Slot, list[Slot]] = {slot: [] for slot in column_of}
    for x, y in links:
        near[x].append(y)
        near[y].append(x)
    across = [(x, y) for x, y in links if column_of[x] != column_of[y]]
    order = [list(column) for column in columns]
    best, fewest = order, _crossings(order, across, column_of)
    for sweep in range(_SWEEPS):
        rightwards = sweep % 2 == 0
        for at in range(len(order)) if rightwards else reversed(range(len(order))):
            behind = at - 1 if rightwards else at + 1
            rank = {slot: (place + 0.5) / len(column) for column in order for place, slot in enumerate(column)}
            sides = {at, behind} if sweep < _SWEEPS - 4 else {at - 1, at, at + 1}
            pull = {
                slot: _mean([rank[other] for other in near[slot] if column_of[other] in sides], rank[slot])
                for slot in order[at]
            }
            order[at] = sorted(order[at], key=lambda slot: (pull[slot], rank[slot]))
        crossings = _crossings(order, across, column_of)
        if crossings < fewest:
            best, fewest = [list(column) for column in order], crossings
    return best


def _mean(numbers: Sequence[float], otherwise: float) -> float:
    return sum(numbers) / len(numbers) if numbers else otherwise


def _crossings(
    order: Sequence[Sequence[Slot]], across: Iterable[tuple[Slot, Slot]], column_of: Mapping[Slot, int]
) -> int:
    """Count the pairs of links between two neighbouring columns that cross."""
    rank = {slot: place for column in order for place, slot in enumerate(column)}
    between: dict[int, list[tuple[int, int]]] = {}
    for x, y in across:
        between.setdefault(column_of[x], []).append((rank[x], rank[y]))
    total = 0
    for links in between.values():
        seen: list[int] = []
        for _, end in sorted(links):
            total += len(seen) - bisect_right(seen, end)
            insort(seen, end)
    return total
