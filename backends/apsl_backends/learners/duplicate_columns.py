"""Duplicate columns: those that agree with another one in every row, up to the names of their levels.

Numbers are duplicates if they put the rows in the same order or in the reverse one, such as degrees Celsius and
Fahrenheit. Few rows agree by chance, so columns with fewer than FEWEST_TOGETHER values are no duplicates.

Given a duplicate of a node, every test finds that node independent of all others, so duplicates would hide each other's
neighbours. Therefore candidates are sought with one column of each group, the first by name, and all its duplicates
share them. No data can tell which of the duplicates has an edge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from weakref import WeakKeyDictionary

import attrs
import numpy as np
import numpy.typing as npt

from apsl_backends.scores.missing_values import FEWEST_TOGETHER, JointRows
from apsl_rules.data import MixedTable, Table, find_duplicates
from apsl_rules.data.counts import CachedCounts, Heading
from apsl_rules.data.moments import ComparesColumns, MomentHeading, MomentSource
from apsl_rules.names import Node, in_order


@attrs.frozen
class DuplicateColumns:
    """Groups of duplicate columns: each of their nodes with all of its group, sorted by name.

    Only the first of a group is a candidate of others if the rest is ``left_out``.
    """

    groups: Mapping[Node, tuple[Node, ...]]
    left_out: bool = False

    @classmethod
    def among(cls, data: Table | MixedTable | CachedCounts | MomentSource) -> DuplicateColumns:
        """Find the duplicates in a table, by counts, or by moments of complete columns; the result is cached."""
        key = data if isinstance(data, Table | MixedTable) else data.heading
        if key not in _KNOWN:
            _KNOWN[key] = cls({node: group for group in _with_rows(data) for node in group})
        return _KNOWN[key]

    def without_others(self, target: Node) -> DuplicateColumns:
        """Return the groups of which only the first is a candidate: by name, or the target."""
        first = {node: tuple(sorted(group, key=lambda one: one != target)) for node, group in self.groups.items()}
        return DuplicateColumns(first, left_out=True)

    @property
    def hidden(self) -> frozenset[Node]:
        """Return the duplicates that another column represents."""
        return frozenset(node for node, group in self.groups.items() if node != group[0])

    def representative(self, node: Node) -> Node:
        """Return the column that represents a node: itself, or the first of its duplicates."""
        return self.groups.get(node, (node,))[0]

    def around(self, node: Node, candidates: Callable[[Node], Iterable[Node]]) -> list[Node]:
        """Return the candidates of a node: those of its representative, their duplicates, and its own duplicates."""
        if self.left_out:
            return list(candidates(node))
        group = self.groups.get(node, (node,))
        found = [group[0], *candidates(group[0])]
        around = dict.fromkeys(one for other in found for one in self.groups.get(other, (other,)))
        return [one for one in around if one != node]


#: The duplicates in tables in use; all parts learned from one table share them.
_KNOWN: WeakKeyDictionary[Table | MixedTable | Heading | MomentHeading, DuplicateColumns] = WeakKeyDictionary()
#: What is left of the variance of a duplicate given the other column: nothing but rounding.
_ROUNDING = 1e-9


def _with_rows(data: Table | MixedTable | CachedCounts | MomentSource) -> list[tuple[Node, ...]]:
    """Return the groups whose columns have values in enough rows to be compared with others."""
    from apsl_backends.engines.choose_moments import moments_of

    rows = JointRows(moments_of(data) if isinstance(data, MixedTable) else data)
    groups = list(_groups(data)) if rows.rows >= FEWEST_TOGETHER else []
    return [group for group, seen in zip(groups, rows.of([group[:1] for group in groups]), strict=True)
            if seen >= FEWEST_TOGETHER]  # fmt: skip


def _groups(data: Table | MixedTable | CachedCounts | MomentSource) -> Sequence[tuple[Node, ...]]:
    if isinstance(data, CachedCounts):
        return _duplicates(data)
    if isinstance(data, MixedTable):
        categories = data.categories
        return [*find_duplicates(categories, categories.names), *_duplicate_numbers(data)]
    if isinstance(data, MomentSource):
        return _duplicates_by_moments(data)
    return find_duplicates(data, data.names)


def _duplicates_by_moments(source: MomentSource) -> list[tuple[Node, ...]]:
    """Find groups by comparing columns, or by the moments of complete ones if the source does not compare."""
    heading = source.heading
    if not isinstance(source, ComparesColumns):
        groups = _complete_duplicates(source)
    else:
        alike: dict[tuple[bool, int, int], list[int]] = {}
        for place in np.flatnonzero(heading.widths > 0).tolist():
            key = bool(heading.is_number[place]), int(heading.widths[place]), int(heading.missing[place])
            alike.setdefault(key, []).append(place)
        groups = source.duplicates([places for places in alike.values() if len(places) > 1])
    return [in_order(heading.names[place] for place in group) for group in groups]


def _complete_duplicates(source: MomentSource) -> list[list[int]]:
    """Find groups of complete columns that determine each other, if the table is not too wide."""
    from apsl_backends.engines.choose_moments import moments_of

    moments, heading = moments_of(source), source.heading
    places = np.flatnonzero((heading.missing == 0) & (heading.widths > 0)).tolist() if moments.has_matrix else []
    matrix = moments.covariance(places)
    ends = np.cumsum(heading.widths[places]).tolist()
    alike: dict[tuple[bool, int], list[tuple[int, list[int]]]] = {}
    for place, end in zip(places, ends, strict=True):
        is_number, width = bool(heading.is_number[place]), int(heading.widths[place])
        columns = list(range(end - width, end - width + (1 if is_number else width)))
        alike.setdefault((is_number, len(columns)), []).append((place, columns))
    groups: list[list[tuple[int, list[int]]]] = []
    for blocks in alike.values():
        found: list[list[tuple[int, list[int]]]] = []
        for block in blocks:
            group = next((one for one in found if _is_determined(matrix, one[0][1], block[1])), None)
            if group is None:
                found.append([block])
            else:
                group.append(block)
        groups += found
    return [[place for place, _ in group] for group in groups if len(group) > 1]


def _is_determined(matrix: npt.NDArray[np.float64], given: list[int], columns: list[int]) -> bool:
    """Return whether nothing is left of the variance of some columns given as many others."""
    first, other = columns[0], given[0]
    if len(columns) == 1:
        share = matrix[first, other] ** 2 / (matrix[first, first] * matrix[other, other])
        return bool(share > 1 - _ROUNDING)
    cross = matrix[np.ix_(given, columns)]
    explained = cross.T @ np.linalg.lstsq(matrix[np.ix_(given, given)], cross, rcond=None)[0]
    variances = np.diag(matrix)[columns]
    return bool((variances - np.diag(explained) < _ROUNDING * variances).all())


def _duplicate_numbers(table: MixedTable) -> list[tuple[Node, ...]]:
    """Find the groups of numbers that order the rows alike; only those with the same extreme rows are compared."""
    alike: dict[tuple[int, int], list[int]] = {}
    for place, values in enumerate(table.numbers):
        present = np.flatnonzero(~np.isnan(values))
        low, high = sorted((int(present[values[present].argmin()]), int(present[values[present].argmax()])))
        alike.setdefault((low, high), []).append(place)
    groups: dict[bytes, list[Node]] = {}
    for places in alike.values():
        for place in places if len(places) > 1 else ():
            groups.setdefault(_order_of(table.numbers[place]), []).append(table.number_names[place])
    return [in_order(group) for group in groups.values() if len(group) > 1]


def _order_of(values: npt.NDArray[np.float64]) -> bytes:
    """Return a digest of the order in which a number puts the rows, the same for the reverse order."""
    ranks = np.unique(values, return_inverse=True)[1]
    ranks = np.where(np.isnan(values), -1, ranks)
    last, first = int(ranks.max()), int(ranks[ranks >= 0][0])
    if last - first < first:
        ranks = np.where(ranks < 0, ranks, last - ranks)
    return blake2b(ranks.astype("<i8").tobytes(), digest_size=16).digest()


def _duplicates(kept: CachedCounts) -> list[tuple[Node, ...]]:
    """Find groups by counts: duplicates have equal counts of levels, and as many combinations as levels."""
    groups: list[list[int]] = []
    for places in _alike(kept.heading):
        kept.fetch([(places[0], other) for other in places[1:]])
        groups += _split(kept, places)
    return [in_order(kept.heading.names[place] for place in group) for group in groups]


def _alike(heading: Heading) -> list[list[int]]:
    """Return groups of columns that are not constant, with equal counts of levels and of missing values."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for place, (totals, card) in enumerate(zip(heading.totals, heading.cards.tolist(), strict=True)):
        counts = totals.tolist()
        levels = sorted(filter(None, counts[:card]))
        if len(levels) > 1:
            groups.setdefault((sum(counts[card:]), *levels), []).append(place)
    return [places for places in groups.values() if len(places) > 1]


def _split(kept: CachedCounts, places: list[int]) -> list[list[int]]:
    """Split columns with equal counts into groups of duplicates; those without a duplicate are left out."""
    groups: list[list[int]] = []
    for place in places:
        for group in groups:
            if _are_duplicates(kept, group[0], place):
                group.append(place)
                break
        else:
            groups.append([place])
    return [group for group in groups if len(group) > 1]


def _are_duplicates(kept: CachedCounts, one: int, other: int) -> bool:
    """Return whether each level of a column meets one level of another, and missing values meet each other."""
    joint, cards = kept.joint([one, other]), kept.heading.cards
    is_missing = [joint.codes[at] == cards[place] for at, place in enumerate((one, other))]
    levels = np.count_nonzero(kept.heading.totals[one])
    return len(joint.weights) == levels and bool((is_missing[0] == is_missing[1]).all())
