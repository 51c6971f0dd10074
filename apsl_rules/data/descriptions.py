"""Describe a table to a person: its columns, its duplicates, and what a reader of a part should know of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules._documents import label
from apsl_rules.data.counts.cache import CachedCounts
from apsl_rules.data.counts.source import NO_TRAFFIC, Heading, Traffic, traffic_of
from apsl_rules.data.derived import find_derived
from apsl_rules.data.kinds import CONSTANT, ColumnKind
from apsl_rules.data.tables import Codes, MixedTable, Table
from apsl_rules.names import Node, count_of, in_order, listing, order_key, shown

_SHOWN = 5
#: In tables of more columns than this, only those with the same signature are compared, first on so many rows.
_MANY_COLUMNS, _FEW_ROWS = 10_000, 64
_CELLS_AT_ONCE = 2**20


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


def describe(table: Table | MixedTable) -> Description:
    """Report the size of a table, what its columns hold, and which are constant, duplicate, derived or incomplete.

    Of very many columns only the first by name are compared to find derived ones.
    """
    coded = table if isinstance(table, Table) else table.categories
    size = coded.codes.nbytes + (table.numbers.nbytes if isinstance(table, MixedTable) else 0)
    aside = [one.name for one in table.columns if one.kind == "set aside" and one.detail == CONSTANT]
    constant = np.array([not _varies(_totals(coded, place)[0]) for place in range(len(coded.names))], np.bool_)
    return Description(
        rows=table.rows,
        columns=len(table.names),
        constant=in_order([*_names_of(coded, constant), *aside]),
        duplicates=find_duplicates(coded, coded.names),
        incomplete=in_order(name for name, gone in zip(table.names, table.incomplete, strict=True) if gone),
        bytes=size,
        details=_details(table, table.columns),
        derived=find_derived(table, table.names),
        notes=table.notes,
        repeated=_repeated_rows(table, coded),
    )


def _repeated_rows(table: Table | MixedTable, coded: Table) -> int:
    """Count the rows that are equal to an earlier one, by a hash of each row."""
    hashes = np.zeros(table.rows, np.uint64)
    for codes in coded.codes:
        _mix(hashes, codes.astype(np.uint64))
    for values in table.numbers if isinstance(table, MixedTable) else ():
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


def describe_columns(table: Table | MixedTable) -> tuple[ColumnKind, ...]:
    """Return what each column holds, also of a table that does not say how it was read."""
    numbers = frozenset(table.number_names) if isinstance(table, MixedTable) else frozenset()
    unread = (ColumnKind(name, "number" if name in numbers else "category") for name in table.names)
    return _details(table, table.columns or tuple(unread))


def _details(table: Table | MixedTable, columns: tuple[ColumnKind, ...]) -> tuple[ColumnKind, ...]:
    coded = table if isinstance(table, Table) else table.categories
    return tuple(_detail(table, coded, one) for one in columns)


def _detail(table: Table | MixedTable, coded: Table, column: ColumnKind) -> ColumnKind:
    """Return a column with the shares of its levels, or its range and quartiles."""
    if column.name in coded.place:
        place = coded.place[column.name]
        totals, _ = _totals(coded, place)
        order = np.argsort(-totals, kind="stable")[:_SHOWN].tolist()
        shares = [f"{_level(coded.levels[place][at])} {_share(totals[at] / max(1, totals.sum()), 0)}" for at in order]
        rest = len(totals) - len(shares)
        return attrs.evolve(column, detail=", ".join(shares) + (f" and {count_of(rest, 'level')} more" if rest else ""))
    if isinstance(table, MixedTable) and column.name in table.number_names:
        values = table.numbers[table.number_names.index(column.name)]
        low, *quartiles, high = np.quantile(values[~np.isnan(values)], [0, 0.25, 0.5, 0.75, 1]).tolist()
        middle = ", ".join(f"{one:.6g}" for one in quartiles)
        return attrs.evolve(column, detail=f"{low:.6g} to {high:.6g}, quartiles {middle}")
    return column


def _level(level: Any) -> str:
    return f"{level:.6g}" if isinstance(level, float) else shown(level)


def _share(share: float, digits: int) -> str:
    """Return a share in per cent; one that would be rounded to zero is said to be below the smallest that is not."""
    least = 10.0 ** -(digits + 2)
    return f"<{least:.{digits}%}" if 0 < share < least / 2 else f"{share:.{digits}%}"


def find_duplicates(table: Table, names: Iterable[Node]) -> tuple[tuple[Node, ...], ...]:
    """Return the groups of duplicates among some columns, by name; only columns with the same totals are compared."""
    alike: dict[tuple[bytes, int], list[int]] = {}
    places = np.array([table.place[name] for name in names], np.int64)
    if len(places) > _MANY_COLUMNS:
        step = max(1, table.rows // _FEW_ROWS)
        for rows in (slice(None, None, step), slice(None)):
            places = _sharing_signatures(table, places, rows)
    for place in places.tolist():
        totals, gone = _totals(table, place)
        if _varies(totals):
            alike.setdefault((np.sort(totals[totals > 0]).tobytes(), gone), []).append(place)
    groups: dict[bytes, list[Node]] = {}
    for group in alike.values():
        for place, pattern in _patterns(table, group) if len(group) > 1 else ():
            groups.setdefault(pattern, []).append(table.names[place])
    found = [in_order(nodes) for nodes in groups.values() if len(nodes) > 1]
    return tuple(sorted(found, key=lambda group: order_key(group[0])))


def _sharing_signatures(table: Table, places: npt.NDArray[np.int64], rows: slice) -> npt.NDArray[np.int64]:
    """Return the columns among some that may be duplicates by some of the rows.

    Each row has a random number. The sums of these over the rows of each level are the same for duplicates, up to their
    order, and are mixed into one number for each column.
    """
    lines = len(range(*rows.indices(table.rows)))
    width = int(table.cards[places].max(initial=0)) + 1
    random = np.random.default_rng(0)
    # The sums of so small whole numbers are exact.
    weights = random.integers(1, max(2, (1 << 52) // max(lines, 1)), lines).astype(np.float64)
    factors = random.integers(1 << 62, size=width, dtype=np.uint64)
    signatures = np.empty(len(places), np.uint64)
    step = max(1, _CELLS_AT_ONCE // max(lines, width))
    for start in range(0, len(places), step):
        block = table.codes[places[start : start + step], rows]
        cells = block + np.arange(0, len(block) * width, width)[:, None]
        told = np.broadcast_to(weights, block.shape).ravel()
        sums = np.bincount(cells.ravel(), told, len(block) * width).reshape(len(block), width)
        sums[:, ::-1].sort(axis=1)  # largest first, so that unused levels change nothing
        signatures[start : start + step] = (sums.astype(np.uint64) * factors).sum(axis=1)
    _, inverse, counts = np.unique(signatures, return_inverse=True, return_counts=True)
    sharing: npt.NDArray[np.int64] = places[counts[inverse] > 1]
    return sharing


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


#: So many groups of duplicates are told one by one.
_GROUPS_SHOWN = 10


def notes_on(
    table: Table | MixedTable, members: Sequence[Node], duplicates: Iterable[Sequence[Node]] = ()
) -> tuple[str, ...]:
    """Return a sentence for each thing that stands out.

    In a table with numbers, derived columns are named if a member follows from others, or others from it. Of
    each group of ``duplicates`` one is looked at.
    """
    if isinstance(table, Table):
        return _on_columns(table)
    near = frozenset(members)
    firsts = (sorted(group, key=lambda node: node not in near) for group in duplicates)
    others = {node for first in firsts for node in first[1:]}
    one_of_each = ([name for name in names if name not in others] for names in (table.names, members))
    return (*table.notes, *find_derived(table, *one_of_each))


def notes_on_counts(kept: CachedCounts, before: Traffic = NO_TRAFFIC) -> tuple[str, ...]:
    """Return the same sentences from counts alone, and where the counts came from."""
    chosen = () if kept.note is None else (kept.note,)
    return (*_on_columns(kept.heading), *chosen, f"counts came from {kept.kind} {traffic_of(kept).since(before)}")


def _on_columns(table: Table | Heading) -> tuple[str, ...]:
    constant = [table.names[place] for place in np.flatnonzero(table.cards == 1).tolist()]
    if not constant:
        return tuple(table.notes)
    return (*table.notes, f"columns that never vary and so are adjacent to nothing: {listing(constant)}")


def notes_on_duplicates(groups: Iterable[Sequence[Node]]) -> list[str]:
    """Return a sentence for each group of duplicate columns; of very many only the first are told."""
    told, few = "no data can tell which of them has an edge", list(groups)
    notes = [f"duplicate columns: {listing(in_order(group))}; {told}" for group in few[:_GROUPS_SHOWN]]
    if len(few) > _GROUPS_SHOWN:
        notes.append(f"duplicate columns: {len(few) - _GROUPS_SHOWN:,} more groups; {told}")
    return notes
