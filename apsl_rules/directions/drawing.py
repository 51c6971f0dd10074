"""Which arrows are drawn where hidden causes are possible: given ones, and likely ones that claim nothing unfound."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import groupby

import attrs

from apsl_rules.cycles import cyclic_groups
from apsl_rules.names import Node, Pair, order_key

Arrow = tuple[Node, Node]

#: The least probability of a direction for it to be drawn as an arrow, to be "precise", and to be suggested.
DRAWN, PRECISE, SUGGESTED = 0.75, 0.9, 0.6


@attrs.frozen
class Drawing:
    """The arrows that are drawn, and the directions of lines that are suggested, each with its probability."""

    arrows: Mapping[Arrow, float]
    suggested: Mapping[Arrow, float]


def draw(
    edges: Collection[Pair],
    decided: Collection[Arrow],
    likely: Mapping[Arrow, float],
    found: Collection[tuple[Node, Node, Node]],
    least: float = DRAWN,
) -> Drawing:
    """Return the drawing of some edges.

    ``decided`` arrows are drawn in any case. Of the other edges, ``likely`` has the probability of the likelier
    direction; the likeliest are drawn first, equally likely ones together. One that would close a cycle, or make a
    V-structure that is not ``found``, is only suggested.
    """
    drawn = dict.fromkeys(decided, 1.0)
    into: dict[Node, set[Node]] = {}
    for tail, head in drawn:
        into.setdefault(head, set()).add(tail)
    pairs = frozenset(edges)
    colliders = {triple for x, middle, y in found for triple in ((x, middle, y), (y, middle, x))}

    def fits(arrow: Arrow, others: Iterable[Node]) -> bool:
        tail, head = arrow
        return all(
            other == tail or frozenset((tail, other)) in pairs or (tail, head, other) in colliders for other in others
        )

    ranked = sorted(((share, one) for one, share in likely.items() if share >= least), key=_by_share)
    for share, group in groupby(ranked, key=lambda item: item[0]):
        fitting = [one for _, one in group if fits(one, into.get(one[1], ()))]
        together: dict[Node, set[Node]] = {}
        for tail, head in fitting:
            together.setdefault(head, set()).add(tail)
        kept = [one for one in fitting if fits(one, together[one[1]])]
        circles = cyclic_groups([*drawn, *kept])
        for tail, head in kept:
            if not any({tail, head} <= circle for circle in circles):
                drawn[tail, head] = share
                into.setdefault(head, set()).add(tail)
    return Drawing(drawn, dict(_suggestions(likely, drawn)))


def _by_share(item: tuple[float, Arrow]) -> tuple[float, object, object]:
    share, (tail, head) = item
    return -share, order_key(tail), order_key(head)


def _suggestions(likely: Mapping[Arrow, float], drawn: Collection[Arrow]) -> Iterator[tuple[Arrow, float]]:
    for arrow, share in sorted(likely.items(), key=lambda item: _by_share((item[1], item[0]))):
        if share >= SUGGESTED and arrow not in drawn:
            yield arrow, share
