"""Rows that stand for many: a column that says for how many, and a note where a column looks like one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from apsl_rules.data.columns import Numbers, Source
from apsl_rules.data.table import Codes
from apsl_rules.errors import DataError
from apsl_rules.names import Node, count_of

MOST_ROWS = 10**8
#: Grouped tables have at most so many columns.
MOST_GROUPED = 20

_COUNT_NAMES = frozenset({"freq", "frequency", "count", "counts", "n", "weight", "weights"})
_FEWEST, _MOST = 4, 100_000


def repeat_rows(source: Source, name: Node) -> npt.NDArray[np.intp]:
    """Return the row numbers of a source, each as often as a column of weights says."""
    column = source.column(source.names.index(name))
    wrong = _problem(column.values, column.missing) if isinstance(column, Numbers) else "holds labels"
    if wrong is not None or not isinstance(column, Numbers):
        message = (
            f"column {name!r} cannot be weights, because it {wrong}; weights are whole numbers from 0 on that say how "
            f"many rows each row stands for"
        )
        raise DataError(message)
    weights = column.values.astype(np.int64)
    total = int(weights.sum(dtype=object) if weights.max() > MOST_ROWS else weights.sum())
    if total > MOST_ROWS:
        message = f"the weights {name!r} stand for {total:,} rows; at most {MOST_ROWS:,} can be read"
        raise DataError(message)
    if total < 2:  # noqa: PLR2004 - nothing varies in one row
        message = f"the weights {name!r} stand for {count_of(total, 'row')}; at least 2 are needed"
        raise DataError(message)
    return np.repeat(np.arange(source.rows), weights)


def _problem(values: npt.NDArray[np.generic], missing: npt.NDArray[np.bool_]) -> str | None:
    if missing.any():
        return "has missing values"
    if values.dtype.kind not in "iu":
        return "has fractions"
    return "has negative values" if values.min() < 0 else None


def is_count_name(name: Node) -> bool:
    """Whether a name is usual for a number of rows."""
    return str(name).casefold() in _COUNT_NAMES


def note_on_counts(name: Node, codes: Codes, others: Sequence[int]) -> tuple[str, ...]:
    """Return a note if a column looks like the number of rows for each combination of the others, which all differ."""
    rows = codes.shape[1]
    if not 0 < len(others) <= MOST_GROUPED or not _FEWEST <= rows <= _MOST:
        return ()
    if np.unique(codes[list(others)], axis=1).shape[1] < rows:
        return ()
    told = f"column {name!r} looks like the number of rows that each row stands for"
    return (f"{told}; give weights={name!r} to count them so",)
