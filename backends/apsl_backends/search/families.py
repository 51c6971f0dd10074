"""A cache of family scores for compiled searches; missing scores are counted, in batches where many are needed.

A family is a node with its parents. The cache is a hash table of fixed size, for families of at most six parents, in
which a new score may overwrite an older one. That costs another count, but never changes a result.
"""
# ruff: noqa: PLR0917, PLR2004 - machine code takes its arguments by position

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from apsl_backends.scores import kernels
from apsl_backends.search.compiling import inner, keep_apart
from apsl_backends.search.rounds import MOST_PARENTS, MOST_TRIES
from apsl_rules.errors import DataError
from apsl_rules.stopping import Flag, no_flag

#: The most bits of a node's number.
_BITS = 18
_HALF = MOST_PARENTS // 2
_REST = 64 - _HALF * _BITS
#: The smallest and the largest capacity of the cache.
_FEWEST, _MOST = 1 << 15, 1 << 20
_EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)
_FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


class Families(NamedTuple):
    """The scores of families: columns, prior, working space and the cache of ``known`` scores.

    ``counted`` is the number of families counted. ``tried`` has the number of moves compared so far, including the
    checks for cycles, and its limit. A search ends early when it reaches the limit or when ``stop`` is set.
    """

    columns: kernels.Columns
    prior: kernels.Prior
    workspace: kernels.Workspace
    known: npt.NDArray[np.uint64]
    counted: npt.NDArray[np.int64]
    tried: npt.NDArray[np.int64]
    stop: Flag


def empty_families(columns: int) -> Families:
    """Make an empty cache for a table with this number of columns; none has joined yet."""
    if columns >= 1 << _BITS:
        message = (
            f"{columns} columns are more than the {(1 << _BITS) - 1} that this search takes; choose fewer, or take "
            "learner='apsl'"
        )
        raise DataError(message)
    none, no_integers = np.empty(0, np.int32), np.zeros(0, np.int64)
    return Families(
        kernels.Columns(np.empty((0, 0), np.uint8), no_integers, no_integers, none),
        kernels.Prior(1.0, 1.0, 0, none, no_integers),
        kernels.workspace_for(1, 1),
        empty_table(_FEWEST),
        np.zeros(1, np.int64),
        np.array([0, MOST_TRIES]),
        no_flag(),
    )


def with_capacity(families: Families, width: int) -> Families:
    """Return families with a cache large enough for ``width`` nodes: the same ones if it is."""
    size = min(max(8 * width**2, _FEWEST), _MOST)
    if size <= len(families.known):
        return families
    return families._replace(known=empty_table(1 << (size - 1).bit_length()))


def empty_table(size: int) -> npt.NDArray[np.uint64]:
    """Return an empty hash table: two key words, a score and one unused word, so that two rows fill a cache line."""
    return np.full((size, 4), _EMPTY)


@inner
def is_over(families: Any) -> Any:
    """Return whether a search should end early."""
    return families.stop[0] != 0 or families.tried[0] >= families.tried[1]


@inner
def _keys(node: int, parents: Any, count: int) -> Any:
    """Pack a family into two words; the parents are in ascending order."""
    high, low = np.uint64(0), np.uint64(0)
    for at in range(min(count, _HALF)):
        high = (high << np.uint64(_BITS)) | np.uint64(parents[at] + 1)
    for at in range(_HALF, count):
        low = (low << np.uint64(_BITS)) | np.uint64(parents[at] + 1)
    rest = np.uint64(node)
    high |= rest << np.uint64(_HALF * _BITS)
    low |= (rest >> np.uint64(_REST)) << np.uint64(_HALF * _BITS)
    return high, low


@inner
def _slot(families: Any, high: Any, low: Any) -> Any:
    mixed = (high * _FIRST) ^ (low * _SECOND)
    mixed ^= mixed >> np.uint64(29)
    mixed *= _FIRST
    return np.int64((mixed >> np.uint64(40)) & np.uint64(len(families.known) - 1))


@inner
def _put(families: Any, high: Any, low: Any, value: int) -> None:
    """Store a score in the first of its two places, or in the second if only that is free."""
    at = _slot(families, high, low)
    if families.known[at, 0] != _EMPTY and families.known[at ^ 1, 0] == _EMPTY:
        at ^= 1
    families.known[at, 0], families.known[at, 1], families.known[at, 2] = high, low, np.uint64(value)


@inner
def _score(families: Any, node: int, parents: Any, count: int) -> Any:
    """Score a family."""
    keep_apart()
    families.counted[0] += 1
    return (
        kernels.local(families.columns, node, parents[:count], -1, families.prior, families.workspace)
        - families.prior.penalty * count
    )


@inner
def family(families: Any, node: int, parents: Any, count: int) -> Any:
    """Score a node given its first ``count`` parents, in units, minus their penalty.

    Only families with at most ``MOST_PARENTS`` parents are cached: a key has no bits for more.
    """
    if count > MOST_PARENTS:
        return _score(families, node, parents, count)
    high, low = _keys(node, parents, count)
    near = _slot(families, high, low)
    if families.known[near, 0] == high and families.known[near, 1] == low:
        return np.int64(families.known[near, 2])
    far = near ^ 1
    if families.known[far, 0] == high and families.known[far, 1] == low:
        return np.int64(families.known[far, 2])
    value = _score(families, node, parents, count)
    _put(families, high, low, value)
    return value


@inner
def _is_known(families: Any, high: Any, low: Any) -> Any:
    near = _slot(families, high, low)
    far = near ^ 1
    return (families.known[near, 0] == high and families.known[near, 1] == low) or (
        families.known[far, 0] == high and families.known[far, 1] == low
    )


@inner
def _insert(parents: Any, count: int, other: int, out: Any) -> None:
    """Copy ascending parents and insert another one at its place."""
    at = 0
    while at < count and parents[at] < other:
        out[at] = parents[at]
        at += 1
    out[at] = other
    for later in range(at, count):
        out[later + 1] = parents[later]


@inner
def fill(
    families: Any, node: int, parents: Any, count: int, others: Any, scratch: Any, wanted: Any, gained: Any
) -> None:
    """Score in one batch the families with one of the others as a further parent that are not cached yet."""
    keep_apart()
    if count >= MOST_PARENTS:
        return
    missing = 0
    for other in others:
        if other == node:
            continue
        taken = False
        for at in range(count):
            taken |= parents[at] == other
        if taken:
            continue
        _insert(parents, count, other, scratch)
        high, low = _keys(node, scratch, count + 1)
        if not _is_known(families, high, low):
            wanted[missing] = other
            missing += 1
    if missing < 2:
        return
    own = family(families, node, parents, count)
    kernels.gains(families.columns, node, parents[:count], wanted[:missing], families.prior, families.workspace, gained)
    families.counted[0] += missing
    for at in range(missing):
        _insert(parents, count, wanted[at], scratch)
        high, low = _keys(node, scratch, count + 1)
        _put(families, high, low, own + gained[at])
