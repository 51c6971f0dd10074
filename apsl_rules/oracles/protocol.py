"""Independence questions: are x and y independent given Z, and which set separates them.

An oracle answers them. Tests on data, d-separation in a known graph, recorded answers and plugins are all oracles, so
each can replace another. Only ``nodes`` and ``verdict`` are needed; what is asked often (x against all others, the
search for a separator) has a default here and a fast version where speed matters.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import log
from typing import Protocol, Self, TypeAlias, overload

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.errors import InvalidArgumentError
from apsl_rules.evidence import Decision, Verdict, log_p_of, weaker
from apsl_rules.memory import check
from apsl_rules.names import Node, check_labels, order_key


@attrs.frozen(eq=False)
class RankedNodes:
    """Nodes in the order of the source, and the place of each in the order of names."""

    nodes: tuple[Node, ...]
    rank: Mapping[Node, int]

    @classmethod
    def of(cls, nodes: Iterable[Node]) -> Self:
        """Check the labels of nodes and rank them."""
        listed = tuple(nodes)
        check_labels(listed)
        ranks = {node: rank for rank, node in enumerate(sorted(listed, key=order_key))}
        return cls(listed, ranks)


Query: TypeAlias = tuple[Node, Node, tuple[Node, ...]]


@attrs.frozen
class Search:
    """A request for a subset of ``pool`` that contains ``must_include`` and separates x from y."""

    x: Node
    y: Node
    pool: tuple[Node, ...]
    must_include: tuple[Node, ...] = ()
    max_size: int | None = None


@attrs.frozen
class Separation:
    """The outcome of a search: a separator with its verdict, or the weakest dependence that was met.

    ``given`` is None when no subset separates; ``verdict`` is then the dependent answer that came nearest to
    independence (None when nothing could be tested). ``tests`` counts the questions that the search cost.
    """

    x: Node
    y: Node
    given: tuple[Node, ...] | None
    verdict: Verdict | None
    tests: int = 0

    @property
    def found(self) -> bool:
        """Return whether a separator was found."""
        return self.given is not None


@attrs.frozen(eq=False)
class Elimination:
    """The outcome of HITON's elimination for one node: members in the order of entry, and why the others left.

    ``separations`` has the separator of everyone who was eliminated, ``weakest`` the weakest dependence of each member.
    """

    members: tuple[Node, ...]
    separations: Mapping[Node, Separation]
    weakest: Mapping[Node, Verdict]
    tests: int


class Sweep(Sequence[Verdict]):
    """x against all other nodes: a sequence of verdicts that need not be built one by one."""

    def __init__(self, x: Node, verdicts: Sequence[Verdict]) -> None:
        self.x = x
        self._verdicts = verdicts
        self._place: dict[Node, int] | None = None

    def __len__(self) -> int:
        return len(self._verdicts)

    @overload
    def __getitem__(self, index: int) -> Verdict: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Verdict]: ...
    def __getitem__(self, index: int | slice) -> Verdict | Sequence[Verdict]:
        return self._verdicts[index]

    def __iter__(self) -> Iterator[Verdict]:
        return iter(self._verdicts)

    def place_of(self, y: Node) -> int:
        """Return the place of the verdict on one other node."""
        if self._place is None:
            self._place = {verdict.y: place for place, verdict in enumerate(self._verdicts)}
        return self._place[y]

    def verdict_on(self, y: Node) -> Verdict:
        """Return the verdict on one other node."""
        return self._verdicts[self.place_of(y)]

    def log_p(self) -> npt.NDArray[np.float64]:
        """Return ln p of each verdict in order, NaN where there is none."""
        return np.array([log_p_of(verdict) for verdict in self._verdicts], dtype=np.float64)

    def discoverable(self, share: float) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]:
        """Return the places of the verdicts with p at most a share, and their ln p."""
        log_p = self.log_p()
        places = np.flatnonzero(log_p <= log(share))
        return places, log_p[places]

    def untested(self) -> tuple[Verdict, ...]:
        """Return the verdicts on the nodes for which there were too few rows, in order."""
        return tuple(verdict for verdict in self._verdicts if verdict.decision == "unreliable")

    def ranked(self, *, unreliable: Decision, among: npt.NDArray[np.bool_] | None = None) -> tuple[Verdict, ...]:
        """Return the dependent verdicts, strongest first and by name among equals.

        ``unreliable`` says how verdicts with too few rows count; ``among`` marks those that may be given at all.
        """
        kept = [
            verdict
            for place, verdict in enumerate(self._verdicts)
            if (among is None or among[place])
            and (verdict.decision == "dependent" or (verdict.decision == "unreliable" and unreliable == "dependent"))
        ]
        return tuple(sorted(kept, key=lambda verdict: (-verdict.association, order_key(verdict.y))))


class Cut(Protocol):
    """Marks the nodes of a sweep that may be candidates; cuts that are equal mark the same and are spelt alike."""

    def __call__(self, sweep: Sweep, /) -> npt.NDArray[np.bool_] | None:
        """Return whether each node of a sweep may be a candidate, in order; None stands for all."""

    def __hash__(self) -> int: ...


class Oracle(ABC):
    """An oracle answers independence questions about a fixed set of nodes.

    It needs only ``nodes``, ``name`` and ``verdict``. All else has a default here: batches, sweeps and searches are
    answered one by one, what is announced is not prepared, nothing is kept on disk, and there is no data behind it.

    Attributes
    ----------
    nodes
        All nodes, in the order of the source (the columns of a table).
    name
        The name of the test, as shown in proofs.
    perfect
        Whether the answers are certain, so that no limit on conditioning sets is wanted.
    data
        The table, the counts or the network behind the oracle, if there are any.
    eliminates
        Whether ``eliminate`` is there: HITON's elimination in one round.
    embedding
        How numbers become columns in tests, if they do.
    """

    nodes: tuple[Node, ...] = ()
    name: str = "oracle"
    perfect: bool = False
    data: object = None
    eliminates: bool = False
    embedding: Hashable = None

    @abstractmethod
    def verdict(self, x: Node, y: Node, given: Sequence[Node] = ()) -> Verdict:
        """Answer one question: the one method that an oracle must have."""

    def verdicts(self, queries: Sequence[Query]) -> Sequence[Verdict]:
        """Answer a batch of questions one by one."""
        answers = []
        for x, y, given in queries:
            check()
            answers.append(self.verdict(x, y, given))
        return answers

    def associations(self, x: Node) -> Sweep:
        """Test x against every other node with nothing given."""
        return Sweep(x, self.verdicts([(x, y, ()) for y in self.nodes if y != x]))

    def separator(
        self,
        x: Node,
        y: Node,
        pool: Sequence[Node],
        *,
        must_include: Sequence[Node] = (),
        max_size: int | None = None,
    ) -> Separation:
        """Try subsets by size, then in the pool's order; an unreliable test separates nothing."""
        weakest: Verdict | None = None
        tests = 0
        for given in subsets(pool, must_include, max_size):
            check()
            verdict = self.verdict(x, y, given)
            tests += 1
            if verdict.independent:
                return Separation(x, y, given, verdict, tests)
            if verdict.dependent and (weakest is None or weaker(verdict, weakest)):
                weakest = verdict
        return Separation(x, y, None, weakest, tests)

    def separators(self, searches: Sequence[Search]) -> Sequence[Separation]:
        """Carry out searches one by one."""
        return [
            self.separator(one.x, one.y, one.pool, must_include=one.must_include, max_size=one.max_size)
            for one in searches
        ]

    @property
    def ranked_nodes(self) -> RankedNodes:
        """Return the nodes in the order of their names; an oracle that several runs ask keeps them."""
        return RankedNodes.of(self.nodes)

    def foresee(self, searches: Sequence[Search] = (), sweeps: Sequence[Node] = ()) -> None:  # noqa: B027 - optional
        """Hear what may be asked next; a single test is a search without a pool.

        An oracle far from its rows can then have all of it counted in one round; nothing that it answers changes.
        """

    def flush(self) -> None:  # noqa: B027 - optional
        """Write what is kept on disk."""

    def eliminate(self, sweep: Sweep, *, unreliable: Decision, cut: Cut | None, max_size: int | None) -> Elimination:
        """Add the dependent nodes of a sweep by association; after each, test those added before again.

        ``cut`` leaves some of them out beforehand.
        """
        del unreliable, cut, max_size
        message = f"the oracle {self.name!r} does not eliminate for {sweep.x!r} by itself; ask it for separators"
        raise InvalidArgumentError(message)


class FrontOracle(Oracle):
    """An oracle in front of another one, which it asks what it cannot answer itself; one question is a batch of one."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle
        self._ranked = oracle.ranked_nodes
        self.nodes = self._ranked.nodes
        self.name = oracle.name
        self.perfect = oracle.perfect
        self.data = oracle.data
        self.eliminates = oracle.eliminates
        self.embedding = oracle.embedding

    @property
    def ranked_nodes(self) -> RankedNodes:
        """Return the nodes in the order of their names."""
        return self._ranked

    def flush(self) -> None:
        """Write what the oracle behind keeps on disk."""
        self._oracle.flush()

    def verdict(self, x: Node, y: Node, given: Sequence[Node] = ()) -> Verdict:
        """Answer one question."""
        return self.verdicts([(x, y, tuple(given))])[0]

    def separator(
        self,
        x: Node,
        y: Node,
        pool: Sequence[Node],
        *,
        must_include: Sequence[Node] = (),
        max_size: int | None = None,
    ) -> Separation:
        """Search for a separator."""
        return self.separators([Search(x, y, tuple(pool), tuple(must_include), max_size)])[0]

    def normalise(self, query: Query) -> Query:
        """Return a question with x before y and Z by name, so that no order changes the answer."""
        x, y, given = query
        rank = self._ranked.rank
        if rank[y] < rank[x]:
            x, y = y, x
        return x, y, tuple(sorted(given, key=rank.__getitem__))


def subsets(pool: Sequence[Node], must_include: Sequence[Node], max_size: int | None) -> Iterator[tuple[Node, ...]]:
    """Enumerate the subsets of a pool that contain given nodes: smallest first, then in the pool's order.

    >>> list(subsets("abc", "b", 2))
    [('b',), ('b', 'a'), ('b', 'c')]
    """
    fixed = tuple(must_include)
    free = [node for node in pool if node not in fixed]
    largest = len(free) if max_size is None else min(len(free), max_size - len(fixed))
    for size in range(largest + 1):
        for chosen in combinations(free, size):
            yield fixed + chosen
