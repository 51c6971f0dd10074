"""Large networks from small ones: copies of a base network, tiles, joined by arrows into the roots of later tiles.

After Tsamardinos, Statnikov, Brown and Aliferis, *Generating realistic large Bayesian networks by tiling* (2006). A
root that gets parents gets a random table under which it keeps its marginal. What is kept of the base:

- ``keep="joint"``: every tile has exactly the joint distribution of the base. Parents are chosen such that the roots of
  a tile stay independent of each other (see ``tile_arcs``). A base with a single root needs no such care.
- ``keep="marginals"``: every root has its marginal. Roots of a tile may have ancestors in common and so depend on each
  other, and then their common descendants have another distribution than in the base.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import get_args

import attrs
import numpy as np

from apsl_rules._arguments import chosen, demand, spelt, whole_number
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.graphs.dag import Dag
from apsl_rules.graphs.networks.inference import joint, joint_of_ancestors
from apsl_rules.graphs.networks.network import Network, Probabilities
from apsl_rules.graphs.networks.proportional_fitting import check_strength, fit_table
from apsl_rules.graphs.networks.tile_arcs import ArcRules, Keep, draw_arcs
from apsl_rules.names import Node, count_of

_MOST = 10**6


@attrs.frozen(eq=False)
class Tiling:
    """A tiled network, the arrows between its tiles, and how far the marginal of a root is from the base's at most."""

    network: Network
    base: Network
    arcs: tuple[tuple[Node, Node], ...]
    keep: Keep
    residual: float


def tile(
    network: Network,
    times: int,
    *,
    arcs: int | None = None,
    max_parents: int = 2,
    max_children: int | None = None,
    max_neighbours: int | None = None,
    keep: Keep = "joint",
    strength: float = 1.0,
    seed: int,
) -> Network:
    """Make a network of several copies of a base network, joined by arrows between them.

    ``arcs`` is the number of arrows between tiles: unless given, as many as the later tiles have roots. A root gets at
    most ``max_parents`` of them, and none is added that would give a node more than ``max_children`` children or
    ``max_neighbours`` neighbours in all. ``keep`` is "joint" or "marginals"; ``strength`` says how sharp the random
    tables are. The copy of node X in the third tile is named X.3.

    >>> from apsl_rules.graphs.networks import network
    >>> tile(network("child"), 10, arcs=7, seed=1)
    <Network child10: 200 nodes and 257 arrows>
    """
    rules = ArcRules(arcs, max_parents, max_children, max_neighbours, keep)
    return make_tiling(network, times, rules, strength=strength, seed=seed).network


def make_tiling(network: Network, times: int, rules: ArcRules, *, strength: float = 1.0, seed: int) -> Tiling:
    """Make a tiled network, and return it with what it was made of."""
    known = isinstance(network, Network)
    demand(known, f"tiles are copies of a network, not of {spelt(network)}; give network('asia'), or one of your own")
    _check(times, rules, seed)
    check_strength(strength)
    drawn = draw_arcs(network, times, rules, np.random.default_rng([seed, 0]))
    dag = _join_tiles(network, times, drawn)
    levels = dict(zip(dag.nodes, [network.levels[node] for node in network.dag.nodes] * times, strict=True))
    tables = dict(zip(dag.nodes, [network.tables[node] for node in network.dag.nodes] * times, strict=True))
    random = np.random.default_rng([seed, 1])
    residual = 0.0
    for number in sorted(drawn):
        root = dag.nodes[number]
        if rules.keep == "joint":
            settings = _joint_by_tile(network, drawn[number])
        else:
            settings = _joint_of_parents(dag, tables, root)
        marginal = tables[root]
        tables[root] = fit_table(marginal, settings, strength=strength, random=random)
        reached = np.tensordot(settings, tables[root], settings.ndim)
        residual = max(residual, float(np.abs(reached - marginal).max()))
    arcs = tuple((parent, dag.nodes[number]) for number in sorted(drawn) for parent in dag.parents[number])
    made = f"{network.name} tiled {times} times, {count_of(len(arcs), 'arrow')} between tiles, seed {seed}."
    whole = Network(f"{network.name}{times}", dag, levels, tables, f"{made}\n{network.source}".rstrip())
    return Tiling(whole, network, arcs, rules.keep, residual)


def _join_tiles(network: Network, times: int, drawn: Mapping[int, Sequence[int]]) -> Dag:
    """Copy the graph and give the roots their new parents."""
    nodes = [named for number in range(1, times + 1) for named in _names(network, number)]
    size = len(network.dag.nodes)
    place = {node: number for number, node in enumerate(network.dag.nodes)}
    parents = []
    for number in range(len(nodes)):
        inside = [number - number % size + place[parent] for parent in network.dag.parents[number % size]]
        parents.append(tuple(nodes[parent] for parent in inside or drawn.get(number, [])))
    return Dag(tuple(nodes), tuple(parents))


def _joint_of_parents(dag: Dag, tables: Mapping[Node, Probabilities], root: Node) -> Probabilities:
    """Work out the joint distribution of the parents of a root from all that is above them."""
    try:
        return joint_of_ancestors(dag, tables, dag.parents_of(root))
    except InvalidArgumentError as error:
        message = f"the new parents of {root!r} are too entangled ({error}); ask for fewer arrows, or give keep='joint'"
        raise InvalidArgumentError(message) from error


def _joint_by_tile(network: Network, parents: Sequence[int]) -> Probabilities:
    """Return the joint distribution of sorted parents: tiles are independent here, each distributed as the base."""
    size = len(network.dag.nodes)
    whole = np.ones(())
    for number in sorted({parent // size for parent in parents}):
        nodes = [network.dag.nodes[parent % size] for parent in parents if parent // size == number]
        whole = np.multiply.outer(whole, joint(network, nodes))
    return whole


def _names(network: Network, number: int) -> list[Node]:
    """Name the nodes of a tile: X.3 where all nodes are text, the pair (X, 3) otherwise; both are never ambiguous."""
    nodes = network.dag.nodes
    if all(isinstance(node, str) for node in nodes):
        return [f"{node}.{number}" for node in nodes]
    return [(node, number) for node in nodes]


def _check(times: int, rules: ArcRules, seed: int) -> None:
    for name, value, least in (
        ("times", times, 1),
        ("arcs", rules.arcs, 0),
        ("max_parents", rules.max_parents, 1),
        ("max_children", rules.max_children, 1),
        ("max_neighbours", rules.max_neighbours, 1),
        ("seed", seed, 0),
    ):
        if value is not None or name in ("times", "max_parents", "seed"):
            whole_number(name, value, least, _MOST if name != "seed" else 2**63)
    chosen("keep", rules.keep, get_args(Keep))
