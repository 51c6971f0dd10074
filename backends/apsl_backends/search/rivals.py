"""How sure a class of graphs is of an edge, a gap or a triple: how far it is ahead of its best rival, in machine code.

A rival is a class one move away that lacks the feature: without the edge, with the missing one, or with the triple
turned, torn or closed. At the end of a search no rival is better.
"""
# ruff: noqa: FBT003, PLR0917 - machine code is called by position and spelt out

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

from apsl_backends.search.compiling import compiled, inner
from apsl_backends.search.families import Book
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

_WIDTH = 5 + MOST_PARENTS
_TRIPLE = 3


@attrs.frozen
class Comparison:
    """Two sets of parents of one node: in the graph, and in its rival."""

    node: int
    ours: tuple[int, ...]
    theirs: tuple[int, ...]


@attrs.frozen
class Rival:
    """The best rival without a feature: how many units the graph is ahead of it, and the families that differ."""

    ahead: int
    families: tuple[Comparison, ...]


def rivals(
    book: Book, found: Found, opened: Open, max_parents: int, features: Sequence[tuple[int, ...]]
) -> list[Rival | None]:
    """Find the best rival for each feature of a class: a pair of places, or a triple with its middle second.

    None is given where the search had no move to make.
    """
    rows = np.array([(one[0], one[1], one[-1] if len(one) == _TRIPLE else -1) for one in features], np.int64).reshape(
        -1, 3
    )
    out = np.zeros((len(rows), _WIDTH), np.int64)
    width = len(found.members)
    numbers = np.array(found.members, np.int64)
    trial = np.zeros((width, width), np.uint8)
    _weigh(book, numbers, found.marks, opened, max_parents, rows, table_for(width), trial, out)
    return [_rival(found, move) for move in out.tolist()]


def _rival(found: Found, move: list[int]) -> Rival | None:
    gain, kind, x, y, size, *clique = move
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
def _collides(marks: Any, x: int, middle: int, y: int) -> int:
    """Say what a triple is: 0 no unshielded triple, 1 one that does not collide, 2 one that does."""
    if joined(marks, x, y) or not joined(marks, x, middle) or not joined(marks, y, middle):
        return 0
    return 1 if marks[middle, x] or marks[middle, y] else 2


@inner
def _try(
    book: Any,
    members: Any,
    marks: Any,
    opened: Any,
    limit: int,
    kind: int,
    x: int,
    y: int,
    triple: Any,
    table: Any,
    trial: Any,
    out: Any,
) -> None:
    """Try one kind of move of a pair, and keep the best so far that undoes the feature."""
    if not applies(marks, opened, kind, x, y):
        return
    space = table.space
    moves = table.moves
    count = parents_of(marks, members, y, x, space.base)
    lines = lines_of(marks, y, space.lines)
    best_move(book, members, marks, limit, kind, x, y, True, moves, space, count, lines)
    if moves.gain[x, y] <= out[0]:
        return
    size = moves.size[x, y]
    if triple[2] >= 0:
        copy(marks, trial)
        make_move(trial, kind, x, y, moves.clique[x, y], size, space)
        extend(trial, table.dag, table.paper)
        pattern(table.dag, trial, table.paper)
        before = _collides(marks, triple[0], triple[1], triple[2])
        if _collides(trial, triple[0], triple[1], triple[2]) == before:
            return
    out[0], out[1], out[2], out[3], out[4] = moves.gain[x, y], kind, x, y, size
    for at in range(size):
        out[5 + at] = moves.clique[x, y, at]


@compiled
def _weigh(
    book: Any, members: Any, marks: Any, opened: Any, limit: int, features: Any, table: Any, trial: Any, out: Any
) -> None:
    """Find the best rival for each feature."""
    for at in range(len(features)):
        triple, best = features[at], out[at]
        best[0] = NEVER
        x, middle, y = triple[0], triple[1], triple[2]
        if y < 0:
            for kind in (INSERT, DELETE):
                _try(book, members, marks, opened, limit, kind, x, middle, triple, table, trial, best)
                _try(book, members, marks, opened, limit, kind, middle, x, triple, table, trial, best)
            continue
        for kind in (TURN, DELETE):
            _try(book, members, marks, opened, limit, kind, x, middle, triple, table, trial, best)
            _try(book, members, marks, opened, limit, kind, middle, x, triple, table, trial, best)
            _try(book, members, marks, opened, limit, kind, y, middle, triple, table, trial, best)
            _try(book, members, marks, opened, limit, kind, middle, y, triple, table, trial, best)
        _try(book, members, marks, opened, limit, INSERT, x, y, triple, table, trial, best)
        _try(book, members, marks, opened, limit, INSERT, y, x, triple, table, trial, best)
