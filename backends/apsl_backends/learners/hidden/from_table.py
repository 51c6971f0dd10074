"""Findings from a table where common causes may be hidden: by tests, and by the graph that a score finds best.

Tests alone say who is adjacent: a score would join nodes that share a hidden cause to the wrong ones. Two nodes are
taken for adjacent if no set separates them, starting from all pairs, or from the edges of the scored graph.

A node between two that are not adjacent is a collider or none. The test is tried with the node in the separating set
and without it. If that makes the two dependent (p below ``CERTAIN``), it is a finding as strong as that test, stronger
if the scored graph agrees, and left open if that disagrees. Without a clear test a collider of the scored graph is a
weak finding. A chain is none: it would pass tails on, and the scored graph has one wherever it has no collider. The
conflict policy ``ranked`` does the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations
from math import isnan, log

import attrs

from apsl_backends.learners.apsl_mixed import findings_by_moments
from apsl_backends.learners.apsl_score import FindingsFromScores, findings_by_counts
from apsl_backends.learners.ball import Ball
from apsl_backends.learners.hidden.from_blankets import FindingsFromBlankets
from apsl_backends.learners.hidden.skeleton import find_skeleton
from apsl_rules.data import MixedTable, Table
from apsl_rules.data.counts import CachedCounts
from apsl_rules.data.moments import MomentSource
from apsl_rules.evidence import GIVEN, Evidence, Verdict, log_p_of
from apsl_rules.names import Node, count_of, in_order, shown
from apsl_rules.parts import Distances
from apsl_rules.plugins import Context, Findings, Marks, Searched, State, Visited, pick
from apsl_rules.rules import (
    Finding,
    Knowledge,
    Relation,
    adjacent,
    arrow,
    chain,
    collider,
    gap,
    ledger,
    settled,
    within,
    without,
)

#: The p-value below which a test that a node opens or closes is taken for clear.
CERTAIN = 1e-3
#: How strong a finding is that the scored graph alone suggests: if the unclear test points the same way, and if not.
WITH_TEST, AGAINST_TEST = log(10), log(10) / 2
#: What agreement of the scored graph adds to a clear test, and the most that a test counts for.
AGREEMENT, MOST = 10 * log(10), 50 * log(10)


def findings_with_hidden(context: Context) -> Findings:
    """Return how the learner finds things out: by tests and scores on a table, otherwise by answers alone."""
    if isinstance(context.data, Table | CachedCounts):
        return FindingsFromTable(context, findings_by_counts(_scoring(context, "apsl-score")))
    if isinstance(context.data, MixedTable | MomentSource):
        return FindingsFromTable(context, findings_by_moments(_scoring(context, "apsl-mixed")))
    return FindingsFromBlankets(context)


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
        near = _Surroundings(self._context, self._scores.around(core), core)
        distances = Distances(self._context.target)
        for x, y in near.edges:
            distances.add(x, y)
        return state.searched(Searched(core, near.marks(), distances.of, partial(_tell, near)))


def _tell(near: _Surroundings, compare: bool) -> tuple[Sequence[Visited], Sequence[str]]:  # noqa: ARG001, FBT001 - as the run asks
    """Return the visits to the core; what concerns several of its nodes is told at the last."""
    *before, last = near.core
    visits = [Visited(node, near.around(node), tuple(near.findings_at(node))) for node in before]
    rest = (*near.findings_at(last), *near.triples)
    return [*visits, Visited(last, near.around(last), rest)], near.notes


class _Surroundings:
    """The nodes near a core: who is adjacent to whom, and what is found of triples with edges at the core."""

    def __init__(self, context: Context, ball: Ball, core: tuple[Node, ...]) -> None:
        self.core = core
        self._context = context
        self._asker = context.asker
        self._ball = ball
        members = in_order(ball.members)
        limit = context.finder_settings.max_conditioning
        whole = {node: [other for other in members if self._may_be_joined(node, other)] for node in members}
        by_tests = find_skeleton(self._asker, whole, limit)
        by_score = find_skeleton(self._asker, {node: ball.neighbours[node] for node in members}, limit)
        self._skeletons = (by_score, by_tests)
        self._near = {node: self._joined(node) for node in members}
        inner = frozenset(core)
        self.edges = [
            (x, y) for x, y in combinations(members, 2) if y in self._near[x] and not inner.isdisjoint((x, y))
        ]
        self._known: dict[Node, list[Node]] = {node: [] for node in members}
        for x, y in self.edges:
            self._known[x].append(y)
            self._known[y].append(x)
        self.triples = list({one.fact: one for one in self._find_triples()}.values())

    def _may_be_joined(self, x: Node, y: Node) -> bool:
        """Return whether two nodes differ and could be tested, or the scored graph joins them."""
        return x != y and (y in self._ball.neighbours[x] or self._asker.verdict(x, y).decision != "unreliable")

    def _joined(self, node: Node) -> frozenset[Node]:
        """Return the neighbours of a node: those that either skeleton has, and what knowledge says of them."""
        known = self._context.knowledge
        found = frozenset().union(*(one.near[node] for one in self._skeletons))
        required = {other for pair in known.required_at(node) for other in pair if other in self._ball.place} - {node}
        return frozenset(one for one in found | required if known.why_apart(node, one, hidden=True) is None)

    def around(self, node: Node) -> tuple[Node, ...]:
        """Return the neighbours of a node by name."""
        return in_order(self._near[node])

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
        for other in self.around(node):
            if known.requires(node, other) and (verdict := self._separation(node, other)) is not None:
                yield self._finding(gap, (node, other), (verdict,))

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

    def _find_triples(self) -> Iterator[Finding]:
        for middle, ends in self._known.items():
            for x, y in combinations(in_order(ends), 2):
                if y not in self._near[x] and (separation := self._separation(x, y)) is not None:
                    yield self._finding(gap, (x, y), (separation,))
                    yield from self._judge(x, middle, y, separation)
                    for end in (x, y):
                        for beside in in_order(set(self._known[end]) - {x, y}):
                            if not set(self._known[beside]).isdisjoint(self._known[end]):
                                yield from self._beside(x, beside, y, separation)

    def _toggled(self, x: Node, node: Node, y: Node, separation: Verdict) -> tuple[bool, Verdict]:
        """Return whether a node is in a separating set, and the verdict with the node put in or taken out."""
        inside = node in separation.given
        given = [one for one in separation.given if one != node] if inside else [*separation.given, node]
        return inside, self._asker.verdict(x, y, given)

    def _judge(self, x: Node, middle: Node, y: Node, separation: Verdict) -> Iterator[Finding]:
        """Tell whether a node is a collider between two, as far as tests and the scored graph show it."""
        inside, toggled = self._toggled(x, middle, y, separation)
        tested, seen = chain if inside else collider, self._seen(x, middle, y)
        if _is_clear(toggled):
            if seen in (None, tested):
                agreed = AGREEMENT if seen is tested else 0.0
                notes = ["the scored graph has it too"] if seen is tested else []
                verdicts: tuple[Verdict, ...] = (separation, toggled)
                if tested is collider and self._is_interaction(x, middle, y, separation, toggled):
                    notes.append(f"given {shown(middle)} they depend more than with it: an interaction")
                    verdicts = (separation,)
                strength = _strength(toggled) + agreed
                yield self._finding(tested, (x, middle, y), verdicts, ", ".join(notes), strength)
        elif seen is collider:
            note = "the scored graph has it, and no test is clear"
            strength = WITH_TEST if seen is tested else AGAINST_TEST
            yield self._finding(seen, (x, middle, y), (separation,), note, strength)

    def _is_interaction(self, x: Node, middle: Node, y: Node, separation: Verdict, opened: Verdict) -> bool:
        """Return whether two nodes depend more on each other given a third than on that one.

        Then they act on it together, or are adjacent after all; it shows no hidden cause.
        """
        edges = self._asker.verdicts([(end, middle, separation.given) for end in (x, y)])
        return not log_p_of(opened) > max(map(log_p_of, edges))

    def _beside(self, x: Node, node: Node, y: Node, separation: Verdict) -> Iterator[Finding]:
        """Tell whether a node is in the sets that separate two others, if a test is clear."""
        inside, toggled = self._toggled(x, node, y, separation)
        if _is_clear(toggled):
            relation = within if inside else without
            yield self._finding(relation, (x, node, y), (separation, toggled), strength=_strength(toggled))

    def _seen(self, x: Node, middle: Node, y: Node) -> Relation | None:
        """Return what a node between two others is in the scored graph, if they are such a triple there."""
        near = self._ball.neighbours
        if y in near[x] or x not in near[middle] or y not in near[middle]:
            return None
        both = self._ball.has_arrow(x, middle) and self._ball.has_arrow(y, middle)
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
        book = ledger(pick(self._context.plugins.rulebooks, rules.rulebook, "rulebook"), rules.conflicts)
        found = [one for node in self.core for one in self.findings_at(node)]
        given, known = Evidence(GIVEN), self._context.knowledge
        for node in self.core:
            for tail, end in known.required_at(node):
                found += [Finding(relation.fact(tail, end), given) for relation in (adjacent, arrow)]
            apart = (other for other in known.apart_from(node) if known.why_apart(node, other, hidden=True) is not None)
            found += [Finding(gap.fact(node, other), given) for other in apart]
        settled_book, _ = book.with_findings([*found, *self.triples])
        return settled_book.marks()


def _is_clear(verdict: Verdict) -> bool:
    return verdict.dependent and verdict.p is not None and verdict.p < CERTAIN


def _strength(verdict: Verdict) -> float:
    log_p = log_p_of(verdict)
    return MOST if isnan(log_p) else min(MOST, -log_p)
