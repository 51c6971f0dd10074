"""Describe a table to a person: its size, its columns, and what stands out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules._documents import label
from apsl_rules.data.derived import find_derived
from apsl_rules.data.kinds import CONSTANT, ColumnKind
from apsl_rules.data.tables import LocalTable
from apsl_rules.names import Node, count_of, in_order, listing, shown

_SHOWN = 5


@attrs.frozen
class Description:
    """The size of a table and its columns that are constant, duplicates of each other, or incomplete.

    Duplicates are columns that differ at most in the names of their levels; constants are not counted among them.
    ``details`` has every column of the source with its kind and what it holds, also those that were set aside,
    ``derived`` what follows from other columns, and ``notes`` what was assumed when the table was read.
    ``repeated`` counts the rows that are equal to an earlier one in all columns that are used.
    """

    rows: int
    columns: int
    constant: tuple[Node, ...]
    duplicates: tuple[tuple[Node, ...], ...]
    incomplete: tuple[Node, ...]
    bytes: int
    details: tuple[ColumnKind, ...] = ()
    derived: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    repeated: int = 0

    def __str__(self) -> str:
        aside = sum(one.kind == "set aside" for one in self.details)
        columns = count_of(self.columns + aside, "column") + (f" ({aside:,} set aside)" if aside else "")
        lines = [f"{count_of(self.rows, 'row')}, {columns}, {count_of(self.bytes, 'byte')}"]
        width = max((len(shown(one.name)) for one in self.details), default=0)
        for one in self.details:
            gone = f"; {_share(one.missing / self.rows, 1)} missing" if one.missing else ""
            lines.append(f"{shown(one.name):{width}}  {one.kind:9}  {one.detail}{gone}")
        if self.constant:
            lines.append(f"constant: {listing(self.constant)}")
        lines.extend(f"duplicate columns: {listing(group)}" for group in self.duplicates)
        if self.incomplete:
            lines.append(f"with missing values: {listing(self.incomplete)}")
        lines.extend(f"derived: {one}" for one in self.derived)
        if self.repeated and any(one.kind == "number" for one in self.details):
            verb = "repeats" if self.repeated == 1 else "repeat"
            lines.append(
                f"{count_of(self.repeated, 'row')} {verb} an earlier one; if entered twice, leave out the copies"
            )
        lines.extend(f"note: {note}" for note in self.notes)
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the description as plain data."""
        return {
            "rows": self.rows,
            "columns": [
                {"name": label(one.name), "kind": one.kind, "detail": one.detail, "missing": one.missing}
                for one in self.details
            ],
            "constant": [label(name) for name in self.constant],
            "duplicates": [[label(name) for name in group] for group in self.duplicates],
            "derived": list(self.derived),
            "repeated_rows": self.repeated,
            "notes": list(self.notes),
            "bytes": self.bytes,
        }


def describe(table: LocalTable) -> Description:
    """Report the size of a table, what its columns hold, and which are constant, duplicate, derived or incomplete.

    Of very many columns only the first by name are compared to find derived ones.
    """
    coded = table.categories
    aside = [one.name for one in table.columns if one.kind == "set aside" and one.detail == CONSTANT]
    constant = [coded.names[place] for place in np.flatnonzero(~coded.heading.varied).tolist()]
    return Description(
        rows=table.rows,
        columns=len(table.names),
        constant=in_order([*constant, *aside]),
        duplicates=coded.find_duplicates(),
        incomplete=in_order(name for name, gone in zip(table.names, table.incomplete, strict=True) if gone),
        bytes=coded.codes.nbytes + sum(table.values(name).nbytes for name in table.number_names),
        details=tuple(_detail(table, one) for one in table.columns),
        derived=find_derived(table, table.names),
        notes=table.notes,
        repeated=_repeated_rows(table),
    )


def _repeated_rows(table: LocalTable) -> int:
    """Count the rows that are equal to an earlier one, by a hash of each row."""
    hashes = np.zeros(table.rows, np.uint64)
    for codes in table.categories.codes:
        _mix(hashes, codes.astype(np.uint64))
    for values in map(table.values, table.number_names):
        _mix(hashes, np.where(np.isnan(values), 0.5, values + 0.0).view(np.uint64))  # -0.0 is 0.0
        _mix(hashes, np.isnan(values).astype(np.uint64))
    return int(table.rows - len(np.unique(hashes)))


def _mix(hashes: npt.NDArray[np.uint64], values: npt.NDArray[np.uint64]) -> None:
    """Mix the values of a column into the hashes of the rows: the finaliser of SplitMix64 (Steele et al. 2014)."""
    hashes += values + np.uint64(0x9E3779B97F4A7C15)
    hashes ^= hashes >> np.uint64(30)
    hashes *= np.uint64(0xBF58476D1CE4E5B9)
    hashes ^= hashes >> np.uint64(27)
    hashes *= np.uint64(0x94D049BB133111EB)
    hashes ^= hashes >> np.uint64(31)


def describe_columns(table: LocalTable) -> tuple[ColumnKind, ...]:
    """Return what each column holds, also of a table that does not say how it was read."""
    unread = (ColumnKind(name, "category" if table.is_category(name) else "number") for name in table.names)
    return tuple(_detail(table, one) for one in table.columns or unread)


def _detail(table: LocalTable, column: ColumnKind) -> ColumnKind:
    """Return a column with the shares of its levels, or its range and quartiles."""
    if table.is_category(column.name):
        heading = table.categories.heading
        place = heading.place[column.name]
        card = int(heading.cards[place])
        return attrs.evolve(column, detail=_shares(heading.levels[place][:card], heading.totals[place][:card]))
    if column.kind == "ordered" and column.name in table.place:
        values = table.values(column.name)
        levels, totals = np.unique(values[~np.isnan(values)], return_counts=True)
        return attrs.evolve(column, detail=_shares(levels.tolist(), totals.astype(np.int64)))
    if column.name in table.place:
        values = table.values(column.name)
        low, *quartiles, high = np.quantile(values[~np.isnan(values)], [0, 0.25, 0.5, 0.75, 1]).tolist()
        middle = ", ".join(f"{one:.6g}" for one in quartiles)
        return attrs.evolve(column, detail=f"{low:.6g} to {high:.6g}, quartiles {middle}")
    return column


def _shares(levels: Sequence[Any], totals: npt.NDArray[np.int64]) -> str:
    """Return the most frequent levels of a column with their shares."""
    order = np.argsort(-totals, kind="stable")[:_SHOWN].tolist()
    shares = [f"{_level(levels[at])} {_share(totals[at] / max(1, totals.sum()), 0)}" for at in order]
    rest = len(totals) - len(shares)
    return ", ".join(shares) + (f" and {count_of(rest, 'level')} more" if rest else "")


def _level(level: Any) -> str:
    return f"{level:.6g}" if isinstance(level, float) else shown(level)


def _share(share: float, digits: int) -> str:
    """Return a share in per cent; one that would be rounded to zero is said to be below the smallest that is not."""
    least = 10.0 ** -(digits + 2)
    return f"<{least:.{digits}%}" if 0 < share < least / 2 else f"{share:.{digits}%}"
