"""The moves of a greedy equivalence search between classes of graphs, in machine code: insert, delete, turn.

The conditions for a move from one class to another, and its gain, are those of Chickering (2002) for insertions and
deletions and of Hauser and Bühlmann (2012) for turns. A move is given by an ordered pair (x, y) and a clique of nodes
that undirected edges (lines) connect with y. The best move of a pair is found by trying all cliques.
"""
# ruff: noqa: FBT001, PLR0917, PLR0912, C901 - machine code is long, and takes its arguments by position

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from apsl_backends.search.compiling import compiled, inner, keep_apart
from apsl_backends.search.families import family, is_over
from apsl_backends.search.patterns import has_path, joined, lined
from apsl_backends.search.rounds import MOST_PARENTS

NEVER = np.iinfo(np.int64).min
INSERT, DELETE, TURN = 0, 1, 2


class Moves(NamedTuple):
    """The best move of each ordered pair: its gain, and its clique with its size."""

    gain: npt.NDArray[np.int64]
    size: npt.NDArray[np.int8]
    clique: npt.NDArray[np.int16]


class Scratch(NamedTuple):
    """Working space for the moves into one node: its parents and lines, the current clique, and the best moves."""

    base: npt.NDArray[np.int64]
    above: npt.NDArray[np.int64]
    lines: npt.NDArray[np.int64]
    pool: npt.NDArray[np.int64]
    clique: npt.NDArray[np.int64]
    both: npt.NDArray[np.int64]
    at_pool: npt.NDArray[np.int64]
    parents: npt.NDArray[np.int64]
    ahead: npt.NDArray[np.int64]
    shared: npt.NDArray[np.bool_]
    seen: npt.NDArray[np.bool_]
    tops: npt.NDArray[np.int64]
    at_top: npt.NDArray[np.int64]


def no_moves(width: int) -> Moves:
    """Make an empty table of moves."""
    return Moves(
        np.full((width, width), NEVER),
        np.zeros((width, width), np.int8),
        np.zeros((width, width, MOST_PARENTS), np.int16),
    )


def scratch_for(width: int) -> Scratch:
    """Make working space for ``width`` nodes."""
    size = width + 2 * MOST_PARENTS
    return Scratch(
        base=np.zeros(size, np.int64),
        above=np.zeros(size, np.int64),
        lines=np.zeros(size, np.int64),
        pool=np.zeros(size, np.int64),
        clique=np.zeros(size, np.int64),
        both=np.zeros(size, np.int64),
        at_pool=np.zeros(size, np.int64),
        parents=np.zeros(size, np.int64),
        ahead=np.zeros(size, np.int64),
        shared=np.zeros(width, np.bool_),
        seen=np.zeros(width, np.bool_),
        tops=np.zeros(width, np.int64),
        at_top=np.zeros(width, np.int64),
    )


@inner
def put(numbers: Any, count: int, number: int) -> int:
    """Insert a number into ascending ones; return how many there are now."""
    at = count
    while at and numbers[at - 1] > number:
        numbers[at] = numbers[at - 1]
        at -= 1
    numbers[at] = number
    return count + 1


@inner
def _score(
    families: Any, members: Any, space: Any, node: int, base: Any, count: int, extra: Any, size: int, one: int
) -> Any:
    """Score a node given the numbers in ``base``, the places in ``extra`` and, unless negative, the place ``one``."""
    parents = space.parents
    for at in range(count):
        parents[at] = base[at]
    for at in range(size):
        count = put(parents, count, members[extra[at]])
    if one >= 0:
        count = put(parents, count, members[one])
    return family(families, members[node], parents, count)


@compiled
def parents_of(marks: Any, members: Any, node: int, but: int, out: Any) -> int:
    """List the numbers of a node's parents except one; return how many there are."""
    count = 0
    for other in range(len(marks)):
        if marks[other, node] and not marks[node, other] and other != but:
            out[count] = members[other]
            count += 1
    return count


@compiled
def lines_of(marks: Any, node: int, out: Any) -> int:
    """List the places of the nodes that lines connect with a node; return how many there are."""
    count = 0
    for other in range(len(marks)):
        if lined(marks, node, other):
            out[count] = other
            count += 1
    return count


@inner
def _is_separated(marks: Any, space: Any, lines: int, size: int) -> bool:
    """Return whether the shared nodes of the clique separate its others from the shared nodes outside it.

    Only nodes that lines connect with y are considered; the shared ones are also adjacent to x.
    """
    seen, ahead, shared, clique = space.seen, space.ahead, space.shared, space.clique
    seen[:] = False
    count = 0
    for at in range(size):
        seen[clique[at]] = True
        if not shared[clique[at]]:
            ahead[count] = clique[at]
            count += 1
    while count:
        count -= 1
        node = ahead[count]
        for at in range(lines):
            other = space.lines[at]
            if not seen[other] and joined(marks, node, other):
                if shared[other]:
                    return False
                seen[other] = True
                ahead[count] = other
                count += 1
    return True


@inner
def closes_no_cycle(marks: Any, kind: int, x: int, y: int, clique: Any, size: int, space: Any) -> bool:
    """Return whether every path from y to x passes the clique, so that the move closes no cycle."""
    keep_apart()
    if kind == DELETE or lined(marks, x, y):
        return True
    blocked = space.seen
    for other in range(len(marks)):
        blocked[other] = kind == TURN and lined(marks, x, other) != 0
    for at in range(size):
        blocked[clique[at]] = True
    return not has_path(marks, y, x, blocked, kind == TURN, space.ahead)


@compiled
def best_move(
    families: Any,
    members: Any,
    marks: Any,
    limit: int,
    kind: int,
    x: int,
    y: int,
    strict: bool,
    moves: Any,
    space: Any,
    count: int,
    lines: int,
) -> None:
    """Find the best move of a pair; only if ``strict``, check that it closes no cycle.

    ``space`` has the ``count`` parents of y other than x, and the ``lines`` places that lines connect with y.
    """
    keep_apart()
    moves.gain[x, y] = NEVER
    clique, pool, at_pool, shared = space.clique, space.pool, space.at_pool, space.shared
    line = lined(marks, x, y) != 0
    over = parents_of(marks, members, x, y, space.above) if kind == TURN else 0
    if count >= limit or over >= limit:
        return
    fixed, free = 0, 0
    for at in range(lines):
        other = space.lines[at]
        if other == x:
            continue
        near = joined(marks, x, other) != 0
        shared[other] = near
        if near and (kind == INSERT or (kind == TURN and not line)):
            if count + fixed + 1 >= limit:
                return
            for place in range(fixed):
                if not joined(marks, clique[place], other):
                    return
            clique[fixed] = other
            fixed += 1
        elif near or kind != DELETE:
            pool[free] = other
            free += 1
    size, start = fixed, 0
    while not is_over(families):
        families.tried[0] += 1 + (len(marks) >> 1) * strict
        gain = _gain(families, members, marks, kind, x, y, line, count, over, lines, size, limit, space)
        if gain > moves.gain[x, y] and (not strict or closes_no_cycle(marks, kind, x, y, clique, size, space)):
            moves.gain[x, y] = gain
            moves.size[x, y] = size
            for at in range(size):
                moves.clique[x, y, at] = clique[at]
        while True:
            found = -1
            if count + size + 1 < limit:
                for place in range(start, free):
                    fits = True
                    for at in range(size):
                        fits &= joined(marks, clique[at], pool[place]) != 0
                    if fits:
                        found = place
                        break
            if found >= 0:
                clique[size] = pool[found]
                at_pool[size] = found
                size += 1
                start = found + 1
                break
            if size == fixed:
                return
            size -= 1
            start = at_pool[size] + 1


@inner
def _gain(
    families: Any,
    members: Any,
    marks: Any,
    kind: int,
    x: int,
    y: int,
    line: bool,
    count: int,
    over: int,
    lines: int,
    size: int,
    limit: int,
    space: Any,
) -> Any:
    """Return the gain of one move, or ``NEVER`` if it is not valid."""
    gain = np.int64(0)
    if kind == TURN:
        common = 0
        if line:
            for at in range(size):
                if space.shared[space.clique[at]]:
                    space.both[common] = space.clique[at]
                    common += 1
            if common == size or over + common + 1 > limit or not _is_separated(marks, space, lines, size):
                return NEVER
        gain += _score(families, members, space, x, space.above, over, space.both, common, -1)
        gain -= _score(families, members, space, x, space.above, over, space.both, common, y)
    with_x = _score(families, members, space, y, space.base, count, space.clique, size, x)
    without_x = _score(families, members, space, y, space.base, count, space.clique, size, -1)
    return without_x - with_x if kind == DELETE else gain + with_x - without_x


@compiled
def make_move(marks: Any, kind: int, x: int, y: int, clique: Any, size: int, space: Any) -> None:
    """Change the marks so that their extensions are the graphs of the class that a move leads to."""
    width = len(marks)
    inside, apart = space.seen, space.shared
    inside[:] = False
    for at in range(size):
        inside[clique[at]] = True
    if kind == INSERT:
        marks[x, y] = 1
        for other in range(width):
            if inside[other]:
                marks[y, other] = 0
        return
    if kind == DELETE:
        for other in range(width):
            apart[other] = other != x and lined(marks, y, other) and joined(marks, x, other) and not inside[other]
        marks[x, y] = marks[y, x] = 0
        for other in range(width):
            if apart[other]:
                marks[other, y] = 0
                if marks[x, other]:
                    marks[other, x] = 0
        return
    line = lined(marks, x, y)
    for other in range(width):
        if other in (x, y):
            continue
        if lined(marks, x, other):
            if line and inside[other]:
                marks[x, other] = 0
            else:
                marks[other, x] = 0
        if lined(marks, y, other):
            if inside[other]:
                marks[y, other] = 0
            else:
                marks[other, y] = 0
    marks[y, x], marks[x, y] = 0, 1
