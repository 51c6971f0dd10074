"""Hidden causes from a table: what surrounds a target, by tests that a search proposes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import combinations
from math import isnan, log

import attrs

from apsl_backends.learners.apsl_mixed import findings_by_moments
from apsl_backends.learners.apsl_score import FindingsFromScores, findings_by_counts
from apsl_backends.learners.ball import Ball
from apsl_backends.learners.hidden.from_blankets import FindingsFromBlankets, Skeleton, find_skeleton
from apsl_rules.evidence import EITHER, GIVEN, SAME, Evidence, Verdict, log_p_of
from apsl_rules.knowledge import Knowledge
from apsl_rules.learning import Distances
from apsl_rules.names import Node, count_of, in_order, shown
from apsl_rules.oracles import Query
from apsl_rules.plugins import Context, Findings, Marks, Searched, State, Visited, pick
from apsl_rules.rules import (
    Finding,
    Relation,
    adjacent,
    arrow,
    chain,
    collider,
    duplicate,
    gap,
    ledger,
    settled,
    untested,
    within,
    without,
)

#: The p-value below which a test that a node opens or closes is taken for clear.
CERTAIN = 1e-3
#: How strong a finding is that the scored graph alone suggests: if the unclear test points the same way, and if not.
WITH_TEST, AGAINST_TEST = log(10), log(10) / 2
#: What agreement of the scored graph adds to a clear test, and the most that a test counts for.
AGREEMENT, MOST = 10 * log(10), 50 * log(10)


@attrs.frozen
class Triple:
    """A node beside or between two that are not adjacent, and the verdict that separates these."""

    x: Node
    node: Node
    y: Node
    separation: Verdict

    @property
    def is_inside(self) -> bool:
        """Return whether the node is in the separating set."""
        return self.node in self.separation.given

    @property
    def toggled(self) -> Query:
        """Return the question with the node put into the separating set, or taken out of it."""
        given = self.separation.given
        others = tuple(one for one in given if one != self.node) if self.is_inside else (*given, self.node)
        return self.x, self.y, others

    @property
    def edges(self) -> tuple[Query, Query]:
        """Return the questions whether the node depends on either of the two, given the separating set."""
        return (self.x, self.node, self.separation.given), (self.y, self.node, self.separation.given)


class Surroundings:
    """The nodes near a core: who is adjacent to whom, and what is found of triples with edges at the core."""

    def __init__(
        self, context: Context, ball: Ball, core: tuple[Node, ...], duplicates: Mapping[Node, tuple[Node, ...]]
    ) -> None:
        self.core = core
        self._duplicates = duplicates
        self._context = context
        self._asker = context.asker
        self._ball = ball
        self._near = {node: self._joined(node) for node in self._members}

    @cached_property
    def _members(self) -> tuple[Node, ...]:
        return in_order(self._ball.members)

    @cached_property
    def _skeletons(self) -> tuple[Skeleton, Skeleton]:
        """Return who is adjacent by tests starting from the scored graph, and starting from all pairs."""
        members, scored = self._members, self._ball.neighbours
        limit = self._context.finder_settings.max_conditioning
        pairs = list(combinations(members, 2))
        tested = self._asker.verdicts([(x, y, ()) for x, y in pairs])
        untested = {
            frozenset(pair) for pair, verdict in zip(pairs, tested, strict=True) if verdict.decision == "unreliable"
        }
        whole = {
            x: [y for y in members if x != y and (y in scored[x] or frozenset((x, y)) not in untested)] for x in members
        }
        near = {node: scored[node] for node in members}
        return find_skeleton(self._asker, near, limit), find_skeleton(self._asker, whole, limit)

    def _joined(self, node: Node) -> frozenset[Node]:
        """Return the neighbours of a node: those that either skeleton has, and what knowledge says of them."""
        known = self._context.knowledge
        found = frozenset().union(*(one.near[node] for one in self._skeletons))
        required = {other for pair in known.required_at(node) for other in pair if other in self._ball.place} - {node}
        return frozenset(one for one in found | required if known.why_apart(node, one, hidden=True) is None)

    def around(self, node: Node) -> tuple[Node, ...]:
        """Return the neighbours of a node by name."""
        return in_order(self._near[node])

    @cached_property
    def edges(self) -> list[tuple[Node, Node]]:
        """Return the edges with an end in the core."""
        inner = frozenset(self.core)
        pairs = combinations(self._members, 2)
        return [(x, y) for x, y in pairs if y in self._near[x] and not inner.isdisjoint((x, y))]

    @property
    def notes(self) -> list[str]:
        """Return what a reader should know of the search."""
        return [f"adjacent nodes were sought among {count_of(len(self._near), 'node')} near {self._context.target}"]

    # --- edges -------------------------------------------------------------------------------------------------------

    def findings_at(self, node: Node) -> Iterator[Finding]:
        """Tell the neighbours of a node, and what tests say against knowledge."""
        known = self._context.knowledge
        yield self._finding(settled, (node,), note=count_of(len(self._near[node]), "neighbour"))
        for other in in_order({one for skeleton in self._skeletons for one in skeleton.near[node]}):
            yield self._edge(node, other)
        yield from self._unplaced(node)
        for other in self.around(node):
            if known.requires(node, other) and (verdict := self._separation(node, other)) is not None:
                yield self._finding(gap, (node, other), (verdict,))

    def _unplaced(self, node: Node) -> Iterator[Finding]:
        """Tell the duplicates of a node and of its neighbours: they were left out, and may have the same edges."""
        for twin in self._twins(node):
            yield Finding(duplicate.fact(node, twin), SAME)
            yield Finding(untested.fact(node, twin), SAME)
        twins = {twin for other in self.around(node) for twin in self._twins(other)}
        for twin in in_order(twins - {node}):
            yield Finding(untested.fact(node, twin), EITHER)

    def _twins(self, node: Node) -> list[Node]:
        """Return the duplicates of a node that are not among the nodes here."""
        return [one for one in self._duplicates.get(node, ()) if one != node and one not in self._near]

    def _edge(self, x: Node, y: Node) -> Finding:
        pair = frozenset((x, y))
        weakest = next((one.weakest[pair] for one in reversed(self._skeletons) if pair in one.weakest), None)
        by_score, by_tests = (y in one.near[x] for one in self._skeletons)
        note = "no set tried separates them"
        if by_score and not by_tests:
            note = "no set among their neighbours in the scored graph separates them"
        return self._finding(adjacent, (x, y), () if weakest is None else (weakest,), note)

    def _separation(self, x: Node, y: Node) -> Verdict | None:
        """Return the verdict that separates two nodes which are not adjacent, the one in the scored graph first."""
        pair = frozenset((x, y))
        if any(y in one.near[x] for one in self._skeletons):
            return None
        return next((one.separations[pair] for one in self._skeletons if pair in one.separations), None)

    # --- triples -----------------------------------------------------------------------------------------------------

    @cached_property
    def triples(self) -> list[Finding]:
        """Return what is found of the triples whose edges are at the core, each fact once."""
        between, beside = self._list_triples()
        self._asker.verdicts([one.toggled for one in (*between, *beside)])  # asked together, answered one by one below
        self._asker.verdicts([edge for one in between if not one.is_inside for edge in one.edges])
        found = [self._finding(gap, (one.x, one.y), (one.separation,)) for one in between]
        for one in between:
            found += self._judge(one)
        for one in beside:
            found += self._tell_beside(one)
        return list({one.fact: one for one in reversed(found)}.values())[::-1]

    def _list_triples(self) -> tuple[list[Triple], list[Triple]]:
        """Return the nodes between two that are not adjacent, and those at whom a discriminating path could end."""
        near: dict[Node, set[Node]] = {node: set() for node in self._members}
        for x, y in self.edges:
            near[x].add(y)
            near[y].add(x)
        between, beside = [], []
        for middle, ends in near.items():
            for x, y in combinations(in_order(ends), 2):
                separation = None if y in self._near[x] else self._separation(x, y)
                if separation is None:
                    continue
                between.append(Triple(x, middle, y, separation))
                others = {one for end in (x, y) for one in near[end] if not near[one].isdisjoint(near[end])}
                beside += [Triple(x, one, y, separation) for one in in_order(others - {x, y})]
        return between, list(dict.fromkeys(beside))

    def _judge(self, one: Triple) -> Iterator[Finding]:
        """Tell whether a node is a collider between two, as far as tests and the scored graph show it."""
        toggled = self._asker.verdict(*one.toggled)
        tested, seen = chain if one.is_inside else collider, self._seen(one)
        nodes = one.x, one.node, one.y
        if _is_clear(toggled) and seen in (None, tested):
            notes = ["the scored graph has it too"] if seen is tested else []
            verdicts: tuple[Verdict, ...] = (one.separation, toggled)
            if tested is collider and self._is_interaction(one, toggled):
                notes.append(f"given {shown(one.node)} they depend more than on it, so it shows no hidden cause")
                verdicts = (one.separation,)
            strength = _strength(toggled) + (AGREEMENT if seen is tested else 0.0)
            yield self._finding(tested, nodes, verdicts, ", ".join(notes), strength)
        elif seen is collider and not _is_clear(toggled):
            note = "the scored graph has it, and no test is clear"
            strength = WITH_TEST if seen is tested else AGAINST_TEST
            yield self._finding(seen, nodes, (one.separation,), note, strength)

    def _is_interaction(self, one: Triple, opened: Verdict) -> bool:
        """Return whether two nodes depend more on each other given a third than on that one.

        Then they act on it together, or are adjacent after all; it shows no hidden cause.
        """
        return not log_p_of(opened) > max(map(log_p_of, self._asker.verdicts(one.edges)))

    def _tell_beside(self, one: Triple) -> Iterator[Finding]:
        """Tell whether a node is in the sets that separate two others, if a test is clear."""
        toggled = self._asker.verdict(*one.toggled)
        if _is_clear(toggled):
            relation = within if one.is_inside else without
            verdicts = (one.separation, toggled)
            yield self._finding(relation, (one.x, one.node, one.y), verdicts, strength=_strength(toggled))

    def _seen(self, one: Triple) -> Relation | None:
        """Return what a node between two others is in the scored graph, if they are such a triple there."""
        near = self._ball.neighbours
        if one.y in near[one.x] or one.x not in near[one.node] or one.y not in near[one.node]:
            return None
        both = self._ball.has_arrow(one.x, one.node) and self._ball.has_arrow(one.y, one.node)
        return collider if both else chain

    def _finding(
        self,
        relation: Relation,
        nodes: tuple[Node, ...],
        verdicts: tuple[Verdict, ...] = (),
        note: str = "",
        strength: float | None = None,
    ) -> Finding:
        return Finding(relation.fact(*nodes), Evidence(self._asker.name, verdicts, note, strength=strength))

    # --- marks -------------------------------------------------------------------------------------------------------

    def marks(self) -> Marks:
        """Return the marks that all of this leads to, as the rules and the policy have it."""
        rules = self._context.spec.rules
        book = ledger(self._context.plugins.rulebook_of(self._context.spec), rules.conflicts)
        found = [one for node in self.core for one in self.findings_at(node)]
        given, known = Evidence(GIVEN), self._context.knowledge
        for node in self.core:
            for tail, end in known.required_at(node):
                found += [Finding(relation.fact(tail, end), given) for relation in (adjacent, arrow)]
            apart = (other for other in known.apart_from(node) if known.why_apart(node, other, hidden=True) is not None)
            found += [Finding(gap.fact(node, other), given) for other in apart]
        return book.marks_with([*found, *self.triples])


def _is_clear(verdict: Verdict) -> bool:
    return verdict.dependent and verdict.p is not None and verdict.p < CERTAIN


def _strength(verdict: Verdict) -> float:
    log_p = log_p_of(verdict)
    return MOST if isnan(log_p) else min(MOST, -log_p)


def findings_with_hidden(context: Context) -> Findings:
    """Return how the learner finds things out: by tests and scores on a table, otherwise by answers alone."""
    if context.data is None:
        return FindingsFromBlankets(context)
    if "counts" in context.data.can:
        return FindingsFromTable(context, findings_by_counts(_scoring(context, "apsl-score")))
    return FindingsFromTable(context, findings_by_moments(_scoring(context, "apsl-mixed")))


def _scoring(context: Context, learner: str) -> Context:
    """Return the context in which another learner searches the scored graph, with what is known of its arrows."""
    spec = pick(context.plugins.learners, learner, "learner").spec
    given = context.knowledge
    return attrs.evolve(
        context,
        spec=spec,
        finder_settings=attrs.evolve(
            context.finder_settings, max_conditioning=spec.tests.max_conditioning, options=spec.options
        ),
        knowledge=Knowledge(required=given.required, tiers=given.tiers),
    )


class FindingsFromTable:
    """Learns the marks near the core anew each time that nodes join it."""

    whole = False

    def __init__(self, context: Context, scores: FindingsFromScores) -> None:
        self._context = context
        self._scores = scores

    def join(self, state: State, nodes: tuple[Node, ...]) -> State:
        """Return the state after a search around the core with some new nodes."""
        core = (*state.visited, *nodes)
        near = Surroundings(self._context, self._scores.around(core), core, self._scores.duplicates.groups)
        distances = Distances(self._context.target)
        for x, y in near.edges:
            distances.add(x, y)
        return state.searched(Searched(core, near.marks(), distances.of, partial(_tell, near)))


def _tell(near: Surroundings, compare: bool) -> tuple[Sequence[Visited], Sequence[str]]:  # noqa: ARG001, FBT001 - as the run asks
    """Return the visits to the core; what concerns several of its nodes is told at the last."""
    *before, last = near.core
    visits = [Visited(node, near.around(node), tuple(near.findings_at(node))) for node in before]
    rest = (*near.findings_at(last), *near.triples)
    return [*visits, Visited(last, near.around(last), rest)], near.notes
