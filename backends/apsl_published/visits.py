"""Visits as published: layer by layer or in a queue, and colliders by changes or by identities as in CMB."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import combinations
from typing import Any, Literal, TypeAlias

import attrs

from apsl_rules.evidence import Verdict
from apsl_rules.knowledge import NOTHING, Knowledge
from apsl_rules.learning import FindingList, FindingsFromTests, Visitor
from apsl_rules.names import Node, inside
from apsl_rules.neighbours import BlanketFinder, Finder, Neighbours, SpousesByChild
from apsl_rules.oracles import Oracle
from apsl_rules.plugins import Context, Run, State, build
from apsl_rules.rules import (
    Relation,
    arrow,
    chain,
    collider,
    gap,
)


class Changes:
    """Tells colliders from chains by changes of independence."""

    def __init__(
        self,
        oracle: Oracle,
        neighbours: Neighbours,
        blankets: BlanketFinder,
        *,
        first_only: bool = False,
        accept_unreliable: bool = False,
    ) -> None:
        self._oracle = oracle
        self._neighbours = neighbours
        self._blankets = blankets
        self._first_only = first_only
        self._accept = accept_unreliable

    def kind(self, x: Node, middle: Node, y: Node) -> tuple[Relation | None, tuple[Verdict, ...]]:
        """Say what the middle is between two of its neighbours; the verdict that separates them comes first.

        Without a relation it is undecided, and without verdicts nothing was found that separates the two.
        """
        apart: tuple[Verdict, ...] = ()
        for given in self._conditioning(x, middle, y):
            without, within = self._oracle.verdicts([(x, y, given), (x, y, (*given, middle))])
            if without.independent and self._dependent(within):
                return collider, (without, within)
            if within.independent and self._dependent(without):
                return chain, (within, without)
            apart = apart or tuple(verdict for verdict in (without, within) if verdict.independent)[:1]
        return None, apart

    def _dependent(self, verdict: Verdict) -> bool:
        return verdict.dependent or (self._accept and verdict.decision == "unreliable")

    def _conditioning(self, x: Node, middle: Node, y: Node) -> Iterator[tuple[Node, ...]]:
        """Return the sets to condition on, each once; blankets are found only when all before was of no use."""
        tried = set()
        for nodes in self._sources(x, y):
            given = tuple(node for node in nodes if node not in (x, middle, y))
            if frozenset(given) not in tried:
                tried.add(frozenset(given))
                yield given

    def _sources(self, x: Node, y: Node) -> Iterator[tuple[Node, ...]]:
        yield ()
        if not self._first_only:
            separation = self._neighbours.separation(x, y)
            if separation is not None and separation.given is not None:
                yield separation.given
        yield self._blankets.blanket(x).members
        if not self._first_only:
            yield self._blankets.blanket(y).members


Identity: TypeAlias = Literal["untouched", "parent", "child", "undecided", "open"]
Tested: TypeAlias = dict[tuple[Node, Node], tuple[Verdict, ...]]


class Identities:
    """The identities of the neighbours of one node."""

    def __init__(self, oracle: Oracle, blankets: BlanketFinder, node: Node, around: tuple[Node, ...]) -> None:
        self._oracle = oracle
        self._blankets = blankets
        self._node = node
        self._around = around
        self.of: dict[Node, Identity] = dict.fromkeys(around, "untouched")
        self._reasons: dict[Node, tuple[tuple[Verdict, ...], str]] = {}
        self._identify()

    def tell(self, found: FindingList) -> None:
        """Tell parents and children as arrows."""
        for other, identity in self.of.items():
            if identity in ("parent", "child"):
                tail, head = (other, self._node) if identity == "parent" else (self._node, other)
                found.add(arrow, (tail, head), *self._reasons[other])

    def _identify(self) -> None:
        chains, still_open = self._search((), {})
        for x, y in still_open:
            if "open" not in self.of.values():
                break
            members = self._blankets.blanket(x).members
            self._search(tuple(other for other in members if other not in (self._node, y)), chains)
        self._propagate(still_open)

    def _search(self, given: tuple[Node, ...], known: Tested) -> tuple[Tested, Tested]:
        """Test all pairs given one set and judge them; give those without a collider and those left open."""
        chains, still_open = dict(known), {}
        for x, y in combinations(self._around, 2):
            if x in given or y in given:
                continue
            verdicts = tuple(self._oracle.verdicts([(x, y, given), (x, y, (*given, self._node))]))
            without, within = (verdict.independent for verdict in verdicts)
            if without and not within:
                self._set(x, "parent", verdicts, "the pair becomes dependent")
                self._set(y, "parent", verdicts, "the pair becomes dependent")
            elif within and not without:
                chains[x, y] = verdicts
                self._apart(x, y, verdicts)
                self._apart(y, x, verdicts)
            else:
                still_open[x, y] = verdicts
                if self.of[x] == self.of[y] == "untouched":
                    self.of[x] = self.of[y] = "open"
        for parent in self._around:
            for (x, y), verdicts in chains.items():
                if parent in (x, y) and self.of[parent] == "parent":
                    self._set(x if parent == y else y, "child", verdicts, "partner of a parent")
        return chains, still_open

    def _apart(self, one: Node, other: Node, verdicts: tuple[Verdict, ...]) -> None:
        """Judge the other of a pair with no collider between them; a parent is downgraded unless its partner is one."""
        if self.of[one] == "parent":
            self._set(other, "child", verdicts, "partner of a parent")
        elif self.of[other] != "child":
            self.of[other] = "undecided"

    def _propagate(self, tested: Tested) -> None:
        """Take a node that is open with two parents for a third one."""
        both_ways = tested | {(y, x): verdicts for (x, y), verdicts in tested.items()}
        parents = [other for other in self._around if self.of[other] == "parent"]
        for x, y in combinations(parents, 2):
            for third in self._around:
                if (x, third) in both_ways and (y, third) in both_ways:
                    verdicts = (*both_ways[x, third], *both_ways[y, third])
                    self._set(third, "parent", verdicts, "open with two parents")

    def _set(self, node: Node, identity: Identity, verdicts: tuple[Verdict, ...], note: str) -> None:
        self.of[node] = identity
        self._reasons[node] = verdicts, note


@attrs.frozen
class VisitOptions:
    """Where colliders come from besides separators: from independence changes as in CMB, or from identities.

    Changes are those given the blankets of both ends, or of the first end alone ("changes-first"); identities are those
    that the code of the authors of CMB gives to neighbours.
    """

    colliders: Literal["separators", "changes", "changes-first", "identities"] = "separators"


class PublishedFindings(FindingsFromTests):
    """Visits a node at a time, with colliders as the options say."""

    def visitor(self, neighbours: Neighbours, order: Callable[[Node], int]) -> Visitor:
        """Return what turns visits into findings."""
        return CmbVisitor(self._context, neighbours, order=order)


class CmbVisitor(Visitor):
    """Turns a visit into findings; colliders come from changes or from identities where the options say so."""

    def __init__(self, context: Context, neighbours: Neighbours, *, order: Callable[[Node], Any]) -> None:
        super().__init__(context, neighbours, order=order)
        given = {name: value for name, value in context.spec.options.items() if name == "colliders"}
        self._colliders = build(VisitOptions, given, f"spec {context.spec.name!r}, options").colliders
        self._blankets = SpousesByChild(context.asker, neighbours, unreliable=context.spec.findings.unreliable)

    def look_between(self, found: FindingList, node: Node, around: tuple[Node, ...]) -> None:
        """Ask of each pair of neighbours whether the node is a collider between them."""
        match self._colliders:
            case "separators":
                super().look_between(found, node, around)
            case "identities":
                Identities(self._oracle, self._blankets, node, around).tell(found)
            case _:
                self._look_for_changes(found, node, around)

    def _look_for_changes(self, found: FindingList, node: Node, around: tuple[Node, ...]) -> None:
        published = self._colliders == "changes-first"
        changes = Changes(
            self._oracle, self._neighbours, self._blankets, first_only=published, accept_unreliable=self._accept
        )
        for x, y in combinations(around, 2):
            if not published and self._neighbours.linked(x, y):
                self.tell_edge(found, x, y)
                continue
            kind, verdicts = changes.kind(x, node, y)
            if verdicts:
                found.add(gap, (x, y), verdicts[:1])
            if kind is collider or (kind is chain and self._spec.chains):
                found.add(kind, (x, node, y), verdicts)


class FindingsInPairs(FindingsFromTests):
    """Visits a node at a time and believes edges between visited nodes only."""

    def neighbours_by(self, finder: Finder) -> Neighbours:
        """Return the neighbours that a finder finds, once both ends were visited."""
        self._visited: dict[Node, tuple[Node, ...]] = {}
        self._pairs = PairedNeighbours(finder, self._visited, knowledge=self._context.knowledge)
        return self._pairs

    def around(self, node: Node) -> Iterable[Node]:
        """Return the nodes that a node lists, neighbours or not yet, and remember the visit."""
        listed = self._pairs.candidates(node).members
        self._visited[node] = tuple(sorted(listed, key=self._order))
        return listed

    def settled_by(self, node: Node) -> tuple[Node, ...]:
        """Return the nodes all of whose listed nodes were visited with this visit."""
        return tuple(filter(self._pairs.all_known, (node, *self._visited[node])))


class PairedNeighbours(Neighbours):
    """Neighbours that were both visited and list each other; of all others nothing is known yet.

    No candidates are computed before the visit, so a run costs one search for each visit, but a node's edges
    appear only as its neighbours are visited in turn. ``visited`` is the caller's own growing record.
    """

    def __init__(self, finder: Finder, visited: Collection[Node], *, knowledge: Knowledge = NOTHING) -> None:
        super().__init__(finder, symmetric=True, knowledge=knowledge)
        self._visited = visited

    def of(self, node: Node) -> tuple[Node, ...]:
        """Return the neighbours of a node that were visited."""
        return tuple(other for other in self.candidates(node).members if self.linked(node, other))

    def linked(self, x: Node, y: Node) -> bool:
        """Return whether two nodes are known to be neighbours by now."""
        return x in self._visited and y in self._visited and super().linked(x, y)

    def all_known(self, node: Node) -> bool:
        """Return whether a node and all nodes that it lists were visited, so that it gets no further neighbour."""
        return node in self._visited and all(other in self._visited for other in self.candidates(node).members)


def by_layers(run: Run) -> Iterator[tuple[Node, ...]]:
    """Visit as Algorithm 1 does; the names are those of the paper's lines 1-7 and 40-58."""
    queue = deque([run.target])
    layers: list[list[Node]] = [[run.target]]
    left = 1
    while queue:
        node = queue.popleft()
        if node in run.state.visited:
            continue
        yield (node,)
        visited = run.state.visited
        queue.extend(visited[node])
        left -= 1
        if left == 0:
            ahead = dict.fromkeys(other for inner in layers[-1] for other in visited[inner])
            layers.append(list(ahead))
            left = sum(other not in visited for other in ahead)
        if run.depth != "max" and len(layers) > run.depth and _is_oriented(run.state, layers[run.depth - 1]):
            return


def _is_oriented(state: State, layer: list[Node]) -> bool:
    """Return whether no node of a layer has a line to one of its neighbours (lines 47-58)."""
    marks = state.marks()
    return not any(marks.mark(node, other).is_open for node in layer for other in state.visited[node])


def by_queue(run: Run) -> Iterator[tuple[Node, ...]]:
    """Visit in the order in which nodes are first listed, until all within the depth are done and have no line."""
    steps = {run.target: 0}
    queue = deque([run.target])
    while queue:
        node = queue.popleft()
        yield (node,)
        for other in run.state.visited[node]:
            if other not in steps:
                steps[other] = steps[node] + 1
                queue.append(other)
        if run.depth != "max" and not any(steps[other] <= run.depth for other in queue) and not _has_lines(run):
            return


def _has_lines(run: Run) -> bool:
    """Return whether a line touches an inner node."""
    marks = run.state.marks()
    inner = [node for node, far in run.state.distances.items() if run.depth == "max" or inside(run.depth, far)]
    return any(marks.mark(node, other).is_open for node in inner for other in marks.neighbours_of(node))
