"""A table as real numbers, for tests on continuous columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from apsl_rules.data.columns import Labels, labels_or_numbers
from apsl_rules.data.open_table import open_source
from apsl_rules.errors import DataError
from apsl_rules.names import Node, listing


def numeric_matrix(
    source: Any,
    names: Iterable[Node] | None = None,
) -> tuple[npt.NDArray[np.float64], tuple[Node, ...]]:
    """Return a table of any kind as a matrix of numbers, rows by columns, and the names of its columns.

    True and False count as 1 and 0; text, missing and infinite values are refused by name.
    """
    opened = open_source(source, names)
    matrix = np.empty((opened.rows, len(opened.names)), dtype=np.float64, order="F")
    wrong: dict[str, list[Node]] = {"have missing values": [], "hold text": [], "have infinite values": []}
    for place, name in enumerate(opened.names):
        column = opened.column(place)
        missing = column.codes < 0 if isinstance(column, Labels) else column.missing
        if isinstance(column, Labels):
            column = labels_or_numbers(column.codes, [_unbox(level) for level in column.levels])
        if missing.any():
            wrong["have missing values"].append(name)
        elif isinstance(column, Labels):
            wrong["hold text"].append(name)
        elif np.isinf(column.values).any():
            wrong["have infinite values"].append(name)
        else:
            matrix[:, place] = column.values
    for what, columns in wrong.items():
        if columns:
            message = (
                f"a test on numbers cannot use columns that {what}: {listing(columns)}; correct them or leave them out"
            )
            raise DataError(message)
    return matrix, opened.names


def _unbox(level: Any) -> Any:
    return int(level) if isinstance(level, bool) else level
