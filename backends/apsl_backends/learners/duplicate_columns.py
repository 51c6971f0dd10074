"""Duplicate columns: those that agree with another one in every row, up to the names of their levels.

Numbers are duplicates if they put the rows in the same order or in the reverse one, such as degrees Celsius and
Fahrenheit. Few rows agree by chance, so columns with fewer than FEWEST_TOGETHER values are no duplicates.

Given a duplicate of a node, every test finds that node independent of all others, so duplicates would hide each other's
neighbours. Therefore candidates are sought with one column of each group, the first by name, and all its duplicates
share them. No data can tell which of the duplicates has an edge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import attrs

from apsl_rules.data import Dataset
from apsl_rules.names import Node


@attrs.frozen
class DuplicateColumns:
    """Groups of duplicate columns: each of their nodes with all of its group, sorted by name.

    Only the first of a group is a candidate of others if the rest is ``left_out``.
    """

    groups: Mapping[Node, tuple[Node, ...]]
    left_out: bool = False

    @classmethod
    def among(cls, data: Dataset) -> DuplicateColumns:
        """Return the duplicates in a dataset."""
        return cls({node: group for group in data.duplicates() for node in group})

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
