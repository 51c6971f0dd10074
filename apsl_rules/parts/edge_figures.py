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
    what lies behind an edge: a table of counts, boxes of a number by the levels of a category, or points. ``levels``
    tell the levels of a category with their rows, or the quartiles of a number.
    """

    labels: Mapping[Pair, str] = attrs.field(factory=dict)
    effects: Mapping[Pair, list[str]] = attrs.field(factory=dict)
    charts: Mapping[Pair, dict[str, Any]] = attrs.field(factory=dict)
    levels: Mapping[Node, list[tuple[str, str]]] = attrs.field(factory=dict)
