"""How learners find things out from tests, visit by visit: neighbours, gaps, V-structures and chains."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Self, TypeAlias

import attrs

from apsl_rules.evidence import EITHER, SAME, Evidence, Verdict
from apsl_rules.knowledge import Knowledge
from apsl_rules.names import Node
from apsl_rules.neighbours import Finder, Neighbours
from apsl_rules.oracles import Oracle, Search, Separation
from apsl_rules.plugins import Context, Separators, State, Visited, pick
from apsl_rules.rules import (
    Fact,
    Finding,
    Nodes,
    Relation,
    adjacent,
    chain,
    collider,
    duplicate,
    gap,
    settled,
    spouse,
    untested,
)


@attrs.frozen
class Copies:
    """Groups of columns that agree in every row: each of their nodes with its group, and those that are ``left_out``.

    The target stands for its group, the first by name for any other; a column that knowledge requires an edge at is
    not left out. A published algorithm whose outcome depends on order looks at all columns.
    """

    groups: Mapping[Node, tuple[Node, ...]]
    left_out: frozenset[Node]

    @classmethod
    def known_to(cls, context: Context) -> Self:
        """Return the copies in the table of a run."""
        if context.data is None or context.spec.rules.conflicts in ("first", "last"):
            return cls({}, frozenset())
        required = frozenset(node for arrow in context.knowledge.required for node in arrow)
        groups = {node: tuple(group) for group in context.data.duplicates() for node in group}
        kept = {context.target if context.target in group else group[0] for group in groups.values()}
        return cls(groups, frozenset(groups) - kept - required)

    def hidden_in(self, context: Context) -> Context:
        """Return a context whose finder makes no candidates of those that are left out."""
        return attrs.evolve(context, finder_settings=attrs.evolve(context.finder_settings, hidden=self.left_out))

    def at(self, node: Node, around: Iterable[Node]) -> Iterator[Finding]:
        """Tell the copies of a node, and that any copy of its neighbours may be adjacent to it as well."""
        for twin in self._twins(node):
            yield Finding(duplicate.fact(node, twin), SAME)
            yield Finding(untested.fact(node, twin), SAME)
        for other in around:
            yield from (Finding(untested.fact(node, twin), EITHER) for twin in self._twins(other) if twin != node)

    def _twins(self, node: Node) -> list[Node]:
        return [one for one in self.groups.get(node, ()) if one != node and one in self.left_out]


class FindingList:
    """The findings of one visit; ``source`` names the oracle behind them."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._findings: dict[Fact, Finding] = {}

    @property
    def findings(self) -> list[Finding]:
        """Return the findings in order."""
        return list(self._findings.values())

    def add(
        self, relation: Relation, nodes: tuple[Node, ...], verdicts: tuple[Verdict, ...] = (), note: str = ""
    ) -> None:
        """Add a finding unless the fact is told already."""
        fact = relation.fact(*nodes)
        if fact not in self._findings:
            self._findings[fact] = Finding(fact, Evidence(self._source, verdicts, note))

    def take(self, finding: Finding) -> None:
        """Add a finding made elsewhere, unless its fact is told already."""
        self._findings.setdefault(finding.fact, finding)


class FindingsFromTests:
    """Visits a node at a time, as a spec says: the nearest one, and among these who goes best with the target."""

    whole = False

    def __init__(self, context: Context) -> None:
        self._copies = Copies.known_to(context)
        context = self._copies.hidden_in(context)
        spec = context.spec
        self._context = context
        self._turns: dict[Node, tuple[float, Any]] = {}
        finder = pick(context.plugins.finders, spec.neighbours.finder, "finder")
        self._neighbours = self.neighbours_by(finder.make(context.asker, context.finder_settings))
        columns = {node: column for column, node in enumerate(context.asker.nodes)}
        ranks = context.asker.rank if spec.frontier.order == "name" else columns
        self._order: Callable[[Node], int] = ranks.__getitem__
        self._visitor = self.visitor(self._neighbours, self._order)

    def neighbours_by(self, finder: Finder) -> Neighbours:
        """Return the neighbours that a finder finds, as the spec takes them."""
        context = self._context
        symmetric = context.spec.neighbours.symmetry == "both"
        return Neighbours(finder, symmetric=symmetric, threads=context.threads, knowledge=context.knowledge)

    def visitor(self, neighbours: Neighbours, order: Callable[[Node], int]) -> Visitor:
        """Return what turns visits into findings."""
        return Visitor(self._context, neighbours, order=order)

    def join(self, state: State, nodes: tuple[Node, ...]) -> State:
        """Return the state after a visit to the nearest of some nodes."""
        distances = [state.distances.get(one, 0) for one in nodes]
        nearest = min(distances)
        closest = (one for one, distance in zip(nodes, distances, strict=True) if distance == nearest)
        node = min(closest, key=self._turn)
        around = tuple(sorted(self.around(node), key=self._order))
        findings = self._visitor.visit(node, self.settled_by(node))
        return state.told(Visited(node, around, (*findings, *self._copies.at(node, around))))

    def around(self, node: Node) -> Iterable[Node]:
        """Return the nodes that a visit to a node lists."""
        return self._neighbours.of(node)

    def settled_by(self, node: Node) -> tuple[Node, ...]:
        """Return the nodes whose neighbours are all known after this visit."""
        return (node,)

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


_Triple: TypeAlias = tuple[Node, Node, Node, Separation | None]


class Visitor:
    """Turns a visit into findings, as a spec says."""

    def __init__(self, context: Context, neighbours: Neighbours, *, order: Callable[[Node], Any]) -> None:
        self._oracle: Oracle = context.asker
        self._neighbours = neighbours
        self._spec = context.spec.findings
        self._order = order
        self._max_conditioning = context.finder_settings.max_conditioning
        self._knowledge: Knowledge = context.knowledge
        self._accept = self._spec.unreliable == "accept"

    def visit(self, node: Node, settles: Sequence[Node]) -> list[Finding]:
        """Return everything that a visit to a node finds, each fact once; ``settles`` are those it leaves complete."""
        around = self._sorted(self._neighbours.of(node))
        found = FindingList(self._oracle.name)
        for one in settles:
            number = len(self._neighbours.of(one))
            found.add(settled, (one,), note=f"{number} neighbour{'' if number == 1 else 's'}")
        for other in around:
            self.tell_edge(found, node, other)
        if self._knowledge:
            self._look_for_contradictions(found, node)
        if self._spec.spouses != "none":
            self._look_past(found, node, around)
        self.look_between(found, node, around)
        return found.findings

    def _look_past(self, found: FindingList, node: Node, around: tuple[Node, ...]) -> None:
        """Step 1: ask of each node beyond a neighbour whether it shares that neighbour as a child."""
        self._neighbours.prepare(around)
        near = {node, *around}
        beyond = [
            (middle, other)
            for middle in around
            for other in self._sorted(self._neighbours.candidates(middle).members)
            if other not in near
        ]
        self._foresee([(node, other) for _, other in beyond], self._spec.spouses)
        far = [(node, middle, other, self._separation(node, other, self._spec.spouses)) for middle, other in beyond]
        for (_, middle, other), kind, verdicts in self._answers(far):
            found.add(gap, (node, other), verdicts[:1])
            if kind is chain:
                found.add(chain, (node, middle, other), verdicts)
            elif kind is collider and self._neighbours.linked(middle, other):
                self.tell_edge(found, middle, other)
                found.add(spouse, (node, middle, other), verdicts)

    def look_between(self, found: FindingList, node: Node, around: tuple[Node, ...]) -> None:
        """Step 2: ask of each pair of neighbours whether the node is a collider between them."""
        source = self._spec.colliders
        if source == "none":
            return
        self._foresee(list(combinations(around, 2)), source)
        pairs = [(x, node, y, self._between(x, y, source)) for x, y in combinations(around, 2)]
        for x, _, y, separation in pairs:
            if separation is None and source == "stored" and self._neighbours.linked(x, y):
                self.tell_edge(found, x, y)
        for (x, _, y), kind, verdicts in self._answers(pairs):
            found.add(gap, (x, y), verdicts[:1])
            if kind is not None:
                found.add(kind, (x, node, y), verdicts)

    def _look_for_contradictions(self, found: FindingList, node: Node) -> None:
        """Tell what the data say against knowledge: a required edge that a set separates, an edge where none may be."""
        for tail, head in self._knowledge.required_at(node):
            if not self._neighbours.agreed(tail, head):
                separation = self._sought(tail, head, self._source)
                if separation is not None:
                    found.add(gap, (tail, head), () if separation.verdict is None else (separation.verdict,))
        for other in self._sorted(self._neighbours.as_found(node).members):
            if self._knowledge.why_apart(node, other) is not None and self._neighbours.agreed(node, other):
                self.tell_edge(found, node, other)

    @property
    def _source(self) -> Separators:
        """Return where the separator of a pair comes from when no triple asks for it."""
        sources: tuple[Separators, ...] = ("search", "search-first", "stored-first")
        return next((one for one in sources if one in (self._spec.spouses, self._spec.colliders)), "stored")

    def _answers(self, triples: Sequence[_Triple]) -> Iterator[tuple[Nodes, Relation | None, tuple[Verdict, ...]]]:
        """Ask the one question of all triples whose ends are separated, in one round of tests.

        The verdict that separates the ends comes first; then the one that adding the middle gave, if it was asked.
        """
        confirm, told = self._spec.confirm, chain if self._spec.chains else None
        known = [((x, middle, y), one, one.given or ()) for x, middle, y, one in triples if one is not None]
        asked = [(x, y, (*given, middle)) for (x, middle, y), _, given in known if confirm and middle not in given]
        confirmed = iter(self._oracle.verdicts(asked) if asked else ())
        for nodes, separation, given in known:
            apart = () if separation.verdict is None else (separation.verdict,)
            if nodes[1] in given:
                yield nodes, told, apart
            elif not confirm:
                yield nodes, collider, apart
            else:
                verdict = next(confirmed)
                accepted = verdict.dependent or (verdict.decision == "unreliable" and self._accept)
                yield nodes, (collider if accepted else None), (*apart, verdict)

    def _foresee(self, pairs: Sequence[tuple[Node, Node]], source: Separators) -> None:
        """Have asked together what the separations of several pairs will ask one by one."""
        if source.startswith("stored"):
            if not source.endswith("first"):
                asked = [
                    other
                    for node, other in pairs
                    if not self._knowledge.requires(node, other)
                    and self._neighbours.as_found(node).separation(other) is None
                ]
                self._neighbours.prepare(dict.fromkeys(asked))
            return
        pools = {node: self._sorted(self._neighbours.of(node)) for node, _ in pairs}
        searches = [
            Search(node, other, tuple(one for one in pools[node] if one != other), (), self._max_conditioning)
            for node, other in pairs
            if not self._knowledge.requires(node, other)
        ]
        self._oracle.foresee(searches)

    def _separation(self, x: Node, y: Node, source: Separators) -> Separation | None:
        """Return what separates two nodes, from where the spec takes it; nothing does where an edge is required."""
        return None if self._knowledge.requires(x, y) else self._sought(x, y, source)

    def _between(self, x: Node, y: Node, source: Separators) -> Separation | None:
        """Return what separates two neighbours of a node; of two stored separators the better one, whatever the names.

        The better one has fewer members, or else the larger p.
        """
        if source != "stored":
            return self._separation(x, y, source)
        one, other = (self._separation(*ends, "stored-first") for ends in ((x, y), (y, x)))
        if one is None or other is None:
            return one or other
        return max(one, other, key=_standing)

    def _sought(self, x: Node, y: Node, source: Separators) -> Separation | None:
        """Return what separates two nodes, whatever is known of them."""
        ends = ((x, y),) if source.endswith("first") else ((x, y), (y, x))
        for end, other in ends:
            if source.startswith("stored"):
                separation = self._neighbours.as_found(end).separation(other)
            else:
                pool = [one for one in self._sorted(self._neighbours.of(end)) if one != other]
                separation = self._oracle.separator(end, other, pool, max_size=self._max_conditioning)
            if separation is not None and separation.found:
                return separation
        return None

    def _sorted(self, nodes: Iterable[Node]) -> tuple[Node, ...]:
        return tuple(sorted(nodes, key=self._order))

    def tell_edge(self, found: FindingList, x: Node, y: Node) -> None:
        """Tell an edge that the finder found; one that it did not find is here because knowledge requires it."""
        if self._knowledge.requires(x, y) and not self._neighbours.agreed(x, y):
            return
        found.add(adjacent, (x, y), self._neighbours.evidence(x, y), self._neighbours.claim(x, y))


def _standing(separation: Separation) -> tuple[int, float]:
    """Rank a separator: a small one is tested with more power, and a large p leaves less doubt."""
    verdict = separation.verdict
    return -len(separation.given or ()), 1.0 if verdict is None or verdict.p is None else verdict.p
