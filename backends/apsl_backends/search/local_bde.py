"""BDe over the columns near a target, from rows in memory or from counts that come from elsewhere.

Columns join one by one as a search meets them, so the cost follows the part and not the table. The search counts in a
block of rows: those of the table, or the distinct rows of the columns that joined, each with its weight. Counts are the
same either way, and so are all scores.

Columns are numbered by content (see ``content_order``), since a search breaks ties by number.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import ceil, log, log2
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from apsl_backends.scores import kernels
from apsl_backends.scores.bde import Price, check_memory, nats_for
from apsl_backends.scores.content_order import ContentOrder
from apsl_backends.scores.imputation import impute
from apsl_backends.search.families import Book, empty_book, no_families
from apsl_rules.data import Codes, Table
from apsl_rules.data.counts import CachedCounts, Heading, collapse, heading_of
from apsl_rules.errors import DataError
from apsl_rules.names import Node

Integers: TypeAlias = npt.NDArray[np.int64]

#: Tables with more rows are counted by their distinct rows, which are far fewer then.
_MANY_ROWS = 1 << 22
#: The bits that the largest figure may take, and those behind the point of the finest unit.
_BITS, _FINEST = 61, 40


class LocalBde:
    """The score of graphs over some columns; ``book`` is what compiled searches read and write.

    ``ess`` is the equivalent sample size, ``price`` what a parent costs (as for ``BDeu``), ``leaning`` how far the
    prior leans to the observed shares. An object is used by one thread at a time.
    """

    def __init__(
        self,
        data: Table | CachedCounts,
        *,
        ess: float,
        price: Price,
        leaning: float,
        order: Literal["content", "column"] = "content",
    ) -> None:
        self._table = data if isinstance(data, Table) else None
        self._kept = data if isinstance(data, CachedCounts) else None
        self.heading: Heading = heading_of(data) if isinstance(data, Table) else data.heading
        if not self.heading.rows or not self.heading.names:
            size = f"{self.heading.rows} rows and {len(self.heading.names)} columns"
            message = f"a table of {size} cannot be scored; give one of each"
            raise DataError(message)
        self._order = ContentOrder.of(self.heading) if order == "content" else ContentOrder.by_column(self.heading)
        self._leaning = leaning
        self.name = "BDe" if leaning else "BDeu"
        width = len(self.heading.names)
        largest = self.heading.rows * (log(max(self.heading.rows, 2)) + float(np.log(self.heading.cards).sum()) + 1)
        self.unit: float = 2.0 ** -min(_FINEST, _BITS - ceil(log2(largest)))
        self.price = round(nats_for(price, ess, width) / self.unit)
        self.number: dict[Node, int] = {}
        self.nodes: dict[int, Node] = {}
        self._places, self._cards = np.zeros(width, np.int64), np.zeros(width, np.int64)
        starts = np.zeros(width, np.int64)
        self._prior = kernels.Prior(float(ess), 1 / self.unit, self.price, np.empty(0, np.int32), starts)
        self.book: Book = empty_book(width)

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return self.heading.rows

    @property
    def imputes(self) -> bool:
        """Return whether one of the columns that joined lacks values."""
        return bool(self.heading.incomplete[[self.heading.place[node] for node in self.number]].any())

    def join(self, nodes: Collection[Node]) -> tuple[int, ...]:
        """Let nodes take part, and return their numbers in ascending order; ``book`` then knows all of them."""
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
        shades, starts = [prior.shades], prior.starts
        for place, number in fresh.items():
            node = heading.names[place]
            self.number[node], self.nodes[number] = number, node
            self._cards[number] = heading.cards[place]
            if self._leaning:
                starts[number] = sum(map(len, shades))
                shades.append(kernels.shades_of(heading.totals[place][: heading.cards[place]], self._leaning))
        self._prior = prior._replace(shades=np.concatenate(shades))
        is_whole_table = self._table is not None and codes is self._table.codes
        number_of = {heading.place[node]: number for node, number in self.number.items()}
        known = self.book.known
        if heading.incomplete[places].any():
            by_number = sorted(range(len(places)), key=lambda at: number_of[places[at]])
            places = [places[at] for at in by_number]
            codes, weights = impute(codes[by_number], heading.cards[places], weights)
            known = no_families(len(known))
        for row, place in enumerate(places):
            self._places[number_of[place]] = place if is_whole_table else row
        columns = kernels.Columns(codes, self._places, self._cards, weights.astype(np.int32))
        check_memory(kernels.desk_bytes(codes.shape[1], 3, leaning=self._leaning > 0), self.rows)
        desk = self.book.desk if is_whole_table and len(self.number) > len(new) else None
        if desk is None:
            desk = kernels.desk_for(codes.shape[1], 3, leaning=self._leaning > 0)
        self.book = self.book._replace(columns=columns, prior=self._prior, desk=desk, known=known)

    def _block(self, places: list[int]) -> tuple[Codes, Integers]:
        """Return rows of some columns with their weights: the rows of the table without weights where they will do."""
        if self._kept is not None:
            joint = self._kept.joint(places)
            return joint.codes, joint.weights
        table = self._table
        assert table is not None  # noqa: S101 - rows or counts
        if table.rows <= _MANY_ROWS and not table.incomplete[places].any():
            return table.codes, np.empty(0, np.int64)
        return collapse(table.codes[places], self.heading.spans[places].tolist())

    def local(self, node: int, parents: Iterable[int]) -> int:
        """Score a node given its parents, in units, less their price."""
        columns, prior, desk = self.book.columns, self.book.prior, self.book.desk
        before = np.array(sorted(parents), np.int64)
        return int(kernels.local(columns, node, before, -1, prior, desk)) - self.price * len(before)

    def nats(self, units: int) -> float:
        """Turn units into nats."""
        return units * self.unit
