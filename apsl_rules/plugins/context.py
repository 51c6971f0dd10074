"""What a learner is given, and what it gives back: the one place where learners differ from each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, Self

import attrs

from apsl_rules.names import Depth, Node
from apsl_rules.oracles import Asker, Counts
from apsl_rules.plugins.learner_spec import Spec
from apsl_rules.plugins.manager import Plugins
from apsl_rules.plugins.offers import FinderSettings
from apsl_rules.rules import NOTHING, Finding, Knowledge, Mark


@attrs.frozen(eq=False)
class Context:
    """All that a learner needs to know: the part to learn, the spec to follow, the asker, and what is known beforehand.

    ``data`` is what the answers come from, if scores can be had from it: a table, or counts. ``settings`` go into the
    part. ``whole`` says that the graph of all nodes is wanted, of which the part is a piece.
    """

    target: Node
    depth: Depth
    spec: Spec
    asker: Asker
    plugins: Plugins
    finder_settings: FinderSettings
    settings: Mapping[str, Any]
    data: object = None
    threads: int = 1
    knowledge: Knowledge = NOTHING
    whole: bool = False


@attrs.frozen
class Visited:
    """A visited node, its neighbours, and what was found there.

    Pairs that no test could decide are told as such, unless both nodes are among ``scored``: nodes that a score
    compared with each other, which says more than the test that was not made.
    """

    node: Node
    neighbours: tuple[Node, ...]
    findings: tuple[Finding, ...]
    scored: frozenset[Node] = frozenset()


class Marks(Protocol):
    """Marks as far as the choice of the next nodes needs them."""

    def neighbours_of(self, node: Node) -> Sequence[Node]:
        """Return the nodes that are adjacent to a node."""

    def mark(self, x: Node, y: Node) -> Mark:
        """Return the mark of a pair."""

    def has_arrow(self, tail: Node, head: Node) -> bool:
        """Return whether an arrow goes from one node to another."""


@attrs.frozen(eq=False)
class Searched:
    """What a search found over the nodes near the target; the rules are told only once no search follows.

    ``tell`` returns the visits, and what a reader of the part should know; it compares what was found with rivals
    unless told not to.
    """

    core: tuple[Node, ...]
    marks: Marks
    distances: Mapping[Node, int]
    tell: Callable[[bool], tuple[Sequence[Visited], Sequence[str]]]


class State(Protocol):
    """What a run knows at one moment. It never changes: each step returns a new state."""

    @property
    def visited(self) -> Mapping[Node, tuple[Node, ...]]:
        """Return the nodes visited so far in their order, each with its neighbours."""

    @property
    def distances(self) -> Mapping[Node, int]:
        """Return how far known nodes are from the target."""

    def marks(self) -> Marks:
        """Return the marks that hold."""

    def told(self, *visits: Visited, notes: Sequence[str] = ()) -> Self:
        """Return the state after more visits."""

    def searched(self, found: Searched) -> Self:
        """Return the state in which a search replaces all that was known."""


class Findings(Protocol):
    """How a learner finds things out. ``whole`` learners visit all nodes, whatever part is asked for."""

    whole: bool

    def join(self, state: Any, nodes: tuple[Node, ...]) -> Any:
        """Return the state after at least one of some nodes was visited.

        A limit or an interrupt leaves this by its exception; the run then ends with the state that it has.
        """


@attrs.frozen
class Progress:
    """A sign of life: the node just visited, how many that makes, how many are known to wait, and the counts."""

    node: Node
    visited: int
    known: int
    counts: Counts
