"""Random sparse networks of any size, for tests of scale."""

from __future__ import annotations

from math import inf

import numpy as np
import numpy.typing as npt

from apsl_rules._arguments import is_number, is_whole, spelt, whole_number
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.graphs.dag import Dag
from apsl_rules.graphs.networks.network import Network
from apsl_rules.graphs.networks.proportional_fitting import check_strength, random_rows
from apsl_rules.names import Node, count_of

_MOST_LEVELS = 256
_MOST_CELLS = 10**6
_MOST_NODES = 10**8
_FAR = 20


def random_network(
    nodes: int,
    *,
    mean_parents: float = 1.5,
    max_parents: int = 4,
    levels: int | tuple[int, int] = (2, 4),
    strength: float = 2.0,
    seed: int,
) -> Network:
    """Draw a sparse network: a random order of the nodes, arrows spread evenly over it, and random tables.

    There are ``mean_parents`` arrows for each node on average, and no node has more than ``max_parents``; ``levels`` is
    the number of levels of all nodes, or the fewest and the most. With ``strength`` 1 every distribution is equally
    likely in a row of a table; the larger it is, the more the levels of the parents tell of a node.

    >>> random_network(1000, seed=1)
    <Network random1000: 1,000 nodes and 1,500 arrows>
    """
    nodes = whole_number("nodes", nodes, 1, _MOST_NODES)
    max_parents = whole_number("max_parents", max_parents, 0)
    seed = whole_number("seed", seed, 0)
    if not is_number(mean_parents) or not 0 <= mean_parents < inf:
        message = f"mean_parents is {spelt(mean_parents)}; give 0 or more"
        raise InvalidArgumentError(message, argument="mean_parents")
    check_strength(strength)
    fewest, most = _levels(levels)
    _check_levels(fewest, most, max_parents)
    random = np.random.default_rng(seed)
    counts = _parent_counts(nodes, round(mean_parents * nodes), max_parents, random)
    hidden = random.permutation(nodes)
    names: list[Node] = [f"X{number:0{len(str(nodes))}d}" for number in range(1, nodes + 1)]
    parents: list[tuple[Node, ...]] = [()] * nodes
    for place, count in enumerate(counts.tolist()):
        earlier = random.choice(place, count, replace=False) if count else []
        parents[hidden[place]] = tuple(names[number] for number in sorted(hidden[earlier]))
    sizes = dict(zip(names, random.integers(fewest, most + 1, nodes).tolist(), strict=True))
    tables = {
        node: random_rows((*(sizes[parent] for parent in above), sizes[node]), strength=strength, random=random)
        for node, above in zip(names, parents, strict=True)
    }
    named = {node: tuple(f"s{number}" for number in range(1, size + 1)) for node, size in sizes.items()}
    source = f"random, {count_of(nodes, 'node')}, {count_of(counts.sum(), 'arrow')}, strength {strength:g}, seed {seed}"
    return Network(f"random{nodes}", Dag(tuple(names), tuple(parents)), named, tables, source)


def _parent_counts(nodes: int, arcs: int, most: int, random: np.random.Generator) -> npt.NDArray[np.int64]:
    """Spread arrows evenly over the nodes of an order, of which the n-th can have n - 1 parents at most."""
    capacity = np.minimum(np.arange(nodes), most)
    if arcs > capacity.sum():
        message = (
            f"{count_of(arcs, 'arrow')} asked for; {count_of(nodes, 'node')} with at most {count_of(most, 'parent')} "
            f"can have {capacity.sum()}, so give a smaller mean_parents= or a larger max_parents="
        )
        raise InvalidArgumentError(message)
    slots = np.repeat(np.arange(nodes), capacity)
    return np.bincount(random.permutation(slots)[:arcs], minlength=nodes)


def _levels(levels: object) -> tuple[int, int]:
    """Take the fewest and the most levels, or one number for both."""
    ends = (levels, levels) if is_whole(levels) else levels
    if not isinstance(ends, tuple | list) or len(ends) != 2 or not all(map(is_whole, ends)):  # noqa: PLR2004 - two ends
        message = f"levels are {spelt(levels)}; give a whole number, or the fewest and the most, such as (2, 4)"
        raise InvalidArgumentError(message, argument="levels")
    return int(ends[0]), int(ends[1])


def _check_levels(fewest: int, most: int, max_parents: int) -> None:
    if not 2 <= fewest <= most <= _MOST_LEVELS:  # noqa: PLR2004 - a node with one level says nothing
        message = f"levels are {spelt(fewest)} to {spelt(most)}; give 2 to {_MOST_LEVELS}, the fewest first"
        raise InvalidArgumentError(message, argument="levels")
    if (cells := most ** (min(max_parents, _FAR) + 1)) > _MOST_CELLS:
        message = (
            f"a node of {most} levels with {max_parents} such parents has a table of {cells:,} cells; "
            f"at most {_MOST_CELLS:,} are drawn, so give fewer levels or a smaller max_parents="
        )
        raise InvalidArgumentError(message)
