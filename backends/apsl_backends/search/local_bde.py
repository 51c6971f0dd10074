"""BDe over the columns near a target, from rows in memory or from a source of counts.

Columns join as a search meets them, so the cost depends on the part and not on the table. The search counts in a block
of rows: those of the table, or the distinct rows of the joined columns with their weights. Counts and scores are the
same in both cases.

Columns are numbered by content (see ``content_order``), since a search breaks ties by number.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import ceil, log, log2
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from apsl_backends.scores import kernels
from apsl_backends.scores.bde import Penalty, check_memory, nats_for
from apsl_backends.scores.content_order import ContentOrder
from apsl_backends.scores.imputation import impute
from apsl_backends.search.families import Families, empty_families, empty_table
from apsl_rules.data import Codes, Table
from apsl_rules.data.counts import CachedCounts, Heading, collapse, heading_of
from apsl_rules.errors import DataError, TooManyCombinationsError
from apsl_rules.names import Node

Integers: TypeAlias = npt.NDArray[np.int64]

#: The most rows whose counts a search holds.
_MOST_ROWS = 2**31 - 1
#: Larger tables are counted by their distinct rows, which are far fewer.
_MANY_ROWS = 1 << 22
#: The most bits of a figure, and the most fractional bits of a unit.
_BITS, _FINEST = 61, 40


class LocalBde:
    """The score of graphs over some columns; compiled searches read and write its ``families``.

    ``ess`` is the equivalent sample size, ``penalty`` the penalty of a parent, and ``empirical_weight`` the weight of
    the observed shares in the prior, all as for ``BDeu``. Only one thread at a time may use an object.
    """

    def __init__(
        self,
        data: Table | CachedCounts,
        *,
        ess: float,
        penalty: Penalty,
        empirical_weight: float,
        order: Literal["content", "column"] = "content",
    ) -> None:
        self._table = data if isinstance(data, Table) else None
        self._kept = data if isinstance(data, CachedCounts) else None
        self.heading: Heading = heading_of(data) if isinstance(data, Table) else data.heading
        if not self.heading.rows or not self.heading.names:
            size = f"{self.heading.rows} rows and {len(self.heading.names)} columns"
            message = f"a table of {size} cannot be scored; give one of each"
            raise DataError(message)
        if self.heading.rows > _MOST_ROWS:
            message = f"a search by scores takes at most {_MOST_ROWS:,} rows; learn by tests (learner='apsl')"
            raise DataError(message)
        self._order = ContentOrder.of(self.heading) if order == "content" else ContentOrder.by_column(self.heading)
        self._empirical_weight = empirical_weight
        self.name = "BDe" if empirical_weight else "BDeu"
        width = len(self.heading.names)
        largest = self.heading.rows * (log(max(self.heading.rows, 2)) + float(np.log(self.heading.cards).sum()) + 1)
        self.unit: float = 2.0 ** -min(_FINEST, _BITS - ceil(log2(largest)))
        self.penalty = round(nats_for(penalty, ess, width) / self.unit)
        self.number: dict[Node, int] = {}
        self.nodes: dict[int, Node] = {}
        self._places, self._cards = np.zeros(width, np.int64), np.zeros(width, np.int64)
        starts = np.zeros(width, np.int64)
        self._prior = kernels.Prior(float(ess), 1 / self.unit, self.penalty, np.empty(0, np.int32), starts)
        self.families: Families = empty_families(width)

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return self.heading.rows

    @property
    def imputes(self) -> bool:
        """Return whether a joined column has missing values."""
        return bool(self.heading.incomplete[[self.heading.place[node] for node in self.number]].any())

    def join(self, nodes: Collection[Node]) -> tuple[int, ...]:
        """Add nodes to the score, and return their numbers in ascending order."""
        new = [node for node in nodes if node not in self.number]
        if new:
            self._join(new)
        return tuple(sorted(self.number[node] for node in nodes))

    def _join(self, new: list[Node]) -> None:
        heading = self.heading
        everyone = [*self.number, *new]
        places = sorted(heading.place[node] for node in everyone)
        codes, weights = self._block(places)
        fresh = self._order.numbers([heading.place[node] for node in new], places, codes, weights)
        prior = self._prior
        log_priors, starts = [prior.log_priors], prior.starts
        for place, number in fresh.items():
            node = heading.names[place]
            self.number[node], self.nodes[number] = number, node
            self._cards[number] = heading.cards[place]
            if self._empirical_weight:
                starts[number] = sum(map(len, log_priors))
                totals = heading.totals[place][: heading.cards[place]]
                log_priors.append(kernels.log_priors_of(totals, self._empirical_weight))
        self._prior = prior._replace(log_priors=np.concatenate(log_priors))
        is_whole_table = self._table is not None and codes is self._table.codes
        number_of = {heading.place[node]: number for node, number in self.number.items()}
        known = self.families.known
        if heading.incomplete[places].any():
            by_number = sorted(range(len(places)), key=lambda at: number_of[places[at]])
            places = [places[at] for at in by_number]
            codes, weights = impute(codes[by_number], heading.cards[places], weights)
            known = empty_table(len(known))
        for row, place in enumerate(places):
            self._places[number_of[place]] = place if is_whole_table else row
        columns = kernels.Columns(codes, self._places, self._cards, weights.astype(np.int32))
        check_memory(kernels.workspace_bytes(codes.shape[1], 3, empirical=self._empirical_weight > 0), self.rows)
        workspace = self.families.workspace if is_whole_table and len(self.number) > len(new) else None
        if workspace is None:
            workspace = kernels.workspace_for(codes.shape[1], 3, empirical=self._empirical_weight > 0)
        self.families = self.families._replace(columns=columns, prior=self._prior, workspace=workspace, known=known)

    def _block(self, places: list[int]) -> tuple[Codes, Integers]:
        """Return rows of some columns with weights, or if possible the rows of the whole table without weights."""
        if self._kept is not None:
            try:
                joint = self._kept.joint(places)
            except TooManyCombinationsError as error:
                message = (
                    f"the {len(places)} columns near the target have more distinct rows than can be held; choose fewer "
                    "columns, join levels, or learn by tests (learner='apsl')"
                )
                raise DataError(message) from error
            return joint.codes, joint.weights
        table = self._table
        assert table is not None  # noqa: S101 - rows or counts
        if table.rows <= _MANY_ROWS and not table.incomplete[places].any():
            return table.codes, np.empty(0, np.int64)
        return collapse(table.codes[places], self.heading.spans[places].tolist())

    def local(self, node: int, parents: Iterable[int]) -> int:
        """Score a node given its parents, in units, minus their penalty."""
        columns, prior, workspace = self.families.columns, self.families.prior, self.families.workspace
        before = np.array(sorted(parents), np.int64)
        return int(kernels.local(columns, node, before, -1, prior, workspace)) - self.penalty * len(before)

    def nats(self, units: int) -> float:
        """Convert units to nats."""
        return units * self.unit
