"""What stands for a missing edge: a set that separates the two columns, or none of those that were tried.

A pair without an edge in the graph found is tested given nothing, given the parents and the neighbours of each end, the
parents of both, and each single neighbour. A gap has a witness: the set with the largest p, if the test accepts it. If
every set is rejected, the pair is left open, since the score did not pay for an edge although the two depend on each
other; so it is, whatever the tests say, where a graph with the edge is nearly as good. Where no test has enough rows
the pair is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import inf, log

import attrs
import numpy as np

from apsl_backends.learners.ball import Ball, left_open_by
from apsl_rules.evidence import Evidence, Verdict
from apsl_rules.names import Node, Pair
from apsl_rules.oracles import Asker
from apsl_rules.rules import Fact, Finding, gap, left_open, untested

#: From this p on no further set is tried.
_ENOUGH = 0.2
#: A pair is told as absent if the best graph with an edge there is at least so many nats behind. Of the pairs of drawn
#: tables with a smaller lead 43 % were true edges, in each quarter of that range at least 25 %; of the next ones 14 %.
_ABSENT_FROM = 2 * log(4)
#: The figures of rows that are told.
_DIGITS = 2


@attrs.frozen
class Absence:
    """What stands for a missing edge: the test that came nearest to independence, if any was reliable.

    The best graph with the edge is ``behind`` by so many nats.
    """

    pair: tuple[Node, Node]
    verdict: Verdict | None
    behind: float = inf

    @property
    def is_gap(self) -> bool:
        """Return whether a set separates the two."""
        return self.verdict is not None and self.verdict.independent and self.behind >= _ABSENT_FROM

    def fact(self) -> Fact:
        """Return what is told of the pair."""
        relation = gap if self.is_gap else untested if self.verdict is None else left_open
        return relation.fact(*self.pair)


def absences(ball: Ball, asker: Asker, pairs: Iterable[tuple[Node, Node]], *, near_ties: bool) -> dict[Pair, Absence]:
    """Seek a witness for each of some pairs of members that no edge joins; ``near_ties`` leave a pair open."""
    sets = _Sets.of(ball)
    nearest: dict[tuple[Node, Node], Verdict | None] = {}
    waiting: list[tuple[tuple[Node, Node], Iterator[tuple[Node, ...]]]] = []
    for pair in pairs:
        marginal = asker.associations(pair[0]).verdict_on(pair[1])
        nearest[pair] = _nearer(None, marginal)
        if not _is_enough(marginal):
            tried = sets.around(*pair)
            next(tried)  # nothing given
            waiting.append((pair, tried))
    while waiting:
        asked = [(pair, tried, given) for pair, tried in waiting if (given := next(tried, None)) is not None]
        answers = asker.verdicts([(*pair, given) for pair, _, given in asked])
        waiting = []
        for (pair, tried, _), answer in zip(asked, answers, strict=True):
            nearest[pair] = _nearer(nearest[pair], answer)
            if not _is_enough(answer):
                waiting.append((pair, tried))
    behind = ball.behind if near_ties else lambda *_: inf
    return {frozenset(pair): Absence(pair, verdict, behind(*pair)) for pair, verdict in nearest.items()}


def _is_enough(verdict: Verdict) -> bool:
    return verdict.independent and (verdict.p is None or verdict.p >= _ENOUGH)


def _nearer(one: Verdict | None, other: Verdict) -> Verdict | None:
    """Return which of two verdicts is nearer to independence; an unreliable one is none."""
    if other.decision == "unreliable":
        return one
    if one is None or one.p is None or other.p is None:
        return other if one is None or not one.independent else one
    return other if other.p > one.p else one


@attrs.frozen
class _Sets:
    """The sets that are tried, by the graph found; of two nodes that of the smaller number comes first."""

    place: Mapping[Node, int]
    members: Sequence[Node]
    parents: Sequence[tuple[int, ...]]
    neighbours: Sequence[tuple[int, ...]]

    @classmethod
    def of(cls, ball: Ball) -> _Sets:
        dag = ball.found.dag > 0
        parents = [tuple(np.flatnonzero(dag[:, at]).tolist()) for at in range(len(dag))]
        near = [tuple(np.flatnonzero(dag[:, at] | dag[at]).tolist()) for at in range(len(dag))]
        return cls(ball.place, ball.members, parents, near)

    def around(self, x: Node, y: Node) -> Iterator[tuple[Node, ...]]:
        """Yield the sets to try for a pair, each once."""
        ends = sorted((self.place[x], self.place[y]))
        parents, near = ([some[end] for end in ends] for some in (self.parents, self.neighbours))
        both = tuple(sorted({*parents[0], *parents[1]}))
        singles = [(one,) for one in dict.fromkeys((*near[0], *near[1]))]
        tried: set[tuple[int, ...]] = set()
        for some in ((), *parents, *near, both, *singles):
            given = tuple(one for one in some if one not in ends)
            if given not in tried:
                tried.add(given)
                yield tuple(self.members[one] for one in given)


def finding_of(absence: Absence, test: str, score: str, needed: Callable[[Node, Node], float | None]) -> Finding:
    """Return what is told of a pair without an edge; ``needed`` says how many rows would pay for one."""
    verdict = absence.verdict
    if verdict is None:
        return Finding(absence.fact(), Evidence(test, (), "no test of the two has enough rows"))
    if absence.is_gap:
        return Finding(absence.fact(), Evidence(test, (verdict,)))
    if verdict.independent:
        return Finding(
            absence.fact(), Evidence(score, (verdict,), left_open_by(absence.behind, "with"), absence.behind)
        )
    found = "" if verdict.p is None else f" (p = {verdict.p:.2g})"
    rows = needed(*absence.pair)
    settle = "" if rows is None else f"; about {_rounded(rows):,} rows would settle it"
    note = f"left open: they depend on each other whatever is given{found}, too weakly for an edge{settle}"
    return Finding(absence.fact(), Evidence(test, (verdict,), note))


def _rounded(rows: float) -> int:
    return round(int(rows), min(_DIGITS - len(str(int(rows))), 0))
