"""Count sources: the protocol, the heading of a table, and rows collapsed to distinct ones."""

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
from apsl_rules.names import Node, count_of, spell_bytes


@attrs.frozen
class Traffic:
    """Rounds in which a source was asked, and the bytes that came back."""

    rounds: int = 0
    moved: int = 0

    def since(self, before: Traffic) -> Traffic:
        """Return what came after a point in time."""
        return Traffic(self.rounds - before.rounds, self.moved - before.moved)

    def __str__(self) -> str:
        size = f", {spell_bytes(self.moved)}" if self.moved else ""
        return f"in {count_of(self.rounds, 'round')}{size}"


NO_TRAFFIC = Traffic()


def traffic_of(source: object) -> Traffic:
    """Return what came from a source so far; nothing where it does not say."""
    return Traffic(getattr(source, "rounds", 0), getattr(source, "moved", 0))


_LARGEST_KEY = 1 << 62
_DENSE = 1 << 22
_DENSE_PER_LINE = 4


def collapse(codes: Codes, spans: Sequence[int], weights: Weights | None = None) -> tuple[Codes, Weights]:
    """Return each combination of codes once, in the order of the codes, with the sum of its weights.

    The codes are columns by rows, and those of column i lie below ``spans[i]``; without weights each row counts 1.

    >>> collapse(np.array([[1, 0, 1], [0, 2, 0]], np.uint8), [2, 3])
    (array([[0, 1],
           [2, 0]], dtype=uint8), array([1, 2]))
    """
    lines = codes.shape[1]
    keys, span = pack_codes(codes, spans)
    if span <= min(_DENSE, max(_DENSE_PER_LINE * lines, 1024)) and _is_plain(spans):
        counts = _sum_by_key(keys, weights, span)
        seen = np.flatnonzero(counts)
        return unpack_codes(seen, spans, codes.dtype), counts[seen]
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return codes[:, first], _sum_by_key(inverse, weights, len(first))


def pack_codes(codes: Codes, spans: Sequence[int]) -> tuple[npt.NDArray[np.int64], int]:
    """Return the number of each row's combination, in the order of the codes, and a bound for the numbers.

    Where a number would not fit, the combinations of the columns so far are numbered as they occur.
    """
    keys, bound = np.zeros(codes.shape[1], np.int64), 1
    for column, span in zip(codes, spans, strict=True):
        if bound * span > _LARGEST_KEY:
            seen, keys = np.unique(keys, return_inverse=True)
            bound = len(seen)
        keys = keys * span + column
        bound *= span
    return keys, bound


def _is_plain(spans: Sequence[int]) -> bool:
    """Return whether keys of so many combinations are never numbered anew."""
    bound = 1
    for span in spans:
        bound *= span
    return bound <= _LARGEST_KEY


def _sum_by_key(keys: npt.NDArray[np.int64], weights: Weights | None, span: int) -> Weights:
    """Sum weights by key; floats are exact here, since no table has 2**53 rows."""
    return np.bincount(keys, weights, span).astype(np.int64)


def unpack_codes(keys: npt.NDArray[np.int64], spans: Sequence[int], kind: np.dtype[np.unsignedinteger]) -> Codes:
    """Return the codes behind keys."""
    codes: Codes = np.empty((len(spans), len(keys)), kind)
    for place in reversed(range(len(spans))):
        keys, codes[place] = np.divmod(keys, spans[place])
    return codes


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
