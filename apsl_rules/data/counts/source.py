"""Counts from anywhere: the protocol of a source of counts.

A table in memory, files larger than memory and a cluster all answer the same question, in batches: which combinations
of codes occur in these columns, and in how many rows each. Everything else (tests, uncertainties, scores) is computed
from such counts by the same code, so that it does not matter where they come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol, overload, runtime_checkable
from weakref import WeakKeyDictionary

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.kinds import ColumnKind
from apsl_rules.data.tables import Codes, Table
from apsl_rules.names import Node

Weights = npt.NDArray[np.int64]


@attrs.frozen(eq=False, slots=False)
class Heading:
    """All of a coded table but its rows: the fields of ``Table``, and how often each code occurs in its column."""

    names: tuple[Node, ...]
    cards: npt.NDArray[np.int64]
    levels: tuple[tuple[Any, ...], ...]
    incomplete: npt.NDArray[np.bool_]
    rows: int
    totals: Sequence[Weights]
    notes: tuple[str, ...] = ()
    columns: tuple[ColumnKind, ...] = ()

    def coding(self, place: int) -> bytes:
        """Return a key of how a column was coded: its place, its levels and the rows of each.

        Intervals are spelt with few digits, so two cuts of a column may have the same names.
        """
        return repr((place, self.levels[place], self.totals[place].tolist())).encode()

    @cached_property
    def place(self) -> dict[Node, int]:
        """Return the column number of each name."""
        return {name: number for number, name in enumerate(self.names)}

    @cached_property
    def spans(self) -> npt.NDArray[np.int64]:
        """Return how many codes each column can have, that of a missing value included."""
        return self.cards + self.incomplete

    @cached_property
    def varied(self) -> npt.NDArray[np.bool_]:
        """Return for each column whether at least two of its levels occur."""
        pairs = zip(self.totals, self.cards.tolist(), strict=True)
        return np.array([np.count_nonzero(total[:card]) > 1 for total, card in pairs], np.bool_)


def heading_of(table: Table) -> Heading:
    """Return the heading of a table in memory, made once."""
    if table not in _KNOWN:
        totals = _Totals(table.codes, table.cards + table.incomplete)
        _KNOWN[table] = Heading(
            table.names,
            table.cards,
            table.levels,
            table.incomplete,
            table.rows,
            totals,
            table.notes,
            table.columns,
        )
    return _KNOWN[table]


class _Totals(Sequence[Weights]):
    """How often each code occurs in its column, counted when it is asked for: a wide table has very many columns."""

    def __init__(self, codes: Codes, spans: npt.NDArray[np.int64]) -> None:
        self._codes = codes
        self._spans = spans
        self._known: dict[int, Weights] = {}

    def __len__(self) -> int:
        return len(self._codes)

    @overload
    def __getitem__(self, place: int) -> Weights: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Weights]: ...
    def __getitem__(self, place: int | slice) -> Weights | Sequence[Weights]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        if place not in self._known:
            self._known[place] = np.bincount(self._codes[place], minlength=int(self._spans[place]))
        return self._known[place]


#: The headings of tables that are in use.
_KNOWN: WeakKeyDictionary[Table, Heading] = WeakKeyDictionary()


@attrs.frozen(eq=False)
class Joint:
    """The combinations of codes that occur in some columns, each once and with the number of rows that have it.

    ``codes[i, e]`` is the code of column ``places[i]`` in combination e; a missing value has the code after the last
    level, as in a table.
    """

    places: tuple[int, ...]
    codes: Codes
    weights: Weights

    @property
    def nbytes(self) -> int:
        """Return the memory that it takes."""
        return int(self.codes.nbytes + self.weights.nbytes)


@runtime_checkable
class CountSource(Protocol):
    """Whatever counts the rows of a table."""

    @property
    def kind(self) -> str:
        """Return the name of the counting method, such as "duckdb"."""

    @property
    def heading(self) -> Heading:
        """Return the columns, their levels and the number of rows."""

    @property
    def cheap(self) -> int:
        """Return how many combinations a set of columns may have for it to be counted as quickly as any part of it."""

    def joints(self, sets: Sequence[tuple[int, ...]], most: int) -> Sequence[Joint | None]:
        """Count sets of columns in one round; None for a set with more than so many combinations."""

    def complete(self, sets: Sequence[tuple[int, ...]]) -> Sequence[int]:
        """Count, for each set of columns, the rows in which none of them is missing."""

    def sample(self) -> Codes:
        """Return the codes of some of the rows, columns by rows, from which the size of answers is guessed."""
