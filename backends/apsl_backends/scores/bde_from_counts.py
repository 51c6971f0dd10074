"""BDe scores from counts alone, and which score fits a source."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from math import prod
from typing import Literal

import attrs
import numpy as np

from apsl_backends.kernels.bindings.scores import MOST_ROWS, joints_bytes
from apsl_backends.scores.bde import BDeu, Integers, Numbers, Order, Penalty, check_table
from apsl_backends.scores.columns import JointRows, impute
from apsl_rules.data import CountedDataset, Table, counted
from apsl_rules.data.counts import MOST, Joint
from apsl_rules.errors import DataError
from apsl_rules.names import in_order
from apsl_rules.stopping import LONG, heeding


class CountedBDeu(BDeu):
    """The score of graphs over columns whose counts are fetched in batches; every figure equals that of ``BDeu``."""

    def __init__(
        self,
        kept: CountedDataset,
        *,
        ess: float = 10.0,
        penalty: Penalty = 0.0,
        order: Literal["name", "column"] = "name",
    ) -> None:
        check_table(kept.heading)
        self._kept = kept
        self.together = JointRows(kept)
        nodes = in_order(kept.heading.names) if order == "name" else kept.heading.names
        self._places: list[int] = self._number(kept.heading, nodes, ess, penalty).tolist()
        self._cards: list[float] = kept.heading.cards[self._places].astype(np.float64).tolist()
        self._figures: dict[frozenset[int], int] = {}

    def _fresh_local(self, node: int, parents: Numbers) -> int:
        self._score([{node, *parents}, set(parents)])
        return self._family(node, parents)

    def _fresh_gains(self, node: int, parents: Numbers, others: Integers) -> Integers:
        own = set(parents)
        pools = [own - {other} if other in own else own | {other} for other in others.tolist()]
        self._score(chain([{node, *own}, own], chain.from_iterable(({node, *pool}, pool) for pool in pools)))
        before = self._family(node, parents)
        gained = [
            self._family(node, pool) - before + (self.penalty if other in own else -self.penalty)
            for other, pool in zip(others.tolist(), pools, strict=True)
        ]
        return np.array(gained, np.int64)

    def joints(self, members: Numbers) -> Integers:
        """Score every subset of some nodes as one joint column; bit i of an index is the i-th member."""
        chosen = [self._places[member] for member in members]
        if not self._kept.fits(chosen) or self.rows > MOST_ROWS:
            return self._joints_one_by_one(members)
        joint = self._kept.joint(chosen)
        distinct = self._open(max(len(members), 1))
        distinct.set_rows(joint.codes.copy(), joint.weights.astype(np.int32))
        for number, place in enumerate(chosen):
            distinct.add_node(number, number, int(self._kept.heading.cards[place]))
        numbers = np.arange(len(members))
        return heeding(lambda stop: distinct.joints(numbers, stop), is_long=len(joint.weights) << len(members) > LONG)

    def bytes_for_joints(self, width: int) -> int:
        """Estimate the memory for scoring every subset of ``width`` nodes."""
        return joints_bytes(min(self.rows, MOST), width, empirical=False)

    def _joints_one_by_one(self, members: Numbers) -> Integers:
        subsets = [{one for bit, one in enumerate(members) if number >> bit & 1} for number in range(1 << len(members))]
        self._score(subsets)
        return np.array([self._figures[frozenset(subset)] for subset in subsets], np.int64)

    def _family(self, node: int, parents: Iterable[int]) -> int:
        before = frozenset(parents)
        return self._figures[before | {node}] - self._figures[before]

    def _score(self, sets: Iterable[Iterable[int]]) -> None:
        """Score sets of nodes as joint columns; fetch the counts of new ones in one batch."""
        new = [one for one in dict.fromkeys(map(frozenset, sets)) if one not in self._figures]
        self._kept.fetch([[self._places[node] for node in one] for one in new if one], needed=True)
        for one in new:
            self._figures[one] = self._figure(one)

    def _figure(self, nodes: frozenset[int]) -> int:
        configurations = float(prod(self._cards[node] for node in sorted(nodes)))
        counts = np.array([self.rows], np.int64)
        if nodes:
            joint: Joint = self._kept.joint([self._places[node] for node in sorted(nodes)])
            counts = joint.weights
        if not np.isfinite(configurations):
            message = f"a set of {len(nodes)} columns has too many configurations to score; allow fewer parents"
            raise DataError(message)
        return self._handle.score_counts(counts, configurations)


def score_for(data: object, who: str, *, ess: float, penalty: Penalty = 0.0, order: Order = "name") -> BDeu:
    """Make the score of a table or of counts; ``who`` names the caller in messages, such as "the learner 'mine'".

    Missing values of a table are imputed; columns of a source of counts must be complete.
    """
    found = counted(data, who)
    table = found.in_memory
    if table is None:
        return CountedBDeu(found, ess=ess, penalty=penalty, order=order)
    return BDeu(_fill_in(table), ess=ess, penalty=penalty, order=order, together=JointRows(table))


def _fill_in(table: Table) -> Table:
    """Return a table with missing values filled in."""
    if not table.incomplete.any():
        return table
    by_content = sorted(range(len(table.names)), key=lambda place: table.heading.totals[place].tobytes())
    codes, weights = impute(table.codes[by_content], table.cards[by_content], np.ones(table.rows, np.int64))
    back = np.argsort(by_content)
    filled = np.ascontiguousarray(np.repeat(codes, weights, axis=1)[back])
    return attrs.evolve(table, codes=filled, incomplete=np.zeros(len(table.names), np.bool_))
