"""BDeu and BDe (Heckerman, Geiger, Chickering 1995): the log probability of a table given a graph and a prior.

The score of a node given its parents is a difference of two figures, each of a set of columns taken as one joint
column::

    local(x, P) = joint(P with x) - joint(P) - price * |P|
    joint(S)    = sum over the configurations of S of ln Γ(a + count) - ln Γ(a),   a = ess / configurations of S

so graphs with the same independences score the same, and a figure serves every node of its set. Figures are whole
numbers of a small unit: sums and differences are exact, and what ties, ties exactly.

That is BDeu: the prior thinks all configurations alike. Columns are not: where most rows have one level, BDeu pays for
each further parent as if every level had been expected as often, and large tables lose that are none too many. A prior
that *leans* (BDe with a prior graph of no edges) expects each level of a column with a share between 1 / levels and the
share that was observed, and a configuration with the product of these::

    a = ess * product over the columns of S of ((1 - leaning) / levels + leaning * observed share)

Nodes are numbered here in the order of their names (or in an order given), sets of nodes are tuples in that order,
and ties are broken by number: no result depends on the order of the columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import ceil, inf, log, log2
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from apsl_rules.data import Table
from apsl_rules.data.counts import Heading
from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.graphs import Dag, known_dag
from apsl_rules.names import Node, in_order, listing, require_known
from apsl_rules.stopping import LONG, heeding

if TYPE_CHECKING:
    from apsl_backends.scores import kernels

Integers: TypeAlias = npt.NDArray[np.int64]
Numbers: TypeAlias = tuple[int, ...]
Price: TypeAlias = float | str
Order: TypeAlias = Literal["name", "column"]

#: The most bytes of working space that a score takes.
MOST_BYTES = 1 << 32
#: The bits that the largest figure may take, and those behind the point of the finest unit.
_BITS, _FINEST = 61, 40


class BDeu:
    """The score of graphs over the columns of a table.

    ``ess`` is the equivalent sample size. ``price`` is what each parent costs in nats: a number, "kappa" for
    Heckerman's structure prior ln(ess + 1), or "columns" for ln(number of columns), which allows for how many parents
    could have been chosen; "columns+2" is 2 nats more. ``order`` numbers the nodes by "name", or as the "column"s come.
    ``leaning`` from 0 (BDeu) to 1 says how far the prior leans to the observed shares; these are rounded by at most
    1.1 %, which is another prior, but one and the same for all graphs.

    An object is used by one thread at a time.
    """

    leaning: float = 0.0
    _prior: kernels.Prior

    def __init__(
        self,
        table: Table,
        *,
        ess: float = 10.0,
        price: Price = 0.0,
        order: Order = "name",
        leaning: float = 0.0,
    ) -> None:
        from apsl_backends.scores import kernels

        check_table(table)
        if not _is_number(leaning) or leaning > 1:
            message = f"leaning is {leaning!r}; give a number from 0 (no leaning: BDeu) to 1 (the observed shares)"
            raise InvalidArgumentError(message)
        levels = int(table.cards.sum()) if leaning else 0
        check_memory(kernels.desk_bytes(table.rows, 3, leaning=leaning > 0) + 4 * levels, table.rows)
        places = self._number(table, _numbered(table, order), ess, price)
        self._columns = kernels.Columns(table.codes, places, table.cards[places], np.empty(0, np.int32))
        self._desk = kernels.desk_for(table.rows, 3, leaning=leaning > 0)
        self.leaning = leaning
        if leaning:
            starts = np.cumsum(self._columns.cards) - self._columns.cards
            counted = (np.bincount(table.codes[at], minlength=int(table.cards[at])) for at in places)
            shades = np.concatenate([kernels.shades_of(totals, leaning) for totals in counted])
            self._prior = self._prior._replace(shades=shades, starts=starts)

    def _number(self, table: Table | Heading, nodes: tuple[Node, ...], ess: float, price: Price) -> Integers:
        """Set the number of each node and the unit, and return the places of the nodes in the table."""
        from apsl_backends.scores import kernels

        self.nodes: tuple[Node, ...] = nodes
        self.number: dict[Node, int] = {node: number for number, node in enumerate(self.nodes)}
        self.rows = table.rows
        self.ess = ess
        self._kernels = kernels
        largest = table.rows * (log(max(table.rows, 2)) + float(np.log(table.cards).sum()) + 1)
        self.unit: float = 2.0 ** -min(_FINEST, _BITS - ceil(log2(largest)))
        self.price = round(nats_for(price, ess, len(self.nodes)) / self.unit)
        no_shades, starts = np.empty(0, np.int32), np.zeros(len(self.nodes), np.int64)
        self._prior = kernels.Prior(float(ess), 1 / self.unit, self.price, no_shades, starts)
        self._locals: dict[tuple[int, Numbers], int] = {}
        self._gains: dict[tuple[int, Numbers], tuple[Integers, Integers]] = {}
        return np.array([table.place[node] for node in self.nodes], np.int64)

    @property
    def name(self) -> str:
        """Return what the score is called: with a prior that leans it is no longer uniform."""
        return "BDe" if self.leaning else "BDeu"

    # --- figures in units, by number ---------------------------------------------------------------------------------

    def local(self, node: int, parents: Numbers) -> int:
        """Score a node given its parents; each family is counted once and then remembered."""
        known = self._locals.get((node, parents))
        if known is None:
            known = self._locals[node, parents] = self._fresh_local(node, parents) - self.price * len(parents)
        return known

    def _fresh_local(self, node: int, parents: Numbers) -> int:
        before = np.array(parents, np.int64)
        return int(self._kernels.local(self._columns, node, before, -1, self._prior, self._desk))

    def gains(self, node: int, parents: Numbers, others: Integers) -> Integers:
        """Say what is gained when each other node in turn becomes a parent, or ceases to be one if it is.

        ``others`` are in ascending order. Gains are counted once for each node, set of parents and other node.
        """
        known = self._gains.get((node, parents))
        if known is None:
            known = self._gains[node, parents] = others, self._fresh_gains(node, parents, others)
        if known[0] is others or np.array_equal(known[0], others):
            return known[1]
        missing = np.setdiff1d(others, known[0], assume_unique=True)
        if missing.size:
            both = np.concatenate([known[0], missing])
            order = np.argsort(both)
            fresh = self._fresh_gains(node, parents, missing)
            known = self._gains[node, parents] = both[order], np.concatenate([known[1], fresh])[order]
        return known[1][np.searchsorted(known[0], others)]

    def _fresh_gains(self, node: int, parents: Numbers, others: Integers) -> Integers:
        found = np.empty(len(others), np.int64)
        before = np.array(parents, np.int64)
        self._kernels.gains(self._columns, node, before, others, self._prior, self._desk, found)
        return found

    def joints(self, members: Numbers) -> Integers:
        """Score every subset of some nodes as one joint column; bit i of a place stands for the i-th member."""
        width = len(members)
        if len(self._desk.classes) <= width:
            shades = np.empty((width + 1, self._desk.shades.shape[1]), np.int32)
            self._desk = self._desk._replace(classes=np.empty((width + 1, self.rows), np.uint32), shades=shades)
        chosen = np.array(members, np.int64)
        small = np.empty((width, self.rows), self._columns.codes.dtype)
        weights = np.empty(self.rows, np.int32)
        distinct = self._kernels.collapse(self._columns, chosen, self._prior, self._desk, small, weights)
        rows = np.ascontiguousarray(small[:, :distinct])
        scores = np.empty(1 << width, np.int64)
        known = rows, self._columns.cards[chosen], weights[:distinct], self._prior, chosen, self._desk, scores
        heeding(lambda stop: self._kernels.joints(*known, stop), is_long=distinct << width > LONG)
        return scores

    def bytes_for_joints(self, width: int) -> int:
        """Estimate the memory for scoring every subset of so many nodes."""
        item = self._columns.codes.dtype.itemsize
        desk: int = self._kernels.desk_bytes(self.rows, width + 1, leaning=self.leaning > 0)
        return (8 << width) + desk + self.rows * (2 * width * item + 4)

    # --- names and nats ----------------------------------------------------------------------------------------------

    def nats(self, units: int) -> float:
        """Turn units into nats."""
        return units * self.unit

    def numbers(self, nodes: Iterable[Node]) -> Numbers:
        """Return the numbers of some nodes in ascending order."""
        found = list(nodes)
        for node in found:
            require_known(node, self.number, "node")
        return tuple(sorted(self.number[node] for node in found))

    def dag(self, parents: Mapping[int, Numbers]) -> Dag:
        """Return the graph in which each numbered node has these parents."""
        nodes = self.nodes
        return known_dag({nodes[node]: [nodes[one] for one in before] for node, before in sorted(parents.items())})

    def family(self, node: Node, parents: Iterable[Node] = ()) -> float:
        """Score a node given its parents, in nats."""
        own, before = self.numbers([node])[0], self.numbers(parents)
        if len({own, *before}) <= len(before):
            message = f"the parents of {node!r} are to be other nodes, each named once"
            raise InvalidArgumentError(message)
        return self.nats(self.local(own, before))

    def graph(self, dag: Dag) -> float:
        """Score a whole graph, in nats."""
        families = [(self.numbers([node])[0], self.numbers(dag.parents_of(node))) for node in dag.nodes]
        return self.nats(sum(self.local(node, before) for node, before in families))


def _numbered(table: Table, order: Order) -> tuple[Node, ...]:
    """Return the nodes in the order of their numbers."""
    return in_order(table.names) if order == "name" else table.names


def check_table(table: Table | Heading) -> None:
    """Refuse a table that cannot be scored."""
    if not table.rows or not table.names:
        message = f"a table of {table.rows} rows and {len(table.names)} columns cannot be scored; give one of each"
        raise DataError(message)
    incomplete = [table.names[place] for place in np.flatnonzero(table.incomplete).tolist()]
    if incomplete:
        message = (
            f"a score needs complete columns, but values are missing in {listing(incomplete)}; "
            "drop these rows or columns, or make a level of what is missing (missing='level')"
        )
        raise DataError(message)


def check_memory(needed: int, rows: int) -> None:
    """Refuse working space that would take too much memory."""
    if needed > MOST_BYTES:
        message = (
            f"a score of {rows} rows takes about {needed >> 20} MiB of working space, more than the {MOST_BYTES >> 20} "
            "allowed; learn from a sample of the rows, or by tests (learner='apsl')"
        )
        raise DataError(message)


def nats_for(price: Price, ess: float, columns: int) -> float:
    """Return what a parent costs."""
    if not _is_number(ess) or ess == 0:
        message = f"ess is {ess!r}; give a positive number, such as 10"
        raise InvalidArgumentError(message)
    named = {"kappa": log(ess + 1), "columns": log(columns)}
    word, _, further = price.partition("+") if isinstance(price, str) else ("", "", str(price))
    extra = _number(further or "0")
    if (word and word not in named) or extra is None:
        message = f"price is {price!r}; give a number of nats from 0 on, 'kappa', 'columns', or such as 'columns+2'"
        raise InvalidArgumentError(message)
    return named.get(word, 0.0) + extra


def _number(text: str) -> float | None:
    """Read a number from 0 on."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if _is_number(value) else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < inf
