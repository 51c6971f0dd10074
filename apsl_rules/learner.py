"""The local learner: visit, tell the rules, decide whom to visit next, until the asked part is settled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from apsl_rules.engine import Engine
from apsl_rules.expanding import FRONTIERS, Distances
from apsl_rules.facts import Finding, Firing, adjacent
from apsl_rules.ledger import ledger
from apsl_rules.names import Node, order_key
from apsl_rules.neighbours import Neighbours
from apsl_rules.part import Part, RuleUse, Visit
from apsl_rules.plugins import pick
from apsl_rules.remembering import LimitReachedError
from apsl_rules.store import MarkStore
from apsl_rules.task import Progress, Task
from apsl_rules.visiting import Visitor


def learn_locally(task: Task) -> Part:
    """Learn a part by visits, as the task's spec says."""
    run = LocalRun(task)
    stopped: str | None = None
    try:
        for node in FRONTIERS[task.spec.frontier.grow](run):
            run.visit(node)
    except LimitReachedError as limit:
        stopped = f"stopped at {limit} after {len(run.visits)} visits; edges marked line may still be open"
    return run.part(stopped)


class LocalRun:
    """One run: what has been visited, what has been found, and what follows."""

    def __init__(self, task: Task) -> None:
        spec = task.spec
        self.task = task
        self.target = task.target
        self.depth = task.depth
        self.visited: dict[Node, tuple[Node, ...]] = {}
        self.visits: list[Visit] = []
        self.distances = Distances(task.target)
        self.ledger = ledger(
            Engine(pick(task.plugins.rulebooks, spec.rules.rulebook, "rulebook")), spec.rules.conflicts
        )
        finder = pick(task.plugins.finders, spec.neighbours.finder, "finder").make(task.oracle, task.finder_settings)
        self.neighbours = Neighbours(finder, symmetric=spec.neighbours.symmetry == "both", threads=task.threads)
        columns = {node: column for column, node in enumerate(task.oracle.nodes)}
        self.order: Callable[[Node], Any] = order_key if spec.frontier.order == "name" else columns.__getitem__
        self._visitor = Visitor(
            task.oracle,
            self.neighbours,
            spec.findings,
            order=self.order,
            max_conditioning=task.finder_settings.max_conditioning,
        )
        self._on_finding = task.plugins.watcher("apsl_finding")
        self._on_firing = task.plugins.watcher("apsl_firing")
        self._on_progress = task.plugins.watcher("apsl_progress")

    def marks(self) -> MarkStore:
        """Give the marks that hold now."""
        return self.ledger.settled().store

    def visit(self, node: Node) -> None:
        """Visit a node: take up what it tells and fire the rules."""
        findings = self._visitor.visit(node)
        begin = len(self.ledger.history)
        firings = self.ledger.add(findings)
        around = tuple(sorted(self.neighbours.of(node), key=self.order))
        self.visited[node] = around
        self.visits.append(Visit(node, around, begin, len(self.ledger.history)))
        for finding in findings:
            if finding.fact.relation == adjacent.name:
                self.distances.add(*finding.fact.nodes)
        self._report(node, findings, firings)

    def _report(self, node: Node, findings: list[Finding], firings: tuple[Firing, ...]) -> None:
        if self._on_finding:
            for finding in findings:
                self._on_finding(finding)
        if self._on_firing:
            for firing in firings:
                self._on_firing(firing)
        if self._on_progress:
            self._on_progress(Progress(node, len(self.visits), len(self.distances.of), self.task.oracle.counts))

    def part(self, incomplete: str | None) -> Part:
        """Cut the asked part out of what is known."""
        settled = self.ledger.settled()
        costs = self.ledger.engine.costs
        return Part(
            target=self.target,
            depth=self.depth,
            learner=self.task.spec.name,
            oracle=self.task.oracle.name,
            nodes=self.task.oracle.nodes,
            visits=tuple(self.visits),
            distances=dict(self.distances.of),
            counts=self.task.oracle.counts,
            all_conflicts=settled.conflicts,
            store=settled.store,
            history=self.ledger.history,
            make_proofs=self.ledger.proofs,
            rule_use={name: RuleUse(cost.firings, cost.seconds) for name, cost in costs.items()},
            order_dependent=self.ledger.order_dependent,
            settings=self.task.settings,
            incomplete=incomplete,
        )
