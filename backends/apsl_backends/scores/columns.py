"""Columns under a score: their order by content, and what becomes of missing values.

Ordered by content, names only break ties between columns that nothing else distinguishes.
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

from collections.abc import Collection, Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import combinations, pairwise
from math import log
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from apsl_backends.kernels.bindings.scores import MOST_NUMBERS
from apsl_rules.data import FEWEST_TOGETHER, Codes, CountedDataset, Dataset
from apsl_rules.data.counts import Heading, collapse
from apsl_rules.evidence import ROWS, Evidence
from apsl_rules.names import Node, Pair, count_of, order_key

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
    levels = {place: _level_hashes(heading, place) for place in places}
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


def _level_hashes(heading: Heading, place: int) -> Words:
    """Return a hash for each level of a column, from the counts of all its levels and the number of the level."""
    counts = heading.totals[place].astype("<i8")
    known = int.from_bytes(blake2b(counts.tobytes(), digest_size=8).digest(), "little")
    return mixed(np.uint64(known) + np.arange(len(counts), dtype=np.uint64) * _SECOND)


def mixed(words: Words) -> Words:
    """Mix the bits of each word."""
    words = (words ^ (words >> _HALF)) * _FIRST
    words = (words ^ (words >> _HALF)) * _SECOND
    return words ^ (words >> _HALF)


#: The fewest rows that tell anything of two columns without missing values, one of them a number.
FEWEST_COMPLETE = 15
#: How many of the rows of a family an edge may rest on besides those with both its ends.
_OF_FAMILY = 2


class JointRows:
    """Counts the rows in which columns of a table are all there, each set of columns once."""

    def __init__(self, data: Dataset) -> None:
        self._data = data
        self._has_numbers = "moments" in data.can
        self.rows, self._names, self._place, self._missing = data.rows, data.names, data.place, data.missing
        self._known: dict[tuple[int, ...], int] = {}

    def is_complete(self, nodes: Iterable[Node]) -> bool:
        """Return whether no value of some columns is missing."""
        return not self._missing[[self._place[node] for node in nodes]].any()

    def of(self, sets: Sequence[Collection[Node]]) -> list[int]:
        """Return the rows in which all columns of each set are there."""
        gaps = [tuple(sorted(at for node in one if self._missing[at := self._place[node]])) for one in sets]
        new = sorted({one for one in gaps if len(one) > 1} - self._known.keys())
        if new:
            self._known.update(zip(new, self._data.complete(new), strict=True))
        return [self._known[one] if len(one) > 1 else self.rows - int(self._missing[list(one)].sum()) for one in gaps]

    def mean(self, nodes: Collection[Node]) -> float:
        """Return the mean number of rows in which two of some columns are there, of pairs that are compared."""
        if self.is_complete(nodes):
            return float(self.rows)
        together = [rows for rows in self.of(list(combinations(nodes, 2))) if rows >= FEWEST_TOGETHER]
        return sum(together) / len(together) if together else 0.0

    def too_few_among(self, nodes: Collection[Node]) -> dict[Pair, int]:
        """Return the pairs of columns that are seen together in too few rows to compare them, with these rows."""
        return self._too_few(combinations(nodes, 2))

    def too_few_at(self, node: Node) -> dict[Pair, int]:
        """Return the pairs of a column with any other that are seen together in too few rows, with these rows."""
        return self._too_few((node, other) for other in self._names if other != node)

    def behind(self, edges: Sequence[tuple[Node, Node, Collection[Node]]]) -> list[int]:
        """Return the rows that speak for each edge: those with both ends, and at most twice those of its family."""
        both = self.of([edge[:2] for edge in edges])
        whole = self.of([{x, y, *given} for x, y, given in edges])
        return [min(one, _OF_FAMILY * other) for one, other in zip(both, whole, strict=True)]

    def show(self, x: Node, y: Node, price: float) -> bool:
        """Return whether rows with both columns pay for an edge by themselves, where most rows lack one of the two.

        Values are filled in from few rows then, and what these have by chance is seen again in all others.
        """
        if self._has_numbers or 2 * self.of([(x, y)])[0] >= self.rows:
            return True
        counts = _pair_counts(self._data.categories, self._place[x], self._place[y])
        total = float(counts.sum())
        return total * _information(counts) >= _freedom(counts) * (log(max(total, 1.0)) - 1) / 2 + price

    def _too_few(self, pairs: Iterable[tuple[Node, Node]]) -> dict[Pair, int]:
        """Find pairs with too few rows; most have so many values that they need not be counted."""
        doubtful = list(self._possibly(pairs))
        counted = zip(doubtful, self.of(doubtful), strict=True)
        return {frozenset(pair): rows for pair, rows in counted if rows < self._fewest(pair)}

    def _possibly(self, pairs: Iterable[tuple[Node, Node]]) -> Iterator[tuple[Node, Node]]:
        most = self.rows - FEWEST_TOGETHER
        if 2 * int(self._missing.max(initial=0)) <= most:
            return
        gone, place = self._missing.tolist(), self._place
        yield from (pair for pair in pairs if gone[place[pair[0]]] + gone[place[pair[1]]] > most)

    def _fewest(self, pair: tuple[Node, Node]) -> int:
        is_complete = self._has_numbers and self.is_complete(pair)
        return FEWEST_COMPLETE if is_complete else FEWEST_TOGETHER


def _pair_counts(data: CountedDataset, x: int, y: int) -> npt.NDArray[np.float64]:
    """Count the levels of two columns in the rows that have both."""
    joint, cards = data.joint((x, y)), data.heading.cards[[x, y]]
    known = (joint.codes < cards[:, None]).all(axis=0)
    keys = joint.codes[0, known].astype(np.int64) * int(cards[1]) + joint.codes[1, known]
    return np.bincount(keys, joint.weights[known], int(cards.prod())).reshape(cards.tolist())


def seen_too_rarely(rows: int) -> Evidence:
    """Return why a pair that is seen together in so many rows is unknown."""
    return Evidence(ROWS, note=f"seen together in {count_of(rows, 'row')}, too few to compare them")


#: Why a pair of columns with hundreds of levels each is unknown.
TOO_MANY_LEVELS = Evidence(ROWS, note="so many combinations of their levels that hardly two rows share one")


def pays_too_little(rows: int) -> Evidence:
    """Return why an edge that a search found is unknown, though the covariance or filled-in values speak for it."""
    return Evidence(ROWS, note=f"the {count_of(rows, 'row')} that speak for an edge are too few for what it gains")


Integers: TypeAlias = npt.NDArray[np.int64]

#: The most columns that rows must agree on, and the fewest rows in which such a combination must occur.
_PARTNERS, _FEWEST = 3, 5
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


def impute(codes: Codes, cards: Integers, weights: Integers) -> tuple[Codes, Integers]:
    """Return the distinct rows of a table after imputation, and how many rows each represents.

    ``codes`` has distinct rows, in which the code after the last level is a missing value, and ``weights`` their
    frequencies. The order of the columns must not depend on their names.
    """
    spans = (cards + 1).tolist()
    codes, weights = collapse(codes, spans, weights)
    is_missing = codes == cards[:, None].astype(codes.dtype)
    incomplete = is_missing.any(axis=0)
    filled: Any = np.repeat(codes[:, incomplete], weights[incomplete], axis=1)
    hashes = _hashes(filled)
    out = filled.copy()
    for column in np.flatnonzero(is_missing.any(axis=1)).tolist():
        partners = _partners(codes, cards, weights, column)
        rows = np.flatnonzero(filled[column] == cards[column])
        rows = rows[np.argsort(mixed(hashes[rows] ^ mixed(np.array([column], np.uint64))), kind="stable")]
        out[column, rows] = _levels(codes, cards, weights, out[:, rows], column=column, partners=partners)
    together = np.concatenate([codes[:, ~incomplete], out], axis=1)
    counts = np.concatenate([weights[~incomplete], np.ones(out.shape[1], np.int64)])
    return collapse(together, cards.tolist(), counts)


def _hashes(rows: Codes) -> npt.NDArray[np.uint64]:
    """Return a pseudo-random number for each row; equal rows get different ones by counting them."""
    found = np.zeros(rows.shape[1], np.uint64)
    for column in rows:
        found = mixed(found ^ column.astype(np.uint64))
    _, first, inverse = np.unique(found, return_index=True, return_inverse=True)
    again = np.arange(len(found)) - first[inverse]  # equal rows follow each other
    return (found + again.astype(np.uint64) * _SPREAD) * _SPREAD


def _partners(codes: Codes, cards: Integers, weights: Integers, column: int) -> list[int]:
    """Return the columns most associated with a column, best first."""
    gains = []
    for other in range(len(codes)):
        if other == column:
            continue
        known = (codes[column] < cards[column]) & (codes[other] < cards[other])
        keys = codes[column, known].astype(np.int64) * int(cards[other]) + codes[other, known]
        table = np.bincount(keys, weights[known], int(cards[column] * cards[other])).astype(np.float64)
        gains.append((-_information(table.reshape(int(cards[column]), int(cards[other]))), other))
    return [other for gain, other in sorted(gains)[:_PARTNERS] if gain < 0]


def _information(table: npt.NDArray[np.float64]) -> float:
    """Return the mutual information of a table of counts, in nats, minus its bias."""
    total = table.sum()
    if not total:
        return 0.0
    both = table[table > 0] / total
    rows, columns = table.sum(axis=1) / total, table.sum(axis=0) / total
    expected = np.outer(rows, columns)[table > 0]
    return round(float((both * np.log(both / expected)).sum() - _freedom(table) / (2 * total)), 9)


def _freedom(table: npt.NDArray[np.float64]) -> int:
    """Return the degrees of freedom of a table of counts."""
    rows, columns = np.count_nonzero(table.sum(axis=1)), np.count_nonzero(table.sum(axis=0))
    return (int(rows) - 1) * (int(columns) - 1)


def _levels(
    codes: Codes, cards: Integers, weights: Integers, rows: Codes, *, column: int, partners: list[int]
) -> npt.NDArray[np.integer]:
    """Choose the levels of a column for rows that lack it, from rows that agree on all partners or on the first few."""
    found = np.full(rows.shape[1], -1, np.int64)
    known = codes[column] < cards[column]
    for size in range(len(partners), -1, -1):
        open_rows = np.flatnonzero(found < 0)
        if not len(open_rows):
            break
        own, theirs = _keys(codes[:, known], rows[:, open_rows], cards, partners[:size])
        for key in np.unique(theirs).tolist():
            donors = own == key
            counts = np.bincount(codes[column, known][donors], weights[known][donors], int(cards[column])).astype(float)
            if counts.sum() >= _FEWEST or not size:
                takers = open_rows[theirs == key]
                found[takers] = _share_out(counts, len(takers))
    return found


def _keys(
    one: Codes, other: Codes, cards: Integers, columns: list[int]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return numbers for the combinations of some columns in two sets of rows, equal if the combinations are."""
    own, theirs = (np.zeros(rows.shape[1], np.int64) for rows in (one, other))
    for column in columns:
        own = own * (int(cards[column]) + 1) + one[column]
        theirs = theirs * (int(cards[column]) + 1) + other[column]
    return own, theirs


def _share_out(counts: npt.NDArray[np.float64], size: int) -> npt.NDArray[np.int64]:
    """Return levels for ``size`` rows in proportion to their counts."""
    if not counts.sum():
        return np.zeros(size, np.int64)
    ends = np.rint(np.concatenate([[0.0], np.cumsum(counts)]) / counts.sum() * size).astype(np.int64)
    return np.repeat(np.arange(len(counts)), [last - first for first, last in pairwise(ends.tolist())])
