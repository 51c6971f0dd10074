"""Whether a learner is exact: its parts with perfect answers against the CPDAG or PAG of the known graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, TypeAlias

import attrs

from apsl_rules.errors import InvalidArgumentError
from apsl_rules.graphs import Arrow, Cpdag, Dag, DagWithHidden, Pag, cpdag, hide, pag
from apsl_rules.graphs.networks import Network
from apsl_rules.learning import learn
from apsl_rules.names import Depth, Node, Pair, check_depth, in_order, listed, order_key, require_known, shown
from apsl_rules.parts import Part
from apsl_rules.plugins import Plugins, Spec
from apsl_rules.rules import adjacent

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
    known = source if isinstance(source, Network) else dag  # a network has tables for those who ask
    differences: list[Difference] = []
    done = visits = tests = 0
    name = str(learner)
    for target in asked:
        for reach in depths:
            part = learn(known, target, depth=reach, learner=learner, plugins=manager)
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
