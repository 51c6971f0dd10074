"""BDeu and BDe (Heckerman, Geiger, Chickering 1995): the log probability of a table given a graph and a prior.

The score of a node given its parents is the difference of two figures, each for a set of columns treated as one joint
column::

    local(x, P) = joint(P with x) - joint(P) - penalty * |P|
    joint(S)    = sum over the configurations of S of ln Γ(a + count) - ln Γ(a),   a = ess / configurations of S

so graphs with the same independences have the same score, and a figure serves every node of its set. Figures are
integers in a small unit: sums and differences are exact, and so are ties.

That is BDeu: its prior is uniform over the configurations. Real columns are not uniform: where most rows have the same
level, BDeu penalizes a further parent as if all levels were equally frequent, and rejects parents that data support.
The *empirical* prior (BDe with a prior network without edges) gives each level of a column a share between 1 / levels
and its observed share, and each configuration the product of these::

    a = ess * product over the columns of S of ((1 - empirical_weight) / levels + empirical_weight * observed share)

Nodes are numbered in the order of their names (or of the columns), sets of nodes are tuples in ascending order, and
ties are broken by number. So with numbers by name, no result depends on the order of the columns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import ceil, inf, log, log2
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from apsl_backends.kernels.bindings.scores import LEAST_ESS, MOST_ESS, LogPriors, ScoreHandle, joints_bytes, score_bytes
from apsl_backends.scores.columns import JointRows
from apsl_rules.data import Table
from apsl_rules.data.counts import Heading
from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.graphs import Dag
from apsl_rules.names import Node, in_order, listing, require_known
from apsl_rules.notes import argument
from apsl_rules.stopping import LONG, heeding

#: The most bits of a figure and of the penalty of a parent, and the most fractional bits of a unit.
_BITS, _BITS_OF_PENALTY, _FINEST = 61, 55, 40


def unit_for(rows: int, cards: npt.NDArray[np.int64], ess: float, penalty: float) -> float:
    """Return the unit, in nats, of scores of a table with columns of so many levels.

    ``ess`` is the equivalent sample size and ``penalty`` that of a parent in nats; only extreme ones make a difference.
    """
    nats = max(log(max(rows, 2)) + float(np.log(cards).sum()) + 1, abs(log(ess)))
    whole = max(ceil(log2(rows * nats)) - _BITS, ceil(log2(max(penalty, 1.0))) - _BITS_OF_PENALTY)
    return 2.0 ** max(whole, -_FINEST)


#: The steps of the log prior that halve a weight.
STEPS = 32


def log_priors_of(columns: Sequence[npt.NDArray[np.int64]], empirical_weight: float) -> list[LogPriors]:
    """Return the log priors of the levels of columns, from how often each level occurs and the weight of that."""
    if not columns:
        return []
    cards = [len(totals) for totals in columns]
    sums = [max(int(totals.sum()), 1) for totals in columns]
    rows, levels = np.repeat(sums, cards), np.repeat(cards, cards)
    expected = (1.0 - empirical_weight) / levels + empirical_weight * np.concatenate(columns) / rows
    log_priors: LogPriors = np.rint(-STEPS * np.log2(np.maximum(expected, 0.5 / rows))).astype(np.int32)
    ends = np.cumsum(cards).tolist()
    return [log_priors[end - card : end].copy() for card, end in zip(cards, ends, strict=True)]


Integers: TypeAlias = npt.NDArray[np.int64]
Numbers: TypeAlias = tuple[int, ...]
Penalty: TypeAlias = float | str
Order: TypeAlias = Literal["name", "column"]

#: The limit of a score's working space, in bytes.
MOST_BYTES = 1 << 32


class BDeu:
    """The score of graphs over the columns of a table.

    ``ess`` is the equivalent sample size. ``penalty`` is subtracted for each parent, in nats: a number, "kappa" for
    Heckerman's structure prior ln(ess + 1), or "columns" for ln(number of columns), which accounts for the number of
    possible parents; "columns+2" is 2 nats more. ``order`` numbers the nodes by "name" or by "column".
    ``empirical_weight`` is the weight of the observed shares in the prior, from 0 (uniform: BDeu) to 1. Shares are
    rounded by at most 1.1 %, in the same way for all graphs. ``together`` are the rows of the table before values were
    filled in, if that was done; then each row counts as a share of one.

    Only one thread at a time may use an object.
    """

    empirical_weight: float = 0.0
    _handle: ScoreHandle

    def __init__(
        self,
        table: Table,
        *,
        ess: float = 10.0,
        penalty: Penalty = 0.0,
        order: Order = "name",
        empirical_weight: float = 0.0,
        together: JointRows | None = None,
    ) -> None:
        check_table(table)
        if not _is_number(empirical_weight) or empirical_weight > 1:
            message = (
                f"empirical_weight is {empirical_weight!r}; give a number from 0 (BDeu) to 1 (the observed shares)"
            )
            raise InvalidArgumentError(message)
        levels = int(table.cards.sum()) if empirical_weight else 0
        check_memory(score_bytes(table.rows, empirical=empirical_weight > 0) + 4 * levels, table.rows)
        self.empirical_weight = empirical_weight
        places = self._number(table, _order_nodes(table, order), ess, penalty)
        self._handle.set_rows(table.codes)
        self.together = together or JointRows(table)
        self._share = max(self.together.mean(table.names), 1.0) / table.rows
        self._handle.set_share(self._share)
        for number, place in enumerate(places.tolist()):
            card, log_priors = int(table.cards[place]), None
            if empirical_weight:
                totals = np.bincount(table.codes[place], minlength=card)
                (log_priors,) = log_priors_of([totals], empirical_weight)
            self._handle.add_node(number, place, card, log_priors)

    def _number(self, table: Table | Heading, nodes: tuple[Node, ...], ess: float, penalty: Penalty) -> Integers:
        """Set the numbers of the nodes and the unit, and return the places of the nodes in the table."""
        self.nodes: tuple[Node, ...] = nodes
        self.number: dict[Node, int] = {node: number for number, node in enumerate(self.nodes)}
        self.rows = table.rows
        self.ess = ess
        nats = nats_for(penalty, ess, len(self.nodes))
        self.unit: float = unit_for(table.rows, table.cards, ess, nats)
        self.penalty = round(nats / self.unit)
        self._handle = self._open(len(nodes))
        self._locals: dict[tuple[int, Numbers], int] = {}
        self._gains: dict[tuple[int, Numbers], tuple[Integers, Integers]] = {}
        return np.array([table.place[node] for node in self.nodes], np.int64)

    def _open(self, nodes: int) -> ScoreHandle:
        """Open a score of so many nodes with the same prior."""
        empirical = self.empirical_weight > 0
        return ScoreHandle(nodes, ess=float(self.ess), scale=1 / self.unit, penalty=self.penalty, empirical=empirical)

    @property
    def name(self) -> str:
        """Return the name of the score: only with a uniform prior it is BDeu."""
        return "BDe" if self.empirical_weight else "BDeu"

    # --- figures in units, by number ---------------------------------------------------------------------------------

    def local(self, node: int, parents: Numbers) -> int:
        """Score a node given its parents; each family is counted once and cached."""
        known = self._locals.get((node, parents))
        if known is None:
            known = self._locals[node, parents] = self._fresh_local(node, parents) - self.penalty * len(parents)
        return known

    def _fresh_local(self, node: int, parents: Numbers) -> int:
        return self._handle.local(node, np.array(parents, np.int64))

    def gains(self, node: int, parents: Numbers, others: Integers) -> Integers:
        """Return the gain of adding each other node to the parents, or of removing it if it is one of them.

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
        return self._handle.gains(node, np.array(parents, np.int64), others)

    def joints(self, members: Numbers) -> Integers:
        """Score every subset of some nodes as one joint column; bit i of an index is the i-th member."""
        chosen = np.array(members, np.int64)
        return heeding(lambda stop: self._handle.joints(chosen, stop), is_long=self.rows << len(members) > LONG)

    def bytes_for_joints(self, width: int) -> int:
        """Estimate the memory for scoring every subset of ``width`` nodes."""
        return joints_bytes(self.rows, width, empirical=self.empirical_weight > 0)

    def pays(self, node: int, parents: Collection[int], other: int, rows: int) -> bool:
        """Return whether another parent is worth its price, besides these, if only so many rows speak for it."""
        self._handle.set_share(max(rows, 1) / self.rows)
        without, within = (self._fresh_local(node, tuple(sorted(one))) for one in (parents, {*parents, other}))
        self._handle.set_share(self._share)
        is_paid = within - without >= self.penalty
        return is_paid and self.together.show(self.nodes[node], self.nodes[other], self.nats(self.penalty))

    # --- names and nats ----------------------------------------------------------------------------------------------

    def nats(self, units: int) -> float:
        """Convert units to nats."""
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
        return Dag({nodes[node]: [nodes[one] for one in before] for node, before in sorted(parents.items())})

    def family(self, node: Node, parents: Iterable[Node] = ()) -> float:
        """Score a node given its parents, in nats."""
        own, before = self.numbers([node])[0], self.numbers(parents)
        if len({own, *before}) <= len(before):
            message = f"the parents of {node!r} must be other nodes, each named once"
            raise InvalidArgumentError(message)
        return self.nats(self.local(own, before))

    def graph(self, dag: Dag) -> float:
        """Score a whole graph, in nats."""
        families = [(self.numbers([node])[0], self.numbers(dag.parents_of(node))) for node in dag.nodes]
        return self.nats(sum(self.local(node, before) for node, before in families))


def _order_nodes(table: Table, order: Order) -> tuple[Node, ...]:
    """Return the nodes in the order of their numbers."""
    return in_order(table.names) if order == "name" else table.names


def check_table(table: Table | Heading) -> None:
    """Raise an error if a table cannot be scored."""
    if not table.rows or not table.names:
        message = f"a table of {table.rows} rows and {len(table.names)} columns cannot be scored; give one of each"
        raise DataError(message)
    incomplete = [table.names[place] for place in np.flatnonzero(table.incomplete).tolist()]
    if incomplete:
        message = (
            f"a score needs complete columns, but values are missing in {listing(incomplete)}; "
            f"drop these rows or columns, or make a level of what is missing ({argument('missing', 'level')})"
        )
        raise DataError(message)


def check_memory(needed: int, rows: int) -> None:
    """Raise an error if working space would take too much memory."""
    if needed > MOST_BYTES:
        message = (
            f"a score of {rows} rows takes about {needed >> 20} MiB of working space, more than the {MOST_BYTES >> 20} "
            f"allowed; learn from a sample of the rows, or by tests ({argument('learner', 'apsl')})"
        )
        raise DataError(message)


def nats_for(penalty: Penalty, ess: float, columns: int) -> float:
    """Return the penalty of a parent in nats."""
    if not _is_number(ess) or not LEAST_ESS <= ess <= MOST_ESS:
        message = f"ess is {ess!r}; give a positive number, such as 10"
        raise InvalidArgumentError(message)
    named = {"kappa": log(ess + 1), "columns": log(columns)}
    word, _, further = penalty.partition("+") if isinstance(penalty, str) else ("", "", str(penalty))
    extra = _number(further or "0")
    if (word and word not in named) or extra is None:
        message = f"penalty is {penalty!r}; give a number of nats from 0 on, 'kappa', 'columns', or such as 'columns+2'"
        raise InvalidArgumentError(message)
    return named.get(word, 0.0) + extra


def _number(text: str) -> float | None:
    """Parse a finite number that is not negative."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if _is_number(value) else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < inf
