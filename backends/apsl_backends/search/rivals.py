"""How much better a class of graphs is than its best rival without an edge, a gap or a triple, in machine code.

A rival is a class one move away without the feature: without the edge, with the missing edge, or with the triple
directed otherwise, without one of its edges, or with its ends adjacent. At the end of a search no rival is better.
"""
# ruff: noqa: FBT003, PLR0917 - machine code takes its arguments by position

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from apsl_backends.search.compiling import compiled, inner
from apsl_backends.search.families import Families, is_over, with_capacity
from apsl_backends.search.greedy import applies, table_for
from apsl_backends.search.operators import (
    DELETE,
    INSERT,
    NEVER,
    TURN,
    best_move,
    lines_of,
    make_move,
    parents_of,
)
from apsl_backends.search.patterns import copy, extend, joined, pattern
from apsl_backends.search.rounds import MOST_PARENTS, Found, Open
from apsl_rules.stopping import Flag, heeding

_WIDTH = 5 + MOST_PARENTS
_TRIPLE, _SIDES = 3, 4
_NOT_SOUGHT = -1


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
    families: Families, found: Found, opened: Open, max_parents: int, features: Sequence[tuple[int, ...]]
) -> list[Rival | None]:
    """Find the best rival for each feature of a class: a pair of places, or an unshielded triple, its middle second.

    The rival is None if no move removes the feature.
    """
    rows = np.array([(one[0], one[1], one[-1] if len(one) == _TRIPLE else -1) for one in features], np.int64).reshape(
        -1, 3
    )
    out = np.zeros((len(rows), _WIDTH), np.int64)
    width = len(found.members)
    numbers = np.array(found.members, np.int64)
    families.tried[0] = 0
    families, table, trial = with_capacity(families, width), table_for(width), np.zeros((width, width), np.uint8)
    undone = np.zeros((len(rows), _SIDES), np.bool_)

    def compare(stop: Flag) -> None:
        told = families._replace(stop=stop)
        turns = _turns(rows, width)
        _mark_undone(told, numbers, found.marks, opened, max_parents, rows, turns, table, trial, undone)
        _find_best_rivals(told, numbers, found.marks, opened, max_parents, rows, undone, table, out)

    heeding(compare)
    return [_rival(found, move) for move in out.tolist()]


def _turns(rows: npt.NDArray[np.int64], width: int) -> npt.NDArray[np.int64]:
    """List the pairs whose turn may undo each triple, sorted by pair: x, y, the feature, and the side."""
    triples = np.flatnonzero(rows[:, 2] >= 0)
    x, middle, y = rows[triples].T
    pairs = np.stack([x * width + middle, middle * width + x, y * width + middle, middle * width + y], axis=1).ravel()
    order = np.argsort(pairs, kind="stable")
    tail, head = np.divmod(pairs[order], width)
    return np.stack([tail, head, triples[order // _SIDES], order % _SIDES], axis=1)


def _rival(found: Found, move: list[int]) -> Rival | None:
    gain, kind, x, y, size, *clique = move
    if kind == _NOT_SOUGHT:
        return Rival(0, (), sought=False)
    if gain == NEVER:
        return None
    names, marks = found.members, found.marks
    base = {at for at in range(len(names)) if marks[at, y] and not marks[y, at]} - {x}
    families = [(y, base.union(clique[:size]), x, kind == DELETE)]
    if kind == TURN:
        above = {at for at in range(len(names)) if marks[at, x] and not marks[x, at]} - {y}
        both = {one for one in clique[:size] if marks[x, one] and marks[one, x]} if marks[x, y] else set()
        families.append((x, above | both, y, True))
    compared = []
    for node, rest, one, is_ours in families:
        without, within = (tuple(sorted(names[at] for at in some)) for some in (rest, rest | {one}))
        compared.append(Comparison(names[node], *((within, without) if is_ours else (without, within))))
    return Rival(-gain, tuple(compared))


@inner
def _classify_triple(marks: Any, x: int, middle: int, y: int) -> int:
    """Return 0 for no unshielded triple, 1 for one without a collider, 2 for a V-structure."""
    if joined(marks, x, y) or not joined(marks, x, middle) or not joined(marks, y, middle):
        return 0
    return 1 if marks[middle, x] or marks[middle, y] else 2


@inner
def _update_move(families: Any, members: Any, marks: Any, limit: int, kind: int, x: int, y: int, table: Any) -> None:
    """Find the best move of a kind for a pair, unless it is known."""
    stale = table.stale_turns if kind == TURN else table.stale
    if not stale[x, y]:
        return
    stale[x, y] = False
    space = table.space
    moves = table.turns if kind == TURN else table.moves
    count = parents_of(marks, members, y, x, space.base)
    lines = lines_of(marks, y, space.lines)
    best_move(families, members, marks, limit, kind, x, y, True, moves, space, count, lines)


@compiled
def _mark_undone(
    families: Any,
    members: Any,
    marks: Any,
    opened: Any,
    limit: int,
    features: Any,
    turns: Any,
    table: Any,
    trial: Any,
    undone: Any,
) -> None:
    """Record which triples the best turn of each pair undoes; the class after a turn is computed once."""
    table.stale_turns[:] = True
    space, moves = table.space, table.turns
    for at in range(len(turns)):
        x, y = turns[at, 0], turns[at, 1]
        if is_over(families) or not applies(marks, opened, TURN, x, y):
            continue
        if table.stale_turns[x, y]:
            _update_move(families, members, marks, limit, TURN, x, y, table)
            if moves.gain[x, y] != NEVER:
                copy(marks, trial)
                make_move(trial, TURN, x, y, moves.clique[x, y], moves.size[x, y], space)
                extend(trial, table.dag, table.pattern_space)
                pattern(table.dag, trial, table.pattern_space)
        if moves.gain[x, y] != NEVER:
            one, middle, other = features[turns[at, 2]]
            before = _classify_triple(marks, one, middle, other)
            undone[turns[at, 2], turns[at, 3]] = _classify_triple(trial, one, middle, other) != before


@inner
def _try(
    families: Any, members: Any, marks: Any, opened: Any, limit: int, kind: int, x: int, y: int, table: Any, out: Any
) -> None:
    """Try a kind of move of a pair that undoes the feature, and keep the best so far."""
    if not applies(marks, opened, kind, x, y):
        return
    _update_move(families, members, marks, limit, kind, x, y, table)
    moves = table.turns if kind == TURN else table.moves
    if moves.gain[x, y] <= out[0]:
        return
    size = moves.size[x, y]
    out[0], out[1], out[2], out[3], out[4] = moves.gain[x, y], kind, x, y, size
    for at in range(size):
        out[5 + at] = moves.clique[x, y, at]


@compiled
def _find_best_rivals(
    families: Any, members: Any, marks: Any, opened: Any, limit: int, features: Any, undone: Any, table: Any, out: Any
) -> None:
    """Find the best rival for each feature; deleting an edge of a triple or joining its ends also undoes it."""
    table.stale[:] = True
    for at in range(len(features)):
        best = out[at]
        best[0], best[1] = NEVER, INSERT
        x, middle, y = features[at]
        if y < 0:
            for kind in (INSERT, DELETE):
                _try(families, members, marks, opened, limit, kind, x, middle, table, best)
                _try(families, members, marks, opened, limit, kind, middle, x, table, best)
        else:
            for kind in (TURN, DELETE):
                if kind == DELETE or undone[at, 0]:
                    _try(families, members, marks, opened, limit, kind, x, middle, table, best)
                if kind == DELETE or undone[at, 1]:
                    _try(families, members, marks, opened, limit, kind, middle, x, table, best)
                if kind == DELETE or undone[at, 2]:
                    _try(families, members, marks, opened, limit, kind, y, middle, table, best)
                if kind == DELETE or undone[at, 3]:
                    _try(families, members, marks, opened, limit, kind, middle, y, table, best)
            _try(families, members, marks, opened, limit, INSERT, x, y, table, best)
            _try(families, members, marks, opened, limit, INSERT, y, x, table, best)
        if is_over(families):
            best[1] = _NOT_SOUGHT
