"""Rounds of a search between classes of graphs, and the rivals of the graph found."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

import attrs
import numpy as np
import numpy.typing as npt

from apsl_backends.kernels.bindings.scores import ScoreHandle
from apsl_backends.kernels.bindings.searches import (
    MOST_LOSS,
    MOST_PARENTS,
    NEVER,
    CallTooLongError,
    Marks,
    RivalMove,
    SearchHandle,
    extension_of,
    pattern_of,
)
from apsl_backends.kernels.library import Integers
from apsl_rules.stopping import LONG, Flag, heeding

_TRIPLE = 3
_DELETE, _TURN = 1, 2


@attrs.frozen
class Comparison:
    """Two sets of parents of one node: in the graph, and in its rival."""

    node: int
    ours: tuple[int, ...]
    theirs: tuple[int, ...]


@attrs.frozen
class Rival:
    """The best rival without a feature: by how many units the graph is ahead of it, and the families that differ.

    ``sought`` is False if the search for rivals ended before this feature.
    """

    ahead: int
    families: tuple[Comparison, ...]
    sought: bool = True


def rivals(
    score: ScoreHandle, found: Found, opened: Open, max_parents: int, features: Sequence[tuple[int, ...]]
) -> list[Rival | None]:
    """Find the best rival for each feature of a class: a pair of places, or an unshielded triple, its middle second.

    The rival is None if no move removes the feature.
    """
    rows = np.array([(one[0], one[1], one[-1] if len(one) == _TRIPLE else -1) for one in features], np.int64)
    places = rows.reshape(-1, _TRIPLE)
    search = open_search(score, found.members)
    moves = heeding_search(
        lambda stop, most: search.rivals(found.marks, opened, max_parents, places, stop, most=most),
        score,
        8 * len(rows),
    )
    parents: list[set[int]] = [set() for _ in found.members]
    for tail, head in np.argwhere((found.marks > 0) & (found.marks.T == 0)).tolist():
        parents[head].add(tail)
    made = {move: _rival(found, parents, move) for move in set(moves)}
    return [made[move] for move in moves]


def _rival(found: Found, parents: Sequence[set[int]], move: RivalMove | None) -> Rival | None:
    """Return the rival that a move leads to; the parents of each place are those by arrows."""
    if move is None:
        return Rival(0, (), sought=False)
    gain, kind, x, y, clique = move
    if gain == NEVER:
        return None
    compared = [_comparison(found, y, parents[y].union(clique), x, is_ours=kind == _DELETE)]
    if kind == _TURN:
        marks = found.marks
        both = [one for one in clique if marks[x, one] and marks[one, x]] if marks[x, y] else []
        compared.append(_comparison(found, x, parents[x].union(both), y, is_ours=True))
    return Rival(-gain, tuple(compared))


def _comparison(found: Found, node: int, parents: set[int], one: int, *, is_ours: bool) -> Comparison:
    """Compare the families of a node with and without one parent; in the graph it has that parent if it is ours."""
    names = found.members
    without, within = (tuple(names[at] for at in sorted(some)) for some in (parents - {one}, parents | {one}))
    return Comparison(names[node], *((within, without) if is_ours else (without, within)))


__all__ = [
    "CLOSED",
    "MOST_PARENTS",
    "OPEN",
    "REQUIRED",
    "Effort",
    "Found",
    "Marks",
    "Open",
    "climb_rounds",
    "heeding_search",
    "open_search",
    "search_rounds",
]

#: Whether each arrow is allowed: CLOSED, OPEN or REQUIRED.
Open = npt.NDArray[np.uint8]
CLOSED, OPEN, REQUIRED = 0, 1, 2

#: The most moves that one search compares; then it ends with the class found so far. Hundreds of nodes that are all
#: adjacent to one, or nearly duplicate columns, would otherwise take hours.
MOST_TRIES = 300_000_000
#: The places for scores of families that are kept.
_MOST_KNOWN = 1 << 20
#: The rows that one move takes to compare, if few families are known before, as a multiple of the rows.
_ROWS_OF_MOVE = 8
#: The seed of the random orders; up to so many nodes a search over orders has so many times more starts.
_SEED, _SMALL, _MORE_STARTS = 1, 20, 3
#: The most nodes near a smaller core for which there are more kicks: a hub has hundreds that are all alike.
_MOST_MOVED = 100
#: How many steps from the core of a ball orders are searched.
_NEAR = 2
#: Graphs are remembered that are behind the best one by so many nats at most; units that are never reached.
NEAR, FAR = 5.0, 1 << 62
#: How much worse than its best place a place may be for a node to go farther, in penalties of a parent.
_MOST_LOSS = 3

Result = TypeVar("Result")


@attrs.frozen(eq=False)
class Found:
    """A class of graphs over some numbered nodes: its pattern, one of its graphs, and its gain over the empty graph.

    A search that reached its limit of moves is not ``finished``: there may be a better class one move away. Of the
    ``starts`` of a search over orders, ``agreeing`` came to a graph of this score; None if there was no such search.
    ``is_best`` says that an exact search found no better class, and ``corrected`` how much worse the class was that
    other searches had found. ``behind`` says of each pair x < y by how many units the best graph seen that joins them,
    at [x, y], and the best one that does not, at [y, x], are behind; of graphs that are further behind than ``NEAR``
    nats, or were not seen, a number from ``FAR``.
    """

    members: tuple[int, ...]
    marks: Marks
    dag: Marks
    gain: int
    finished: bool = True
    starts: int = 0
    agreeing: int | None = None
    is_best: bool = False
    corrected: int = 0
    behind: Integers | None = None

    def behind_otherwise(self, x: int, y: int) -> int:
        """Return by how many units the best graph seen is behind that answers otherwise for a pair of places."""
        if self.behind is None:
            return FAR
        joined = bool(self.dag[x, y] or self.dag[y, x])
        return int(self.behind[(max(x, y), min(x, y)) if joined else (min(x, y), max(x, y))])


@attrs.frozen
class Effort:
    """The effort of a search: the most parents, rounds of both searches, recent graphs and idle steps of the climb.

    ``starts`` is the number of orders that a search over orders begins with (0: there is none). Some nodes then move to
    random places again and again, until that gained nothing ``kicks`` times, for every 20 nodes.
    """

    max_parents: int = 6
    rounds: int = 8
    tabu: int = 100
    patience: int = 100
    starts: int = 0
    kicks: int = 0


def open_search(score: ScoreHandle, members: Sequence[int]) -> SearchHandle:
    """Open a search over some numbered nodes, in ascending order, that compares a limited number of moves."""
    score.allow(MOST_TRIES)
    return SearchHandle(score, np.array(members, np.int64), most_known=_MOST_KNOWN)


def heeding_search(work: Callable[[Flag, int], Result], score: ScoreHandle, moves: int) -> Result:
    """Return what a call gives that is expected to compare so many moves, which is made here if it is short.

    The call gets the flag to look at and the most moves to compare (0: any number). Another thread would cost more than
    a short call itself. One that turns out to be long is made once more, in another thread.
    """
    most = LONG // (_ROWS_OF_MOVE * max(score.rows_per_family, 1))
    if moves < most:
        try:
            return heeding(lambda stop: work(stop, most), is_long=False)
        except CallTooLongError:
            pass
    return heeding(lambda stop: work(stop, 0))


def search_rounds(
    score: ScoreHandle,
    members: Sequence[int],
    opened: Open,
    effort: Effort,
    start: Found | None = None,
    *,
    core: Collection[int] | None = None,
) -> Found:
    """Search greedily between classes, then climb, and repeat while the climb finds a better graph; then over orders.

    The search starts from the empty graph, or from a class that was found over some of the members. Orders are searched
    near the members in the ``core``, or everywhere.
    """
    width = len(members)
    marks, total = np.zeros((width, width), np.uint8), 0
    if start is not None:
        kept = np.searchsorted(np.array(members, np.int64), np.array(start.members, np.int64))
        marks[np.ix_(kept, kept)] = start.marks
        total = start.gain
    search = open_search(score, members)
    for _ in range(max(effort.rounds, 1)):
        total += heeding_search(
            lambda stop, most: search.greedy(marks, opened, effort.max_parents, stop, most=most), score, width * width
        )
        dag = extension_of(marks)
        if not effort.rounds:
            break
        further = _climb(search, score, dag, opened, effort)
        total += further
        if not further:
            break
        marks[:] = pattern_of(dag)
    found = Found(tuple(members), marks, dag, total, finished=score.tried < MOST_TRIES)
    if not effort.starts:
        return found
    inside = found.members if core is None else core
    near = _places_near(found, inside)
    moved = moved_nodes(len(near), len(inside))
    return _search_orders(search, score, found, opened, effort, near=near, moved=moved)


def moved_nodes(near: int, core: int) -> int:
    """Return how many of the nodes near a core count for the number of kicks."""
    return min(near, max(core, _MOST_MOVED))


def _places_near(found: Found, core: Collection[int]) -> list[int]:
    """Return the places of a core, and of the nodes at most two steps from it in the class, in ascending order."""
    joined = found.marks | found.marks.T
    near = np.isin(np.array(found.members, np.int64), np.array(sorted(core), np.int64))
    for _ in range(_NEAR):
        near |= joined[near].any(axis=0)
    places: list[int] = np.flatnonzero(near).tolist()
    return places


def _search_orders(
    search: SearchHandle,
    score: ScoreHandle,
    found: Found,
    opened: Open,
    effort: Effort,
    *,
    near: Sequence[int],
    moved: int,
) -> Found:
    """Search over orders from a graph, and climb from the best one if that is better.

    ``moved`` is the number of nodes that the number of kicks follows.
    """
    is_small = len(found.members) <= _SMALL
    starts = effort.starts * (_MORE_STARTS if is_small else 1)
    kicks = effort.kicks * -(-moved // _SMALL)
    families = len(found.members) * len(near) * starts * (kicks + 1)
    outcome = heeding(
        lambda stop: search.order(
            *(found.dag, opened, effort.max_parents),
            near=np.array(near, np.int64),
            starts=starts,
            kicks=kicks,
            most_loss=_MOST_LOSS * max(score.penalty, 0) or MOST_LOSS,
            seed=_SEED,
            stop=stop,
            behind=round(NEAR * score.scale),
        ),
        is_long=families * score.rows_per_family > LONG,
    )
    dag, further = outcome.dag, 0
    if outcome.gain and effort.rounds:
        further = _climb(search, score, dag, opened, effort)
    behind = None
    if outcome.seen is not None:
        behind = np.where(outcome.seen == NEVER, FAR, outcome.score + further - np.maximum(outcome.seen, -FAR))
    return attrs.evolve(
        found,
        dag=dag,
        marks=pattern_of(dag) if outcome.gain else found.marks,
        gain=found.gain + outcome.gain + further,
        finished=score.tried < MOST_TRIES,
        starts=outcome.starts,
        agreeing=0 if further else outcome.agreeing,
        behind=behind,
    )


def climb_rounds(
    score: ScoreHandle, members: Sequence[int], dag: Marks, *, gain: int, allowed: Open, effort: Effort
) -> Found:
    """Climb from a graph, among the graphs with only allowed and all required arrows.

    ``gain`` is the gain of the graph over the empty graph.
    """
    best = dag.copy()
    further = _climb(open_search(score, members), score, best, allowed, effort)
    return Found(tuple(members), pattern_of(best), best, gain + further, finished=score.tried < MOST_TRIES)


def _climb(search: SearchHandle, score: ScoreHandle, dag: Marks, opened: Open, effort: Effort) -> int:
    """Climb from a graph, which is replaced; return the gain."""
    most, patience, tabu = effort.max_parents, effort.patience, effort.tabu
    families = len(dag) * (len(dag) + 2 * patience)  # each step changes those of one or two nodes
    return heeding(
        lambda stop: search.climb(dag, opened, most, patience=patience, tabu=tabu, stop=stop),
        is_long=families * score.rows_per_family > LONG,
    )
