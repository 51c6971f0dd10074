"""The side of each node in the drawing: causes left of the target, effects right of it, and what is open beside it.

Nodes further away stand outwards on the side that they are reached from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum

from apsl_rules.names import Node, order_key
from apsl_rules.report.edges import Edge, Look


class Side(IntEnum):
    """Where a node stands: on the left, in the column of the target, or on the right."""

    LEFT = -1
    MIDDLE = 0
    RIGHT = 1


def sides_of(target: Node, layer_of: Mapping[Node, int], edges: Sequence[Edge]) -> dict[Node, Side]:
    """Return the side of each node; an edge at the target without a proved arrow puts its node in the middle."""
    near: dict[Node, list[tuple[Node, int]]] = {node: [] for node in layer_of}
    for edge in edges:
        x, y = edge.pair
        near[x].append((y, _turn(edge.last)))
        near[y].append((x, -_turn(edge.last)))
    sides = {target: Side.MIDDLE}
    total = 0
    for node in sorted(layer_of, key=lambda one: (layer_of[one], order_key(one))):
        if node == target:
            continue
        inner = [(other, turn) for other, turn in near[node] if other in sides and layer_of[other] < layer_of[node]]
        if layer_of[node] == 1:
            side = _sign(sum(-turn for other, turn in inner if other == target))
        else:
            pull = sum(int(sides[other]) for other, _ in inner) or sum(-turn for _, turn in inner)
            side = _sign(pull) or (Side.RIGHT if total <= 0 else Side.LEFT)
        sides[node] = side
        total += side
    return sides


def _turn(look: Look) -> int:
    """Return 1 for an arrow along the pair, -1 for one against it, else 0."""
    return {Look.AHEAD: 1, Look.BACK: -1}.get(look, 0)


def _sign(number: int) -> Side:
    return Side((number > 0) - (number < 0))
