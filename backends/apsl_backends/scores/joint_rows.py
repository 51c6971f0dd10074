"""In how many rows columns are seen together, which is all that a score of them can rest on.

A value that was filled in or estimated is no row. Where values are missing, all families are scored as if they had the
mean number of rows in which two columns are seen together; rows that differ by family would favour complete columns.
Columns that are seen together in fewer than FEWEST_TOGETHER rows are not compared: it is unknown if they are adjacent.
Complete columns of a table with numbers need FEWEST_COMPLETE rows, as a test of two numbers does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from apsl_rules.data import Table
from apsl_rules.data.counts import CachedCounts, heading_of
from apsl_rules.data.moments import MomentSource
from apsl_rules.evidence import ROWS, Evidence
from apsl_rules.names import Node, Pair, count_of

#: The fewest rows that tell anything of two columns.
FEWEST_TOGETHER = 20
FEWEST_COMPLETE = 15
#: How many of the rows of a family an edge may rest on besides those with both its ends.
_OF_FAMILY = 2


class JointRows:
    """Counts the rows in which columns of a table are all there, each set of columns once."""

    def __init__(self, data: Table | CachedCounts | MomentSource) -> None:
        self._data = data
        if isinstance(data, MomentSource):
            moments = data.heading
            self.rows, self._names, self._place = moments.rows, moments.names, moments.place
            self._missing = moments.missing
        else:
            counts = heading_of(data) if isinstance(data, Table) else data.heading
            self.rows, self._names, self._place = counts.rows, counts.names, counts.place
            self._missing = np.zeros(len(counts.names), np.int64)
            for place in np.flatnonzero(counts.incomplete).tolist():
                self._missing[place] = counts.totals[place][counts.cards[place] :].sum()
        self._known: dict[tuple[int, ...], int] = {}

    def is_complete(self, nodes: Iterable[Node]) -> bool:
        """Return whether no value of some columns is missing."""
        return not self._missing[[self._place[node] for node in nodes]].any()

    def of(self, sets: Sequence[Collection[Node]]) -> list[int]:
        """Return the rows in which all columns of each set are there."""
        gaps = [tuple(sorted(at for node in one if self._missing[at := self._place[node]])) for one in sets]
        new = sorted({one for one in gaps if len(one) > 1} - self._known.keys())
        if new:
            self._known.update(zip(new, self._count(new), strict=True))
        return [self._known[one] if len(one) > 1 else self.rows - int(self._missing[list(one)].sum()) for one in gaps]

    def mean(self, nodes: Collection[Node]) -> float:
        """Return the mean number of rows in which two of some columns are there, of pairs that are compared."""
        if self.is_complete(nodes):
            return float(self.rows)
        together = [rows for rows in self.of(list(combinations(nodes, 2))) if rows >= FEWEST_TOGETHER]
        return sum(together) / len(together) if together else 0.0

    def too_few_among(self, nodes: Collection[Node]) -> dict[Pair, int]:
        """Return the pairs of columns that are seen together in too few rows to compare them, with these rows."""
        return self._too_few(combinations(nodes, 2))

    def too_few_at(self, node: Node) -> dict[Pair, int]:
        """Return the pairs of a column with any other that are seen together in too few rows, with these rows."""
        return self._too_few((node, other) for other in self._names if other != node)

    def behind(self, edges: Sequence[tuple[Node, Node, Collection[Node]]]) -> list[int]:
        """Return the rows that speak for each edge: those with both ends, and at most twice those of its family."""
        both = self.of([edge[:2] for edge in edges])
        whole = self.of([{x, y, *given} for x, y, given in edges])
        return [min(one, _OF_FAMILY * other) for one, other in zip(both, whole, strict=True)]

    def _too_few(self, pairs: Iterable[tuple[Node, Node]]) -> dict[Pair, int]:
        """Find pairs with too few rows; most have so many values that they need not be counted."""
        doubtful = list(self._possibly(pairs))
        counted = zip(doubtful, self.of(doubtful), strict=True)
        return {frozenset(pair): rows for pair, rows in counted if rows < self._fewest(pair)}

    def _possibly(self, pairs: Iterable[tuple[Node, Node]]) -> Iterator[tuple[Node, Node]]:
        most = self.rows - FEWEST_TOGETHER
        if 2 * int(self._missing.max(initial=0)) <= most:
            return
        gone, place = self._missing.tolist(), self._place
        yield from (pair for pair in pairs if gone[place[pair[0]]] + gone[place[pair[1]]] > most)

    def _fewest(self, pair: tuple[Node, Node]) -> int:
        is_complete = isinstance(self._data, MomentSource) and self.is_complete(pair)
        return FEWEST_COMPLETE if is_complete else FEWEST_TOGETHER

    def _count(self, sets: Sequence[tuple[int, ...]]) -> list[int]:
        if isinstance(self._data, MomentSource):
            found: list[int] = self._data.test_rows(sets).rows.tolist()
            return found
        if isinstance(self._data, CachedCounts):
            self._data.fetch_complete(sets)
            return [self._data.rows_used(one) for one in sets]
        table = self._data
        there: dict[int, npt.NDArray[np.bool_]] = {
            place: table.codes[place] < table.cards[place] for place in {place for one in sets for place in one}
        }
        return [int(np.count_nonzero(np.logical_and.reduce([there[place] for place in one]))) for one in sets]


def seen_too_rarely(rows: int) -> Evidence:
    """Return why a pair that is seen together in so many rows is unknown."""
    return Evidence(ROWS, note=f"seen together in {count_of(rows, 'row')}, too few to compare them")


def pays_too_little(rows: int) -> Evidence:
    """Return why an edge that a search found is unknown, though the covariance or filled-in values speak for it."""
    return Evidence(ROWS, note=f"the {count_of(rows, 'row')} that speak for an edge are too few for what it gains")
