"""The state of a run, and who is visited next."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any, Protocol, Self

import attrs

from apsl_rules.learning.givens import Givens
from apsl_rules.learning.notes import with_untested
from apsl_rules.names import Depth, Node, in_order
from apsl_rules.parts import Distances, Part, Visit, inside
from apsl_rules.plugins import Context, Marks, Progress, Searched, State, Visited, pick
from apsl_rules.rules import (
    Finding,
    Firing,
    Ledger,
    Mark,
    adjacent,
    head,
    knowing,
    ledger,
)


@attrs.frozen(eq=False, slots=False)
class Assembly:
    """A part in the making. Each step returns a new assembly, and plugins that watch hear of it.

    Of the progress of a search that ``is_over`` they heard already, but not of what it found.
    """

    context: Context
    ledger: Ledger
    givens: Givens
    reach: Distances
    visits: tuple[Visit, ...] = ()
    notes: tuple[str, ...] = ()
    found: Searched | None = None
    is_over: bool = False

    @classmethod
    def start(cls, context: Context) -> Self:
        """Return the assembly of a run that knows nothing yet."""
        rulebook = pick(context.plugins.rulebooks, context.spec.rules.rulebook, "rulebook")
        book = ledger(knowing(rulebook) if context.knowledge else rulebook, context.spec.rules.conflicts)
        givens = Givens(context.knowledge, hidden=head in rulebook.relations)
        return cls(context, book, givens, Distances(context.target))

    # --- what is known -----------------------------------------------------------------------------------------------

    @cached_property
    def visited(self) -> Mapping[Node, tuple[Node, ...]]:
        """Return the nodes visited so far in their order, each with its neighbours."""
        if self.found is not None:
            return {node: tuple(self.found.marks.neighbours_of(node)) for node in self.found.core}
        return {visit.node: visit.neighbours for visit in self.visits}

    @property
    def distances(self) -> Mapping[Node, int]:
        """Return how far known nodes are from the target."""
        return self.reach.of if self.found is None else self.found.distances

    def marks(self) -> Marks:
        """Return the marks that hold."""
        return self.ledger.marks() if self.found is None else self.found.marks

    # --- steps -------------------------------------------------------------------------------------------------------

    def searched(self, found: Searched) -> Self:
        """Return the assembly in which a search replaces all that was known."""
        start = self.start(self.context)
        if watch := self.context.plugins.watcher("apsl_progress"):
            watch(Progress(found.core[-1], len(found.core), len(found.distances), self.context.asker.counts))
        return attrs.evolve(start, found=found)

    def told(self, *visits: Visited, notes: Sequence[str] = ()) -> Self:
        """Return the assembly after more visits: what they found and what was known of it before, with the rules fired.

        Pairs that no test could decide are told as such.
        """
        state = attrs.evolve(self, notes=(*self.notes, *notes)) if notes else self
        for visit in visits:
            state = state.after(visit)
        return state

    def after(self, visited: Visited) -> Self:
        """Return the assembly after one more visit."""
        found = with_untested(visited.findings, self.context.asker, scored=visited.scored)
        givens, given = self.givens.about(visited.node, found)
        findings = [*given, *found]
        book, firings = self.ledger.with_findings(findings)
        reach = copy(self.reach)
        visit = Visit(visited.node, visited.neighbours, len(self.ledger.history), len(book.history))
        for finding in findings:
            if finding.fact.relation == adjacent.name and not self._is_overruled(book, *finding.fact.nodes):
                reach.add(*finding.fact.nodes)
        visits = (*self.visits, visit)
        after = type(self)(self.context, book, givens, reach, visits, self.notes, self.found, self.is_over)
        _report(after, visited.node, findings, firings)
        return after

    def _is_overruled(self, book: Ledger, x: Node, y: Node) -> bool:
        """Return whether knowledge says that a found edge is none, and was believed."""
        return self.context.knowledge.why_apart(x, y) is not None and book.marks().mark(x, y) is Mark.GAP

    # --- the part ----------------------------------------------------------------------------------------------------

    def part(self, incomplete: str | None = None, *, compare: bool = True) -> Part:
        """Cut the asked part out of what is known; without time to ``compare`` a search tells no leads."""
        if self.found is not None:
            visits, notes = self.found.tell(compare)
            return attrs.evolve(self, found=None, is_over=True).told(*visits, notes=notes).part(incomplete)
        context, settled = self.context, self.ledger.settled
        return Part(
            target=context.target,
            depth=context.depth,
            learner=context.spec.name,
            oracle=context.asker.name,
            nodes=context.asker.nodes,
            visits=self.visits,
            distances=dict(self.reach.of),
            counts=context.asker.counts,
            all_conflicts=settled.conflicts,
            store=settled.store,
            history=self.ledger.history,
            make_proofs=self.ledger.proofs,
            rule_use=self.ledger.rule_use(),
            order_dependent=self.ledger.order_dependent,
            settings=context.settings,
            incomplete=incomplete,
            notes=self.notes,
            knowledge=context.knowledge,
        )


def _report(state: Assembly, node: Node, findings: Sequence[Finding], firings: Sequence[Firing]) -> None:
    """Let the watching plugins hear of a visit."""
    hooks: dict[str, Sequence[Any]] = {"apsl_finding": findings, "apsl_firing": firings}
    for hook, events in hooks.items():
        if watch := state.context.plugins.watcher(hook):
            for event in events:
                watch(event)
    watch = state.context.plugins.watcher("apsl_progress")
    if watch and not state.is_over:
        watch(Progress(node, len(state.visits), len(state.reach.of), state.context.asker.counts))


class Run(Protocol):
    """What a frontier looks at: the state of a run, which moves on between two looks."""

    @property
    def target(self) -> Node:
        """Return the target of the part."""

    @property
    def depth(self) -> Depth:
        """Return the asked depth."""

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Return all nodes."""

    @property
    def state(self) -> State:
        """Return what the run knows now."""


def along_lines(run: Run) -> Iterator[tuple[Node, ...]]:
    """Visit the asked region, then follow lines out of it for as long as they may still be oriented."""
    while True:
        state, visited = run.state, run.state.visited
        inner = _inner(run)
        todo = [node for node in inner if node not in visited]
        if not todo:
            led_to = in_order(_led_to(state.marks(), inner).difference(visited))
            nearest = min((state.distances[node] for node in led_to), default=0)
            todo = [node for node in led_to if state.distances[node] == nearest]
        if not todo:
            return
        yield tuple(todo)


def _inner(run: Run) -> list[Node]:
    """Return the nodes whose edges all belong to the part."""
    distances, depth = run.state.distances, run.depth
    return [*distances] if depth == "max" else [node for node, far in distances.items() if inside(depth, far)]


def _led_to(marks: Marks, start: list[Node]) -> set[Node]:
    """Return the nodes that lines alone lead to."""
    seen = set(start)
    ahead = list(start)
    while ahead:
        node = ahead.pop()
        for other in marks.neighbours_of(node):
            if other not in seen and marks.mark(node, other).is_open:
                seen.add(other)
                ahead.append(other)
    return seen


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
    inner = _inner(run)
    return any(marks.mark(node, other).is_open for node in inner for other in marks.neighbours_of(node))


def everyone(run: Run) -> Iterator[tuple[Node, ...]]:
    """Visit all nodes."""
    while left := tuple(node for node in run.nodes if node not in run.state.visited):
        yield left


FRONTIERS: dict[str, Callable[[Run], Iterator[tuple[Node, ...]]]] = {
    "lines": along_lines,
    "layers": by_layers,
    "queue": by_queue,
}
