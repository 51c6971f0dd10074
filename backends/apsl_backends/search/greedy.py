"""Greedy equivalence search (Chickering 2002; turns: Hauser and Bühlmann 2012), in machine code.

The search goes from class to class of graphs with the same independences: it inserts edges as long as that gains, then
deletes, then turns, and begins again until nothing gains any more. Equally good moves go by the nodes' numbers, and
gains are whole numbers, so the columns' order plays no part.

What each pair's best move gains is kept; a move makes only those anew whose nodes it touched. Whether a way round
would close a cycle is looked at when a move is about to be made.
"""
# ruff: noqa: FBT001, FBT003, PLR0917, SIM102 - machine code is called by position and spelt out

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from apsl_backends.search.compiling import compiled, inner
from apsl_backends.search.families import fill, is_over
from apsl_backends.search.operators import (
    DELETE,
    INSERT,
    NEVER,
    TURN,
    Moves,
    Scratch,
    best_move,
    is_open,
    lines_of,
    make_move,
    no_moves,
    parents_of,
    scratch_for,
)
from apsl_backends.search.patterns import Paper, copy, extend, joined, lined, paper_for, pattern


@compiled
def applies(marks: Any, opened: Any, kind: int, x: int, y: int) -> Any:
    """Return whether a pair may have moves of a kind."""
    if x == y:
        return False
    if kind == INSERT:
        return opened[x, y] and not joined(marks, x, y)
    if kind == DELETE:
        return marks[x, y] != 0
    return marks[y, x] != 0


@inner
def _refresh(
    book: Any, members: Any, marks: Any, opened: Any, limit: int, kind: int, moves: Any, stale: Any, space: Any
) -> None:
    """Bring the moves of a kind up to date; those into one node are counted together."""
    width = len(marks)
    for y in range(width):
        if is_over(book):
            return
        waiting = 0
        for x in range(width):
            if stale[x, y] and applies(marks, opened, kind, x, y):
                space.ahead[waiting] = members[x]
                waiting += 1
        if not waiting:
            continue
        count = parents_of(marks, members, y, -1, space.base)
        lines = lines_of(marks, y, space.lines)
        if kind == INSERT and count < limit and waiting > 1:
            fill(book, members[y], space.base, count, space.ahead[:waiting], space.parents, space.pool, space.above)
        for x in range(width):
            if stale[x, y] and applies(marks, opened, kind, x, y):
                if kind == DELETE:
                    count = parents_of(marks, members, y, x, space.base)
                best_move(book, members, marks, limit, kind, x, y, False, moves, space, count, lines)
                stale[x, y] = False


@inner
def _choose(
    book: Any,
    members: Any,
    marks: Any,
    opened: Any,
    limit: int,
    kind: int,
    moves: Any,
    suspect: Any,
    chosen: Any,
    space: Any,
) -> Any:
    """Find the best move of a kind that closes no cycle; return its gain."""
    width = len(marks)
    for x in range(width):
        _look_along(marks, opened, kind, x, moves, space)
    while True:
        gain, first = np.int64(0), -1
        for x in range(width):
            if space.tops[x] > gain:
                gain, first = space.tops[x], x
        if first < 0 or is_over(book):
            return np.int64(0)
        second = space.at_top[first]
        book.tried[0] += width >> 1
        if is_open(marks, kind, first, second, moves.clique[first, second], moves.size[first, second], space):
            chosen[0], chosen[1] = first, second
            return gain
        count = parents_of(marks, members, second, first, space.base)
        lines = lines_of(marks, second, space.lines)
        best_move(book, members, marks, limit, kind, first, second, True, moves, space, count, lines)
        suspect[first, second] = True
        _look_along(marks, opened, kind, first, moves, space)


@inner
def _look_along(marks: Any, opened: Any, kind: int, x: int, moves: Any, space: Any) -> None:
    """Note the first of the best moves of a node's pairs that gain anything."""
    space.tops[x], space.at_top[x] = 0, -1
    for y in range(len(marks)):
        if moves.gain[x, y] > space.tops[x] and applies(marks, opened, kind, x, y):
            space.tops[x], space.at_top[x] = moves.gain[x, y], y


@inner
def _has_rejoined(marks: Any, former: Any, rejoined: Any, y: int) -> bool:
    """Return whether two of those that lines join to a node were joined to each other, or are no more."""
    for one in range(len(marks)):
        if rejoined[one] and lined(marks, y, one):
            for other in range(one):
                if rejoined[other] and lined(marks, y, other):
                    if joined(marks, one, other) != joined(former, one, other):
                        return True
    return False


@inner
def _forget(marks: Any, former: Any, stale: Any, suspect: Any, turning: bool, space: Any) -> None:
    """Mark the pairs whose best move may be another one now.

    A move into y looks at the parents and lines of y, and at who is joined to whom among these lines and x.
    """
    width = len(marks)
    changed, rejoined = space.seen, space.shared
    changed[:] = False
    rejoined[:] = False
    for x in range(width):
        for y in range(width):
            if marks[x, y] != former[x, y]:
                changed[x] = changed[y] = True
                if joined(marks, x, y) != joined(former, x, y):
                    rejoined[x] = rejoined[y] = True
    for y in range(width):
        hot = changed[y] or _has_rejoined(marks, former, rejoined, y)
        for x in range(width):
            if hot or rejoined[x] or suspect[x, y] or (turning and changed[x]):
                stale[x, y] = True
                suspect[x, y] = False


class Table(NamedTuple):
    """All that a search keeps: the best moves and turns, which of them are out of date, and working space."""

    moves: Moves
    turns: Moves
    stale: npt.NDArray[np.bool_]
    stale_turns: npt.NDArray[np.bool_]
    suspect: npt.NDArray[np.bool_]
    suspect_turns: npt.NDArray[np.bool_]
    former: npt.NDArray[np.uint8]
    dag: npt.NDArray[np.uint8]
    chosen: npt.NDArray[np.int64]
    space: Scratch
    paper: Paper


def table_for(width: int) -> Table:
    """Lay the table for a search over so many nodes."""
    return Table(
        no_moves(width),
        no_moves(width),
        np.zeros((width, width), np.bool_),
        np.zeros((width, width), np.bool_),
        np.zeros((width, width), np.bool_),
        np.zeros((width, width), np.bool_),
        np.zeros((width, width), np.uint8),
        np.zeros((width, width), np.uint8),
        np.zeros(2, np.int64),
        scratch_for(width),
        paper_for(width),
    )


@compiled
def search(book: Any, members: Any, marks: Any, opened: Any, limit: int, table: Any) -> Any:
    """Search from a class to a better one until nothing gains; return what was gained in all.

    ``members`` are the numbers of the nodes, ascending; ``marks`` is the pattern to begin with and to end in.
    ``NEVER`` is given if a move led to no graph, which cannot be. Where the book says that the search is over, it ends
    with the class that it has reached.
    """
    space = table.space
    table.stale[:] = True
    table.stale_turns[:] = True
    total = np.int64(0)
    while True:
        before = total
        for kind in range(3):
            turning = kind == TURN
            moves = table.turns if turning else table.moves
            stale = table.stale_turns if turning else table.stale
            suspect = table.suspect_turns if turning else table.suspect
            while True:
                _refresh(book, members, marks, opened, limit, kind, moves, stale, space)
                gain = _choose(book, members, marks, opened, limit, kind, moves, suspect, table.chosen, space)
                if is_over(book):
                    return total
                if gain <= 0:
                    break
                total += gain
                x, y = table.chosen
                copy(marks, table.former)
                make_move(marks, kind, x, y, moves.clique[x, y], moves.size[x, y], space)
                if not extend(marks, table.dag, table.paper):
                    return NEVER
                pattern(table.dag, marks, table.paper)
                _forget(marks, table.former, table.stale, table.suspect, False, space)
                _forget(marks, table.former, table.stale_turns, table.suspect_turns, True, space)
        if total == before:
            return total
