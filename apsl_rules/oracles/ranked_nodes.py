"""The nodes of an oracle with their places in the order of names, worked out once for all runs that ask it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Self

import attrs

from apsl_rules.names import Node, check_labels, order_key


@attrs.frozen(eq=False)
class RankedNodes:
    """Nodes in the order of the source, and the place of each in the order of names."""

    nodes: tuple[Node, ...]
    rank: Mapping[Node, int]

    @classmethod
    def of(cls, nodes: Iterable[Node]) -> Self:
        """Check the labels of nodes and rank them."""
        listed = tuple(nodes)
        check_labels(listed)
        ranks = {node: rank for rank, node in enumerate(sorted(listed, key=order_key))}
        return cls(listed, ranks)
