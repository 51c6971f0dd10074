"""Short hashes of the content of columns and of whole tables, the keys of cached results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import chain
from typing import Any
from weakref import WeakKeyDictionary

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.table import Table
from apsl_rules.names import Node, order_key, require_known

_known: WeakKeyDictionary[Table, dict[int, bytes]] = WeakKeyDictionary()


def fingerprint(table: Table, columns: Iterable[Node]) -> tuple[bytes, ...]:
    """Return a hash of the contents of each of some columns; it is computed when first asked for and then kept.

    Two columns with the same codes have the same hash, whatever their names and the names of their levels; a changed
    cell changes it.
    """
    hashes = _known.setdefault(table, {})
    places = []
    for name in columns:
        require_known(name, table.place, "column")
        places.append(table.place[name])
    for place in places:
        if place not in hashes:
            hashes[place] = _column_hash(table, place)
    return tuple(hashes[place] for place in places)


def array_fingerprint(values: npt.NDArray[Any], *, kind: str) -> bytes:
    """Return a hash of the values of an array and of what kind of thing they are."""
    return blake2b(np.ascontiguousarray(values).data, digest_size=16, person=kind.encode()).digest()


def _column_hash(table: Table, place: int) -> bytes:
    codes = table.codes[place]
    # A column hashes alike in a wide and in a narrow table, so the width follows from the column alone.
    narrow = int(table.cards[place]) <= np.iinfo(np.uint8).max
    kind = f"{'b' if narrow else 'h'}{'?' if table.incomplete[place] else ''}{table.cards[place]}"
    return array_fingerprint(codes.astype(np.uint8 if narrow else "<u2", copy=False), kind=kind)


def content_fingerprint(value: object) -> str:
    """Return a hash of all that a table, a heading or a graph consists of, the same in every process."""
    digest = blake2b(digest_size=16)
    for piece in _pieces(value):
        digest.update(piece)
    return digest.hexdigest()


def _pieces(value: object) -> Iterable[bytes | memoryview]:
    """Return the content of a value piece by piece; each begins with what it is."""
    if isinstance(value, np.ndarray):
        shape = f"array {value.dtype.str} {value.shape};".encode()
        # Row by row, so that a memory map is never copied as a whole.
        rows = value if value.ndim > 1 else [value]
        return chain([shape], (np.ascontiguousarray(row).view(np.uint8).data for row in rows if row.size))
    kind: Any = type(value)
    if attrs.has(kind):
        fields = [(field.name, getattr(value, field.name)) for field in attrs.fields(kind)]
        return chain([f"{type(value).__name__} {len(fields)};".encode()], *(_pieces(one) for one in fields))
    if isinstance(value, Mapping):
        items = sorted(value.items(), key=lambda item: order_key(item[0]))
        return chain([f"mapping {len(items)};".encode()], *(_pieces(one) for one in items))
    if isinstance(value, frozenset | set):
        value = sorted(value, key=order_key)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        if all(isinstance(one, str) for one in value):
            return [f"texts {tuple(value)!r};".encode("utf-8", "backslashreplace")]
        return chain([f"list {len(value)};".encode()], *(_pieces(one) for one in value))
    return [f"{value!r};".encode("utf-8", "backslashreplace")]
