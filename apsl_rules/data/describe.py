"""The size of a table, and its constant, duplicate and incomplete columns."""

from __future__ import annotations

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
    constant = np.zeros(len(table.names), dtype=bool)
    groups: dict[bytes, list[Node]] = {}
    step = max(1, _CELLS_AT_ONCE // max(table.rows, int(table.cards.max())))
    for start in range(0, len(table.names), step):
        relabelled, gap = _by_first_row(table, slice(start, start + step))
        # Codes are numbered as they appear, so a constant column has one code beside that of a missing value.
        codes_seen = relabelled.max(axis=1) + 1 - (gap >= 0)
        constant[start : start + step] = codes_seen == 1
        for row, place in enumerate(range(start, start + len(relabelled))):
            if not constant[place]:
                key = blake2b(relabelled[row], digest_size=16, salt=int(gap[row] + 1).to_bytes(4, "little"))
                groups.setdefault(key.digest(), []).append(table.names[place])
    duplicates = [in_order(group) for group in groups.values() if len(group) > 1]
    return Description(
        rows=table.rows,
        columns=len(table.names),
        constant=_names_of(table, constant),
        duplicates=tuple(sorted(duplicates, key=lambda group: order_key(group[0]))),
        incomplete=_names_of(table, table.incomplete),
        bytes=table.codes.nbytes,
    )


def _names_of(table: Table, chosen: npt.NDArray[np.bool_]) -> tuple[Node, ...]:
    return in_order(table.names[place] for place in np.flatnonzero(chosen))


def _by_first_row(table: Table, run: slice) -> tuple[Codes, npt.NDArray[np.int64]]:
    """Renumber the codes of each column by the row of their first use; give also the number of a missing value."""
    block = table.codes[run]
    columns, rows = block.shape
    width = int(table.cards[run].max()) + 1
    cells = block + np.arange(0, columns * width, width)[:, None]
    first = np.full(columns * width, rows)
    # Of several values for one place the last assigned stays: walking backwards, that of the first row.
    first[cells[:, ::-1]] = np.arange(rows)[::-1]
    rank = np.empty((columns, width), dtype=block.dtype)
    order = np.argsort(first.reshape(columns, width), axis=1, kind="stable")
    np.put_along_axis(rank, order, np.arange(width, dtype=block.dtype)[None, :], axis=1)
    relabelled = rank.ravel()[cells]
    gap = np.where(table.incomplete[run], rank[np.arange(columns), table.cards[run]].astype(np.int64), -1)
    return relabelled, gap
