"""An order of columns by content: names only break ties between columns that nothing else distinguishes.

A search meets ties at every step, since all graphs of a class have the same score, and prefers nodes with lower
numbers. If these followed the names, renaming columns could change the result. Content means counts only, so neither
the order of the rows nor the place where they are counted matters:

- Columns are ordered by the counts of their levels.
- Columns with equal counts are ordered by the rows of the columns near a target. Each row gets a hash of all its cells,
  in which a column is represented by its counts. Each column gets the sum over the rows of this hash times a hash of
  its level there.

Sums are 64-bit integers that wrap around, so the order of addition does not matter.

In tables with more columns than a search has numbers for, a column begins its range at a hash of its counts instead of
the rank of these, so that only the columns that a search meets are counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from apsl_backends.kernels.bindings.scores import MOST_NUMBERS
from apsl_rules.data import Codes
from apsl_rules.data.counts import Heading
from apsl_rules.names import order_key

Words: TypeAlias = npt.NDArray[np.uint64]

_ROWS_AT_ONCE = 1 << 18
_FIRST, _SECOND, _HALF = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB), np.uint64(31)


class ContentOrder:
    """Assigns numbers to the columns of a table as a search meets them.

    Columns with the same counts share a range of numbers. Columns that are met earlier get lower numbers.
    """

    def __init__(self, heading: Heading, starts: npt.NDArray[np.int64] | None) -> None:
        self._heading = heading
        self._starts = starts
        self._taken: dict[int, int] = {}
        self._used: set[int] = set()

    @classmethod
    def of(cls, heading: Heading) -> ContentOrder:
        """Return the order of the columns of a table by content."""
        if len(heading.names) > MOST_NUMBERS:
            return cls(heading, None)
        if heading not in _KNOWN:
            _KNOWN[heading] = _group_starts(heading)
        return cls(heading, _KNOWN[heading])

    @classmethod
    def by_column(cls, heading: Heading) -> ContentOrder:
        """Return the order of the columns in the table, by content if there are too many."""
        if len(heading.names) > MOST_NUMBERS:
            return cls(heading, None)
        return cls(heading, np.arange(len(heading.names)))

    def numbers(
        self, new: Sequence[int], places: Sequence[int], codes: Codes, weights: npt.NDArray[np.int64]
    ) -> dict[int, int]:
        """Return the numbers of new columns, by place.

        ``codes`` and ``weights`` are the rows of the columns at ``places``; without weights, the rows of all columns.
        """
        groups: dict[int, list[int]] = {}
        for place in new:
            groups.setdefault(self._start(place), []).append(place)
        alike = [place for group in groups.values() if len(group) > 1 for place in group]
        rows = codes[list(places)] if not len(weights) and alike else codes
        sums = _row_sums(self._heading, alike, places, rows, weights) if alike else {}
        found: dict[int, int] = {}
        for start, group in groups.items():
            for place in sorted(group, key=lambda one: (sums.get(one, 0), order_key(self._heading.names[one]))):
                found[place] = self._next_number(start)
        return found

    def _start(self, place: int) -> int:
        """Return the first number of the group of a column."""
        if self._starts is not None:
            return int(self._starts[place])
        counts = self._heading.totals[place].astype("<i8").tobytes()
        return int.from_bytes(blake2b(counts, digest_size=8).digest(), "little") % MOST_NUMBERS

    def _next_number(self, start: int) -> int:
        """Return the next number of a group, which may be in use by another group only if starts are hashes."""
        number = start + self._taken.get(start, 0)
        if self._starts is None:
            while number % MOST_NUMBERS in self._used:
                number += 1
            self._used.add(number % MOST_NUMBERS)
        self._taken[start] = number - start + 1
        return number if self._starts is not None else number % MOST_NUMBERS


#: The orders of tables in use; all parts learned from one table share them.
_KNOWN: WeakKeyDictionary[Heading, npt.NDArray[np.int64]] = WeakKeyDictionary()


def _group_starts(heading: Heading) -> npt.NDArray[np.int64]:
    """Return the first number of each column's group; columns with the same counts of levels form a group."""
    keys = [totals.astype("<i8", copy=False).tobytes() for totals in heading.totals]
    starts = np.empty(len(keys), np.int64)
    before: bytes | None = None
    start = 0
    for rank, place in enumerate(sorted(range(len(keys)), key=keys.__getitem__)):
        if keys[place] != before:
            before, start = keys[place], rank
        starts[place] = start
    return starts


def _row_sums(
    heading: Heading, alike: Sequence[int], places: Sequence[int], codes: Codes, weights: npt.NDArray[np.int64]
) -> dict[int, int]:
    """Return for each of some columns the sum that distinguishes it from others with the same counts."""
    levels = {place: _levels(heading, place) for place in places}
    sums = dict.fromkeys(alike, np.uint64(0))
    for start in range(0, codes.shape[1], _ROWS_AT_ONCE):
        block = codes[:, start : start + _ROWS_AT_ONCE]
        rows = np.zeros(block.shape[1], np.uint64)
        for column, place in zip(block, places, strict=True):
            rows += levels[place][column]
        rows = mixed(rows)
        if len(weights):
            rows *= weights[start : start + _ROWS_AT_ONCE].astype(np.uint64)
        with np.errstate(over="ignore"):
            for column, place in zip(block, places, strict=True):
                if place in sums:
                    sums[place] += np.dot(rows, levels[place][column])
    return {place: int(one) for place, one in sums.items()}


def _levels(heading: Heading, place: int) -> Words:
    """Return a hash for each level of a column, from the counts of all its levels and the number of the level."""
    counts = heading.totals[place].astype("<i8")
    known = int.from_bytes(blake2b(counts.tobytes(), digest_size=8).digest(), "little")
    return mixed(np.uint64(known) + np.arange(len(counts), dtype=np.uint64) * _SECOND)


def mixed(words: Words) -> Words:
    """Mix the bits of each word."""
    words = (words ^ (words >> _HALF)) * _FIRST
    words = (words ^ (words >> _HALF)) * _SECOND
    return words ^ (words >> _HALF)
