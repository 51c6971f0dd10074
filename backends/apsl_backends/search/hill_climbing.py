"""Tabu hill climbing (Glover 1989; Tsamardinos, Brown, Aliferis 2006): the best arrow to add, delete or turn, again.

Each step takes the best legal move, even one that loses, to a graph that was not met in the last steps; the best graph
met is the result. What each move would gain is kept in a table, and a step counts anew only for the one or two nodes
whose parents it changed.

Equally good moves are tried in a fixed order: add before delete before turn, then by the tail's and the head's number.
Gains are whole numbers, so that equal means equal, and numbers go by name: the columns' order plays no part.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

import attrs
import numpy as np
import numpy.typing as npt

from apsl_backends.scores.bde import Integers, Numbers
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.stopping import check

_NEVER = np.iinfo(np.int64).min
_ADD, _DELETE, _TURN = range(3)
_BLOCK = 512


class Score(Protocol):
    """What a climb asks of a score."""

    def local(self, node: int, parents: Numbers) -> int:
        """Score a node given its parents."""

    def gains(self, node: int, parents: Numbers, others: Integers) -> Integers:
        """Say what is gained when each other node becomes a parent, or ceases to be one if it is."""


@attrs.frozen
class Climbed:
    """The best graph met: the parents of each node, its score in units, and the steps taken."""

    parents: Mapping[int, Numbers]
    score: int
    steps: int


def climb(
    score: Score,
    members: Sequence[int],
    *,
    candidates: Iterable[tuple[int, int]] | None = None,
    start: Mapping[int, Numbers] | None = None,
    tabu: int = 100,
    patience: int = 15,
    max_parents: int | None = None,
    turn_any: bool = False,
) -> Climbed:
    """Climb from a graph over some nodes to the best one met.

    Parameters
    ----------
    score, members
        The score, and the nodes that may have arrows, by number.
    candidates
        The arrows (tail, head) between members that may be added, deleted or turned into; all when None. A pair that
        may have its arrow either way is given both ways.
    start
        The parents of each node to begin with, without cycles; none when None.
    tabu, patience
        How many of the last graphs are not gone back to, and after how many steps without a better graph to stop.
    max_parents
        How many parents a node may get.
    turn_any
        Whether a candidate may be turned into an arrow that is none; that one then stays.
    """
    nodes = sorted(members)
    _check(tabu, patience)
    begin = {node: tuple(sorted((start or {}).get(node, ()))) for node in nodes}
    table = _Moves(score, begin, *_arrows(nodes, candidates), max_parents=max_parents, turn_any=turn_any)
    best = dict(table.parents)
    top = now = sum(score.local(node, table.parents[node]) for node in nodes)
    recent = deque([table.stamp], maxlen=tabu)
    steps = idle = 0
    while idle < patience:
        gain = table.step(recent)
        if gain is None:
            break
        recent.append(table.stamp)
        steps, idle, now = steps + 1, idle + 1, now + gain
        if now > top:
            top, best, idle = now, dict(table.parents), 0
    return Climbed(best, top, steps)


def _check(tabu: int, patience: int) -> None:
    for name, value, least in (("tabu", tabu, 0), ("patience", patience, 1)):
        if value < least:
            message = f"{name} is {value!r}; give a whole number from {least} on"
            raise InvalidArgumentError(message)


def _arrows(nodes: list[int], candidates: Iterable[tuple[int, int]] | None) -> tuple[Integers, npt.NDArray[np.bool_]]:
    """Return every candidate and its opposite by tail and head, and which of them may be drawn."""
    if candidates is None:
        everyone = np.array(nodes, np.int64)
        pairs = np.stack([np.repeat(everyone, len(nodes)), np.tile(everyone, len(nodes))], axis=1)
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        return pairs, np.ones(len(pairs), np.bool_)
    known = frozenset(nodes)
    movable = {arrow for arrow in candidates if known.issuperset(arrow)}
    both = sorted(movable | {(head, tail) for tail, head in movable})
    return np.array(both, np.int64).reshape(-1, 2), np.array([arrow in movable for arrow in both], np.bool_)


class _Moves:
    """The graph as it is now, and the table of what each move would gain.

    Arrows are numbered by tail, then head. The table holds the gains of adding them all, then of deleting, then of
    turning them, so that the first of the largest is the move to take. It is looked through in blocks, since many a
    best move turns out to close a cycle.
    """

    def __init__(
        self,
        score: Score,
        parents: dict[int, Numbers],
        arrows: Integers,
        movable: npt.NDArray[np.bool_],
        *,
        max_parents: int | None,
        turn_any: bool,
    ) -> None:
        self._score = score
        self._limit = len(parents) if max_parents is None else max_parents
        self.parents = parents
        self._tails, self._heads = arrows[:, 0], arrows[:, 1]
        self._movable = movable
        self._turned: Integers = np.lexsort((self._tails, self._heads))
        self._turnable = movable if turn_any else movable & movable[self._turned]
        self._gain = np.zeros(len(arrows), np.int64)
        self._drawn = np.zeros(len(arrows), np.bool_)
        self._full = np.zeros(len(arrows), np.bool_)
        self._board = np.full((3 * len(arrows) // _BLOCK + 1, _BLOCK), _NEVER)
        self._moves = self._board.reshape(-1)
        nodes = list(parents)
        starts = np.searchsorted(self._heads[self._turned], nodes)
        self._into = dict(zip(nodes, np.split(self._turned, starts[1:]), strict=True))
        self._others = {node: self._tails[into] for node, into in self._into.items()}
        self._touched = {node: np.concatenate([into, self._turned[into]]) for node, into in self._into.items()}
        self._stamps = np.random.default_rng(0).integers(1 << 62, size=len(arrows))
        self._cyclic: list[int] = []
        self._ancestors: dict[int, set[int]] = {}
        self.stamp = 0
        for node, before in parents.items():
            for arrow in self._into[node][np.isin(self._others[node], before)].tolist():
                self._draw(arrow)
            self._count(node)
        self._weigh(np.arange(len(arrows)))

    def step(self, recent: Collection[int]) -> int | None:
        """Take the best legal move to a graph that is not a recent one; return its gain, or None when there is none."""
        tops = self._board.max(axis=1)
        passed: list[tuple[int, int]] = []
        while True:
            block = int(tops.argmax())
            gain = int(tops[block])
            if gain == _NEVER:
                self._put_back(passed)
                return None
            move = block * _BLOCK + int(self._board[block].argmax())
            kind, arrow = divmod(move, len(self._gain))
            legal = self._is_acyclic(kind, arrow)
            if legal and self._stamp_after(kind, arrow) not in recent:
                self._put_back(passed)
                self._take(kind, arrow)
                return gain
            self._moves[move] = _NEVER
            tops[block] = self._board[block].max()
            if kind == _ADD and not legal:
                self._cyclic.append(arrow)  # stays so until an arrow is taken away
            else:
                passed.append((move, gain))

    def _put_back(self, passed: list[tuple[int, int]]) -> None:
        for move, gain in passed:
            self._moves[move] = gain

    def _stamp_after(self, kind: int, arrow: int) -> int:
        stamp = self.stamp ^ int(self._stamps[arrow])
        return stamp ^ int(self._stamps[self._turned[arrow]]) if kind == _TURN else stamp

    def _take(self, kind: int, arrow: int) -> None:
        tail, head = int(self._tails[arrow]), int(self._heads[arrow])
        before = self.parents[head]
        self._reparent(head, _with(before, tail) if kind == _ADD else _without(before, tail))
        self._draw(arrow)
        self._count(head)
        touched = [self._touched[head]]
        if kind == _TURN:
            self._reparent(tail, _with(self.parents[tail], head))
            self._draw(int(self._turned[arrow]))
            self._count(tail)
            touched.append(self._touched[tail])
        if kind != _ADD:
            touched.append(np.array(self._cyclic, np.int64))
            self._cyclic = []
        for arrows in touched:
            self._weigh(arrows)

    def _draw(self, arrow: int) -> None:
        """Draw an arrow, or wipe it out."""
        self._drawn[arrow] ^= True
        self.stamp ^= int(self._stamps[arrow])

    def _count(self, node: int) -> None:
        """Count anew what the arrows into a node gain."""
        check()
        into = self._into[node]
        self._gain[into] = self._score.gains(node, self.parents[node], self._others[node])
        self._full[into] = len(self.parents[node]) >= self._limit

    def _weigh(self, arrows: Integers) -> None:
        """Bring the moves of some arrows up to date."""
        size = len(self._gain)
        turned = self._turned[arrows]
        gain, drawn, movable = self._gain[arrows], self._drawn[arrows], self._movable[arrows]
        free = movable & ~drawn & ~self._drawn[turned] & ~self._full[arrows]
        turnable = self._turnable[arrows] & drawn & ~self._full[turned]
        self._moves[arrows] = np.where(free, gain, _NEVER)
        self._moves[arrows + size] = np.where(movable & drawn, gain, _NEVER)
        self._moves[arrows + 2 * size] = np.where(turnable, gain + self._gain[turned], _NEVER)

    def _is_acyclic(self, kind: int, arrow: int) -> bool:
        """Return whether a move leaves no directed cycle: no way leads back, other than the arrow that is turned."""
        tail, head = int(self._tails[arrow]), int(self._heads[arrow])
        if kind == _ADD:
            return head not in self._above(tail)
        return kind == _DELETE or not any(tail in self._above(other) for other in self.parents[head] if other != tail)

    def _above(self, node: int) -> set[int]:
        """Return all nodes from which a way leads to a node."""
        if node not in self._ancestors:
            found: set[int] = set()
            ahead = [node]
            while ahead:
                for parent in self.parents[ahead.pop()]:
                    if parent not in found:
                        found.add(parent)
                        if parent in self._ancestors:
                            found |= self._ancestors[parent]
                        else:
                            ahead.append(parent)
            self._ancestors[node] = found
        return self._ancestors[node]

    def _reparent(self, node: int, parents: Numbers) -> None:
        """Return a node other parents, and forget what was above it and above all below it."""
        self.parents[node] = parents
        self._ancestors = {one: above for one, above in self._ancestors.items() if one != node and node not in above}


def _with(parents: Numbers, other: int) -> Numbers:
    return tuple(sorted((*parents, other)))


def _without(parents: Numbers, other: int) -> Numbers:
    return tuple(parent for parent in parents if parent != other)
