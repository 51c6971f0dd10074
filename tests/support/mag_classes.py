"""All classes of maximal ancestral graphs on a few nodes, by brute force on arrays of bits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, reduce
from itertools import combinations, permutations, product
from operator import or_
from typing import TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.errors import InvalidArgumentError
from apsl_rules.graphs import EndMark, Mag, Pag
from apsl_rules.names import Node

Bits: TypeAlias = npt.NDArray[np.uint8]
_MOST = 5
_ENDS: tuple[EndMark, ...] = ("arrow", "tail", "circle")


@attrs.frozen(eq=False)
class MagClasses(Sequence[tuple[Mag, Pag]]):
    """The classes on nodes 0, 1, ...: for each a graph of it, and its PAG.

    ``every`` has a row for each graph, class by class, and ``shared`` one for each class; a column stands for an end of
    a pair: 0 for an arrowhead, 1 for a tail, 2 for a circle, 3 where there is no edge. ``starts`` has the first row of
    each class in ``every``.
    """

    nodes: tuple[int, ...]
    every: Bits
    starts: npt.NDArray[np.intp]
    shared: Bits

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, at: int) -> tuple[Mag, Pag]:  # type: ignore[override]  # slices are not needed
        return Mag(self.nodes, self._ends(self.every[self.starts[at]])), Pag(self.nodes, self._ends(self.shared[at]))

    @property
    def graphs(self) -> int:
        """Return how many graphs there are in all classes."""
        return len(self.every)

    def members(self, at: int) -> list[Mag]:
        """Return all graphs of a class."""
        end = self.starts[at + 1] if at + 1 < len(self) else self.graphs
        return [Mag(self.nodes, self._ends(row)) for row in self.every[self.starts[at] : end]]

    def __iter__(self) -> Iterator[tuple[Mag, Pag]]:
        return (self[at] for at in range(len(self)))

    def _ends(self, row: Bits) -> dict[tuple[Node, Node], EndMark]:
        places = (pair for x, y in combinations(self.nodes, 2) for pair in ((x, y), (y, x)))
        return {pair: _ENDS[code] for pair, code in zip(places, row.tolist(), strict=True) if code < len(_ENDS)}


def mag_classes(nodes: int) -> MagClasses:
    """Return all classes of maximal ancestral graphs on a few nodes."""
    if not 1 <= nodes <= _MOST:
        message = f"there are too many graphs on {nodes} nodes to try them all; give 1 to {_MOST}"
        raise InvalidArgumentError(message)
    graphs = _Graphs.every(nodes)
    graphs = graphs.where(graphs.are_ancestral())
    return graphs.where(graphs.are_maximal()).classes()


def _pack(bits: npt.NDArray[np.bool_]) -> Bits:
    return np.packbits(bits)


@attrs.frozen(eq=False, slots=False)
class _Graphs:
    """Many graphs on the same nodes; each array of bits has one bit for each graph.

    ``heads[x, y]`` says in which graphs x has an arrowhead on an edge with y, ``edges`` which have that edge.
    """

    nodes: int
    count: int
    heads: dict[tuple[int, int], Bits]
    edges: dict[tuple[int, int], Bits]

    @classmethod
    def every(cls, nodes: int) -> _Graphs:
        pairs = list(combinations(range(nodes), 2))
        codes = np.arange(4 ** len(pairs))
        heads, edges = {}, {}
        for place, (x, y) in enumerate(pairs):
            first, second = codes >> 2 * place & 1, codes >> 2 * place & 2
            edges[x, y] = edges[y, x] = _pack((first > 0) | (second > 0))
            heads[y, x], heads[x, y] = _pack(first > 0), _pack(second > 0)
        return cls(nodes, len(codes), heads, edges)

    def where(self, chosen: Bits) -> _Graphs:
        """Return the graphs whose bit is set."""
        keep = self._unpack(chosen)

        def cut(arrays: dict[tuple[int, int], Bits]) -> dict[tuple[int, int], Bits]:
            return {pair: _pack(self._unpack(bits)[keep]) for pair, bits in arrays.items()}

        return _Graphs(self.nodes, int(keep.sum()), cut(self.heads), cut(self.edges))

    def _unpack(self, bits: Bits) -> npt.NDArray[np.bool_]:
        return np.unpackbits(bits, count=self.count).astype(np.bool_)

    @cached_property
    def ancestors(self) -> dict[tuple[int, int], Bits]:
        """Return in which graphs the first node of a pair is a proper ancestor of the second."""
        nodes = range(self.nodes)
        found = {
            (x, y): self.edges[x, y] & ~self.heads[x, y] if x != y else np.zeros_like(self._none)
            for x, y in product(nodes, repeat=2)
        }
        for middle, x, y in product(nodes, repeat=3):
            found[x, y] = found[x, y] | found[x, middle] & found[middle, y]
        return found

    @cached_property
    def _none(self) -> Bits:
        return np.zeros(-(-self.count // 8), dtype=np.uint8)

    def are_ancestral(self) -> Bits:
        """Return the graphs without an arrowhead at a node on an edge with one that it is an ancestor of."""
        wrong = self._none
        for (x, y), heads in self.heads.items():
            wrong = wrong | heads & self.ancestors[x, y]
        for node in range(self.nodes):
            wrong = wrong | self.ancestors[node, node]
        return ~wrong

    @cached_property
    def separations(self) -> dict[tuple[int, int, tuple[int, ...]], Bits]:
        """Return in which graphs a set of nodes separates a pair, for all pairs and sets."""
        found = {}
        for x, y in combinations(range(self.nodes), 2):
            others = [node for node in range(self.nodes) if node not in (x, y)]
            for size in range(len(others) + 1):
                for given in combinations(others, size):
                    found[x, y, given] = ~self._connected(x, y, given)
        return found

    def _connected(self, x: int, y: int, given: tuple[int, ...]) -> Bits:
        """Follow all paths that a set leaves open, step by step; a node is entered at an arrowhead or at a tail."""
        others = [node for node in range(self.nodes) if node != x]
        opened = {
            node: ~self._none
            if node in given
            else reduce(or_, (self.ancestors[node, one] for one in given), self._none)
            for node in others
        }
        heads = {node: self.heads[node, x].copy() for node in others}
        tails = {node: self.edges[node, x] & ~self.heads[node, x] for node in others}
        for _ in others:
            for node, other in permutations(others, 2):
                if node == y:
                    continue
                leaves_at_head, leaves = self.heads[node, other], self.edges[node, other]
                passed = heads[node] & leaves_at_head & opened[node]
                if node not in given:
                    passed = passed | heads[node] & leaves & ~leaves_at_head | tails[node] & leaves
                heads[other] |= passed & self.heads[other, node]
                tails[other] |= passed & ~self.heads[other, node]
        return heads[y] | tails[y]

    def are_maximal(self) -> Bits:
        """Return the graphs in which some set separates each pair that is not adjacent."""
        wrong = self._none
        for x, y in combinations(range(self.nodes), 2):
            sets = [bits for (one, other, _), bits in self.separations.items() if (one, other) == (x, y)]
            wrong = wrong | ~reduce(or_, sets, self.edges[x, y])
        return ~wrong

    def classes(self) -> MagClasses:
        """Group the graphs by their independences."""
        answers = np.array([self._unpack(bits) for bits in self.separations.values()])
        _, number = np.unique(np.packbits(answers, axis=0).T, axis=0, return_inverse=True)
        order = np.argsort(number.ravel(), kind="stable")
        starts = np.flatnonzero(np.diff(number.ravel()[order], prepend=-1))
        columns = [pair for x, y in combinations(range(self.nodes), 2) for pair in ((x, y), (y, x))]
        ends = np.array([self._codes(pair)[order] for pair in columns], dtype=np.uint8).reshape(-1, self.count)
        least, most = (np.ufunc.reduceat(one, ends, starts, axis=1) for one in (np.minimum, np.maximum))
        shared = np.where(least == most, least, 2).astype(np.uint8)
        return MagClasses(tuple(range(self.nodes)), ends.T, starts, shared.T)

    def _codes(self, pair: tuple[int, int]) -> npt.NDArray[np.uint8]:
        edges, heads = self._unpack(self.edges[pair]), self._unpack(self.heads[pair])
        return np.where(edges, np.where(heads, 0, 1), 3).astype(np.uint8)
