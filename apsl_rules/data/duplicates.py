"""What columns hold: duplicates, which divide the rows alike or order them alike, and hashes of content.

There is one algorithm for duplicates, whatever the levels are called. Cheap keys split the columns until few are left
in a group; then the first of each group is compared with the others, and those unlike it among themselves. A dataset
gives the keys and compares.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.names import Node, in_order, listing, order_key
from apsl_rules.notes import Note

if TYPE_CHECKING:
    from apsl_rules.data.dataset import Codes, Heading
    from apsl_rules.data.tables import Table

Groups: TypeAlias = tuple[tuple[Node, ...], ...]
Pairs: TypeAlias = Sequence[tuple[int, int]]

#: In tables of more columns than this, only those with the same signature are compared, first on so many rows.
_MANY_COLUMNS, _FEW_ROWS = 10_000, 64
_CELLS_AT_ONCE = 2**20
#: So many groups of duplicates are told one by one.
_GROUPS_SHOWN = 10


def split(places: Iterable[int], keys: Iterable[Hashable]) -> list[list[int]]:
    """Return the groups of columns that have the same key; columns that are alone with theirs are left out."""
    groups: dict[Hashable, list[int]] = {}
    for place, key in zip(places, keys, strict=True):
        groups.setdefault(key, []).append(place)
    return [group for group in groups.values() if len(group) > 1]


def compare(groups: Iterable[Sequence[int]], are_alike: Callable[[Pairs], Iterable[bool]]) -> list[list[int]]:
    """Return the groups of duplicates among the columns of each group, all pairs of a round compared together."""
    found: list[list[int]] = []
    left = [list(group) for group in groups if len(group) > 1]
    while left:
        pairs = [(first, other) for first, *others in left for other in others]
        alike = {pair for pair, is_alike in zip(pairs, are_alike(pairs), strict=True) if is_alike}
        twins = [[first, *(one for one in others if (first, one) in alike)] for first, *others in left]
        found += [group for group in twins if len(group) > 1]
        apart = [[one for one in others if (first, one) not in alike] for first, *others in left]
        left = [group for group in apart if len(group) > 1]
    return found


def sorted_groups(names: Sequence[Node], groups: Iterable[Sequence[int]]) -> Groups:
    """Return groups of columns by name, each and all of them in the order of names."""
    named = [in_order(names[place] for place in group) for group in groups]
    return tuple(sorted(named, key=lambda group: order_key(group[0])))


def notes_on_duplicates(groups: Iterable[Sequence[Node]]) -> list[Note]:
    """Return a sentence for each group of duplicate columns; of very many only the first are told."""
    told, few = "no data can tell which of them has an edge", list(groups)
    shown = [in_order(group) for group in few[:_GROUPS_SHOWN]]
    notes = [
        Note(f"duplicate columns: {listing(one)}; {told}", "duplicates", "warning", columns=[*one]) for one in shown
    ]
    if further := len(few) - len(shown):
        words = f"duplicate columns: {further:,} more groups; {told}"
        notes.append(Note(words, "more duplicates", "warning", groups=further))
    return notes


# --- categories ------------------------------------------------------------------------------------------------------


def same_totals(heading: Heading, places: Iterable[int]) -> list[list[int]]:
    """Return groups of columns that vary, with the same counts of levels and of missing values."""
    varied: list[int] = []
    keys: list[Hashable] = []
    for place in places:
        totals, card = heading.totals[place], int(heading.cards[place])
        levels = np.sort(totals[:card][totals[:card] > 0])
        if len(levels) > 1:
            varied.append(place)
            keys.append((levels.tobytes(), int(totals[card:].sum())))
    return split(varied, keys)


def same_partitions(table: Table) -> list[list[int]]:
    """Return the groups of columns of a table in memory that divide its rows alike."""
    places = np.arange(len(table.names))
    if len(places) > _MANY_COLUMNS:
        step = max(1, table.rows // _FEW_ROWS)
        for rows in (slice(None, None, step), slice(None)):
            places = _sharing_signatures(table, places, rows)
    groups = same_totals(table.heading, places.tolist())
    return [twins for group in groups for twins in split(group, _patterns(table, group))]


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


def _patterns(table: Table, places: list[int]) -> Iterator[bytes]:
    """Return digests of columns that are the same whatever the names of their levels."""
    step = max(1, _CELLS_AT_ONCE // max(table.rows, int(table.cards.max())))
    for start in range(0, len(places), step):
        relabelled, gap = _by_first_row(table, np.array(places[start : start + step]))
        for codes, missing in zip(relabelled, gap.tolist(), strict=True):
            yield blake2b(codes, digest_size=16, salt=(missing + 1).to_bytes(4, "little")).digest()


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


# --- numbers ---------------------------------------------------------------------------------------------------------


def same_orders(numbers: npt.NDArray[np.float64]) -> list[list[int]]:
    """Return the groups of numbers that order the rows alike or in reverse; first those with the same extreme rows."""
    groups = split(range(len(numbers)), map(_extremes, numbers))
    return [twins for group in groups for twins in split(group, (_order_of(numbers[place]) for place in group))]


def _extremes(values: npt.NDArray[np.float64]) -> tuple[int, ...]:
    present = np.flatnonzero(~np.isnan(values))
    return tuple(sorted((int(present[values[present].argmin()]), int(present[values[present].argmax()]))))


def _order_of(values: npt.NDArray[np.float64]) -> bytes:
    """Return a digest of the order in which a number puts the rows, the same for the reverse order."""
    ranks = np.unique(values, return_inverse=True)[1]
    ranks = np.where(np.isnan(values), -1, ranks)
    last, first = int(ranks.max()), int(ranks[ranks >= 0][0])
    if last - first < first:
        ranks = np.where(ranks < 0, ranks, last - ranks)
    return blake2b(ranks.astype("<i8").tobytes(), digest_size=16).digest()


def array_fingerprint(values: npt.NDArray[Any], *, kind: str) -> bytes:
    """Return a hash of the values of an array and of what kind of thing they are."""
    return blake2b(np.ascontiguousarray(values).data, digest_size=16, person=kind.encode()).digest()


def content_fingerprint(value: object) -> str:
    """Return a hash of all that a table, a heading or a graph consists of, the same in every process."""
    digest = blake2b(digest_size=16)
    _add_content(digest.update, value)
    return digest.hexdigest()


def _add_content(add: Callable[[bytes | memoryview], None], value: object) -> None:
    """Add the content of a value piece by piece; each begins with what it is."""
    kind: Any = type(value)
    if kind is tuple or kind is list:
        _add_items(add, cast("Sequence[object]", value))
    elif kind in _PLAIN:
        is_long = kind is int and cast("int", value).bit_length() > _LONGEST_INTEGER
        spelt = hex(cast("int", value)) if is_long else repr(value)
        add(f"{spelt};".encode("utf-8", "backslashreplace"))
    elif isinstance(value, np.ndarray):
        _add_array(add, value)
    elif (names := _fields_of(kind)) is not None:
        add(f"{kind.__name__} {len(names)};".encode())
        for name in names:
            _add_items(add, (name, getattr(value, name)))
    elif isinstance(value, frozenset | set):
        _add_items(add, sorted(value, key=order_key))
    elif isinstance(value, Mapping):
        add(f"mapping {len(value)};".encode())
        for item in sorted(value.items(), key=lambda item: order_key(item[0])):
            _add_items(add, item)
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        _add_items(add, value)
    else:
        add(f"{value!r};".encode("utf-8", "backslashreplace"))


def _add_array(add: Callable[[bytes | memoryview], None], values: npt.NDArray[Any]) -> None:
    add(f"array {values.dtype.str} {values.shape};".encode())
    for row in values if values.ndim > 1 else [values]:  # so that a memory map is never copied as a whole
        if row.size:
            add(np.ascontiguousarray(row).view(np.uint8).data)


def _add_items(add: Callable[[bytes | memoryview], None], items: Sequence[object]) -> None:
    if all(isinstance(one, str) for one in items):
        add(f"texts {tuple(items)!r};".encode("utf-8", "backslashreplace"))
        return
    add(f"list {len(items)};".encode())
    for one in items:
        _add_content(add, one)


_PLAIN = (str, int, float, bool, NoneType)


#: Python writes no longer integers with decimal digits.
_LONGEST_INTEGER = 10_000


@cache
def _fields_of(kind: Any) -> tuple[str, ...] | None:
    return tuple(field.name for field in attrs.fields(kind)) if attrs.has(kind) else None
