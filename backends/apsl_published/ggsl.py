"""GGSL: the whole graph, grown from the target over best graphs of small sets (Gao, Fadnis and Campbell 2017)."""

from __future__ import annotations

from collections import deque
from itertools import combinations
from typing import Literal, Protocol

import attrs

from apsl_published.climbing import SOURCE, Draft, score_of
from apsl_published.sll import Optima, SmallGraph
from apsl_rules.evidence import Evidence
from apsl_rules.names import Node, in_order, shown
from apsl_rules.plugins import Context, State, Visited, build
from apsl_rules.rules import Finding, adjacent, arrow, settled, untested


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
