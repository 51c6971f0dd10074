"""Rows drawn from a network: forward sampling, whole columns at a time, the same rows for the same seed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np
import numpy.typing as npt

from apsl_rules._arguments import demand, spelt, whole_number
from apsl_rules.data import Table
from apsl_rules.graphs.networks.network import Network
from apsl_rules.names import Node

#: Rows and cells that a block has at most; with few columns the rows decide, with many the cells.
BLOCK = 65_536
_CELLS = 2**25
_MOST_ROWS = 10**15
_LARGEST_SEED = 2**128 - 1


def sample(network: Network, rows: int, *, seed: int) -> Table:
    """Draw a table of rows from a network.

    >>> from apsl_rules.graphs.networks import network
    >>> sample(network("asia"), 4, seed=7).codes.shape
    (8, 4)
    """
    rows = whole_number("the number of rows", rows, 1, _MOST_ROWS)
    drawn = blocks(network, rows, seed=seed)
    first = next(drawn)
    nodes = network.dag.nodes
    codes = np.empty((len(nodes), rows), dtype=first.dtype)
    start = 0
    for block in chain([first], drawn):
        codes[:, start : start + block.shape[1]] = block
        start += block.shape[1]
    return Table(
        names=nodes,
        codes=codes,
        cards=codes.max(axis=1).astype(np.int64) + 1,
        levels=tuple(tuple(network.levels[node]) for node in nodes),
        incomplete=np.zeros(len(nodes), dtype=np.bool_),
    )


def blocks(network: Network, rows: int, *, seed: int) -> Iterator[npt.NDArray[np.uint8] | npt.NDArray[np.uint16]]:
    """Draw rows in blocks of codes (columns by rows); block k is the same however many blocks are drawn."""
    known = isinstance(network, Network)
    demand(known, f"rows are drawn from a network, not from {spelt(network)}; give network('asia'), or your own")
    rows = whole_number("the number of rows", rows, 1, _MOST_ROWS)
    seed = whole_number("the seed", seed, 0, _LARGEST_SEED)
    sampler = _Sampler(network)
    height = max(1, min(BLOCK, _CELLS // len(network.dag.nodes)))
    for number, start in enumerate(range(0, rows, height)):
        yield sampler.draw(min(height, rows - start), np.random.default_rng([seed, number]))


class _Sampler:
    """A network prepared for drawing: for each node its place, its parents' places and its cumulative table."""

    def __init__(self, network: Network) -> None:
        place: dict[Node, int] = {node: at for at, node in enumerate(network.dag.nodes)}
        self._columns = len(place)
        most = max(len(levels) for levels in network.levels.values())
        self._kind = np.uint8 if most <= np.iinfo(np.uint8).max else np.uint16
        self._steps = []
        for node in network.dag.topological_order:
            parents = network.dag.parents_of(node)
            table = network.tables[node].reshape(-1, len(network.levels[node]))
            ends = np.ascontiguousarray(np.cumsum(table, axis=1)[:, :-1].T)
            sizes = [len(network.levels[parent]) for parent in parents]
            self._steps.append((place[node], [place[parent] for parent in parents], sizes, ends))

    def draw(self, rows: int, random: np.random.Generator) -> npt.NDArray[np.uint8] | npt.NDArray[np.uint16]:
        """Draw a block: each node, once its parents are drawn, takes the level in whose interval a uniform falls."""
        codes = np.empty((self._columns, rows), dtype=self._kind)
        for place, parents, sizes, ends in self._steps:
            setting = np.zeros(rows, dtype=np.int64)
            for parent, size in zip(parents, sizes, strict=True):
                setting *= size
                setting += codes[parent]
            uniform = random.random(rows)
            drawn = np.zeros(rows, dtype=self._kind)
            for end in ends:
                np.add(drawn, uniform >= end[setting], out=drawn)
            codes[place] = drawn
        return codes
