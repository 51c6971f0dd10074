"""Rows of codes as comma- or tab-separated text, whole columns at a time.

Each level is spelt once, with the separator that follows it, padded to the longest of its column with a byte that UTF-8
never uses, and cut into machine words. Rows are these words, looked up column by column and laid side by side; the
padding is then dropped from all of them at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from apsl_rules.data import Codes
from apsl_rules.data.readers import MISSING_FIELDS
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.names import Node, listing

_PADDING = b"\xff"
_BYTES_AT_ONCE = 2**20
_MOST_BYTES = 2**26
_ROWS_AT_ONCE = 256
_TRUTH_VALUES = ("true", "false")
#: What ends a field in some kind of text file, and the quotation mark.
_MARKS = frozenset(',;|"')


class TextRows:
    """A spelling for tables of known columns and levels: the header, and rows from codes."""

    def __init__(self, columns: Mapping[Node, Sequence[str]], separator: str = ",") -> None:
        _check_names(columns)
        for node, levels in columns.items():
            _check_levels(node, levels)
        ends = [separator] * (len(columns) - 1) + ["\n"]
        self.header = _encode(
            "".join(field(str(node), separator) + end for node, end in zip(columns, ends, strict=True))
        )
        self._words: list[tuple[int, npt.NDArray[Any]]] = []
        for place, (levels, end) in enumerate(zip(columns.values(), ends, strict=True)):
            spellings = [_encode(field(level, separator) + end) for level in levels]
            self._words += [(place, words) for words in _words(spellings)]
        self._row = np.dtype([(f"f{place}", words.dtype) for place, (_, words) in enumerate(self._words)])
        preferred = max(_BYTES_AT_ONCE // self._row.itemsize, _ROWS_AT_ONCE)
        self._rows_at_once = max(1, min(preferred, _MOST_BYTES // self._row.itemsize))

    def text_of(self, codes: Codes) -> Iterator[bytes]:
        """Return the text of some rows (codes by columns and rows) in pieces of bounded size."""
        for start in range(0, codes.shape[1], self._rows_at_once):
            some = codes[:, start : start + self._rows_at_once]
            rows = np.empty(some.shape[1], dtype=self._row)
            for name, (place, words) in zip(self._row.names or (), self._words, strict=True):
                rows[name] = words[some[place]]
            yield rows.tobytes().translate(None, _PADDING)


def field(text: str, separator: str = ",") -> str:
    """Spell one field, in quotation marks where a reader could take it for something else.

    >>> print(field("yes"), field("a, b"), field('5" long'))
    yes "a, b" "5"" long"
    """
    if text and text.isprintable() and text == text.strip() and _MARKS.isdisjoint(text) and separator not in text:
        return text
    return '"' + text.replace('"', '""') + '"'


def _words(spellings: Sequence[bytes]) -> Iterator[npt.NDArray[Any]]:
    """Cut spellings into columns of words: eight bytes each, and the last no wider than it must be."""
    longest = max(map(len, spellings))
    for start in range(0, longest, 8):
        width = next(size for size in (1, 2, 4, 8) if size >= min(8, longest - start))
        pieces = (spelling[start : start + width].ljust(width, _PADDING) for spelling in spellings)
        yield np.frombuffer(b"".join(pieces), dtype=f"u{width}")


def _encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        message = f"{text!r} cannot be written as UTF-8 text; rename this node or level"
        raise InvalidArgumentError(message) from error


def _check_names(nodes: Iterable[Node]) -> None:
    """Refuse names that would not name a column in a header."""
    for node in nodes:
        if not str(node).strip() or "\0" in str(node):
            message = f"a column of a text file cannot be named {str(node)!r}; rename this node"
            raise InvalidArgumentError(message)


def _check_levels(node: Node, levels: Sequence[str]) -> None:
    """Refuse levels that text cannot carry: read back they would be missing, one level instead of two, or fractions."""
    advice = "; write a .parquet file, or rename the levels"
    if wrong := [level for level in levels if level in MISSING_FIELDS or "\0" in level]:
        message = f"the level {wrong[0]!r} of {node!r} would be read back from text as a missing value{advice}"
        raise InvalidArgumentError(message)
    numbers = {level: number for level in levels if (number := _number(level)) is not None}
    if len(set(numbers.values())) < len(numbers):
        message = (
            f"the levels {listing(list(numbers))} of {node!r} would be read back from text as equal numbers{advice}"
        )
        raise InvalidArgumentError(message)
    if fractions := [level for level, number in numbers.items() if not number.is_integer()]:
        # Beside words they would not, but rows may hold no word.
        message = f"the level {fractions[0]!r} of {node!r} may be read back from text as a fraction{advice}"
        raise InvalidArgumentError(message)
    truths = [level for level in levels if level.casefold() in _TRUTH_VALUES]
    if len({level.casefold() for level in truths}) < len(truths):
        message = f"the levels {listing(truths)} of {node!r} would be read back from text as one{advice}"
        raise InvalidArgumentError(message)


def _number(level: str) -> float | None:
    try:
        return float(level)
    except ValueError:
        return None
