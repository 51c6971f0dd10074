"""Files of plain fields without pandas, whose import takes longer than reading them.

Fields are plain where all programs read them alike: no quotation marks, no blanks around a field, numbers of few
digits and no exponent, and text that no program takes for a number. Every other file is left to pandas, so that a table
is the same whichever way it was read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.columns import Column, Labels, labels_or_numbers, numbers, whole_numbers
from apsl_rules.data.readers.paths import open_text
from apsl_rules.names import Node

#: The most characters of a file that are read here; pandas reads more of them in less time, with its import.
_MOST = 2**21
#: So few digits are exact as a float, and the quotient of two exact floats is rounded once, as every program does it.
_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,14})")
_FRACTION = re.compile(r"-?(0|[1-9][0-9]{0,6})\.[0-9]{1,8}")
_BOOLS = {spelt: word == "true" for word in ("true", "false") for spelt in (word, word.upper(), word.title())}
#: Words that are numbers or truth values to some programs.
_AMBIGUOUS = re.compile(r"(true|false|nan|inf|infinity)", re.IGNORECASE)

PlainColumn = npt.NDArray[np.generic] | Labels


@attrs.frozen(eq=False)
class PlainTable:
    """The columns of a file of plain fields: arrays of integers, floats or bools, or labels."""

    names: tuple[Node, ...]
    values: tuple[PlainColumn, ...]
    rows: int

    @property
    def columns(self) -> tuple[Node, ...]:
        """Return the names, as a frame does."""
        return self.names

    def column(self, place: int) -> Column:
        """Return one column."""
        values = self.values[place]
        if isinstance(values, Labels):
            return values
        if values.dtype.kind == "b":
            return Labels(values.astype(np.intp), (False, True), declared=True)
        return numbers(values)

    def integers(self, start: int, stop: int) -> npt.NDArray[np.integer[Any]] | None:
        """Return a run of columns as the rows of one integer array, where all have plain numbers."""
        run = [values for values in self.values[start:stop] if not isinstance(values, Labels)]
        if len(run) < stop - start or any(values.dtype.kind == "b" for values in run):
            return None
        return whole_numbers(np.stack(run))


def read_plain(file: Path, separator: str, header: Sequence[str], missing: Sequence[str]) -> PlainTable | None:
    """Read a file whose lines are known to be as long as the header, or return None when a field is not plain."""
    with open_text(file) as handle:
        text = handle.read(_MOST + 1)
    if len(text) > _MOST or any(odd in text for odd in ('"', "\0", "\ufeff")):
        return None
    first, *lines = text.replace("\r\n", "\n").split("\n")
    rows = [line.split(separator) for line in lines if line]
    if not rows or "\r" in text.replace("\r\n", "") or len(first.split(separator)) != len(header):
        return None
    columns = []
    for fields in zip(*rows, strict=True):
        column = _column(fields, frozenset(missing))
        if column is None:
            return None
        columns.append(column)
    return PlainTable(tuple(header), tuple(columns), len(rows))


def _column(fields: Sequence[str], missing: frozenset[str]) -> PlainColumn | None:
    """Return the values of a column, or None when they are not plain."""
    distinct = dict.fromkeys(fields)
    levels = [field for field in distinct if field not in missing]
    if any(field != field.strip() for field in levels):
        return None
    place = dict.fromkeys(distinct, -1) | {level: number for number, level in enumerate(levels)}
    codes = np.fromiter(map(place.__getitem__, fields), dtype=np.intp, count=len(fields))
    gaps = len(levels) < len(distinct)
    if levels and not gaps and all(field in _BOOLS for field in levels):
        return np.array([_BOOLS[field] for field in levels])[codes]
    if all(_WHOLE.fullmatch(field) for field in levels) and not gaps:
        return np.array([int(field) for field in levels], dtype=np.int64)[codes]
    if all(_WHOLE.fullmatch(field) or _FRACTION.fullmatch(field) for field in levels):
        return np.array([*map(float, levels), np.nan])[codes]  # the code -1 finds the last
    if any(field[0].isalpha() and not _AMBIGUOUS.fullmatch(field) for field in levels):
        column = labels_or_numbers(codes, levels)
        return column if isinstance(column, Labels) else None
    return None
