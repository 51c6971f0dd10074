"""A tabu climb over graphs (Glover 1989), in machine code: add, delete or turn the best arrow, repeatedly.

Each step makes the best legal move, even one that loses, to a graph that was not visited in the last steps. The climb
improves the result of a greedy equivalence search. Ties are broken by the numbers of the nodes.
"""
# ruff: noqa: PLR0917, PLR0912, PLR0915, C901, SIM102, SIM110 - machine code is long, and takes its arguments by position

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from apsl_backends.search.compiling import compiled, inner, keep_apart
from apsl_backends.search.families import family, fill
from apsl_backends.search.operators import NEVER, put
from apsl_backends.search.patterns import PatternSpace, copy, order_of, pattern_space_for
from apsl_backends.search.rounds import MOST_PARENTS, REQUIRED

_FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


class Climb(NamedTuple):
    """The data of a climb: the gain of adding or deleting each arrow, descendants, the best graph, working space."""

    gain: npt.NDArray[np.int64]
    below: npt.NDArray[np.uint8]
    best: npt.NDArray[np.uint8]
    barred: npt.NDArray[np.uint8]
    parents: npt.NDArray[np.int64]
    others: npt.NDArray[np.int64]
    wanted: npt.NDArray[np.int64]
    gained: npt.NDArray[np.int64]
    recent: npt.NDArray[np.uint64]
    pattern_space: PatternSpace


def climb_for(width: int, tabu: int) -> Climb:
    """Make the data of a climb over ``width`` nodes that avoids the last ``tabu`` graphs."""
    size = width + 2 * MOST_PARENTS
    return Climb(
        np.zeros((width, width), np.int64),
        np.zeros((width, width), np.uint8),
        np.zeros((width, width), np.uint8),
        np.zeros((width, width), np.uint8),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros(tabu, np.uint64),
        pattern_space_for(width),
    )


@inner
def list_parents(dag: Any, members: Any, node: int, out: Any) -> int:
    """List the numbers of a node's parents; return how many there are."""
    count = 0
    for other in range(len(dag)):
        if dag[other, node]:
            out[count] = members[other]
            count += 1
    return count


@inner
def _update_gains(families: Any, members: Any, dag: Any, opened: Any, limit: int, node: int, climb: Any) -> None:
    """Update the gain of adding each arrow into a node, or of deleting it if it is there."""
    parents, width = climb.parents, len(dag)
    count = list_parents(dag, members, node, parents)
    if count < limit:
        waiting = 0
        for other in range(width):
            if other != node and opened[other, node] and not dag[other, node]:
                climb.others[waiting] = members[other]
                waiting += 1
        fill(families, members[node], parents, count, climb.others[:waiting], climb.gained, climb.wanted, climb.others)
    own = family(families, members[node], parents, count)
    for other in range(width):
        if other == node or (dag[other, node] and opened[other, node] == REQUIRED):
            climb.gain[other, node] = NEVER
        elif dag[other, node]:
            kept = 0
            for at in range(count):
                if parents[at] != members[other]:
                    climb.others[kept] = parents[at]
                    kept += 1
            climb.gain[other, node] = family(families, members[node], climb.others, kept) - own
        elif count < limit and opened[other, node]:
            for at in range(count):
                climb.others[at] = parents[at]
            put(climb.others, count, members[other])
            climb.gain[other, node] = family(families, members[node], climb.others, count + 1) - own
        else:
            climb.gain[other, node] = NEVER


@inner
def find_below(dag: Any, below: Any, pattern_space: Any) -> None:
    """Find the descendants of each node, from the last node in the order to the first."""
    width = len(dag)
    order_of(dag, pattern_space)
    for at in range(width - 1, -1, -1):
        node = pattern_space.order[at]
        for other in range(width):
            below[node, other] = 0
        for child in range(width):
            if dag[node, child]:
                for other in range(width):
                    below[node, other] |= below[child, other]
                below[node, child] = 1


@inner
def has_detour(dag: Any, below: Any, tail: int, head: int) -> bool:
    """Return whether a path other than their arrow leads from tail to head."""
    for child in range(len(dag)):
        if dag[tail, child] and child != head and below[child, head]:
            return True
    return False


@inner
def _stamp(members: Any, tail: int, head: int) -> Any:
    mixed = np.uint64(members[tail] + 1) * _FIRST ^ np.uint64(members[head] + 1) * _SECOND
    mixed ^= mixed >> np.uint64(31)
    mixed *= _SECOND
    return mixed ^ (mixed >> np.uint64(29))


@inner
def _is_recent(recent: Any, stamp: Any) -> bool:
    for one in recent:
        if one == stamp:
            return True
    return False


@compiled
def climb_from(families: Any, members: Any, dag: Any, opened: Any, limit: int, patience: int, climb: Any) -> Any:
    """Climb from a graph and replace it by the best one visited; return the gain."""
    keep_apart()
    width = len(dag)
    stamp = np.uint64(1)
    for tail in range(width):
        if families.stop[0]:
            return np.int64(0)
        _update_gains(families, members, dag, opened, limit, tail, climb)
        for head in range(width):
            climb.barred[tail, head] = 0
            if dag[tail, head]:
                stamp ^= _stamp(members, tail, head)
    climb.recent[:] = np.uint64(0)
    climb.recent[0] = stamp
    find_below(dag, climb.below, climb.pattern_space)
    copy(dag, climb.best)
    now = top = np.int64(0)
    idle, met = 0, 1
    while idle < patience and not families.stop[0]:
        best, first, second, turned = NEVER, -1, -1, False
        for tail in range(width):
            for head in range(width):
                gain = climb.gain[tail, head]
                if gain == NEVER:
                    continue
                if dag[tail, head]:
                    if gain > best and not climb.barred[tail, head] & 1:
                        best, first, second, turned = gain, tail, head, False
                    other = climb.gain[head, tail]
                    if other != NEVER and gain + other > best and not climb.barred[tail, head] & 2:
                        if has_detour(dag, climb.below, tail, head):
                            climb.barred[tail, head] |= 2
                        else:
                            best, first, second, turned = gain + other, tail, head, True
                elif gain > best and not dag[head, tail] and not climb.below[head, tail]:
                    if not climb.barred[tail, head] & 1:
                        best, first, second, turned = gain, tail, head, False
        if first < 0:
            break
        after = stamp ^ _stamp(members, first, second)
        if turned:
            after ^= _stamp(members, second, first)
        if _is_recent(climb.recent, after):
            climb.barred[first, second] |= 2 if turned else 1
            continue
        dag[first, second] ^= 1
        _update_gains(families, members, dag, opened, limit, second, climb)
        if turned:
            dag[second, first] = 1
            _update_gains(families, members, dag, opened, limit, first, climb)
        find_below(dag, climb.below, climb.pattern_space)
        for tail in range(width):
            for head in range(width):
                climb.barred[tail, head] = 0
        stamp = after
        climb.recent[met % len(climb.recent)] = stamp
        met += 1
        idle += 1
        now += best
        if now > top:
            top, idle = now, 0
            copy(dag, climb.best)
    copy(climb.best, dag)
    return top
