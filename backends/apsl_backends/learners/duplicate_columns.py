"""Duplicate columns: those that agree with another one in every row, up to the names of their levels.

Given a duplicate of a node, every test finds that node independent of all others, so duplicates would hide each other's
neighbours. Therefore candidates are sought with one column of each group, the first by name, and all its duplicates
share them. No data can tell which of the duplicates has an edge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from weakref import WeakKeyDictionary

import attrs
import numpy as np

from apsl_rules.data import Table, find_duplicates
from apsl_rules.data.counts import CachedCounts, Heading
from apsl_rules.names import Node, in_order


@attrs.frozen
class DuplicateColumns:
    """Groups of duplicate columns: each of their nodes with all of its group, sorted by name."""

    groups: Mapping[Node, tuple[Node, ...]]

    @classmethod
    def among(cls, data: Table | CachedCounts) -> DuplicateColumns:
        """Find the duplicates in a table, or by counts; the result is cached."""
        key = data if isinstance(data, Table) else data.heading
        if key not in _KNOWN:
            groups = find_duplicates(data, data.names) if isinstance(data, Table) else _duplicates(data)
            _KNOWN[key] = cls({node: group for group in groups for node in group})
        return _KNOWN[key]

    @property
    def hidden(self) -> frozenset[Node]:
        """Return the duplicates that another column represents."""
        return frozenset(node for node, group in self.groups.items() if node != group[0])

    def representative(self, node: Node) -> Node:
        """Return the column that represents a node: itself, or the first of its duplicates."""
        return self.groups.get(node, (node,))[0]

    def around(self, node: Node, candidates: Callable[[Node], Iterable[Node]]) -> list[Node]:
        """Return the candidates of a node: those of its representative, their duplicates, and its own duplicates."""
        group = self.groups.get(node, (node,))
        found = [group[0], *candidates(group[0])]
        around = dict.fromkeys(one for other in found for one in self.groups.get(other, (other,)))
        return [one for one in around if one != node]


#: The duplicates in tables in use; all parts learned from one table share them.
_KNOWN: WeakKeyDictionary[Table | Heading, DuplicateColumns] = WeakKeyDictionary()


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
