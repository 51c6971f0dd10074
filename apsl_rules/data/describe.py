"""The size of a table, and its constant, duplicate and incomplete columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.table import Codes, Table
from apsl_rules.names import Node, count_of, in_order, listing, order_key

_CELLS_AT_ONCE = 2**20


@attrs.frozen
class Description:
    """The size of a table and its columns that are constant, duplicates of each other, or incomplete.

    Duplicates are columns that differ at most in the names of their levels; constants are not counted among them.
    """

    rows: int
    columns: int
    constant: tuple[Node, ...]
    duplicates: tuple[tuple[Node, ...], ...]
    incomplete: tuple[Node, ...]
    bytes: int

    def __str__(self) -> str:
        lines = [f"{count_of(self.rows, 'row')}, {count_of(self.columns, 'column')}, {count_of(self.bytes, 'byte')}"]
        if self.constant:
            lines.append(f"constant: {listing(self.constant)}")
        lines.extend(f"duplicate columns: {listing(group)}" for group in self.duplicates)
        if self.incomplete:
            lines.append(f"with missing values: {listing(self.incomplete)}")
        return "\n".join(lines)


def describe(table: Table) -> Description:
    """Report the size of a table and its constant, duplicate and incomplete columns; nothing is dropped."""
    constant = np.array([not _varies(_totals(table, place)[0]) for place in range(len(table.names))], np.bool_)
    return Description(
        rows=table.rows,
        columns=len(table.names),
        constant=_names_of(table, constant),
        duplicates=find_duplicates(table, table.names),
        incomplete=_names_of(table, table.incomplete),
        bytes=table.codes.nbytes,
    )


def find_duplicates(table: Table, names: Iterable[Node]) -> tuple[tuple[Node, ...], ...]:
    """Return the groups of duplicates among some columns, by name; only columns with the same totals are compared."""
    alike: dict[tuple[bytes, int], list[int]] = {}
    for place in (table.place[name] for name in names):
        totals, gone = _totals(table, place)
        if _varies(totals):
            alike.setdefault((np.sort(totals[totals > 0]).tobytes(), gone), []).append(place)
    groups: dict[bytes, list[Node]] = {}
    for places in alike.values():
        for place, pattern in _patterns(table, places) if len(places) > 1 else ():
            groups.setdefault(pattern, []).append(table.names[place])
    found = [in_order(group) for group in groups.values() if len(group) > 1]
    return tuple(sorted(found, key=lambda group: order_key(group[0])))


def _totals(table: Table, place: int) -> tuple[npt.NDArray[np.int64], int]:
    """Return how often each level of a column occurs, and how often its value is missing."""
    card = int(table.cards[place])
    totals = np.bincount(table.codes[place], minlength=card + 1)
    return totals[:card], int(totals[card])


def _varies(totals: npt.NDArray[np.int64]) -> bool:
    return bool(np.count_nonzero(totals) > 1)


def _patterns(table: Table, places: list[int]) -> Iterator[tuple[int, bytes]]:
    """Return digests of columns that are the same whatever the names of their levels."""
    step = max(1, _CELLS_AT_ONCE // max(table.rows, int(table.cards.max())))
    for start in range(0, len(places), step):
        some = np.array(places[start : start + step])
        relabelled, gap = _by_first_row(table, some)
        for row, place in enumerate(some.tolist()):
            salt = int(gap[row] + 1).to_bytes(4, "little")
            yield place, blake2b(relabelled[row], digest_size=16, salt=salt).digest()


def _names_of(table: Table, chosen: npt.NDArray[np.bool_]) -> tuple[Node, ...]:
    return in_order(table.names[place] for place in np.flatnonzero(chosen))


def _by_first_row(table: Table, places: npt.NDArray[np.int64]) -> tuple[Codes, npt.NDArray[np.int64]]:
    """Renumber the codes of some columns by the row of their first use; give also the number of a missing value."""
    block = table.codes[places]
    columns, rows = block.shape
    width = int(table.cards[places].max()) + 1
    cells = block + np.arange(0, columns * width, width)[:, None]
    first = np.full(columns * width, rows)
    # Of several values for one place the last assigned stays: walking backwards, that of the first row.
    first[cells[:, ::-1]] = np.arange(rows)[::-1]
    rank = np.empty((columns, width), dtype=block.dtype)
    order = np.argsort(first.reshape(columns, width), axis=1, kind="stable")
    np.put_along_axis(rank, order, np.arange(width, dtype=block.dtype)[None, :], axis=1)
    relabelled = rank.ravel()[cells]
    gap = np.where(table.incomplete[places], rank[np.arange(columns), table.cards[places]].astype(np.int64), -1)
    return relabelled, gap
