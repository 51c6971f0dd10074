"""Summaries of columns, from which their kinds follow.

Numbers are looked at in a sample first: more than a few different values there settle the matter without sorting rows.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from apsl_rules.data.columns import Column, Labels, Numbers, numbers
from apsl_rules.data.kinds import MOST_CODES, ColumnSummary, ColumnType, is_id_name
from apsl_rules.names import Node

Rows = npt.NDArray[np.int64]

#: What stands for a missing value among numbers, and is a label among labels.
UNKNOWN_NUMBER = "?"

_SAMPLED = 4096
_LOOKED_AT = 1000
_MOMENTS = (date, datetime, time, timedelta, np.datetime64, np.timedelta64)
_DAY = r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2})"
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?: ?[AP]M)?(?: ?Z|[+-]\d{2}:?\d{2})?"
_DATE = re.compile(rf"{_DAY}(?:[T ]{_CLOCK})?|{_CLOCK}", re.IGNORECASE)


def read_unknown(column: Column) -> Column:
    """Return a column of numbers where all labels are numbers but a question mark, which is a missing value then."""
    if not isinstance(column, Labels) or column.declared or UNKNOWN_NUMBER not in column.levels:
        return column
    values = _as_floats([level for level in column.levels if level != UNKNOWN_NUMBER])
    if values is None:
        return column
    place = column.levels.index(UNKNOWN_NUMBER)
    spread = np.append(np.insert(values, place, np.nan), np.nan)  # the code -1 finds the last
    return numbers(spread[column.codes])


def as_numbers(column: Column) -> Numbers | None:
    """Return a column as numbers: bools as 0 and 1, dates as days, labels that spell numbers; None for other labels."""
    if isinstance(column, Numbers):
        return column
    values = _as_floats(column.levels)
    return None if values is None else numbers(np.append(values, np.nan)[column.codes])


def summarise(column: Column, name: Node, rows: Rows | None = None) -> ColumnSummary:
    """Return the summary of a column; ``rows`` says in how many rows each of its values stands, if not in one."""
    if isinstance(column, Labels):
        return _of_labels(column, name, rows)
    present = column.present
    counted = None if rows is None else rows[~column.missing] if column.missing.any() else rows
    all_rows = len(column.values) if rows is None else int(rows.sum())
    there = len(present) if counted is None else int(counted.sum())
    whole = present.dtype.kind in "iu"
    kind: ColumnType = "integer" if whole else "float"
    if there == 0:
        return ColumnSummary(name, kind, 0, 0, all_rows)
    low, high = present.min().item(), present.max().item()
    distinct = _count_distinct(present) if counted is None else len(np.unique(present))
    if counted is not None or distinct <= MOST_CODES:
        different = distinct == there
    else:
        may_number = low in (0, 1) and high - low + 1 == there
        different = whole and (may_number or is_id_name(name)) and _all_differ(present)
    return ColumnSummary(name, kind, there, distinct, all_rows - there, different, whole, low, high)


def _of_labels(column: Labels, name: Node, rows: Rows | None) -> ColumnSummary:
    counts = np.bincount(column.codes + 1, rows, len(column.levels) + 1).astype(np.int64)
    missing, seen = int(counts[0]), np.flatnonzero(counts[1:])
    levels = [column.levels[place] for place in seen[:_LOOKED_AT].tolist()]
    present = int(counts[1:].sum())
    letters = sum(len(level) for level in levels if isinstance(level, str)) / max(1, len(levels))
    different = bool((counts[1:] <= 1).all())
    kind = _type_of(levels, declared=column.declared)
    spelt = kind == "text" and bool(levels) and all(map(_is_number_text, levels))
    return ColumnSummary(name, kind, present, len(seen), missing, different, letters=letters, spelt_numbers=spelt)


def _is_number_text(level: Any) -> bool:
    """Whether a level is the text of a finite number."""
    try:
        return isinstance(level, str) and isfinite(float(level))
    except ValueError:
        return False


def _type_of(levels: list[Any], *, declared: bool) -> ColumnType:
    if levels and all(isinstance(level, bool) for level in levels):
        return "boolean"
    if levels and all(isinstance(level, _MOMENTS) or _is_date_text(level) for level in levels):
        return "date"
    return "category" if declared else "text"


def _is_date_text(level: Any) -> bool:
    return isinstance(level, str) and _DATE.fullmatch(level.strip()) is not None


def _count_distinct(present: npt.NDArray[Any]) -> int:
    """Count the different values, or stop at any count above ``MOST_CODES``."""
    seen = np.unique(present[:: -(-len(present) // _SAMPLED)])
    while len(seen) <= MOST_CODES:
        rest = present[~np.isin(present, seen)]
        if len(rest) == 0:
            break
        seen = np.union1d(seen, rest[:_SAMPLED])
    return len(seen)


def _all_differ(present: npt.NDArray[Any]) -> bool:
    steps = present[1:] > present[:-1]
    return bool(steps.all()) or len(np.unique(present)) == len(present)


def _as_floats(levels: tuple[Any, ...] | list[Any]) -> npt.NDArray[np.float64] | None:
    """Return labels as floats, or None when one of them is no number."""
    if not levels:
        return None
    try:
        return np.array([_as_float(level) for level in levels], np.float64)
    except (TypeError, ValueError, OverflowError):
        return None


def _as_float(level: Any) -> float:
    if isinstance(level, datetime):
        return (level.replace(tzinfo=None) - datetime(1970, 1, 1)) / timedelta(days=1)  # noqa: DTZ001 - days apart
    if isinstance(level, date):
        return float(level.toordinal() - date(1970, 1, 1).toordinal())
    if isinstance(level, timedelta):
        return level / timedelta(days=1)
    if isinstance(level, str) and not level.isascii():
        raise ValueError(level)
    return float(level)
