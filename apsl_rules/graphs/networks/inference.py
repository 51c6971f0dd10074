"""Exact inference in a discrete network: the joint distribution of a few nodes, by variable elimination.

Only the asked nodes and their ancestors matter. The others are summed out one by one, each time the one whose removal
joins the fewest pairs of nodes that no table has together yet (min-fill).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from math import prod
from typing import TypeAlias

import attrs
import numpy as np

from apsl_rules.errors import InvalidArgumentError
from apsl_rules.graphs.dag import Dag
from apsl_rules.graphs.networks.network import Network, Probabilities
from apsl_rules.names import Node, count_of, listing, require_known

#: How many cells a table may have while nodes are summed out; more are refused.
MOST_CELLS = 2**24

_Cost: TypeAlias = tuple[int, int, int]


def joint(network: Network, nodes: Sequence[Node]) -> Probabilities:
    """Return the joint distribution of some nodes, with one axis for each in the order asked.

    >>> from apsl_rules.graphs.networks import network
    >>> joint(network("asia"), ["lung", "tub"]).round(4).tolist()
    [[0.0006, 0.0544], [0.0098, 0.9352]]
    """
    if not nodes or len(set(nodes)) < len(nodes):
        message = f"a joint distribution of {listing(nodes)} was asked for; name at least one node, each only once"
        raise InvalidArgumentError(message)
    for node in nodes:
        require_known(node, network.tables, "node")
    return joint_of_ancestors(network.dag, network.tables, nodes)


def joint_of_ancestors(dag: Dag, tables: Mapping[Node, Probabilities], nodes: Sequence[Node]) -> Probabilities:
    """Return the joint distribution of some nodes where only they and their ancestors need tables yet."""
    above = _ancestors(dag, nodes)
    kept = [node for node in dag.topological_order if node in above]
    factors = [_Factor((*dag.parents_of(node), node), tables[node]) for node in kept]
    sizes = {node: tables[node].shape[-1] for node in kept}
    for node, around in _eliminations(factors, sizes, nodes):
        touched = [factor for factor in factors if node in factor.scope]
        factors = [factor for factor in factors if node not in factor.scope]
        factors.append(_Factor(around, _product(touched, (*around, node), sizes).sum(axis=-1)))
    return _product(factors, tuple(nodes), sizes)


@attrs.frozen(eq=False)
class _Factor:
    """A table with one axis for each node of its scope."""

    scope: tuple[Node, ...]
    values: Probabilities


def _ancestors(dag: Dag, nodes: Iterable[Node]) -> set[Node]:
    """Return some nodes and all their ancestors."""
    found = set(nodes)
    waiting = list(found)
    while waiting:
        new = set(dag.parents_of(waiting.pop())).difference(found)
        found |= new
        waiting += new
    return found


def _product(factors: Iterable[_Factor], scope: tuple[Node, ...], sizes: Mapping[Node, int]) -> Probabilities:
    """Multiply factors into one table over a scope that holds all of theirs, the small ones first."""
    axis = {node: number for number, node in enumerate(scope)}
    whole = np.ones((1,) * len(scope))
    for factor in sorted(factors, key=lambda one: one.values.size):
        order = sorted(range(len(factor.scope)), key=lambda place: axis[factor.scope[place]])
        spread = [sizes[node] if node in factor.scope else 1 for node in scope]
        whole = whole * factor.values.transpose(order).reshape(spread)
    return np.broadcast_to(whole, [sizes[node] for node in scope]).copy()


def _eliminations(
    factors: Iterable[_Factor], sizes: Mapping[Node, int], asked: Collection[Node]
) -> list[tuple[Node, tuple[Node, ...]]]:
    """Order all nodes but the asked ones, each with the nodes it then shares a table with."""
    place = {node: number for number, node in enumerate(sizes)}
    joined: dict[Node, set[Node]] = {node: set() for node in sizes}
    for factor in factors:
        for node in factor.scope:
            joined[node].update(factor.scope)
    for node, around in joined.items():
        around.discard(node)
    _refuse_large([*asked], sizes, asked)

    def cost(node: Node) -> _Cost:
        around = joined[node]
        fill = sum(y not in joined[x] for x, y in combinations(around, 2))
        return fill, prod(sizes[other] for other in around), place[node]

    costs = {node: cost(node) for node in sizes if node not in asked}
    order = []
    while costs:
        node = min(costs, key=costs.__getitem__)
        around = joined.pop(node)
        _refuse_large([node, *around], sizes, asked)
        order.append((node, tuple(sorted(around, key=place.__getitem__))))
        del costs[node]
        for other in around:
            joined[other] |= around
            joined[other] -= {node, other}
        for other in around.union(*(joined[one] for one in around)):
            if other in costs:
                costs[other] = cost(other)
    return order


def _refuse_large(nodes: Collection[Node], sizes: Mapping[Node, int], asked: Collection[Node]) -> None:
    cells = prod(sizes[node] for node in nodes)
    if cells > MOST_CELLS:
        message = (
            f"the joint distribution of {listing(asked)} takes a table of {cells:,} cells over "
            f"{count_of(len(nodes), 'node')}; at most {MOST_CELLS:,} are worked out"
        )
        raise InvalidArgumentError(message)
