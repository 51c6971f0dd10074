"""Greedy equivalence search (Chickering 2002; turns: Hauser and Bühlmann 2012), in machine code.

The search moves between equivalence classes of graphs: it inserts edges while that gains, then deletes, then turns, and
repeats this until no move gains. Ties are broken by the numbers of the nodes, and gains are integers, so the order of
the columns does not matter.

The gain of each pair's best move is kept; after a move, only the pairs that it may affect are computed again. Whether a
move would close a cycle is only checked for the best one.
"""
# ruff: noqa: FBT001, FBT003, PLR0917, SIM102 - machine code takes its arguments by position

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
    closes_no_cycle,
    lines_of,
    make_move,
    no_moves,
    parents_of,
    scratch_for,
)
from apsl_backends.search.patterns import PatternSpace, copy, extend, joined, lined, pattern, pattern_space_for


@compiled
def applies(marks: Any, opened: Any, kind: int, x: int, y: int) -> Any:
    """Return whether moves of a kind are possible for a pair."""
    if x == y:
        return False
    if kind == INSERT:
        return opened[x, y] and not joined(marks, x, y)
    if kind == DELETE:
        return marks[x, y] != 0
    return marks[y, x] != 0


@inner
def _refresh(
    families: Any, members: Any, marks: Any, opened: Any, limit: int, kind: int, moves: Any, stale: Any, space: Any
) -> None:
    """Update the moves of a kind; the families of one node are counted together."""
    width = len(marks)
    for y in range(width):
        if is_over(families):
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
            fill(families, members[y], space.base, count, space.ahead[:waiting], space.parents, space.pool, space.above)
        for x in range(width):
            if stale[x, y] and applies(marks, opened, kind, x, y):
                if kind == DELETE:
                    count = parents_of(marks, members, y, x, space.base)
                best_move(families, members, marks, limit, kind, x, y, False, moves, space, count, lines)
                stale[x, y] = False


@inner
def _choose(
    families: Any,
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
    """Find the best move of a kind that closes no cycle; return its gain, or 0 if none gains."""
    width = len(marks)
    for x in range(width):
        _note_best_move(marks, opened, kind, x, moves, space)
    while True:
        gain, first = np.int64(0), -1
        for x in range(width):
            if space.tops[x] > gain:
                gain, first = space.tops[x], x
        if first < 0 or is_over(families):
            return np.int64(0)
        second = space.at_top[first]
        families.tried[0] += width >> 1
        if closes_no_cycle(marks, kind, first, second, moves.clique[first, second], moves.size[first, second], space):
            chosen[0], chosen[1] = first, second
            return gain
        count = parents_of(marks, members, second, first, space.base)
        lines = lines_of(marks, second, space.lines)
        best_move(families, members, marks, limit, kind, first, second, True, moves, space, count, lines)
        suspect[first, second] = True
        _note_best_move(marks, opened, kind, first, moves, space)


@inner
def _note_best_move(marks: Any, opened: Any, kind: int, x: int, moves: Any, space: Any) -> None:
    """Record the first best move from a node, if any gains."""
    space.tops[x], space.at_top[x] = 0, -1
    for y in range(len(marks)):
        if moves.gain[x, y] > space.tops[x] and applies(marks, opened, kind, x, y):
            space.tops[x], space.at_top[x] = moves.gain[x, y], y


@inner
def _has_changed_pair(marks: Any, former: Any, rejoined: Any, y: int) -> bool:
    """Return whether the adjacency of two nodes changed that lines connect with y."""
    for one in range(len(marks)):
        if rejoined[one] and lined(marks, y, one):
            for other in range(one):
                if rejoined[other] and lined(marks, y, other):
                    if joined(marks, one, other) != joined(former, one, other):
                        return True
    return False


@inner
def _mark_stale(marks: Any, former: Any, stale: Any, suspect: Any, turning: bool, space: Any) -> None:
    """Mark the pairs whose best move may have changed.

    A move into y depends on the parents and lines of y, and on the adjacencies among x and the nodes of these lines.
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
        affected = changed[y] or _has_changed_pair(marks, former, rejoined, y)
        for x in range(width):
            if affected or rejoined[x] or suspect[x, y] or (turning and changed[x]):
                stale[x, y] = True
                suspect[x, y] = False


class Table(NamedTuple):
    """The data of a search: the best moves and turns, which of them are out of date, and working space."""

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
    pattern_space: PatternSpace


def table_for(width: int) -> Table:
    """Make the data of a search over ``width`` nodes."""
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
        pattern_space_for(width),
    )


@compiled
def search(families: Any, members: Any, marks: Any, opened: Any, limit: int, table: Any) -> Any:
    """Move from class to class until no move gains; return the total gain.

    ``members`` are the numbers of the nodes, ascending. ``marks`` is the pattern of the first class and becomes that of
    the last. Return ``NEVER`` if a move led to no graph, which cannot happen. A search that must end early keeps the
    class that it has reached.
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
                _refresh(families, members, marks, opened, limit, kind, moves, stale, space)
                gain = _choose(families, members, marks, opened, limit, kind, moves, suspect, table.chosen, space)
                if is_over(families):
                    return total
                if gain <= 0:
                    break
                total += gain
                x, y = table.chosen
                copy(marks, table.former)
                make_move(marks, kind, x, y, moves.clique[x, y], moves.size[x, y], space)
                if not extend(marks, table.dag, table.pattern_space):
                    return NEVER
                pattern(table.dag, marks, table.pattern_space)
                _mark_stale(marks, table.former, table.stale, table.suspect, False, space)
                _mark_stale(marks, table.former, table.stale_turns, table.suspect_turns, True, space)
        if total == before:
            return total
