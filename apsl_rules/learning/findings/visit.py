"""The findings of one visit, from tests: neighbours, gaps, V-structures and chains."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any, TypeAlias

from apsl_rules.evidence import Verdict
from apsl_rules.learning.findings.cmb import Changes, FindingList, Identities
from apsl_rules.names import Node
from apsl_rules.neighbours import Neighbours, PairedNeighbours, SpousesByChild
from apsl_rules.oracles import Oracle, Search, Separation
from apsl_rules.plugins import Context, FindingSpec, Spouses, State, Visited, pick
from apsl_rules.rules import (
    NOTHING,
    Finding,
    Knowledge,
    Nodes,
    Relation,
    adjacent,
    chain,
    collider,
    gap,
    settled,
    spouse,
)


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


_Triple: TypeAlias = tuple[Node, Node, Node, Separation | None]


class Visitor:
    """Turns a visit into findings, as a spec says."""

    def __init__(
        self,
        oracle: Oracle,
        neighbours: Neighbours,
        spec: FindingSpec,
        *,
        order: Callable[[Node], Any],
        max_conditioning: int | None,
        knowledge: Knowledge = NOTHING,
    ) -> None:
        self._oracle = oracle
        self._neighbours = neighbours
        self._spec = spec
        self._order = order
        self._max_conditioning = max_conditioning
        self._knowledge = knowledge
        self._accept = spec.unreliable == "accept"
        self._blankets = SpousesByChild(oracle, neighbours, unreliable=spec.unreliable)

    def visit(self, node: Node, settles: Sequence[Node]) -> list[Finding]:
        """Return everything that a visit to a node finds, each fact once; ``settles`` are those it leaves complete."""
        around = self._sorted(self._neighbours.of(node))
        found = FindingList(self._oracle.name)
        for one in settles:
            number = len(self._neighbours.of(one))
            found.add(settled, (one,), note=f"{number} neighbour{'' if number == 1 else 's'}")
        for other in around:
            self._tell_edge(found, node, other)
        if self._knowledge:
            self._look_for_contradictions(found, node)
        if self._spec.spouses != "none":
            self._look_past(found, node, around)
        match self._spec.colliders:
            case "none":
                pass
            case "identities":
                Identities(self._oracle, self._blankets, node, around).tell(found)
            case "changes" | "changes-first":
                self._look_for_changes(found, node, around)
            case source:
                self._look_between(found, node, around, source)
        return found.findings

    def _look_past(self, found: FindingList, node: Node, around: tuple[Node, ...]) -> None:
        """Step 1 (lines 21-26): ask of each node beyond a neighbour whether it shares that neighbour as a child."""
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
                self._tell_edge(found, middle, other)
                found.add(spouse, (node, middle, other), verdicts)

    def _look_between(self, found: FindingList, node: Node, around: tuple[Node, ...], source: Spouses) -> None:
        """Step 2 (lines 28-36): ask of each pair of neighbours whether the node is a collider between them."""
        self._foresee(list(combinations(around, 2)), source)
        pairs = [(x, node, y, self._between(x, y, source)) for x, y in combinations(around, 2)]
        for x, _, y, separation in pairs:
            if separation is None and source == "stored" and self._neighbours.linked(x, y):
                self._tell_edge(found, x, y)
        for (x, _, y), kind, verdicts in self._answers(pairs):
            found.add(gap, (x, y), verdicts[:1])
            if kind is not None:
                found.add(kind, (x, node, y), verdicts)

    def _look_for_changes(self, found: FindingList, node: Node, around: tuple[Node, ...]) -> None:
        """Ask the same of each pair as CMB does."""
        published = self._spec.colliders == "changes-first"
        changes = Changes(
            self._oracle,
            self._neighbours,
            self._blankets,
            first_only=published,
            accept_unreliable=self._accept,
        )
        for x, y in combinations(around, 2):
            if not published and self._neighbours.linked(x, y):
                self._tell_edge(found, x, y)
                continue
            kind, verdicts = changes.kind(x, node, y)
            if verdicts:
                found.add(gap, (x, y), verdicts[:1])
            if kind is collider or (kind is chain and self._spec.chains):
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
                self._tell_edge(found, node, other)

    @property
    def _source(self) -> Spouses:
        """Return where the separator of a pair comes from when no triple asks for it."""
        sources: tuple[Spouses, ...] = ("search", "search-first", "stored-first")
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

    def _foresee(self, pairs: Sequence[tuple[Node, Node]], source: Spouses) -> None:
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

    def _separation(self, x: Node, y: Node, source: Spouses) -> Separation | None:
        """Return what separates two nodes, from where the spec takes it; nothing does where an edge is required."""
        return None if self._knowledge.requires(x, y) else self._sought(x, y, source)

    def _between(self, x: Node, y: Node, source: Spouses) -> Separation | None:
        """Return what separates two neighbours of a node; of two stored separators the better one, whatever the names.

        The better one has fewer members, or else the larger p.
        """
        if source != "stored":
            return self._separation(x, y, source)
        one, other = (self._separation(*ends, "stored-first") for ends in ((x, y), (y, x)))
        if one is None or other is None:
            return one or other
        return max(one, other, key=_standing)

    def _sought(self, x: Node, y: Node, source: Spouses) -> Separation | None:
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

    def _tell_edge(self, found: FindingList, x: Node, y: Node) -> None:
        """Tell an edge that the finder found; one that it did not find is here because knowledge requires it."""
        if self._knowledge.requires(x, y) and not self._neighbours.agreed(x, y):
            return
        found.add(adjacent, (x, y), self._neighbours.evidence(x, y), self._neighbours.claim(x, y))


def _standing(separation: Separation) -> tuple[int, float]:
    """Rank a separator: a small one is tested with more power, and a large p leaves less doubt."""
    verdict = separation.verdict
    return -len(separation.given or ()), 1.0 if verdict is None or verdict.p is None else verdict.p
