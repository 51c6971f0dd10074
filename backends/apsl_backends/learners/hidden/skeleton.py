"""Which nodes are adjacent, by tests alone: pairs are removed level by level as larger sets separate them (PC-stable).

At each level all pairs that are left are tested given sets of that size among the neighbours of either end, as these
were when the level began. So the order of nodes does not matter. Of the sets that separate a pair, the one with the
largest p is kept. A test with too few rows separates nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

import attrs

from apsl_rules.evidence import Verdict
from apsl_rules.names import Node, Pair, in_order
from apsl_rules.oracles import Asker, Search


@attrs.frozen(eq=False)
class Skeleton:
    """Neighbours of each node, the verdict that separates each removed pair, and the weakest dependence of others."""

    near: Mapping[Node, frozenset[Node]]
    separations: Mapping[Pair, Verdict]
    weakest: Mapping[Pair, Verdict]


def find_skeleton(asker: Asker, near: Mapping[Node, Iterable[Node]], limit: int | None) -> Skeleton:
    """Remove from a graph all pairs that sets of neighbours separate; ``limit`` is the largest size of a set."""
    left = {node: set(others) for node, others in near.items()}
    separations: dict[Pair, Verdict] = {}
    weakest: dict[Pair, Verdict] = {}
    size = 0
    while (limit is None or size <= limit) and any(len(others) > size for others in left.values()):
        frozen = {node: in_order(others) for node, others in left.items()}
        pairs = [in_order(pair) for pair in _separable(asker, frozen, size, weakest)]
        for verdict in asker.verdicts([(x, y, given) for x, y in pairs for given in _sets(frozen, x, y, size)]):
            pair = frozenset((verdict.x, verdict.y))
            if verdict.independent and (pair not in separations or _p_of(verdict) > _p_of(separations[pair])):
                separations[pair] = verdict
        for x, y in pairs:
            left[x].remove(y)
            left[y].remove(x)
        size += 1
    return Skeleton({node: frozenset(others) for node, others in left.items()}, separations, weakest)


def _separable(
    asker: Asker, near: Mapping[Node, tuple[Node, ...]], size: int, weakest: dict[Pair, Verdict]
) -> Iterator[Pair]:
    """Return the pairs that a set of some size separates; of the others the weakest dependence is noted."""
    pairs = [(x, y) for x, others in near.items() for y in others if asker.rank[x] < asker.rank[y]]
    searches = [
        Search(x, y, tuple(one for one in near[end] if one not in (x, y)) if size else (), (), size)
        for x, y in pairs
        for end in ((x, y) if size else (x,))
    ]
    found: dict[Pair, None] = {}
    for one in asker.separators(searches):
        pair = frozenset((one.x, one.y))
        if one.found:
            found[pair] = None
        elif one.verdict is not None and (pair not in weakest or _p_of(one.verdict) > _p_of(weakest[pair])):
            weakest[pair] = one.verdict
    return iter(found)


def _sets(near: Mapping[Node, tuple[Node, ...]], x: Node, y: Node, size: int) -> Iterable[tuple[Node, ...]]:
    """Return the sets of some size among the neighbours of either end, each once."""
    pools = (tuple(one for one in near[end] if one not in (x, y)) for end in (x, y))
    return dict.fromkeys(given for pool in pools for given in combinations(pool, size))


def _p_of(verdict: Verdict) -> float:
    return 0.0 if verdict.p is None else verdict.p
