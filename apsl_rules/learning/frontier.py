"""The state of a run, who is visited next, and how it ends; and which parts are cut out of whole graphs."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from time import monotonic
from typing import Any, Self

import attrs

from apsl_rules.data import content_fingerprint
from apsl_rules.errors import Interrupted, LimitReachedError
from apsl_rules.evidence import GIVEN, Evidence
from apsl_rules.knowledge import Knowledge
from apsl_rules.learning.findings import FindingsFromTests
from apsl_rules.learning.notes import with_untested
from apsl_rules.learning.settings import Request
from apsl_rules.learning.source import SCORING, Source
from apsl_rules.memory import Kind, Memory
from apsl_rules.names import Depth, Node, count_of, in_order, inside, listing
from apsl_rules.parts import Part, Visit
from apsl_rules.plugins import Context, Findings, LearnerOffer, Marks, Progress, Run, Searched, Visited
from apsl_rules.rules import (
    Fact,
    Finding,
    Ledger,
    Mark,
    Relation,
    adjacent,
    arrow,
    barred,
    found_distances,
    gap,
    head,
    knowing,
    ledger,
    noncause,
)
from apsl_rules.stopping import INTERRUPTED, Stop


class Distances:
    """Distances from the target over the edges known so far; they only ever shrink."""

    def __init__(self, target: Node) -> None:
        self.of: dict[Node, int] = {target: 0}
        self._edges: dict[Node, tuple[Node, ...]] = {}

    def __copy__(self) -> Distances:
        same = type(self).__new__(type(self))
        same.__dict__.update(of=dict(self.of), _edges=dict(self._edges))
        return same

    def add(self, x: Node, y: Node) -> None:
        """Take up an edge and pass on what it shortens."""
        if y in self._edges.get(x, ()):
            return
        self._edges[x] = (*self._edges.get(x, ()), y)
        self._edges[y] = (*self._edges.get(y, ()), x)
        changed = deque(sorted((node for node in (x, y) if node in self.of), key=self.of.__getitem__))
        while changed:
            node = changed.popleft()
            further = self.of[node] + 1
            for other in self._edges[node]:
                if self.of.get(other, further + 1) > further:
                    self.of[other] = further
                    changed.append(other)


@attrs.frozen
class Givens:
    """The knowledge of one run, and what was told of it so far: each fact is told once.

    Required edges are told as soon as one of their ends is met, nodes known to be apart when one of them is visited,
    and a barred direction when its edge is found. So a run hears only what concerns it, however long the tiers are, and
    a proof names exactly the knowledge that it rests on.

    With hidden causes a tier says more: a later node is no cause of an earlier one, not even through others. Where all
    these others are in tiers, the edges between them say it all. Where some are in no tier, it is told of the nodes in
    tiers around them. What is forbidden is told of any two nodes that are met.

    With ``hidden`` causes two nodes can be adjacent although neither may cause the other; ``near`` has the edges by
    which one may cause another through others.
    """

    knowledge: Knowledge
    told: frozenset[Fact] = frozenset()
    hidden: bool = False
    near: Mapping[Node, frozenset[Node]] = attrs.field(factory=dict)

    def about(self, node: Node, findings: Sequence[Finding]) -> tuple[Givens, list[Finding]]:
        """Return what is known of a visited node, of the nodes found around it and of the edges between them.

        The first value is the knowledge with all of this told.
        """
        if not self.knowledge:
            return self, []
        edges = [one.fact.nodes for one in findings if one.fact.relation == adjacent.name]
        edges += self.knowledge.required_at(node)
        met = {node, *(end for edge in edges for end in edge)}
        apart = [(node, other) for other in self.knowledge.apart_from(node)]
        reasons = [(pair, self.knowledge.why_apart(*pair, hidden=self.hidden)) for pair in apart]
        given = [_finding(gap, pair, why) for pair, why in reasons if why is not None]
        for one in in_order(met):
            for required in self.knowledge.required_at(one):
                given += [_finding(adjacent, required), _finding(arrow, required)]
                edges.append(required)
        given += self._directions(edges)
        near = _with_edges(self.near, edges) if self.hidden else self.near
        if self.hidden:
            given += self._noncauses(near, met)
        fresh = {one.fact: one for one in given if one.fact not in self.told}
        return attrs.evolve(self, told=self.told.union(fresh), near=near), list(fresh.values())

    def _noncauses(self, near: Mapping[Node, frozenset[Node]], met: Iterable[Node]) -> Iterator[Finding]:
        """Tell which nodes are no causes of others, where nodes in no tier may lie between them."""
        known = self.knowledge
        for cause, effect in known.forbidden:
            if cause in near and effect in near:
                yield _finding(noncause, (cause, effect))
        seen: set[Node] = set()
        for node in in_order(met):
            if node in seen or known.tier_of(node) is not None:
                continue
            between = _beyond_tiers(known, near, node)
            seen |= between
            around = in_order({one for inner in between for one in near.get(inner, ())} - between)
            for late in around:
                for early in around:
                    if late != early and (why := known.why_barred(late, early)):
                        yield _finding(noncause, (late, early), why)

    def _directions(self, edges: Iterable[tuple[Node, ...]]) -> list[Finding]:
        """Return the directions that found edges may not have."""
        given = []
        for x, y in edges:
            if self.knowledge.why_apart(x, y, hidden=self.hidden) is None:
                directions = ((tail, head, self.knowledge.why_barred(tail, head)) for tail, head in ((x, y), (y, x)))
                given += [_finding(barred, (tail, head), why) for tail, head, why in directions if why is not None]
        return given


def _finding(relation: Relation, nodes: tuple[Node, ...], note: str | None = None) -> Finding:
    return Finding(relation.fact(*nodes), Evidence(GIVEN, note=note or ""))


def _with_edges(near: Mapping[Node, frozenset[Node]], edges: Iterable[tuple[Node, ...]]) -> dict[Node, frozenset[Node]]:
    joined = dict(near)
    for x, y in edges:
        joined[x] = joined.get(x, frozenset()) | {y}
        joined[y] = joined.get(y, frozenset()) | {x}
    return joined


def _beyond_tiers(known: Knowledge, near: Mapping[Node, frozenset[Node]], start: Node) -> set[Node]:
    """Return the nodes in no tier that edges between such nodes join to one of them."""
    seen = {start}
    ahead = [start]
    while ahead:
        fresh = [one for one in near.get(ahead.pop(), ()) if one not in seen and known.tier_of(one) is None]
        seen.update(fresh)
        ahead += fresh
    return seen


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
        rulebook = context.plugins.rulebook_of(context.spec)
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
        after = attrs.evolve(self.start(self.context), found=found)
        if watch := self.context.plugins.watcher("apsl_progress"):
            counts = self.context.asker.counts
            watch(Progress(found.core[-1], len(found.core), len(found.distances), counts, after.so_far))
        return after

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
        is_possible = self.context.whole and self.context.settings.get("hidden") == "possible"
        scored = (
            () if is_possible else visited.scored
        )  # the whole graph holds pairs that no test would have brought near
        found = with_untested(visited.findings, self.context.asker, scored=scored)
        givens, given = self.givens.about(visited.node, found)
        findings = [*given, *found]
        book = self.ledger.with_findings(findings)
        reach = copy(self.reach)
        visit = Visit(visited.node, visited.neighbours, len(self.ledger.history), len(book.history))
        for finding in findings:
            if finding.fact.relation == adjacent.name and not self._is_overruled(book, *finding.fact.nodes):
                reach.add(*finding.fact.nodes)
        visits = (*self.visits, visit)
        after = type(self)(self.context, book, givens, reach, visits, self.notes, self.found, self.is_over)
        _report(after, visited.node, findings, visit.begin)
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
        _ = self.ledger.settled  # within the limits of the run
        return self._part(incomplete)

    def so_far(self) -> Part:
        """Draw up the part as it is known by now, without proofs; where hidden causes are possible, only its edges.

        Which of these get an arrow is decided at the end of the run.
        """
        marks, drawn = self.marks(), self.context.settings.get("hidden") != "possible"
        seen = Evidence(self.context.spec.name, note="so far")
        findings = [
            Finding(one, seen)
            for x in self.visited
            for y in marks.neighbours_of(x)
            for one in (adjacent.fact(x, y), *([arrow.fact(x, y)] if drawn and marks.has_arrow(x, y) else []))
        ]
        start = self.start(self.context)
        after = attrs.evolve(start, ledger=start.ledger.with_findings(findings))._part("it is still being learned")  # noqa: SLF001 - its own
        return attrs.evolve(after, distances=dict(self.distances))

    def _part(self, incomplete: str | None) -> Part:
        context = self.context
        return Part(
            target=context.target,
            depth=context.depth,
            learner=context.spec.name,
            oracle=context.asker.name,
            nodes=context.asker.nodes,
            visits=self.visits,
            distances=dict(self.reach.of),
            counts=context.asker.counts,
            ledger=self.ledger,
            settings=context.settings,
            incomplete=incomplete,
            notes=self.notes,
            knowledge=context.knowledge,
        )


def _report(state: Assembly, node: Node, findings: Sequence[Finding], begin: int) -> None:
    """Let the watching plugins hear of a visit: what it found, and the rules that fired since a place."""
    watcher = state.context.plugins.watcher
    if watch := watcher("apsl_finding"):
        for finding in findings:
            watch(finding)
    if watch := watcher("apsl_firing"):
        for firing in state.ledger.history.firings(begin):
            watch(firing)
    watch = state.context.plugins.watcher("apsl_progress")
    if watch and not state.is_over:
        counts = state.context.asker.counts
        watch(Progress(node, len(state.visits), len(state.reach.of), counts, state.so_far))


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


def everyone(run: Run) -> Iterator[tuple[Node, ...]]:
    """Visit all nodes."""
    while left := tuple(node for node in run.nodes if node not in run.state.visited):
        yield left


# --- runs ------------------------------------------------------------------------------------------------------------

#: The most columns of a table whose parts are cut out of its whole graph, the most cells if they are counted, and the
#: most columns if the graph is to be certified.
_MOST_CUT, _MOST_CELLS_CUT, _MOST_EXACT = 60, 1 << 24, 20
#: The whole graphs that are kept with an opened table, each of other settings.
_LEARNED: Kind[Memory[Any, Part]] = Kind("learned graphs")
_MOST_LEARNED = 2
#: Seconds that a run which has reached its end may still take to tell the rules what it has found.
LAST_WORDS = 1.0


@attrs.define(eq=False)
class _Run:
    """A run: what part is asked for, and the state that it has reached."""

    target: Node
    depth: Depth
    nodes: tuple[Node, ...]
    state: Assembly


def learn_part(offer: LearnerOffer, context: Context) -> Part:
    """Learn the part that a context asks for.

    A limit or an interrupt ends the run with the last whole state; the part says so.
    """
    run = _Run(context.target, context.depth, context.asker.nodes, Assembly.start(context))
    stop = context.asker.stop
    try:
        return stop.run(lambda: _finish(offer, context, run))
    except LimitReachedError as limit:
        reason = str(limit)
    except KeyboardInterrupt:
        stop.set(INTERRUPTED)
        reason = "an interrupt"
    except BaseException:
        context.asker.flush()
        raise
    told = _open_end(run, reason)
    try:
        return Stop(monotonic() + LAST_WORDS).run(lambda: run.state.part(told))
    except LimitReachedError:
        return run.state.part(told, compare=False)


def _finish(offer: LearnerOffer, context: Context, run: _Run) -> Part:
    findings: Findings = (offer.findings or FindingsFromTests)(context)
    frontier = everyone if findings.whole else offer.frontier or along_lines
    for nodes in frontier(run):
        context.asker.within_limits()
        run.state = findings.join(run.state, nodes)
    return run.state.part()


def _open_end(run: _Run, reason: str) -> str:
    """Say where a run stopped and what it leaves open."""
    state = run.state
    near = [node for node, far in state.distances.items() if inside(run.depth, far) and node not in state.visited]
    unseen = f"{listing(in_order(near))} still to visit" if near else "all nodes of the asked part are visited"
    visits = count_of(len(state.visited), "visit")
    open_end = "edges marked line may still be open" if state.visited else "nothing is learned yet"
    return f"stopped at {reason} after {visits}; {unseen}; {open_end}"


def is_cut(request: Request, source: Source, offer: LearnerOffer, nodes: int) -> bool:
    """Return whether a part is cut out of the whole graph, so that no mark depends on what is asked.

    In closed worlds that is not so for categories of so many rows that each family of columns takes long to count, nor
    where a graph of so many columns cannot be certified as asked.
    """
    data = source.data
    if data is None or offer.name not in SCORING or nodes > _MOST_CUT or (request.certified and nodes > _MOST_EXACT):
        return False
    return request.hidden == "possible" or offer.spec.kind == "mixed" or data.rows * nodes <= _MOST_CELLS_CUT


def learn_or_cut(offer: LearnerOffer, context: Context, *, is_asked: bool) -> Part:
    """Learn a part, or the whole graph that it is to be cut out of; ``is_asked`` says that all of it is asked for.

    A search of the whole graph has nothing to return before its end. Where a limit may end it, the part alone is
    learned first, and returned if the limit ends the other search.
    """
    if not context.whole or is_asked:
        return learn_part(offer, context)
    everything = attrs.evolve(context, depth="max")
    if not context.asker.stop.is_limited:
        return _learned_once(offer, everything)
    if context.depth == "max":
        return learn_part(offer, everything)
    alone = learn_part(offer, attrs.evolve(context, whole=False))
    if alone.incomplete is not None:
        return alone
    part = learn_part(offer, everything)
    return part if part.visits else attrs.evolve(alone, incomplete=part.incomplete)


def _learned_once(offer: LearnerOffer, context: Context) -> Part:
    """Learn the whole graph of a table, or take the one that another target had, if nobody watches the run."""
    data, plugins = context.data, context.plugins
    if data is None or any(map(plugins.watcher, ("apsl_progress", "apsl_finding", "apsl_firing"))):
        return learn_part(offer, context)

    def make() -> Part:
        part = learn_part(offer, context)
        if part.incomplete is not None:
            raise Interrupted(part=part)
        return part

    twins = next((group for group in data.duplicates() if context.target in group), ())
    asked = (context.spec, context.finder_settings, context.settings, context.knowledge, context.asker.nodes)
    key = content_fingerprint(asked), context.asker.name, plugins, context.target if twins else None
    kept: Memory[Any, Part] = data.memory.once(_LEARNED, None, lambda: Memory(_MOST_LEARNED))
    try:
        part = kept.once(key, make)
    except Interrupted as stop:
        if not isinstance(stop.part, Part):
            raise
        return stop.part
    distances = found_distances(part.ledger, context.target, context.knowledge)
    return attrs.evolve(part, target=context.target, distances=distances)
