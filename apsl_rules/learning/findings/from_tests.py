"""Findings from independence tests, one visit after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from apsl_rules.learning.findings.visit import Visitor
from apsl_rules.names import Node
from apsl_rules.neighbours import Neighbours, PairedNeighbours
from apsl_rules.plugins import Context, State, Visited, pick


class FindingsFromTests:
    """Visits a node at a time, as a spec says: the nearest one, and among these who goes best with the target."""

    whole = False

    def __init__(self, context: Context) -> None:
        spec, known = context.spec, context.knowledge
        self._context = context
        self._turns: dict[Node, tuple[float, Any]] = {}
        self._visited: dict[Node, tuple[Node, ...]] = {}
        finder = pick(context.plugins.finders, spec.neighbours.finder, "finder").make(
            context.asker, context.finder_settings
        )
        symmetry = spec.neighbours.symmetry
        self._pairs = PairedNeighbours(finder, self._visited, knowledge=known) if symmetry == "visited" else None
        self._neighbours = self._pairs or Neighbours(
            finder, symmetric=symmetry == "both", threads=context.threads, knowledge=known
        )
        columns = {node: column for column, node in enumerate(context.asker.nodes)}
        ranks = context.asker.rank if spec.frontier.order == "name" else columns
        self._order: Callable[[Node], int] = ranks.__getitem__
        self._visitor = Visitor(
            context.asker,
            self._neighbours,
            spec.findings,
            order=self._order,
            max_conditioning=context.finder_settings.max_conditioning,
            knowledge=known,
        )

    def join(self, state: State, nodes: tuple[Node, ...]) -> State:
        """Return the state after a visit to the nearest of some nodes."""
        distances = [state.distances.get(one, 0) for one in nodes]
        nearest = min(distances)
        closest = (one for one, distance in zip(nodes, distances, strict=True) if distance == nearest)
        node = min(closest, key=self._turn)
        listed = self._neighbours.of(node) if self._pairs is None else self._pairs.candidates(node).members
        around = self._visited[node] = tuple(sorted(listed, key=self._order))
        findings = self._visitor.visit(node, self._settled_by(node))
        return state.told(Visited(node, around, tuple(findings)))

    def _turn(self, node: Node) -> Any:
        """Return the sort key of equally distant nodes: the strongest association with the target first, then by name.

        A run may end before it has visited them all, so names are not to decide where they need not.
        """
        if node not in self._turns:
            self._turns[node] = (-self._association(node), self._order(node))
        return self._turns[node]

    def _association(self, node: Node) -> float:
        """Return the statistic of a node with the target; 0 without one, and where the spec goes by columns."""
        target = self._context.target
        if node == target or self._context.spec.frontier.order != "name":
            return 0.0
        sweep = self._neighbours.as_found(target).sweep
        return 0.0 if sweep is None else sweep.verdict_on(node).statistic or 0.0

    def _settled_by(self, node: Node) -> tuple[Node, ...]:
        """Return the nodes whose neighbours are all known after this visit: the node, or those whose last it is."""
        if self._pairs is None:
            return (node,)
        return tuple(filter(self._pairs.all_known, (node, *self._visited[node])))
