"""How much better a class of graphs is than its best rival without an edge, a gap or a triple.

A rival is a class one move away without the feature: without the edge, with the missing edge, or with the triple
directed otherwise, without one of its edges, or with its ends adjacent. At the end of a search no rival is better.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from apsl_backends.kernels.border import NEVER, RivalMove, ScoreHandle
from apsl_backends.search.rounds import Found, Open, heeding_search, open_search

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
