"""Columns that divide or order the rows alike, found part by part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from hashlib import blake2b
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from apsl_backends.engines.engine import Part, Rows
from apsl_backends.kernels.bindings.embedded import CategoryColumn, NumberColumn
from apsl_rules.data.duplicates import Pairs, compare, split

#: The signs that fit so far, or the codes that meet; a missing value has the code -1.
Agreement: TypeAlias = frozenset[int] | frozenset[tuple[int, int]]

_FIRST = 4096
#: Far above the rounding of scores, far below the distance of scores of a billion rows.
_ROUNDING = 1e-12


def duplicates(rows: Rows, groups: Sequence[Sequence[int]], is_number: npt.NDArray[np.bool_]) -> list[list[int]]:
    """Return the groups of duplicates among the columns of each given group."""
    asked = sorted({place for group in groups for place in group})
    patterns = dict(zip(asked, rows.first(asked, first_patterns), strict=True)) if asked else {}
    alike = [one for group in groups for one in split(group, (patterns[place] for place in group))]
    return compare(alike, lambda pairs: _compare_all(rows, pairs, is_number))


def _compare_all(rows: Rows, pairs: Pairs, is_number: npt.NDArray[np.bool_]) -> list[bool]:
    """Return whether the two columns of each pair are duplicates."""
    used = sorted({place for pair in pairs for place in pair})
    number = {place: at for at, place in enumerate(used)}
    asked = [(number[one], number[other]) for one, other in pairs]
    answers = list(rows.fold(used, partial(compare_pairs, pairs=asked)))
    return [
        are_duplicates((answer[at] for answer in answers), is_number=bool(is_number[pair[0]]))
        for at, pair in enumerate(pairs)
    ]


def first_patterns(part: Part) -> list[bytes]:
    """Return a digest of how each column divides or orders the first rows; duplicates have the same."""
    return [_digest(_ranks(one) if isinstance(one, NumberColumn) else _classes(one)) for one in part]


def compare_pairs(part: Part, pairs: Pairs) -> list[Agreement]:
    """Return how the two columns of each pair agree in a part."""
    return [_compare(part[one], part[other]) for one, other in pairs]


def are_duplicates(agreements: Iterable[Agreement], *, is_number: bool) -> bool:
    """Return whether two columns are duplicates, by their agreement in all parts."""
    parts = list(agreements)
    if is_number:
        return bool(parts) and bool(frozenset.intersection(*parts))
    links = {link for part in parts for link in part if isinstance(link, tuple)}
    one_to_one = len({one for one, _ in links}) == len({other for _, other in links}) == len(links)
    return one_to_one and all((one < 0) == (other < 0) for one, other in links)


def _compare(one: NumberColumn | CategoryColumn, other: NumberColumn | CategoryColumn) -> Agreement:
    if isinstance(one, NumberColumn) and isinstance(other, NumberColumn):
        return frozenset(sign for sign in (1, -1) if _are_equal(one.values, sign * other.values))
    if isinstance(one, CategoryColumn) and isinstance(other, CategoryColumn):
        first, second = _codes(one), _codes(other)
        span = int(second.max(initial=0)) + 2
        met = np.unique((first + 1) * span + second + 1)
        return frozenset((int(link) // span - 1, int(link) % span - 1) for link in met)
    return frozenset()


def _are_equal(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> bool:
    gone = np.isnan(one)
    if not np.array_equal(gone, np.isnan(other)):
        return False
    return bool((np.abs(one - other)[~gone] <= _ROUNDING * np.maximum(1.0, np.abs(one[~gone]))).all())


def _codes(column: CategoryColumn) -> npt.NDArray[np.int64]:
    """Return codes, -1 for missing values."""
    codes = column.codes.astype(np.int64)
    return np.where(codes < column.indicators.size, codes, -1)


def _classes(column: CategoryColumn) -> npt.NDArray[np.int64]:
    """Return the first rows by the level that each has, numbered as they occur; -1 for missing values."""
    codes = _codes(column._replace(codes=column.codes[:_FIRST]))
    levels, first, numbers = np.unique(codes, return_index=True, return_inverse=True)
    order = np.empty(len(levels), np.int64)
    order[np.argsort(first)] = np.arange(len(levels))
    return np.where(codes < 0, -1, order[numbers])


def _ranks(column: NumberColumn) -> npt.NDArray[np.int64]:
    """Return the ranks of the first rows, those of the reverse order if these begin lower; -1 for missing values."""
    values = column.values[:_FIRST]
    gone = np.isnan(values)
    ranks = np.where(gone, -1, np.unique(values, return_inverse=True)[1])
    reverse = np.where(gone, -1, ranks.max(initial=0) - ranks)
    return ranks if ranks.tolist() <= reverse.tolist() else reverse


def _digest(numbers: npt.NDArray[np.int64]) -> bytes:
    return blake2b(numbers.astype("<i8").tobytes(), digest_size=16).digest()
