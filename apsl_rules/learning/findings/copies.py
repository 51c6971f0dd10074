"""Copies of a column: one of each group is looked at, since given a copy nothing can be tested of the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Self

import attrs

from apsl_rules.evidence import EITHER, SAME
from apsl_rules.names import Node
from apsl_rules.plugins import Context
from apsl_rules.rules import Finding, duplicate, untested


@attrs.frozen
class Copies:
    """Groups of columns that agree in every row: each of their nodes with its group, and those that are ``left_out``.

    The target stands for its group, the first by name for any other; a column that knowledge requires an edge at is
    not left out. A published algorithm whose outcome depends on order looks at all columns.
    """

    groups: Mapping[Node, tuple[Node, ...]]
    left_out: frozenset[Node]

    @classmethod
    def known_to(cls, context: Context) -> Self:
        """Return the copies in the table of a run."""
        if context.data is None or context.spec.rules.conflicts in ("first", "last"):
            return cls({}, frozenset())
        required = frozenset(chain.from_iterable(context.knowledge.required))
        groups = {node: tuple(group) for group in context.data.duplicates() for node in group}
        kept = {context.target if context.target in group else group[0] for group in groups.values()}
        return cls(groups, frozenset(groups) - kept - required)

    def hidden_in(self, context: Context) -> Context:
        """Return a context whose finder makes no candidates of those that are left out."""
        return attrs.evolve(context, finder_settings=attrs.evolve(context.finder_settings, hidden=self.left_out))

    def at(self, node: Node, around: Iterable[Node]) -> Iterator[Finding]:
        """Tell the copies of a node, and that any copy of its neighbours may be adjacent to it as well."""
        for twin in self._twins(node):
            yield Finding(duplicate.fact(node, twin), SAME)
            yield Finding(untested.fact(node, twin), SAME)
        for other in around:
            yield from (Finding(untested.fact(node, twin), EITHER) for twin in self._twins(other) if twin != node)

    def _twins(self, node: Node) -> list[Node]:
        return [one for one in self.groups.get(node, ()) if one != node and one in self.left_out]
