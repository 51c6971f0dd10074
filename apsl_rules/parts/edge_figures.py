"""What a table says of the edges and nodes of a part, as views of the part show it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from apsl_rules.names import Node, Pair


@attrs.frozen(eq=False)
class EdgeFigures:
    """Plain data for views: names and numbers, no objects.

    ``labels`` has the effect along an edge at the target in a few signs, ``effects`` in lines of text. ``charts`` has
    what lies behind an edge: a table of counts, boxes of a number by the levels of a category, or points.
    ``distributions`` has how the values of a node are spread: the rows of each level of a category, or those of each
    interval of a number and its quartiles; and how many rows have none.
    """

    labels: Mapping[Pair, str] = attrs.field(factory=dict)
    effects: Mapping[Pair, list[str]] = attrs.field(factory=dict)
    charts: Mapping[Pair, dict[str, Any]] = attrs.field(factory=dict)
    distributions: Mapping[Node, dict[str, Any]] = attrs.field(factory=dict)
