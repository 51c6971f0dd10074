"""Columns that say the same as another one, whatever their levels are called.

Given a copy of a node, every test finds that node independent of all others, so tests among copies would cut off each
other's neighbours. Candidates are therefore looked for with one column of each group, the first by name, and all its
copies share them. Which of the copies an edge is at, no rows can tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from weakref import WeakKeyDictionary

import attrs

from apsl_rules.data import Table
from apsl_rules.names import Node


@attrs.frozen
class Copies:
    """Groups of columns that say the same: for each of their nodes, all of the group, the first by name first."""

    groups: Mapping[Node, tuple[Node, ...]]

    @classmethod
    def among(cls, table: Table | None) -> Copies:
        """Find the copies in a table, once; without a table there are none."""
        from apsl_rules.data import describe

        if table is None:
            return cls({})
        if table not in _KNOWN:
            _KNOWN[table] = cls({node: group for group in describe(table).duplicates for node in group})
        return _KNOWN[table]

    @property
    def hidden(self) -> frozenset[Node]:
        """Return those that another column stands for."""
        return frozenset(node for node, group in self.groups.items() if node != group[0])

    def around(self, node: Node, candidates: Callable[[Node], Iterable[Node]]) -> list[Node]:
        """Return the candidates of a node: those of the column that stands for it, with their copies, and its own."""
        group = self.groups.get(node, (node,))
        found = [group[0], *candidates(group[0])]
        around = dict.fromkeys(one for other in found for one in self.groups.get(other, (other,)))
        return [one for one in around if one != node]


#: The copies of tables that are in use: all parts from one table share them.
_KNOWN: WeakKeyDictionary[Table, Copies] = WeakKeyDictionary()
