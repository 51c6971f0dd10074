"""Tabu hill climbing (Glover 1989; Tsamardinos, Brown, Aliferis 2006): add, delete or turn the best arrow, repeatedly.

Each step makes the best legal move, even one that loses, to a graph that was not visited in the last steps. The best
graph visited is the result. The gain of each move is kept in a table, and a step only updates it for the one or two
nodes whose parents it changed.

Ties are broken in a fixed order: add before delete before turn, then by the numbers of tail and head. Gains are
integers, so ties are exact, and the numbers follow the names, so the order of the columns does not matter.
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
from apsl_rules.memory import check

_NEVER = np.iinfo(np.int64).min
_ADD, _DELETE, _TURN = range(3)
_BLOCK = 512


class Score(Protocol):
    """The score that a climb needs."""

    def local(self, node: int, parents: Numbers) -> int:
        """Score a node given its parents."""

    def gains(self, node: int, parents: Numbers, others: Integers) -> Integers:
        """Return the gain of adding each other node to the parents, or of removing it if it is one of them."""


@attrs.frozen
class Climbed:
    """The best graph visited: the parents of each node, its score in units, and the number of steps."""

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
    """Climb from a graph over some nodes and return the best one visited.

    Parameters
    ----------
    score, members
        The score, and the nodes that may have arrows, by number.
    candidates
        The arrows (tail, head) between members that may be added, deleted, or result from a turn; by default all. A
        pair that may be directed either way is listed in both directions.
    start
        The parents of each node in the first graph, without cycles; by default none.
    tabu, patience
        How many of the last graphs are not visited again, and after how many steps without a better graph to stop.
    max_parents
        The most parents of a node.
    turn_any
        Whether an arrow may be turned if the reverse is no candidate; the reverse then stays.
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
            raise InvalidArgumentError(argument=name, value=value, advice=f"give a whole number from {least} on")


def _arrows(nodes: list[int], candidates: Iterable[tuple[int, int]] | None) -> tuple[Integers, npt.NDArray[np.bool_]]:
    """Return every candidate and its reverse by tail and head, and which of them are candidates."""
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
    """The current graph, and the table of the gain of each move.

    Arrows are numbered by tail, then head. The table holds the gains of adding each arrow, then of deleting, then of
    turning it, so the first largest entry is the best move. It is searched in blocks, since many of the best moves
    would close a cycle.
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
                self._toggle(arrow)
            self._update_gains(node)
        self._update_moves(np.arange(len(arrows)))

    def step(self, recent: Collection[int]) -> int | None:
        """Make the best legal move to a graph that is not recent; return its gain, or None if there is none."""
        tops = self._board.max(axis=1)
        passed: list[tuple[int, int]] = []
        while True:
            block = int(tops.argmax())
            gain = int(tops[block])
            if gain == _NEVER:
                self._restore(passed)
                return None
            move = block * _BLOCK + int(self._board[block].argmax())
            kind, arrow = divmod(move, len(self._gain))
            legal = self._is_acyclic(kind, arrow)
            if legal and self._stamp_after(kind, arrow) not in recent:
                self._restore(passed)
                self._take(kind, arrow)
                return gain
            self._moves[move] = _NEVER
            tops[block] = self._board[block].max()
            if kind == _ADD and not legal:
                self._cyclic.append(arrow)  # until an arrow is removed
            else:
                passed.append((move, gain))

    def _restore(self, passed: list[tuple[int, int]]) -> None:
        for move, gain in passed:
            self._moves[move] = gain

    def _stamp_after(self, kind: int, arrow: int) -> int:
        stamp = self.stamp ^ int(self._stamps[arrow])
        return stamp ^ int(self._stamps[self._turned[arrow]]) if kind == _TURN else stamp

    def _take(self, kind: int, arrow: int) -> None:
        tail, head = int(self._tails[arrow]), int(self._heads[arrow])
        before = self.parents[head]
        self._set_parents(head, _with(before, tail) if kind == _ADD else _without(before, tail))
        self._toggle(arrow)
        self._update_gains(head)
        touched = [self._touched[head]]
        if kind == _TURN:
            self._set_parents(tail, _with(self.parents[tail], head))
            self._toggle(int(self._turned[arrow]))
            self._update_gains(tail)
            touched.append(self._touched[tail])
        if kind != _ADD:
            touched.append(np.array(self._cyclic, np.int64))
            self._cyclic = []
        for arrows in touched:
            self._update_moves(arrows)

    def _toggle(self, arrow: int) -> None:
        """Add an arrow, or remove it if it is there."""
        self._drawn[arrow] ^= True
        self.stamp ^= int(self._stamps[arrow])

    def _update_gains(self, node: int) -> None:
        """Update the gains of the arrows into a node."""
        check()
        into = self._into[node]
        self._gain[into] = self._score.gains(node, self.parents[node], self._others[node])
        self._full[into] = len(self.parents[node]) >= self._limit

    def _update_moves(self, arrows: Integers) -> None:
        """Update the moves of some arrows."""
        size = len(self._gain)
        turned = self._turned[arrows]
        gain, drawn, movable = self._gain[arrows], self._drawn[arrows], self._movable[arrows]
        free = movable & ~drawn & ~self._drawn[turned] & ~self._full[arrows]
        turnable = self._turnable[arrows] & drawn & ~self._full[turned]
        self._moves[arrows] = np.where(free, gain, _NEVER)
        self._moves[arrows + size] = np.where(movable & drawn, gain, _NEVER)
        self._moves[arrows + 2 * size] = np.where(turnable, gain + self._gain[turned], _NEVER)

    def _is_acyclic(self, kind: int, arrow: int) -> bool:
        """Return whether a move closes no directed cycle: no path leads back, other than the arrow that is turned."""
        tail, head = int(self._tails[arrow]), int(self._heads[arrow])
        if kind == _ADD:
            return head not in self._ancestors_of(tail)
        return kind == _DELETE or not any(tail in self._ancestors_of(one) for one in self.parents[head] if one != tail)

    def _ancestors_of(self, node: int) -> set[int]:
        """Return the ancestors of a node."""
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

    def _set_parents(self, node: int, parents: Numbers) -> None:
        """Set the parents of a node, and drop the cached ancestors of the node and its descendants."""
        self.parents[node] = parents
        self._ancestors = {one: above for one, above in self._ancestors.items() if one != node and node not in above}


def _with(parents: Numbers, other: int) -> Numbers:
    return tuple(sorted((*parents, other)))


def _without(parents: Numbers, other: int) -> Numbers:
    return tuple(parent for parent in parents if parent != other)
