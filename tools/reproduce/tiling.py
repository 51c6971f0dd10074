"""Tiled networks: several copies of a network, joined by arrows between them.

``python tools/reproduce/tiling.py`` makes those that come with the package again, from the files in ``tilings``.
"""

from __future__ import annotations

import gzip
import tomllib
from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.errors import InvalidArgumentError, UnknownNameError
from apsl_rules.graphs import Degrees
from apsl_rules.graphs.dag import Dag
from apsl_rules.graphs.networks import Network, joint, network, write_bif
from apsl_rules.graphs.networks.bayesian_network import (
    Probabilities,
    check_strength,
    joint_of_ancestors,
    random_rows,
)
from apsl_rules.names import Node, chosen, count_of, demand, nearest, spelt, whole_number

#: Where the networks of the package lie, and how the tiled ones are made.
NETWORKS = Path(__file__).parents[2] / "specs" / "apsl_specs" / "networks"
TILINGS = Path(__file__).parent / "tilings"

#: How far the marginal of a fitted table may be from the wanted one.
RESIDUAL = 1e-12
_SWEEPS = 20_000
_DRAWS = 10


Keep: TypeAlias = Literal["joint", "marginals"]

#: How large the table of a root may become; parents that would make it larger are not chosen.
MOST_CELLS = 10**6

_TRIES = 4
_THRIFTS = (0, 1, 2, 4, 8)
_BITS = 64
_FEW = 32
_MANY = 2**31


@attrs.frozen
class ArcRules:
    """How many arrows to add, how many a node may get or have in all, and what of the base must be kept.

    Without a number of arrows, as many are added as the later tiles have roots.
    """

    arcs: int | None = None
    max_parents: int = 2
    max_children: int | None = None
    max_neighbours: int | None = None
    keep: Keep = "joint"


def draw_arcs(network: Network, times: int, rules: ArcRules, random: np.random.Generator) -> dict[int, list[int]]:
    """Draw the new parents of roots; node j of tile i (both from 0 on) has the number i n + j, n being the base's size.

    Parents are drawn evenly at first. Where so many arrows find no place, nodes with few sources are preferred more
    and more, because they leave more choice to the other roots of a tile.
    """
    base = _Base(network)
    arcs = (times - 1) * len(base.roots) if rules.arcs is None else rules.arcs
    most = (times - 1) * len(base.roots) * rules.max_parents
    if arcs > most:
        message = (
            f"{count_of(arcs, 'arrow')} between tiles asked for; {times} tiles with "
            f"{count_of(len(base.roots), 'root')} each take at most {most} if a root gets at most "
            f"{rules.max_parents}, so ask for fewer or allow more parents"
        )
        raise InvalidArgumentError(message)
    placed = 0
    for thrift, _ in product(_THRIFTS, range(_TRIES)):
        found = _Drawing(base, times, rules, random, thrift).parents(arcs)
        placed = max(placed, sum(map(len, found.values())))
        if placed == arcs:
            return {root: sorted(parents) for root, parents in found.items() if parents}
    message = (
        f"of {arcs} arrows between tiles only {placed} found a place; ask for fewer, allow more parents, children "
        f"or neighbours, or give keep='marginals' to let the roots of a tile depend on each other"
    )
    raise InvalidArgumentError(message)


class _Base:
    """The base network by numbers; nodes with a single level take part in no arrow between tiles."""

    def __init__(self, network: Network) -> None:
        dag = network.dag
        place = {node: number for number, node in enumerate(dag.nodes)}
        self.sizes = np.array([len(network.levels[node]) for node in dag.nodes])
        self.parents = [[place[parent] for parent in dag.parents_of(node)] for node in dag.nodes]
        self.children = np.array([len(dag.children_of(node)) for node in dag.nodes])
        self.order = [place[node] for node in dag.topological_order]
        self.sources = [number for number in self.order if not self.parents[number]]
        self.roots = [number for number in self.sources if self.sizes[number] > 1]


class _Drawing:
    """One attempt to place all arrows, tile by tile."""

    def __init__(self, base: _Base, times: int, rules: ArcRules, random: np.random.Generator, thrift: int) -> None:
        self._base, self._times, self._rules, self._random, self._thrift = base, times, rules, random, thrift
        self._tile = np.repeat(np.arange(times), len(base.order))
        self._size = np.tile(base.sizes, times)
        self._children = np.tile(base.children, times)
        self._neighbours = np.tile(base.children + [len(parents) for parents in base.parents], times)
        # Row x has a bit for each node without parents in its tile, set where it is a source of node x.
        self._sources = np.zeros((self._tile.size, -(-times * len(base.sources) // _BITS)), dtype=np.uint64)
        self._weights = np.zeros(self._tile.size)
        self._found: dict[int, list[int]] = {}

    def parents(self, arcs: int) -> dict[int, list[int]]:
        """Choose how many arrows lead to each tile, and draw parents; what finds no place goes to later tiles."""
        rules, roots = self._rules, self._base.roots
        slots = self._random.permutation((self._times - 1) * len(roots) * rules.max_parents)[:arcs]
        wanted = np.bincount(slots // (len(roots) * rules.max_parents), minlength=self._times)
        owed = 0
        for tile in range(self._times):
            start = tile * len(self._base.order)
            if tile:
                owed += int(wanted[tile - 1])
                owed -= self._join([start + root for root in roots], owed, np.cumsum(self._weights[:start]))
            self._finish(tile)
        return self._found

    def _join(self, roots: list[int], owed: int, ends: npt.NDArray[np.float64]) -> int:
        """Give the roots of one tile so many parents, or as many as possible, and return how many.

        The nodes of earlier tiles are drawn by their weights, whose sums up to each node are ``ends``.
        """
        self._found |= {root: [] for root in roots}
        slots = self._random.permutation(len(roots) * self._rules.max_parents)
        placed = 0
        for slot in slots:
            if placed < owed:
                placed += self._place(roots[slot % len(roots)], roots, ends)
        return placed

    def _place(self, root: int, roots: list[int], ends: npt.NDArray[np.float64]) -> bool:
        """Return a root one more parent where one fits: the first that does of a few drawn, or else one of all."""
        few = np.searchsorted(ends[:-1], self._random.random(_FEW) * ends[-1], side="right")
        fitting = few[self._fits(root, roots, few)]
        if not fitting.size:
            every = np.arange(ends.size)
            fitting = every[self._fits(root, roots, every)]
            if not fitting.size:
                return False
            weights = self._weights[fitting]
            fitting = self._random.choice(fitting, 1, p=weights / weights.sum())
        parent = int(fitting[0])
        self._found[root].append(parent)
        self._children[parent] += 1
        self._neighbours[[parent, root]] += 1
        return True

    def _fits(self, root: int, roots: list[int], earlier: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Return which nodes of the earlier tiles may become parents of a root."""
        rules, own = self._rules, self._found[root]
        most = rules.max_neighbours or _MANY
        cells = prod(self._size[[root, *own]].tolist())
        size = self._size[earlier]
        fits: npt.NDArray[np.bool_] = (size > 1) & (size * cells <= MOST_CELLS) & (self._neighbours[earlier] < most)
        fits &= (self._children[earlier] < (rules.max_children or _MANY)) & (self._neighbours[root] < most)
        fits &= ~np.isin(earlier, own)
        if rules.keep == "joint":
            sources = self._sources[earlier]
            others = [parent for other in roots if other != root for parent in self._found[other]]
            fits &= ~(sources & np.bitwise_or.reduce(self._sources[others], axis=0)).any(axis=1)
            for parent in own:
                apart = ~(sources & self._sources[parent]).any(axis=1)
                fits &= apart | (self._tile[earlier] == self._tile[parent])
        return fits

    def _finish(self, tile: int) -> None:
        """Work out the sources of all nodes of a tile, and their weights as parents: the less the more sources."""
        start = tile * len(self._base.order)
        for number, place in enumerate(self._base.sources, tile * len(self._base.sources)):
            self._sources[start + place, number // _BITS] = np.uint64(1) << np.uint64(number % _BITS)
        for place in self._base.order:
            node = start + place
            parents = [start + parent for parent in self._base.parents[place]] or self._found.get(node, [])
            if parents:
                self._sources[node] = np.bitwise_or.reduce(self._sources[parents], axis=0)
            self._weights[node] = float(np.bitwise_count(self._sources[node]).sum(dtype=np.int64)) ** -self._thrift


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


def fit_table(
    marginal: npt.NDArray[np.float64], settings: Probabilities, *, strength: float, random: np.random.Generator
) -> Probabilities:
    """Draw a table for a node whose parents have a known joint distribution, such that the node keeps a marginal.

    ``settings`` is the joint distribution of the parents; the table has its axes and one more. A random positive table
    is scaled in turn so that the marginal is right and that all rows sum to 1, until both hold.
    """
    weights = settings.ravel()
    for _ in range(_DRAWS):
        table = random_rows((weights.size, marginal.size), strength=strength, random=random)
        for _ in range(_SWEEPS):
            reached = weights @ table
            if np.abs(reached - marginal).max() <= RESIDUAL:
                return table.reshape(*settings.shape, marginal.size)
            table *= np.divide(marginal, reached, out=np.zeros_like(marginal), where=reached > 0)
            table /= table.sum(axis=1, keepdims=True)
    message = f"no table of strength {strength} keeps the marginal {marginal.tolist()}; give a smaller strength"
    raise InvalidArgumentError(message)


@attrs.frozen
class TilingSpec:
    """How to make a tiled network, and the published figures of the network it is made after."""

    base: str
    times: int
    rules: ArcRules
    strength: float
    seed: int
    published: Degrees


def tiling_names() -> tuple[str, ...]:
    """Return the names of all tiled networks that come with the package, sorted."""
    return tuple(sorted(file.stem for file in TILINGS.glob("*.toml")))


def tiling_spec(name: str) -> TilingSpec:
    """Read how a tiled network is made."""
    known = tiling_names()
    if name not in known:
        hint = nearest(name, known) or f"; there are {', '.join(known)}"
        message = f"unknown tiled network {name!r}{hint}"
        raise UnknownNameError(message)
    content = tomllib.loads((TILINGS / f"{name}.toml").read_text("utf-8"))
    limits = {key: content[key] for key in ("arcs", "max_parents", "max_children", "max_neighbours")}
    return TilingSpec(
        base=content["base"],
        times=content["times"],
        rules=ArcRules(**limits),
        strength=content["strength"],
        seed=content["seed"],
        published=Degrees(**content["published"]),
    )


def make_tiled(name: str) -> Tiling:
    """Make a tiled network by name.

    >>> make_tiled("child10").network
    <Network child10: 200 nodes and 257 arrows>
    """
    spec = tiling_spec(name)
    return make_tiling(network(spec.base), spec.times, spec.rules, strength=spec.strength, seed=spec.seed)


def main() -> None:
    """Write the tiled networks into the package."""
    for name in tiling_names():
        text = write_bif(make_tiled(name).network)
        (NETWORKS / f"{name}.bif.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
