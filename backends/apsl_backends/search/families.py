"""Scores of families for searches in machine code: each counted once, in batches where many are needed, and kept.

A family is a node with its parents, at most six of them. What is known is kept in a table of fixed size in which a
newcomer may push out an older one; that costs a count, never a result.
"""
# ruff: noqa: PLR0917, PLR2004 - machine code is called by position and spelt out

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from apsl_backends.scores import kernels
from apsl_backends.search.compiling import inner, keep_apart
from apsl_backends.search.rounds import MOST_PARENTS, MOST_TRIES
from apsl_rules.errors import DataError
from apsl_rules.stopping import Flag, no_flag

#: The bits that a node's number may take.
_BITS = 18
_HALF = MOST_PARENTS // 2
_REST = 64 - _HALF * _BITS
#: The fewest and the most families that a table has room for.
_FEWEST, _MOST = 1 << 15, 1 << 20
_EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)
_FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


class Book(NamedTuple):
    """A score's columns and prior, working space, and the families known so far; ``counted`` says how many were.

    ``tried`` has how many moves were compared, with the looks for a way round that would close a cycle, and how many
    may be. A search ends early when that is reached, and when ``stop`` is set.
    """

    columns: kernels.Columns
    prior: kernels.Prior
    desk: kernels.Desk
    known: npt.NDArray[np.uint64]
    counted: npt.NDArray[np.int64]
    tried: npt.NDArray[np.int64]
    stop: Flag


def empty_book(columns: int) -> Book:
    """Open a book for scores over some of so many columns; none takes part yet."""
    if columns >= 1 << _BITS:
        message = (
            f"{columns} columns are more than the {(1 << _BITS) - 1} that this search takes; choose fewer, or take "
            "learner='apsl'"
        )
        raise DataError(message)
    none, nobody = np.empty(0, np.int32), np.zeros(0, np.int64)
    return Book(
        kernels.Columns(np.empty((0, 0), np.uint8), nobody, nobody, none),
        kernels.Prior(1.0, 1.0, 0, none, nobody),
        kernels.desk_for(1, 1),
        no_families(_FEWEST),
        np.zeros(1, np.int64),
        np.array([0, MOST_TRIES]),
        no_flag(),
    )


def with_room(book: Book, width: int) -> Book:
    """Return a book that has room for the families of so many nodes: the book itself if it is large enough."""
    size = min(max(8 * width**2, _FEWEST), _MOST)
    if size <= len(book.known):
        return book
    return book._replace(known=no_families(1 << (size - 1).bit_length()))


def no_families(size: int) -> npt.NDArray[np.uint64]:
    """Return an empty table: two words of key, a score, and one to spare, so that two rows are a line of the cache."""
    return np.full((size, 4), _EMPTY)


@inner
def is_over(book: Any) -> Any:
    """Return whether a search is to end early."""
    return book.stop[0] != 0 or book.tried[0] >= book.tried[1]


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
def _slot(book: Any, high: Any, low: Any) -> Any:
    mixed = (high * _FIRST) ^ (low * _SECOND)
    mixed ^= mixed >> np.uint64(29)
    mixed *= _FIRST
    return np.int64((mixed >> np.uint64(40)) & np.uint64(len(book.known) - 1))


@inner
def _put(book: Any, high: Any, low: Any, value: int) -> None:
    """Keep a score in the first of its two places, or in the second one if that is free."""
    at = _slot(book, high, low)
    if book.known[at, 0] != _EMPTY and book.known[at ^ 1, 0] == _EMPTY:
        at ^= 1
    book.known[at, 0], book.known[at, 1], book.known[at, 2] = high, low, np.uint64(value)


@inner
def _count(book: Any, node: int, parents: Any, count: int, high: Any, low: Any) -> Any:
    """Count a family that is not known yet."""
    keep_apart()
    book.counted[0] += 1
    value = kernels.local(book.columns, node, parents[:count], -1, book.prior, book.desk) - book.prior.price * count
    _put(book, high, low, value)
    return value


@inner
def family(book: Any, node: int, parents: Any, count: int) -> Any:
    """Score a node given its first ``count`` parents, in units, less their price."""
    high, low = _keys(node, parents, count)
    near = _slot(book, high, low)
    if book.known[near, 0] == high and book.known[near, 1] == low:
        return np.int64(book.known[near, 2])
    far = near ^ 1
    if book.known[far, 0] == high and book.known[far, 1] == low:
        return np.int64(book.known[far, 2])
    return _count(book, node, parents, count, high, low)


@inner
def _is_known(book: Any, high: Any, low: Any) -> Any:
    near = _slot(book, high, low)
    far = near ^ 1
    return (book.known[near, 0] == high and book.known[near, 1] == low) or (
        book.known[far, 0] == high and book.known[far, 1] == low
    )


@inner
def _joined(parents: Any, count: int, other: int, out: Any) -> None:
    """Copy ascending parents with another one put in its place."""
    at = 0
    while at < count and parents[at] < other:
        out[at] = parents[at]
        at += 1
    out[at] = other
    for later in range(at, count):
        out[later + 1] = parents[later]


@inner
def fill(book: Any, node: int, parents: Any, count: int, others: Any, scratch: Any, wanted: Any, gained: Any) -> None:
    """Count, in one go, the families in which each of the others joins the parents and which are not known yet."""
    keep_apart()
    missing = 0
    for other in others:
        if other == node:
            continue
        taken = False
        for at in range(count):
            taken |= parents[at] == other
        if taken:
            continue
        _joined(parents, count, other, scratch)
        high, low = _keys(node, scratch, count + 1)
        if not _is_known(book, high, low):
            wanted[missing] = other
            missing += 1
    if missing < 2:
        return
    own = family(book, node, parents, count)
    kernels.gains(book.columns, node, parents[:count], wanted[:missing], book.prior, book.desk, gained)
    book.counted[0] += missing
    for at in range(missing):
        _joined(parents, count, wanted[at], scratch)
        high, low = _keys(node, scratch, count + 1)
        _put(book, high, low, own + gained[at])
