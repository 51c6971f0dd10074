"""An order of columns by what they contain: names decide only between columns that nothing else tells apart.

A search meets ties at every step, since all graphs of a class score the same, and goes on from the one whose nodes have
the lower numbers. Numbered by name, it would end elsewhere when columns are called something else. Contents are told by
counts alone, so the order of the rows plays no part either:

- columns differ by the counts of their levels, or else
- by their rows: each row gets a number from all its cells, in which only the counts stand for a column, and each column
  the sum over its rows of that number times one for the level in the row.

Sums are whole numbers of 64 bits that wrap around, so no order of adding matters.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from apsl_rules.data import Table
from apsl_rules.names import Node, order_key

Words: TypeAlias = npt.NDArray[np.uint64]

_ROWS_AT_ONCE = 1 << 18
_FIRST, _SECOND, _HALF = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB), np.uint64(31)


def by_content(table: Table) -> tuple[Node, ...]:
    """Return the columns of a table in an order that neither their names nor their places nor the rows' order change.

    Columns with the same content follow each other by name, and so do those that the table does not tell apart at all.
    """
    if table not in _KNOWN:
        _KNOWN[table] = _ordered(table)
    return _KNOWN[table]


#: The orders of tables that are in use: all parts from one table share them.
_KNOWN: WeakKeyDictionary[Table, tuple[Node, ...]] = WeakKeyDictionary()


def _ordered(table: Table) -> tuple[Node, ...]:
    levels = [_levels(table, place) for place in range(len(table.names))]
    sums = np.zeros(len(levels), np.uint64)
    for start in range(0, table.rows, _ROWS_AT_ONCE):
        block = table.codes[:, start : start + _ROWS_AT_ONCE]
        rows = np.zeros(block.shape[1], np.uint64)
        for column, words in zip(block, levels, strict=True):
            rows += words[column]
        rows = _mixed(rows)
        sums += np.array([np.dot(rows, words[column]) for column, words in zip(block, levels, strict=True)], np.uint64)
    keys = [(words.tobytes(), one, order_key(name)) for words, one, name in zip(levels, sums, table.names, strict=True)]
    return tuple(table.names[place] for place in sorted(range(len(keys)), key=keys.__getitem__))


def _levels(table: Table, place: int) -> Words:
    """Return a number to each level of a column: from the counts of all its levels, and which one it is."""
    counts = np.bincount(table.codes[place], minlength=int(table.cards[place])).astype("<i8")
    known = int.from_bytes(blake2b(counts.tobytes(), digest_size=8).digest(), "little")
    return _mixed(np.uint64(known) + np.arange(len(counts), dtype=np.uint64) * _SECOND)


def _mixed(words: Words) -> Words:
    """Spread each word over all its bits."""
    words = (words ^ (words >> _HALF)) * _FIRST
    words = (words ^ (words >> _HALF)) * _SECOND
    return words ^ (words >> _HALF)
