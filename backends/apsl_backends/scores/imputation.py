"""Fill in missing values, so that scores of different families use the same rows.

Missing values get levels in proportion to the frequencies of the levels in rows that agree on the columns most
associated with theirs. Columns that were filled in before count there, so rows that lack both columns of a pair become
like the rows that have both. A hash of the row decides which row gets which level, so the order of rows does not
matter. Each column has its own hash: otherwise rows that lack two columns would get both in the same order, as if one
told the other. Tests are not affected: they leave out rows with missing values.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from apsl_backends.scores.content_order import mixed
from apsl_rules.data import Codes
from apsl_rules.data.counts import collapse

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
    freedom = (np.count_nonzero(rows) - 1) * (np.count_nonzero(columns) - 1)
    return round(float((both * np.log(both / expected)).sum() - freedom / (2 * total)), 9)


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
