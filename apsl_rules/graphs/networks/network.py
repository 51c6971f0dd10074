"""A Bayesian network with discrete nodes: a known graph, the levels of each node, and a table for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NoReturn, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.errors import InvalidArgumentError
from apsl_rules.graphs.ancestral import DagWithHidden, hide
from apsl_rules.graphs.dag import Dag
from apsl_rules.graphs.equivalence import Cpdag, cpdag
from apsl_rules.names import Node, count_of, listing
from apsl_rules.notebook_view import NotebookView

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
