"""A short hash of the content of a column, the key of cached results."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from apsl_rules.data.table import Table
from apsl_rules.names import Node, require_known

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
