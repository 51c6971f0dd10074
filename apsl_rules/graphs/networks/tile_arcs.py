"""Which arrows join the tiles of a tiled network: random ones from nodes of earlier tiles to roots of later tiles.

To keep the joint distribution of every tile, its roots must stay independent of each other. Two nodes are independent
if they have no source, a node without parents, above them in common. So two rules are kept:

- parents of different roots of a tile have no source in common;
- parents of one root that lie in different tiles have no source in common.

By the first the roots of a tile stay independent, and so a tile whose roots keep their marginals has the joint
distribution of the base. By both, the joint distribution of the parents of a root is a product, over the tiles where
they lie, of joint distributions in the base.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Literal, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.errors import InvalidArgumentError
from apsl_rules.graphs.networks.network import Network
from apsl_rules.names import count_of

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
