"""Bayesian networks: a graph with a table of probabilities for each node, and exact inference."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from math import prod
from typing import NoReturn, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.errors import InvalidArgumentError
from apsl_rules.graphs.ancestral import DagWithHidden, hide
from apsl_rules.graphs.dag import Dag
from apsl_rules.graphs.equivalence import Cpdag, cpdag
from apsl_rules.names import Node, count_of, is_number, listing, require_known, spelt
from apsl_rules.notes import named
from apsl_rules.showing import NotebookView

_FLOOR = 1e-3


def check_strength(strength: object) -> None:
    """Refuse a strength that no table has."""
    if not is_number(strength) or not 0 < strength <= 100:  # noqa: PLR2004 - more leaves nothing but zeros and ones
        message = f"{named('strength')} is {spelt(strength)}; give a number above 0 and up to 100"
        raise InvalidArgumentError(message, argument="strength")


def random_rows(shape: tuple[int, ...], *, strength: float, random: np.random.Generator) -> Probabilities:
    """Draw rows of positive weights: of strength 1 as if all distributions were equally likely, above it sharper."""
    check_strength(strength)
    weights = random.standard_gamma(1 / strength, shape) * strength + _FLOOR
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


Probabilities: TypeAlias = npt.NDArray[np.float64]

#: How far from 1 the probabilities of a row may sum; such a row is scaled to 1, any other is refused.
TOLERANCE = 1e-3
_EXACT = 1e-12


def _levels(levels: Mapping[Node, Sequence[str]]) -> dict[Node, tuple[str, ...]]:
    return {node: tuple(names) for node, names in levels.items()}


def _tables(tables: Mapping[Node, npt.ArrayLike]) -> dict[Node, Probabilities]:
    return {node: _normalise(node, table) for node, table in tables.items()}


def _normalise(node: Node, given: npt.ArrayLike) -> Probabilities:
    """Copy a table into one that cannot be written to and whose rows sum to 1."""
    try:
        table = np.array(given, dtype=np.float64, order="C", ndmin=1)
    except (TypeError, ValueError):
        _refuse(f"the table of {node!r} is not an array of numbers; give one axis for each parent and one for levels")
    if not np.all(np.isfinite(table)) or np.any(table < 0):
        _refuse(f"the table of {node!r} holds a negative or infinite number; give probabilities")
    sums = table.sum(axis=-1, keepdims=True)
    off = np.abs(sums - 1)
    if np.any(off > TOLERANCE):
        _refuse(f"a row in the table of {node!r} sums to {sums.flat[int(off.argmax())]:.6g}; make it sum to 1")
    # A row that is 1 up to rounding stays as it is, so that writing and reading a network gives the same network.
    np.divide(table, sums, out=table, where=off > _EXACT)
    table.flags.writeable = False
    return table


def _same_tables(one: Mapping[Node, Probabilities], other: Mapping[Node, Probabilities]) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[node], other[node]) for node in one)


@attrs.frozen(slots=False, repr=False)
class Network(NotebookView):
    """A network of discrete nodes.

    ``tables[x]`` has one axis for each parent of x, in the order of ``dag.parents_of(x)``, and x itself as its last
    axis, so that ``tables[x][i, j]`` is the distribution of x when its parents have their levels i and j.
    ``source`` says where the network comes from.

    Attributes
    ----------
    name
        What the network is called.
    dag
        Its graph.
    levels
        The levels of each node.
    tables
        The probabilities of each node given its parents.
    """

    name: str
    dag: Dag
    levels: Mapping[Node, tuple[str, ...]] = attrs.field(converter=_levels, hash=False)
    tables: Mapping[Node, Probabilities] = attrs.field(
        converter=_tables, eq=attrs.cmp_using(eq=_same_tables), hash=False
    )
    source: str = ""

    def __attrs_post_init__(self) -> None:
        nodes = frozenset(self.dag.nodes)
        for given, what in ((self.levels, "levels"), (self.tables, "table")):
            if missing := [node for node in self.dag.nodes if node not in given]:
                _refuse(f"the nodes {listing(missing)} have no {what}; give them for each node of the graph")
            if unknown := [node for node in given if node not in nodes]:
                _refuse(f"{listing(unknown)} with {what} are not nodes of the graph; leave them out")
        for node in self.dag.nodes:
            self._check(node)

    def __repr__(self) -> str:
        nodes, arrows = count_of(len(self.dag.nodes), "node"), count_of(len(self.dag.edges), "arrow")
        return f"<Network {self.name}: {nodes} and {arrows}>"

    @cached_property
    def cpdag(self) -> Cpdag:
        """Return the CPDAG: what independences alone determine of the graph."""
        return cpdag(self.dag)

    def hiding(self, *nodes: Node) -> DagWithHidden:
        """Return the graph with some of its nodes hidden: it answers questions about the others only."""
        return hide(self.dag, nodes)

    @property
    def parameters(self) -> int:
        """Return the number of free parameters: in each row all probabilities but one."""
        return sum(table.size - table.size // table.shape[-1] for table in self.tables.values())

    def _check(self, node: Node) -> None:
        levels = self.levels[node]
        if len(set(levels)) < len(levels) or not levels:
            _refuse(f"the levels of {node!r} are {listing(levels)}; give at least one and each only once")
        expected = tuple(len(self.levels[other]) for other in (*self.dag.parents_of(node), node))
        if self.tables[node].shape != expected:
            _refuse(
                f"the table of {node!r} has the shape {self.tables[node].shape}; "
                f"the levels of its parents and its own make it {expected}"
            )


def _refuse(message: str) -> NoReturn:
    raise InvalidArgumentError(message)


#: How many cells a table may have while nodes are summed out; more are refused.
MOST_CELLS = 2**24

_Cost: TypeAlias = tuple[int, int, int]


def joint(network: Network, nodes: Sequence[Node]) -> Probabilities:
    """Return the joint distribution of some nodes, with one axis for each in the order asked.

    >>> from apsl_rules.graphs.networks import network
    >>> joint(network("asia"), ["lung", "tub"]).round(4).tolist()
    [[0.0006, 0.0544], [0.0098, 0.9352]]
    """
    if not nodes or len(set(nodes)) < len(nodes):
        message = f"a joint distribution of {listing(nodes)} was asked for; name at least one node, each only once"
        raise InvalidArgumentError(message)
    for node in nodes:
        require_known(node, network.tables, "node")
    return joint_of_ancestors(network.dag, network.tables, nodes)


def joint_of_ancestors(dag: Dag, tables: Mapping[Node, Probabilities], nodes: Sequence[Node]) -> Probabilities:
    """Return the joint distribution of some nodes where only they and their ancestors need tables yet."""
    above = _ancestors(dag, nodes)
    kept = [node for node in dag.topological_order if node in above]
    factors = [_Factor((*dag.parents_of(node), node), tables[node]) for node in kept]
    sizes = {node: tables[node].shape[-1] for node in kept}
    for node, around in _eliminations(factors, sizes, nodes):
        touched = [factor for factor in factors if node in factor.scope]
        factors = [factor for factor in factors if node not in factor.scope]
        factors.append(_Factor(around, _product(touched, (*around, node), sizes).sum(axis=-1)))
    return _product(factors, tuple(nodes), sizes)


@attrs.frozen(eq=False)
class _Factor:
    """A table with one axis for each node of its scope."""

    scope: tuple[Node, ...]
    values: Probabilities


def _ancestors(dag: Dag, nodes: Iterable[Node]) -> set[Node]:
    """Return some nodes and all their ancestors."""
    found = set(nodes)
    waiting = list(found)
    while waiting:
        new = set(dag.parents_of(waiting.pop())).difference(found)
        found |= new
        waiting += new
    return found


def _product(factors: Iterable[_Factor], scope: tuple[Node, ...], sizes: Mapping[Node, int]) -> Probabilities:
    """Multiply factors into one table over a scope that holds all of theirs, the small ones first."""
    axis = {node: number for number, node in enumerate(scope)}
    whole = np.ones((1,) * len(scope))
    for factor in sorted(factors, key=lambda one: one.values.size):
        order = sorted(range(len(factor.scope)), key=lambda place: axis[factor.scope[place]])
        spread = [sizes[node] if node in factor.scope else 1 for node in scope]
        whole = whole * factor.values.transpose(order).reshape(spread)
    return np.broadcast_to(whole, [sizes[node] for node in scope]).copy()


def _eliminations(
    factors: Iterable[_Factor], sizes: Mapping[Node, int], asked: Collection[Node]
) -> list[tuple[Node, tuple[Node, ...]]]:
    """Order all nodes but the asked ones, each with the nodes it then shares a table with."""
    place = {node: number for number, node in enumerate(sizes)}
    joined: dict[Node, set[Node]] = {node: set() for node in sizes}
    for factor in factors:
        for node in factor.scope:
            joined[node].update(factor.scope)
    for node, around in joined.items():
        around.discard(node)
    _refuse_large([*asked], sizes, asked)

    def cost(node: Node) -> _Cost:
        around = joined[node]
        fill = sum(y not in joined[x] for x, y in combinations(around, 2))
        return fill, prod(sizes[other] for other in around), place[node]

    costs = {node: cost(node) for node in sizes if node not in asked}
    order = []
    while costs:
        node = min(costs, key=costs.__getitem__)
        around = joined.pop(node)
        _refuse_large([node, *around], sizes, asked)
        order.append((node, tuple(sorted(around, key=place.__getitem__))))
        del costs[node]
        for other in around:
            joined[other] |= around
            joined[other] -= {node, other}
        for other in around.union(*(joined[one] for one in around)):
            if other in costs:
                costs[other] = cost(other)
    return order


def _refuse_large(nodes: Collection[Node], sizes: Mapping[Node, int], asked: Collection[Node]) -> None:
    cells = prod(sizes[node] for node in nodes)
    if cells > MOST_CELLS:
        message = (
            f"the joint distribution of {listing(asked)} takes a table of {cells:,} cells over "
            f"{count_of(len(nodes), 'node')}; at most {MOST_CELLS:,} are worked out"
        )
        raise InvalidArgumentError(message)
