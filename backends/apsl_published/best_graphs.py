"""The best graphs over small sets of nodes, and what goes by them: SLL, the blankets of S²TMB, and GGSL."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Mapping
from functools import cache, cached_property
from itertools import combinations
from typing import Literal, Protocol

import attrs

from apsl_backends.scores.bde import BDeu, Numbers
from apsl_backends.scores.bde_from_counts import score_for
from apsl_backends.search.exact import MOST_BYTES, optimal
from apsl_published.climbing import SOURCE, ClimbOptions, Collider, Draft, climb_graph, score_of, unseen
from apsl_rules.evidence import Evidence
from apsl_rules.names import Node, Pair, in_order, shown
from apsl_rules.neighbours import Blanket
from apsl_rules.oracles import Oracle
from apsl_rules.plugins import Context, FinderSettings, State, Visited, build
from apsl_rules.rules import Finding, adjacent, arrow, settled, untested

_ESS, _LARGEST = 1.0, 16


@attrs.frozen(slots=False, eq=False)
class SmallGraph:
    """A graph over a few numbered nodes: the parents of each, and its score in units."""

    parents: Mapping[int, Numbers]
    score: int

    @cached_property
    def children(self) -> dict[int, frozenset[int]]:
        """Return the children of each node."""
        return {
            node: frozenset(child for child, before in self.parents.items() if node in before) for node in self.parents
        }

    def neighbours(self, node: int) -> frozenset[int]:
        """Return the parents and children of a node."""
        return self.children[node].union(self.parents[node])

    def spouses(self, node: int) -> frozenset[int]:
        """Return the nodes that share a child with a node and are not adjacent to it.

        Adjacent nodes are left out since equivalent graphs may disagree on whether they share a child.
        """
        shared = {other for child in self.children[node] for other in self.parents[child]}
        return frozenset(shared) - self.neighbours(node) - {node}

    def shared_children(self, node: int, spouse: int) -> tuple[int, ...]:
        """Return the children that two nodes share, in order."""
        return tuple(sorted(self.children[node] & self.children[spouse]))


class Optima:
    """Finds and caches the best graph over any set of nodes; beyond ``largest`` nodes it uses a hill climb.

    ``limits`` is called before each search, so that a run can be stopped from outside.
    """

    def __init__(
        self,
        score: BDeu,
        *,
        largest: int,
        most_bytes: int = MOST_BYTES,
        limits: Callable[[], None] = lambda: None,
    ) -> None:
        self.score = score
        self._largest = largest
        self._most_bytes = most_bytes
        self._limits = limits
        self.unknown = unseen(score)
        self._known: dict[frozenset[int], SmallGraph] = {}
        self._climbed: list[int] = []

    def may_be_adjacent(self, node: int, other: int) -> bool:
        """Return whether two nodes are others, and seen together in enough rows to tell."""
        nodes = self.score.nodes
        return node != other and frozenset((nodes[node], nodes[other])) not in self.unknown

    def best(self, *groups: Collection[int]) -> SmallGraph:
        """Return the best graph over all nodes of some groups."""
        members = frozenset[int]().union(*groups)
        if members not in self._known:
            self._limits()
            found = optimal(self.score, tuple(members), largest=self._largest, most_bytes=self._most_bytes)
            if not found.exact:
                self._climbed.append(len(members))
            self._known[members] = SmallGraph(found.parents, found.score)
        return self._known[members]

    @property
    def notes(self) -> tuple[str, ...]:
        """Return a note on the number of graphs that are not proven to be best, if there are any."""
        if not self._climbed:
            return ()
        note = (
            f"{len(self._climbed)} of {len(self._known)} small graphs, of up to {max(self._climbed)} nodes, were too "
            f"large for an exact search (the limit is {self._largest} nodes) and were climbed instead"
        )
        return (note,)


class S2tmb:
    """Blankets from best graphs; each is found once.

    With ``spouses`` "at once", spouses are added and dropped at each step. "afterwards" (S²TMB+) first collects the
    nodes that are spouses given the neighbours alone, and then adds these one by one to sets that may shrink.
    """

    def __init__(
        self, oracle: Oracle, settings: FinderSettings, *, spouses: Literal["at once", "afterwards"] = "at once"
    ) -> None:
        ess = float(settings.options.get("ess", _ESS))
        score = score_for(oracle.data, "the blanket finder 's2tmb'", ess=ess)
        self.optima = Optima(score, largest=int(settings.options.get("largest", _LARGEST)))
        self._sll = Sll(self.optima)
        self._afterwards = spouses == "afterwards"
        self._known: dict[Node, Blanket] = {}

    def blanket(self, node: Node) -> Blanket:
        """Find the blanket of one node."""
        if node not in self._known:
            self._known[node] = self._find(node)
        return self._known[node]

    def _find(self, name: Node) -> Blanket:
        names = self.optima.score.nodes
        node = self.optima.score.numbers([name])[0]
        near = self._sll.possible_neighbours(node)
        others = [one for one in range(len(names)) if one not in near and self.optima.may_be_adjacent(node, one)]
        if self._afterwards:
            others = [other for other in others if other in self.optima.best(near, (node, other)).spouses(node)]
        mates: frozenset[int] = frozenset()
        for other in others:
            graph = self.optima.best(near, mates, (node, other))
            near, mates = graph.neighbours(node), graph.spouses(node)
        graph = self.optima.best((node,), near, mates)
        shared = {
            names[child]: in_order(names[mate] for mate in graph.spouses(node) if mate in graph.parents[child])
            for child in sorted(graph.children[node])
        }
        around = in_order(names[other] for other in graph.neighbours(node))
        unknown = in_order(one for pair in self.optima.unknown if name in pair for one in pair if one != name)
        return Blanket(name, around, {child: who for child, who in shared.items() if who}, untested=unknown)


@attrs.frozen
class SllOptions:
    """The settings of SLL: the score's ``ess``, the most nodes of an exact best graph, and how the graph is assembled.

    ``tabu`` and ``patience`` are those of the climb when ``assembly`` is "greedy".
    """

    ess: float = 1.0
    largest: int = 16
    assembly: Literal["constraints", "greedy"] = "constraints"
    tabu: int = 100
    patience: int = 15


class Sll:
    """Neighbours and spouses of numbered nodes, each set found once."""

    def __init__(self, optima: Optima) -> None:
        self._optima = optima
        self._everyone = range(len(optima.score.nodes))
        self.possible_neighbours = cache(self._possible_neighbours)
        self.neighbours = cache(self._neighbours)
        self.possible_spouses = cache(self._possible_spouses)

    def _possible_neighbours(self, node: int) -> frozenset[int]:
        """Try all others one by one (PotNbr)."""
        kept: frozenset[int] = frozenset()
        for other in self._everyone:
            if self._optima.may_be_adjacent(node, other):
                kept = self._optima.best(kept, (node, other)).neighbours(node)
        return kept

    def _neighbours(self, node: int) -> frozenset[int]:
        """Keep the nodes that find each other (Nbr)."""
        possible = self.possible_neighbours(node)
        return frozenset(other for other in possible if node in self.possible_neighbours(other))

    def _possible_spouses(self, node: int) -> frozenset[int]:
        """Try the neighbours of neighbours one by one (PotSp)."""
        kept: frozenset[int] = frozenset()
        for other in self._beyond(node):
            kept = self._optima.best(self.neighbours(node), kept, (node, other)).spouses(node)
        return kept

    def spouses(self, node: int) -> frozenset[int]:
        """Return the spouses that either end finds (Sp)."""
        found = self.possible_spouses(node)
        return found.union(other for other in self._beyond(node) if node in self.possible_spouses(other))

    def _beyond(self, node: int) -> list[int]:
        """Return the neighbours of neighbours that are no neighbours themselves, in order; only they can be spouses."""
        around = self.neighbours(node)
        return sorted({other for near in around for other in self.neighbours(near)} - around - {node})

    def blanket_graph(self, node: int) -> SmallGraph:
        """Return the best graph over a node, its neighbours and its possible spouses."""
        return self._optima.best((node,), self.neighbours(node), self.possible_spouses(node))


class SllFindings:
    """Learns the whole graph at once."""

    whole = True

    def __init__(self, context: Context) -> None:
        self._context = context
        self._options = build(SllOptions, context.spec.options, f"spec {context.spec.name!r}, options")

    def join(self, state: State, nodes: tuple[Node, ...]) -> State:  # noqa: ARG002 - all nodes are learned together
        """Return the state after the whole graph was learned."""
        context, options = self._context, self._options
        score = score_of(context, options.ess)
        optima = Optima(score, largest=options.largest, limits=context.asker.within_limits)
        sll = Sll(optima)
        edges = _edges(score, sll)
        if options.assembly == "greedy":
            climb = ClimbOptions(ess=options.ess, tabu=options.tabu, patience=options.patience)
            learned = climb_graph(context, state, score, climb, dict.fromkeys(edges, ()))
        else:
            draft = attrs.evolve(_draft(score, sll, edges), unknown=optima.unknown)
            learned = state.told(*draft.visits(context.target))
        return learned.told(notes=optima.notes)


def _edges(score: BDeu, sll: Sll) -> dict[Pair, Evidence]:
    edges: dict[Pair, Evidence] = {}
    for node, name in enumerate(score.nodes):
        for other in sorted(sll.neighbours(node)):
            note = "each is a neighbour of the other in the best graphs around them"
            edges[frozenset((name, score.nodes[other]))] = Evidence(SOURCE, note=note)
    return edges


def _draft(score: BDeu, sll: Sll, edges: dict[Pair, Evidence]) -> Draft:
    names = score.nodes
    colliders: dict[Collider, Evidence] = {}
    for node in range(len(names)):
        graph = sll.blanket_graph(node)
        note = f"so in the best graph over {len(graph.parents)} nodes around {shown(names[node])}"
        for spouse in sorted(graph.spouses(node)):
            for child in graph.shared_children(node, spouse):
                if child in sll.neighbours(node) and child in sll.neighbours(spouse):
                    ends = frozenset((names[node], names[spouse]))
                    colliders.setdefault((ends, names[child]), Evidence(SOURCE, note=note))
    return Draft(names, edges, colliders)


@attrs.frozen
class GgslOptions:
    """The settings of GGSL: the score's ``ess``, the most nodes of an exact best graph, the writing, and the seed.

    ``seed`` names the first node; "" is the target.
    """

    ess: float = 1.0
    largest: int = 16
    writing: Literal["sound", "literal"] = "sound"
    seed: str | int = ""


class Written(Protocol):
    """The graph so far."""

    def around(self, node: int) -> tuple[frozenset[int], frozenset[int]]:
        """Return the known neighbours and spouses of a node."""

    def write(self, node: int, graph: SmallGraph) -> None:
        """Add the best graph over a node, its neighbours and its spouses."""

    def finish(self) -> State:
        """Return the state with the whole graph."""


class GgslFindings:
    """Learns the whole graph at once."""

    whole = True

    def __init__(self, context: Context) -> None:
        self._context = context
        self._options = build(GgslOptions, context.spec.options, f"spec {context.spec.name!r}, options")

    def join(self, state: State, nodes: tuple[Node, ...]) -> State:  # noqa: ARG002 - all nodes are learned together
        """Return the state after the whole graph was learned."""
        context, options = self._context, self._options
        score = score_of(context, options.ess)
        seed = score.numbers([options.seed if options.seed != "" else context.target])[0]
        optima = Optima(score, largest=options.largest, limits=context.asker.within_limits)
        written: Written = (
            SoundWriting(context.target, state, optima) if options.writing == "sound" else LiteralWriting(state, optima)
        )
        grow(optima, written, seed)
        return written.finish().told(notes=optima.notes)


def grow(optima: Optima, written: Written, seed: int) -> None:
    """Finish one node after another, beginning with the seed; if the queue is empty, take the first unfinished node."""
    everyone = range(len(optima.score.nodes))
    finished: set[int] = set()
    queue = deque([seed])
    while len(finished) < len(everyone):
        node = queue.popleft() if queue else next(one for one in everyone if one not in finished)
        if node not in finished:
            finished.add(node)
            others = [one for one in everyone if one not in finished and optima.may_be_adjacent(node, one)]
            graph = _around(optima, node, *written.around(node), others)
            written.write(node, graph)
            queue.extend(sorted(graph.neighbours(node)))


def _around(
    optima: Optima, node: int, near: frozenset[int], mates: frozenset[int], unfinished: list[int]
) -> SmallGraph:
    """Try other nodes one by one, for neighbours and then for spouses; return the best graph over those kept."""
    others = [other for other in unfinished if other not in near and other not in mates]
    for other in others:
        near = optima.best(near, mates, (node, other)).neighbours(node)
    for other in others:
        if other not in near:
            graph = optima.best(near, mates, (node, other))
            near, mates = graph.neighbours(node), graph.spouses(node)
    return optima.best(near, mates, (node,))


class SoundWriting:
    """Edges and V-structures only; the rules conclude the arrows at the end."""

    def __init__(self, target: Node, state: State, optima: Optima) -> None:
        self._target = target
        self._state = state
        self._score = score = optima.score
        self._unknown = optima.unknown
        self._near: dict[int, set[int]] = {node: set() for node in range(len(score.nodes))}
        self._colliders: dict[tuple[int, int, int], str] = {}

    def around(self, node: int) -> tuple[frozenset[int], frozenset[int]]:
        """Return the known neighbours and spouses of a node."""
        near = frozenset(self._near[node])
        ends = [(x, y) for x, _, y in self._colliders if node in (x, y)]
        return near, frozenset(other for pair in ends for other in pair) - near - {node}

    def write(self, node: int, graph: SmallGraph) -> None:
        """Add the edges of a node, and the V-structures with it as an end or in the middle."""
        for other in graph.neighbours(node):
            self._join(node, other)
        note = f"so in the best graph over {len(graph.parents)} nodes around {shown(self._score.nodes[node])}"
        for spouse in graph.spouses(node):
            for child in graph.shared_children(node, spouse):
                self._join(child, spouse)
                self._colliders.setdefault((min(node, spouse), child, max(node, spouse)), note)
        for x, y in combinations(graph.parents[node], 2):
            if x not in graph.neighbours(y):
                self._colliders.setdefault((x, node, y), note)

    def _join(self, x: int, y: int) -> None:
        self._near[x].add(y)
        self._near[y].add(x)

    def finish(self) -> State:
        """Return the state with the whole graph."""
        names = self._score.nodes
        note = "neighbours in the best graph around one of them"
        edges = {
            frozenset((names[x], names[y])): Evidence(SOURCE, note=note)
            for x, others in self._near.items()
            for y in sorted(others)
        }
        colliders = {
            (frozenset((names[x], names[y])), names[middle]): Evidence(SOURCE, note=why)
            for (x, middle, y), why in self._colliders.items()
        }
        return self._state.told(*Draft(names, edges, colliders, unknown=self._unknown).visits(self._target))


class LiteralWriting:
    """The arrows at a node, and from its spouses to shared children, as in the small graph; the first one is kept."""

    def __init__(self, state: State, optima: Optima) -> None:
        self._score = optima.score
        self._optima = optima
        self._state = state

    def around(self, node: int) -> tuple[frozenset[int], frozenset[int]]:
        """Return the known neighbours and spouses of a node."""
        names, marks = self._score.nodes, self._state.marks()
        near = marks.neighbours_of(names[node])
        children = [other for other in near if marks.has_arrow(names[node], other)]
        mates = {other for child in children for other in marks.neighbours_of(child) if marks.has_arrow(other, child)}
        return (
            frozenset(self._score.numbers(near)),
            frozenset(self._score.numbers(mates.difference(near, [names[node]]))),
        )

    def write(self, node: int, graph: SmallGraph) -> None:
        """Copy the arrows."""
        names = self._score.nodes
        note = f"so in the best graph over {len(graph.parents)} nodes around {shown(names[node])}"
        evidence = Evidence(SOURCE, note=note)
        mates = graph.spouses(node)
        arrows = [(parent, node) for parent in graph.parents[node]]
        for child in sorted(graph.children[node]):
            arrows += [(tail, child) for tail in graph.parents[child] if tail == node or tail in mates]
        findings = [Finding(settled.fact(names[node]), evidence)]
        unknown = self._optima.unknown
        findings += [Finding(untested.fact(*pair), why) for pair, why in unknown.items() if names[node] in pair]
        for tail, head in filter(lambda one: self._optima.may_be_adjacent(*one), arrows):
            findings.append(Finding(adjacent.fact(names[tail], names[head]), evidence))
            findings.append(Finding(arrow.fact(names[tail], names[head]), evidence))
        around = in_order(names[other] for other in graph.neighbours(node))
        self._state = self._state.told(Visited(names[node], around, tuple(findings)))

    def finish(self) -> State:
        """Return the state with the whole graph."""
        return self._state
