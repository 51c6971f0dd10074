"""The local learner: visit, tell the rules, decide whom to visit next, until the asked part is settled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from apsl_rules.errors import Interrupted, LimitReachedError
from apsl_rules.learning.assembly import Assembly
from apsl_rules.learning.findings.from_tests import Visitor
from apsl_rules.learning.frontier import FRONTIERS
from apsl_rules.names import Node, in_order, listing, order_key
from apsl_rules.neighbours import Neighbours, PairedNeighbours
from apsl_rules.parts import Part, inside
from apsl_rules.plugins import Task, pick
from apsl_rules.rules import Finding, MarkStore


def learn_locally(task: Task) -> Part:
    """Learn a part by visits, as the task's spec says."""
    run = LocalRun(task)
    try:
        for node in FRONTIERS[task.spec.frontier.grow](run):
            run.visit(node)
    except LimitReachedError as limit:
        return run.assembly.part(run.open_end(str(limit)))
    except KeyboardInterrupt:
        run.tell_again()
        raise Interrupted(part=run.assembly.part(run.open_end("an interrupt"))) from None
    return run.assembly.part()


class LocalRun:
    """One run: whom it has visited, what it asks of them, and the assembly that it tells."""

    def __init__(self, task: Task) -> None:
        spec = task.spec
        self.target = task.target
        self.depth = task.depth
        self.visited: dict[Node, tuple[Node, ...]] = {}
        self._task = task
        self._turns: dict[Node, tuple[float, Any]] = {}
        self._told: list[tuple[Node, tuple[Node, ...], Sequence[Finding]]] = []
        self.assembly = Assembly(task)
        self.distances = self.assembly.distances
        finder = pick(task.plugins.finders, spec.neighbours.finder, "finder").make(task.oracle, task.finder_settings)
        symmetry = spec.neighbours.symmetry
        known = task.knowledge
        self._pairs = PairedNeighbours(finder, self.visited, knowledge=known) if symmetry == "visited" else None
        self.neighbours = self._pairs or Neighbours(
            finder, symmetric=symmetry == "both", threads=task.threads, knowledge=known
        )
        columns = {node: column for column, node in enumerate(task.oracle.nodes)}
        self.order: Callable[[Node], Any] = order_key if spec.frontier.order == "name" else columns.__getitem__
        self._visitor = Visitor(
            task.oracle,
            self.neighbours,
            spec.findings,
            order=self.order,
            max_conditioning=task.finder_settings.max_conditioning,
            knowledge=known,
        )

    def marks(self) -> MarkStore:
        """Return the marks that hold now."""
        return self.assembly.marks()

    def turn(self, node: Node) -> Any:
        """Return the sort key of equally distant nodes: the strongest association with the target first, then by name.

        A run may end before it has visited them all, so names are not to decide where they need not.
        """
        if node not in self._turns:
            self._turns[node] = (-self._association(node), self.order(node))
        return self._turns[node]

    def _association(self, node: Node) -> float:
        """Return the statistic of a node with the target; 0 without one, and where the spec goes by columns."""
        if node == self.target or self._task.spec.frontier.order != "name":
            return 0.0
        sweep = self.neighbours.as_found(self.target).sweep
        return 0.0 if sweep is None else sweep.verdict_on(node).statistic or 0.0

    def visit(self, node: Node) -> None:
        """Visit a node and tell what it finds."""
        listed = self.neighbours.of(node) if self._pairs is None else self._pairs.candidates(node).members
        self.visited[node] = tuple(sorted(listed, key=self.order))
        findings = self._visitor.visit(node, self._settled_by(node))
        self.assembly.tell(node, self.visited[node], findings)
        self._told.append((node, self.visited[node], findings))

    def tell_again(self) -> None:
        """Assemble anew what whole visits told, since an interrupt may have come while one was being told."""
        self.assembly = Assembly(self._task, watched=False)
        self.distances = self.assembly.distances
        for node, neighbours, findings in self._told:
            self.assembly.tell(node, neighbours, findings)

    def open_end(self, limit: str) -> str:
        """Say where a run stopped and what it leaves open."""
        visited = {visit.node for visit in self.assembly.visits}
        near = [node for node, far in self.distances.of.items() if inside(self.depth, far) and node not in visited]
        unseen = f"{listing(in_order(near))} still to visit" if near else "all nodes of the asked part are visited"
        return f"stopped at {limit} after {len(visited)} visits; {unseen}; edges marked line may still be open"

    def _settled_by(self, node: Node) -> tuple[Node, ...]:
        """Return the nodes whose neighbours are all known after this visit: the node, or those whose last it is."""
        if self._pairs is None:
            return (node,)
        return tuple(filter(self._pairs.all_known, (node, *self.visited[node])))
