"""Check runs with an oracle against brute force over classes of graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, reduce
from itertools import combinations, permutations, product
from operator import or_
from pathlib import Path
from typing import Any, Literal, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules._arguments import listed
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.graphs import Arrow, Cpdag, Dag, DagWithHidden, EndMark, Mag, Pag, cpdag, hide, pag
from apsl_rules.graphs.networks import Network
from apsl_rules.learning import learn
from apsl_rules.names import Depth, Node, Pair, check_depth, in_order, order_key, require_known, shown
from apsl_rules.parts import Part
from apsl_rules.plugins import Plugins, Spec
from apsl_rules.rules import adjacent

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
    """Return all classes of maximal ancestral graphs on a few nodes.

    >>> len(mag_classes(3))
    11
    """
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


Asked: TypeAlias = Depth | Literal["all"]
Truth: TypeAlias = Cpdag | Pag


@attrs.frozen
class Difference:
    """A run that is not exact: its target and depth, and each error as a short text."""

    target: Node
    depth: Depth
    faults: tuple[str, ...]

    def __str__(self) -> str:
        return f"{shown(self.target)}, depth {self.depth}: {'; '.join(self.faults)}"


@attrs.frozen
class Verification:
    """How many runs there were, which of them were not exact, and what all of them cost."""

    learner: str
    targets: int
    depths: tuple[Depth, ...]
    runs: int
    visits: int
    tests: int
    differences: tuple[Difference, ...]

    @property
    def exact(self) -> bool:
        """Return whether every run was exact."""
        return not self.differences

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "learner": self.learner,
            "exact": self.exact,
            "targets": self.targets,
            "depths": list(self.depths),
            "runs": self.runs,
            "visits": self.visits,
            "tests": self.tests,
            "differences": [str(one) for one in self.differences],
        }


def verify(
    source: Network | Dag | DagWithHidden | Any,
    *,
    depth: Asked = "all",
    learner: str | Path | Spec | None = None,
    targets: Iterable[Node] | None = None,
    plugins: Plugins | Iterable[object] = (),
    progress: Callable[[int, int], None] | None = None,
) -> Verification:
    """Learn around every target of a known graph with perfect answers, and compare each part with the CPDAG.

    Parts of a learner that allows hidden causes are compared with the PAG.

    Parameters
    ----------
    source
        A ``Network``, a ``Dag``, a graph with hidden nodes, or whatever ``Dag`` takes.
    depth
        One depth, or "all": from 1 to the depth at which no part grows any more, and "max".
    learner, plugins
        What to check, as in ``learn``; without it "apsl", or "apsl-hidden" for a graph with hidden nodes.
    targets
        The nodes to ask about; without it all of them.
    progress
        Called after each run with the number of runs done and of all runs.

    Examples
    --------
    >>> verify({"A": [], "B": [], "C": ["A", "B"]}).exact
    True
    """
    dag = _known_graph(source)
    learner = learner or ("apsl-hidden" if isinstance(dag, DagWithHidden) else "apsl")
    seen = dag if isinstance(dag, DagWithHidden) else hide(dag, ())
    truth: Truth = pag(seen) if isinstance(dag, DagWithHidden) else cpdag(dag)
    named = dag.nodes if targets is None else listed("targets", targets, "nodes, such as ['A', 'B']", letters=True)
    if not named:
        message = "there are no targets; name at least one, or leave them out to ask about all nodes"
        raise InvalidArgumentError(message)
    for target in named:
        require_known(target, dag.nodes, "target")
    asked = in_order(named)
    depths = depths_of(truth, asked, depth)
    manager = plugins if isinstance(plugins, Plugins) else tuple(plugins)
    differences: list[Difference] = []
    done = visits = tests = 0
    name = str(learner)
    for target in asked:
        for reach in depths:
            part = learn(dag, target, depth=reach, learner=learner, plugins=manager)
            if part.allows_hidden and isinstance(truth, Cpdag):
                truth = pag(seen)
            if faults := tuple(faults_of(part, truth)):
                differences.append(Difference(target, reach, faults))
            name = part.learner
            visits += len(part.visited)
            tests += part.counts.asked
            done += 1
            if progress is not None:
                progress(done, len(asked) * len(depths))
    return Verification(name, len(asked), depths, done, visits, tests, tuple(differences))


def _known_graph(source: Any) -> Dag | DagWithHidden:
    if isinstance(source, DagWithHidden):
        return source
    return source.dag if isinstance(source, Network) else Dag(source)


def depths_of(truth: Truth, targets: Iterable[Node], depth: Asked) -> tuple[Depth, ...]:
    """Return the depths to run: the one asked for, or every one at which some part still grows, and "max"."""
    if not isinstance(depth, str) or depth != "all":
        check_depth(depth)
        return (depth,)
    furthest = max(max(truth.distances(target).values()) for target in targets)
    return (*range(1, max(furthest, 1) + 1), "max")


def faults_of(part: Part, truth: Truth) -> Iterator[str]:
    """Name every edge of a part that differs from the CPDAG or PAG on the asked region, or contradicts it beyond."""
    if isinstance(truth, Pag):
        yield from _faulty_ends(part, truth)
        return
    arrows, lines = truth.region(part.target, part.depth)
    for x, y in _by_name(part.store.arrows - truth.arrows):
        yield f"{shown(x)} -> {shown(y)} is false"
    for x, y in _by_name(part.store.lines - truth.skeleton):
        yield f"{shown(x)} -- {shown(y)} is no edge"
    for x, y in _by_name((part.lines & truth.skeleton) - lines):
        yield f"{shown(x)} -- {shown(y)} should be an arrow"
    found = part.lines.union(frozenset(one) for one in part.arrows)
    for x, y in _by_name(arrows.union(lines)):
        if frozenset((x, y)) not in found:
            yield f"{shown(x)} and {shown(y)} should be joined"


def _faulty_ends(part: Part, truth: Pag) -> Iterator[str]:
    """Name every end of an edge that differs from the PAG on the asked region, or contradicts it beyond."""
    asked = truth.region(part.target, part.depth)
    pairs = (fact.nodes for fact in part.store.facts(adjacent))
    ends = {pair: str(part.store.end(*pair)) for x, y in pairs for pair in ((x, y), (y, x))}
    for x, y in _by_name(ends):
        found, true = ends[x, y], truth.end(x, y)
        if true is None:
            yield f"{shown(x)} and {shown(y)} are not adjacent"
        elif found not in (true, "circle"):
            yield f"the mark at {shown(x)} on its edge with {shown(y)} is no {found}"
        elif found != true and (x, y) in asked:
            yield f"the mark at {shown(x)} on its edge with {shown(y)} should be {true}"
    for x, y in _by_name(asked.keys() - ends.keys()):
        yield f"{shown(x)} and {shown(y)} should be joined"


def _by_name(pairs: Iterable[Arrow | Pair]) -> list[tuple[Node, Node]]:
    """Return pairs by their names, those without direction in the order of their names."""
    listed = [pair if isinstance(pair, tuple) else in_order(pair) for pair in pairs]
    return sorted(((x, y) for x, y in listed), key=lambda pair: (order_key(pair[0]), order_key(pair[1])))
