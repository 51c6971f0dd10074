"""The drawings of one part that the page offers: its near layers if it is large, the part, and everything learned.

Each is laid out for itself, so that what is seen is as large as it can be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from apsl_rules.names import Pair, count_of, in_order
from apsl_rules.parts import Part
from apsl_rules.report.edges import edges_of
from apsl_rules.report.layout import Drawing, lay_out

#: A part with more nodes than this is first shown with its near layers only, up to about as many nodes and so many
#: steps: with more columns, names no longer fit into their boxes.
_AT_ONCE = 40
_STEPS_AT_ONCE = 2
#: A further drawing has at least so many times the nodes of the one before.
_GROWTH = 2.0
_ALMOST_ALL = 0.8


@attrs.frozen
class View:
    """A drawing with what it shows in words; ``outside`` says that it shows what lies beyond the asked depth."""

    words: str
    drawing: Drawing
    outside: bool = False


def views_of(part: Part, texts: Mapping[Pair, str]) -> tuple[View, ...]:
    """Return the drawings of a part, from the smallest to that of everything the run ever drew."""
    edges = edges_of(part)
    within = [edge for edge in edges if edge.within]
    views = []
    for reach in _reaches(part):
        near = tuple(node for node in part.members if part.distances[node] <= reach)
        words = f"{count_of(reach, 'step')} around the target: {count_of(len(near), 'node')}"
        views.append(View(words, lay_out(part, near, within, texts)))
    words = f"the part: {count_of(len(part.members), 'node')}"
    views.append(View(words, lay_out(part, part.members, within, texts)))
    everyone = in_order({part.target, *part.visited, *(node for edge in edges for node in edge.pair)})
    if len(within) < len(edges) or everyone != part.members:
        words = f"also what lies beyond: {count_of(len(everyone), 'node')}"
        views.append(View(words, lay_out(part, everyone, edges, texts), outside=True))
    return tuple(views)


def _reaches(part: Part) -> Iterator[int]:
    """Return how many steps the drawings of near layers show, for a large part."""
    distances = sorted(part.distances[node] for node in part.members)
    shown = 0
    if len(distances) <= _AT_ONCE:
        return
    sizes = {reach: sum(one <= reach for one in distances) for reach in sorted(set(distances)) if reach}
    near = (reach for reach, size in sizes.items() if size <= _AT_ONCE and reach <= _STEPS_AT_ONCE)
    first = max(near, default=min(sizes))
    for reach, size in sizes.items():
        if reach >= first and size >= _GROWTH * shown and size <= _ALMOST_ALL * len(distances):
            yield reach
            shown = size
