"""The least changes that would reconcile a graph with rows, each with its gain and its rivals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import log
from typing import Literal

import attrs

from apsl_rules.checking.claimed import Change, Claim, ClaimedGraph
from apsl_rules.checking.claims import Rows
from apsl_rules.knowledge import Knowledge
from apsl_rules.names import Node, shown

#: The most changes that are still small.
MOST_CHANGES = 8
#: How many pairs of changes are compared, times the pairs of nodes of the graph.
_MOST_WORK = 60_000
_SIGNS = {"add": "->", "turn": "->", "join": "<->"}


@attrs.frozen
class SuggestedChange:
    """A change of the graph that the rows speak for.

    Attributes
    ----------
    kind
        "add" an arrow, "turn" one round, or "join" two nodes by a hidden common cause.
    source, target
        The ends of the arrow as it would be; of a turned one it went the other way.
    gain
        What it adds to the score, in nats; None where nothing is scored.
    repairs
        The implied independences that fail before, and no longer after.
    rivals
        Changes that repair as much and are as good, up to a few nats.
    """

    kind: Literal["add", "turn", "join"]
    source: Node
    target: Node
    gain: float | None = None
    repairs: tuple[tuple[Node, Node], ...] = ()
    rivals: tuple[SuggestedChange, ...] = ()

    @property
    def words(self) -> str:
        """Return the change alone, such as "turn a -> b round: b -> a"."""
        arrow = f"{shown(self.source)} {_SIGNS[self.kind]} {shown(self.target)}"
        return f"{self.kind} {arrow}" if self.kind != "turn" else f"turn round to {arrow}"

    def __str__(self) -> str:
        gain = "" if self.gain is None else f" (score +{self.gain:.1f})"
        repairs = ", ".join(f"{shown(x)} ⊥ {shown(y)}" for x, y in self.repairs)
        rivals = "; ".join(one.words for one in self.rivals)
        return f"{self.words}{gain}; repairs {repairs or 'none alone'}" + (f"; as good: {rivals}" if rivals else "")


@attrs.frozen
class Step:
    """A change with the graph after it, what then fails, and what was as good.

    ``doubted`` are the claims that speak against the direction of an arrow, where that alone was in doubt.
    """

    change: Change
    gain: float
    after: ClaimedGraph
    left: tuple[Claim, ...]
    rivals: tuple[tuple[Change, float], ...] = ()
    doubted: tuple[Claim, ...] = ()


class Reconciler:
    """Searches for changes; none goes against what is given, and a change must gain ``lead`` nats if it is scored."""

    def __init__(self, rows: Rows, knowledge: Knowledge, lead: float) -> None:
        self._rows, self._knowledge, self._lead = rows, knowledge, lead

    def steps(self, graph: ClaimedGraph) -> tuple[Step, ...]:
        """Return the changes one after another: those that failures call for, then turns of arrows in doubt."""
        found = self._for_failures(graph)
        end = found[-1].after if found else graph
        return found if self._rows.failing(end) else (*found, *self._turns(end))

    def _turns(self, graph: ClaimedGraph) -> Iterator[Step]:
        """Turn arrows in doubt round, the greatest gain first, while that lets nothing fail."""
        for _ in range(MOST_CHANGES):
            fits = [step for step in self._doubts(graph) if not step.left]
            if not fits:
                return
            close = (one for one in fits[1:] if one.gain >= fits[0].gain - self._lead)
            yield attrs.evolve(fits[0], rivals=tuple((one.change, one.gain) for one in close))
            graph = fits[0].after

    def _doubts(self, graph: ClaimedGraph) -> Iterator[Step]:
        """Give the arrows that would gain ``lead`` nats by a turn and of which a claim fails, the greatest gain first.

        A score alone prefers fewer parameters, and among all claims those of one arrow have little power. So they are
        tested once more by themselves: the claims that the graph would not make with that arrow turned round.
        """
        suspects = () if graph.has_hidden or not self._rows.have_scores else self._rows.suspicious(graph)
        if not suspects:
            return
        turns: list[Change] = [("turn", tail, head) for tail, head in graph.arrows]
        gains = sorted(((self.gain(graph, one), one) for one in turns if self._is_allowed(one, graph)), key=_by_gain)
        paying = [(gain, one) for gain, one in gains if self._pays(gain) and graph.changed(one).order is not None]
        lost, failing = dict[Change, list[Claim]](), tuple[Claim, ...]()
        for some in ([one for _, one in paying if graph.lost_by(one, suspects)], [one for _, one in paying]):
            lost |= {one: graph.lost_by(one, graph.claims) for one in some if one not in lost}
            failing = self._rows.failing_of([claim for claims in lost.values() for claim in claims])
            if not failing:  # nor among more of them
                return
        for gain, change in paying:
            spoken = tuple(one for one in failing if one in lost[change])
            step = self._step(graph, change, gain) if spoken else None
            if step is not None:
                yield attrs.evolve(step, doubted=spoken)

    def _for_failures(self, graph: ClaimedGraph) -> tuple[Step, ...]:
        """Return the changes that failures call for: the fewest that were found, and the best of these."""
        failing = self._rows.failing(graph)
        if not failing:
            return ()
        found = self._one_by_one(graph, failing)
        is_done = bool(found) and not found[-1].left
        most = len(found) - 1 if is_done else 2
        for count in range(1, min(2, most) + 1):
            fewer = self._of_size(graph, failing, count)
            if fewer is not None:
                return self._told(graph, failing, fewer)
        return found

    def _one_by_one(self, graph: ClaimedGraph, failing: Sequence[Claim]) -> tuple[Step, ...]:
        """Make the change with the greatest gain that repairs the worst failure, again and again."""
        steps, start = list[Step](), graph
        while failing and len(steps) < MOST_CHANGES:
            step = self._best(graph, failing)
            if step is None:
                break
            steps.append(step)
            graph, failing = step.after, step.left
        if not self._rows.have_scores:
            return () if failing else tuple(steps)
        return self._without_needless(start, steps)

    def _without_needless(self, start: ClaimedGraph, steps: Sequence[Step]) -> tuple[Step, ...]:
        """Leave out arrows that later steps have made needless."""
        if start.has_hidden or len(steps) < 2:  # noqa: PLR2004 - a later step
            return tuple(steps)
        end, kept = steps[-1].after, list(steps)
        for step in steps:
            kind, tail, head = step.change
            before = end.parents[head]
            gain = self._rows.family(head, before & ~(1 << tail)) - self._rows.family(head, before)
            if kind == "add" and before >> tail & 1 and gain > 0 and len(kept) > 1:
                kept.remove(step)
                end = end.without(tail, head)
        return tuple(steps) if len(kept) == len(steps) else self._in_turn(start, kept)

    def _in_turn(self, graph: ClaimedGraph, steps: Sequence[Step]) -> tuple[Step, ...]:
        """Make the changes of some steps again, in an order without cycles where there is one."""
        made, left = list[Step](), list(steps)
        while left:
            one = next((step for step in left if graph.changed(step.change).order is not None), left[0])
            left.remove(one)
            after = graph.changed(one.change)
            failing = self._rows.failing(after)
            made.append(attrs.evolve(one, gain=self.gain(graph, one.change), after=after, left=failing))
            graph = after
        return tuple(made)

    def _best(self, graph: ClaimedGraph, failing: Sequence[Claim]) -> Step | None:
        """Return the change that repairs the worst failure with the greatest gain and lets no more fail."""
        ranked = sorted(((self.gain(graph, one), one) for one in self._changes(graph, failing)), key=_by_gain)
        worst, fits, spare = failing[0][:2], list[Step](), None
        for gain, change in ranked:
            is_behind = fits and self._rows.have_scores and gain < fits[0].gain - self._lead
            if is_behind or not self._pays(gain):
                break
            step = self._step(graph, change, gain)
            if step is None:
                continue
            if len(step.left) <= len(failing) and worst not in {one[:2] for one in step.left}:
                fits.append(step)
            elif change[0] != "turn" and spare is None:
                spare = step
        if not fits:
            return spare
        if not self._rows.have_scores:
            fits.sort(key=lambda one: len(one.left))
            fits = [one for one in fits if len(one.left) == len(fits[0].left)]
        return attrs.evolve(fits[0], rivals=tuple((one.change, one.gain) for one in fits[1:]))

    def _of_size(self, graph: ClaimedGraph, failing: Sequence[Claim], count: int) -> list[Change] | None:
        """Return the best changes, so many of them, after which nothing fails; None if there are none."""
        changes = self._changes(graph, failing, exhaustive=not self._rows.have_scores)
        if count > 1 and len(changes) ** 2 / 2 * graph.width**2 > _MOST_WORK and self._rows.have_scores:
            return None
        found: list[tuple[float, list[Change]]] = []
        for chosen in combinations(changes, count):
            if len({frozenset(one[1:]) for one in chosen}) < count:
                continue
            gains, after = list[float](), graph
            for one in chosen:
                gains.append(self.gain(after, one))
                after = after.changed(one)
            is_better = not found or sum(gains) > found[0][0]
            if after.order is None or not is_better or not all(map(self._pays, gains)):
                continue
            if not self._rows.failing(after):
                found = [(sum(gains), list(chosen))]
                if not self._rows.have_scores:
                    break
        return found[0][1] if found else None

    def _told(self, graph: ClaimedGraph, failing: Sequence[Claim], chosen: Sequence[Change]) -> tuple[Step, ...]:
        """Return chosen changes as steps; a single one with those that are as good."""
        if len(chosen) == 1:
            gain = self.gain(graph, chosen[0])
            step = self._step(graph, chosen[0], gain)
            others = (one for one in self._changes(graph, failing) if one != chosen[0])
            close = sorted(((self.gain(graph, one), one) for one in others), key=_by_gain)
            near = [(one, other) for other, one in close if self._pays(other) and other >= gain - self._lead]
            tried = [(one, other, self._step(graph, one, other)) for one, other in near]
            rivals = tuple((one, other) for one, other, made in tried if made is not None and not made.left)
            return () if step is None else (attrs.evolve(step, rivals=rivals),)
        return self._in_turn(graph, [Step(one, 0.0, graph, ()) for one in chosen])

    def _step(self, graph: ClaimedGraph, change: Change, gain: float) -> Step | None:
        after = graph.changed(change)
        return None if after.order is None else Step(change, gain, after, self._rows.failing(after))

    # --- which changes there are -------------------------------------------------------------------------------------

    def _changes(self, graph: ClaimedGraph, failing: Sequence[Claim], *, exhaustive: bool = False) -> list[Change]:
        """Return the changes that may repair failures: arrows between failing pairs, and turns.

        If ``exhaustive``, arrows between all pairs that are not joined count.
        """
        pairs = [one[:2] for one in failing]
        if exhaustive:
            pairs = [(x, y) for x, y in combinations(range(graph.width), 2) if not graph.are_joined(x, y)]
        turns: list[Change] = [] if graph.has_hidden else [("turn", tail, head) for tail, head in graph.arrows]
        adds = (change for pair in pairs for change in self._joining(*pair, hidden=graph.has_hidden))
        return [one for one in (*turns, *adds) if self._is_allowed(one, graph)]

    def _joining(self, x: int, y: int, *, hidden: bool) -> Iterator[Change]:
        yield "add", x, y
        yield "add", y, x
        if hidden:
            yield "join", x, y

    def _is_allowed(self, change: Change, graph: ClaimedGraph) -> bool:
        """Return whether nothing given bars a change."""
        kind, tail, head = change
        known, nodes = self._knowledge, graph.nodes
        if not known:
            return True
        if kind == "join":
            return known.why_apart(nodes[tail], nodes[head], hidden=True) is None
        if kind == "turn":
            if known.requires(nodes[tail], nodes[head]):
                return False
            tail, head = head, tail
        barred, apart = known.why_barred(nodes[tail], nodes[head]), known.why_apart(nodes[tail], nodes[head])
        return barred is None and (kind == "turn" or apart is None)

    # --- what a change is worth --------------------------------------------------------------------------------------

    def _pays(self, gain: float) -> bool:
        return gain > self._lead or not self._rows.have_scores

    def gain(self, graph: ClaimedGraph, change: Change) -> float:
        """Return what a change adds to the score; with hidden causes, what the test of the pair is worth by BIC."""
        kind, tail, head = change
        if graph.has_hidden:
            return self._worth(graph, tail, head)
        family, before = self._rows.family, graph.parents[head]
        if kind == "add":
            return family(head, before | 1 << tail) - family(head, before)
        return (
            family(head, before & ~(1 << tail))
            - family(head, before)
            + family(tail, graph.parents[tail] | 1 << head)
            - family(tail, graph.parents[tail])
        )

    def _worth(self, graph: ClaimedGraph, x: int, y: int) -> float:
        pair = (min(x, y), max(x, y))
        given = None if graph.are_joined(*pair) else graph.separator(*pair)
        if given is None:
            return 0.0
        (verdict,) = self._rows.ask([(*pair, given)])
        if verdict.statistic is None or not verdict.n:
            return 0.0
        return (verdict.statistic - (verdict.dof or 1) * log(verdict.n)) / 2

    def as_told(self, graph: ClaimedGraph, steps: Sequence[Step]) -> tuple[SuggestedChange, ...]:
        """Return the changes with names, and which failures each repairs."""
        told = []
        failing = self._rows.failing(graph)
        for step in steps:
            still = {one[:2] for one in step.left}
            before = step.doubted or failing
            repaired = tuple((graph.nodes[x], graph.nodes[y]) for x, y, _ in before if (x, y) not in still)
            rivals = tuple(self._named(graph, *one) for one in step.rivals)
            told.append(attrs.evolve(self._named(graph, step.change, step.gain), repairs=repaired, rivals=rivals))
            failing = step.left
        return tuple(told)

    def _named(self, graph: ClaimedGraph, change: Change, gain: float) -> SuggestedChange:
        kind, tail, head = change
        ends = (head, tail) if kind == "turn" else (tail, head)
        is_scored = self._rows.have_scores
        return SuggestedChange(kind, graph.nodes[ends[0]], graph.nodes[ends[1]], gain if is_scored else None)


def _by_gain(row: tuple[float, Change]) -> tuple[float, bool]:
    """Put the greatest gain first, and of equal ones a turn, which adds no edge."""
    gain, change = row
    return -round(gain, 6), change[0] != "turn"
