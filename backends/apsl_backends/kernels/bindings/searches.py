"""Searches for graphs by score: between classes, over graphs, exact ones, and the best rivals."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import addressof, c_int64
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from apsl_backends.kernels import library as checks
from apsl_backends.kernels.bindings.scores import MOST_EXACT, MOST_PENALTY, ScoreHandle
from apsl_backends.kernels.library import Integers

Marks: TypeAlias = npt.NDArray[np.uint8]

#: The most nodes of one search, and the most parents of a node there.
MOST_PLACES, MOST_PARENTS = 2**15 - 1, 24
#: The largest loss that a search over orders may be given: it never gives up a walk.
MOST_LOSS = 1 << 62
#: The most nodes of a search that notes graphs near the best one.
MOST_NOTED = 256
#: The gain of a move that is not possible.
NEVER = -(2**63)
#: The largest mark of an arrow that may be closed, open or required.
_REQUIRED = 2
#: The largest score of a joint column; sums and differences of some have 64 bits.
_MOST_JOINT = 1 << 61
#: What a rival has: its gain, kind, pair, the size of its clique, and the clique.
_RIVAL_FIELDS = 5 + MOST_PARENTS
#: What a search over orders tells: the score, that of the given graph, the starts, and how many agree.
_ORDER_FIELDS = 4


class CallTooLongError(Exception):
    """A call would compare more moves than it was allowed to; it is to be made again, as if it had not been."""


class RivalMove(NamedTuple):
    """The move to the best rival of a class without a feature; the gain is ``NEVER`` if there is none."""

    gain: int
    kind: int
    x: int
    y: int
    clique: tuple[int, ...]


class OrderOutcome(NamedTuple):
    """The best graph of a search over orders, its score in units, and how much more that is than the given graph's.

    ``starts`` is how many starts came to their end, and ``agreeing`` how many of these reached the score. ``seen`` has
    the best score of a graph that joins each pair x < y, at [x, y], and of one that does not, at [y, x], among the
    graphs that came near the best one; ``NEVER`` where none did, and None where the nodes are too many for that.
    """

    dag: Marks
    score: int
    gain: int
    starts: int
    agreeing: int
    seen: Integers | None


class SearchHandle:
    """A search for graphs over some nodes of a score that have columns, in ascending order.

    Matrices have a row and a column for each of these nodes. There are ``most_known`` places for scores of families at
    the most. Threads may share a handle; all calls of one score follow one another.
    """

    def __init__(self, score: ScoreHandle, members: Integers, *, most_known: int) -> None:
        width = len(members)
        checks.require(width <= MOST_PLACES, "the number of nodes", width)
        checks.require(0 < most_known <= 1 << 24, "most_known", most_known)
        checks.require(not width or (int(members[0]) >= 0 and int(members[-1]) < score.nodes), "members", members)
        checks.require(bool((members[1:] > members[:-1]).all()), "members", members)
        self._score, self._shape = score, (width, width)
        chosen = checks.address(members, np.int64, (width,), "members")
        with score.in_use:
            pointer = checks.kernels().apsl_search_open(score.pointer, chosen, width, most_known)
        self._pointer = checks.opened(pointer)
        checks.close_with(self, checks.kernels().apsl_search_close, self._pointer)

    def greedy(self, marks: Marks, opened: Marks, limit: int, stop: Integers, *, most: int = 0) -> int:
        """Search greedily between classes from the one with a pattern, which is replaced; return the gain.

        If more than ``most`` moves would be compared, ``CallTooLongError`` is raised, and the pattern stays.
        """
        gain, found = c_int64(), marks.copy() if most else marks
        given, allowed, flag = self._written(found), self._matrix(opened, _REQUIRED), checks.flag(stop)
        parents = _limit(limit)
        with self._score.in_use:
            status = checks.kernels().apsl_search_greedy(
                self._pointer, given, allowed, parents, most, flag, addressof(gain)
            )
        if not checks.require_status(status):
            raise CallTooLongError
        if most:
            marks[:] = found
        return gain.value

    def climb(self, dag: Marks, opened: Marks, limit: int, *, patience: int, tabu: int, stop: Integers) -> int:
        """Climb from a graph, which is replaced by the best one visited; return the gain."""
        checks.require(0 < tabu <= 1 << 20, "tabu", tabu)
        checks.require(0 <= patience < 1 << 62, "patience", patience)
        gain = c_int64()
        given, allowed, flag = self._written(dag), self._matrix(opened, _REQUIRED), checks.flag(stop)
        most = _limit(limit)
        with self._score.in_use:
            status = checks.kernels().apsl_search_climb(
                self._pointer, given, allowed, most, patience, tabu, flag, addressof(gain)
            )
        checks.require_status(status)
        return gain.value

    def order(self, dag: Marks, opened: Marks, limit: int, *, near: Integers, starts: int, kicks: int, most_loss: int,
              seed: int, stop: Integers, behind: int = 0) -> OrderOutcome:  # fmt: skip
        """Search over orders of the nodes, from that of a graph and from random ones; return the best graph.

        There are so many ``starts`` in all, each with so many ``kicks`` that move some nodes to random places. Only the
        places in ``near``, in ascending order, are moved and reinserted. A node that is reinserted goes no farther
        where that is worse than its best place by more than ``most_loss``. The graph found is never worse than the
        given one, which has no more parents of a node than it or the limit allow. Graphs that are ``behind`` the best
        one by no more than that are noted.
        """
        checks.require(0 < starts < 1 << 31 and 0 <= kicks < 1 << 31, "starts and kicks", (starts, kicks))
        checks.require(0 <= most_loss <= MOST_LOSS, "most_loss", most_loss)
        checks.require(0 <= behind <= MOST_LOSS, "behind", behind)
        checks.require(0 <= seed < 1 << 63, "seed", seed)
        checks.require(bool((near[1:] > near[:-1]).all()), "near", near)
        checks.require(not len(near) or (int(near[0]) >= 0 and int(near[-1]) < self._shape[0]), "near", near)
        self._matrix(dag)
        found, figures = dag.copy(), np.zeros(_ORDER_FIELDS, np.int64)
        given, allowed, flag = self._written(found), self._matrix(opened, _REQUIRED), checks.flag(stop)
        most, told = _limit(limit), checks.target(figures, np.int64, figures.shape, "figures")
        listed = checks.address(near, np.int64, (len(near),), "near")
        seen = np.full(self._shape, NEVER) if self._shape[0] <= MOST_NOTED else None
        noted = None if seen is None else checks.target(seen, np.int64, self._shape, "seen")
        with self._score.in_use:
            status = checks.kernels().apsl_search_order(
                *(self._pointer, given, allowed, most, listed, len(near), starts, kicks, most_loss, seed, flag),
                *(noted, behind, told),
            )
        checks.require_status(status)
        score, before, ended, agreeing = figures.tolist()
        return OrderOutcome(found, score, score - before, ended, agreeing, seen)

    def rivals(
        self, marks: Marks, opened: Marks, limit: int, features: Integers, stop: Integers, *, most: int = 0
    ) -> list[RivalMove | None]:
        """Find the best rival without each feature of a class: None where the search ended before that.

        A feature is a pair of places and -1, or an unshielded triple, its middle second. If more than ``most`` moves
        would be compared, ``CallTooLongError`` is raised.
        """
        checks.require(most >= 0, "the most moves", most)
        count = len(features)
        rows = checks.address(features, np.int64, (count, 3), "features")
        out = np.empty((count, _RIVAL_FIELDS), np.int64)
        found = checks.address(out, np.int64, out.shape, "out")
        given, allowed, flag = self._matrix(marks), self._matrix(opened, _REQUIRED), checks.flag(stop)
        parents = _limit(limit)
        with self._score.in_use:
            status = checks.kernels().apsl_search_rivals(
                self._pointer, given, allowed, parents, most, rows, count, found, flag
            )
        if not checks.require_status(status):
            raise CallTooLongError
        listed = list(map(tuple, out.tolist()))
        moves = {one: _rival_move(*one) for one in set(listed)}  # features share rivals
        return [moves[one] for one in listed]

    def best_move(
        self, marks: Marks, opened: Marks, limit: int, move: tuple[int, int, int], stop: Integers
    ) -> tuple[int, Marks]:
        """Find the best move of a kind for a pair: its gain, and the pattern that it leads to."""
        kind, x, y = move
        checks.require(min(move) >= 0 and max(move) <= MOST_PLACES, "a move", move)
        gain, after = c_int64(), np.zeros(self._shape, np.uint8)
        given, allowed, flag, reached = (
            self._matrix(marks),
            self._matrix(opened, _REQUIRED),
            checks.flag(stop),
            self._matrix(after),
        )
        most = _limit(limit)
        with self._score.in_use:
            status = checks.kernels().apsl_search_best_move(
                self._pointer, given, allowed, most, kind, x, y, addressof(gain), reached, flag
            )
        checks.require_status(status)
        return gain.value, after

    def _written(self, marks: Marks) -> int:
        """Return the address of a matrix that a search replaces."""
        checks.target(marks, np.uint8, self._shape, "a matrix of marks")
        return self._matrix(marks)

    def _matrix(self, marks: Marks, largest: int = 1) -> int:
        address = checks.address(marks, np.uint8, self._shape, "a matrix of marks")
        checks.require(not marks.size or int(marks.max()) <= largest, "the marks", marks)
        return address


def _rival_move(gain: int, kind: int, x: int, y: int, size: int, *clique: int) -> RivalMove | None:
    return None if kind < 0 else RivalMove(gain, kind, x, y, clique[:size])


def extension_of(marks: Marks) -> Marks:
    """Return a graph of the class with a pattern."""
    return _converted(checks.kernels().apsl_extend, marks)


def pattern_of(dag: Marks) -> Marks:
    """Return the pattern of the class of a graph."""
    return _converted(checks.kernels().apsl_pattern, dag)


def _converted(convert: Callable[[int, int, int], int], marks: Marks) -> Marks:
    """Return the matrix that a function makes of another one."""
    width = len(marks)
    checks.require(width <= MOST_PLACES, "the number of nodes", width)
    found = np.empty((width, width), np.uint8)
    given, written = (checks.address(one, np.uint8, (width, width), "marks") for one in (marks, found))
    checks.require(not width or int(marks.max()) <= 1, "the marks", marks)
    checks.require_status(convert(given, width, written))
    return found


def best_graph(joints: Integers, allowed: Integers, most: int, penalty: int, stop: Integers) -> tuple[list[int], int]:
    """Return the parents of each node in a best graph, as a subset, and its score.

    ``joints`` are the scores of all subsets, ``allowed`` the subsets of nodes that may be parents of each node,
    ``most`` the most parents.
    """
    scores, masks, width = _given(joints, allowed, most, penalty)
    parents, score = np.zeros(width, np.int64), c_int64()
    found = checks.address(parents, np.int64, (width,), "parents")
    flag = checks.flag(stop)
    checks.require_status(
        checks.kernels().apsl_best_graph(scores, masks, width, min(most, width), penalty, found, addressof(score), flag)
    )
    return parents.tolist(), score.value


def best_by_pairs(joints: Integers, allowed: Integers, most: int, penalty: int, stop: Integers) -> Integers:
    """Return the best score of a graph that joins each pair x < y, at [x, y], and of one that does not, at [y, x].

    The score is ``NEVER`` where no graph does. The rest is as for ``best_graph``.
    """
    scores, masks, width = _given(joints, allowed, most, penalty)
    best = np.zeros((width, width), np.int64)
    found, flag = checks.target(best, np.int64, best.shape, "best"), checks.flag(stop)
    checks.require_status(
        checks.kernels().apsl_best_by_pairs(scores, masks, width, min(most, width), penalty, found, flag)
    )
    return best


def _given(joints: Integers, allowed: Integers, most: int, penalty: int) -> tuple[int, int, int]:
    """Return where the joints and the allowed parents are, and for how many nodes, once they are checked."""
    width = len(allowed)
    checks.require(width <= MOST_EXACT, "the number of nodes", width)
    checks.require(most >= 0, "the most parents", most)
    checks.require(abs(penalty) <= MOST_PENALTY, "penalty", penalty)
    scores = checks.address(joints, np.int64, (1 << width,), "joints")
    checks.require(int(joints.min()) >= -_MOST_JOINT and int(joints.max()) <= _MOST_JOINT, "joints", joints)
    masks = checks.address(allowed, np.int64, (width,), "allowed")
    return scores, masks, width


def best_graph_bytes(width: int) -> int:
    """Estimate the memory for finding the best graph over some nodes."""
    checks.require(0 <= width <= MOST_EXACT, "the number of nodes", width)
    return int(checks.kernels().apsl_best_graph_bytes(width))


def _limit(most_parents: int) -> int:
    checks.require(0 <= most_parents <= MOST_PARENTS, "the most parents", most_parents)
    return most_parents
