"""The assembly of a part: takes what visits tell, fires the rules, keeps the record, and cuts out the asked part.

Every learner ends here, whether it visits node by node or has learned a whole graph: it tells findings, the rules
conclude the arrows, and the part has its proofs.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from apsl_rules.learning.givens import Givens
from apsl_rules.learning.untested import with_untested
from apsl_rules.names import Node
from apsl_rules.parts import Distances, Part, Visit
from apsl_rules.plugins import Progress, Task, pick
from apsl_rules.rules import Finding, Firing, Mark, MarkStore, adjacent, knowing, ledger


class Assembly:
    """A part in the making; unless ``watched`` is False the watching plugins hear of every step."""

    def __init__(self, task: Task, *, watched: bool = True) -> None:
        rulebook = pick(task.plugins.rulebooks, task.spec.rules.rulebook, "rulebook")
        self._task = task
        self._ledger = ledger(knowing(rulebook) if task.knowledge else rulebook, task.spec.rules.conflicts)
        self._givens = Givens(task.knowledge)
        self._visits: list[Visit] = []
        self.distances = Distances(task.target)
        self._on_finding = task.plugins.watcher("apsl_finding") if watched else None
        self._on_firing = task.plugins.watcher("apsl_firing") if watched else None
        self._on_progress = task.plugins.watcher("apsl_progress") if watched else None

    @property
    def visits(self) -> tuple[Visit, ...]:
        """Return the visits so far."""
        return tuple(self._visits)

    def marks(self) -> MarkStore:
        """Return the marks that hold now."""
        return self._ledger.marks()

    def tell(
        self,
        node: Node,
        neighbours: Sequence[Node],
        findings: Sequence[Finding],
        *,
        scored: Collection[Node] = (),
    ) -> None:
        """Take up what a visit to a node found and what was known of it before, and fire the rules.

        Pairs that no test could decide are told as such, unless both nodes are among ``scored``.
        """
        findings = with_untested(findings, self._task.oracle, scored=scored)
        findings = [*self._givens.about(node, findings), *findings]
        begin = len(self._ledger.history)
        firings = self._ledger.add(findings)
        self._visits.append(Visit(node, tuple(neighbours), begin, len(self._ledger.history)))
        for finding in findings:
            if finding.fact.relation == adjacent.name and not self._is_overruled(*finding.fact.nodes):
                self.distances.add(*finding.fact.nodes)
        self._report(node, findings, firings)

    def _is_overruled(self, x: Node, y: Node) -> bool:
        """Return whether knowledge says that a found edge is none, and was believed."""
        return self._task.knowledge.why_apart(x, y) is not None and self.marks().mark(x, y) is Mark.GAP

    def _report(self, node: Node, findings: Sequence[Finding], firings: Sequence[Firing]) -> None:
        if self._on_finding:
            for finding in findings:
                self._on_finding(finding)
        if self._on_firing:
            for firing in firings:
                self._on_firing(firing)
        if self._on_progress:
            known = len(self.distances.of)
            self._on_progress(Progress(node, len(self._visits), known, self._task.oracle.counts))

    def part(self, incomplete: str | None = None) -> Part:
        """Cut the asked part out of what is known."""
        task, settled = self._task, self._ledger.settled()
        return Part(
            target=task.target,
            depth=task.depth,
            learner=task.spec.name,
            oracle=task.oracle.name,
            nodes=task.oracle.nodes,
            visits=self.visits,
            distances=dict(self.distances.of),
            counts=task.oracle.counts,
            all_conflicts=settled.conflicts,
            store=settled.store,
            history=self._ledger.history,
            make_proofs=self._ledger.proofs,
            rule_use=self._ledger.rule_use(),
            order_dependent=self._ledger.order_dependent,
            settings=task.settings,
            incomplete=incomplete,
            knowledge=task.knowledge,
        )
