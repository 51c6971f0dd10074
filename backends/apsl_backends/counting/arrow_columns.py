"""Columns that come through Arrow: their distinct values as a table would take them, and back to codes."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import Any, Protocol

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data import Codes, Column, labels_of
from apsl_rules.data.narwhals_frame import open_frame
from apsl_rules.errors import DataError
from apsl_rules.names import Node

MOST_DISTINCT = 5_000_000
"""The most distinct values of a column that are ever looked at, be it to cut them into few levels."""


def column_of(distinct: Any, name: Node) -> Column:
    """Take the distinct values of a column for what a table in memory would take them."""
    import pyarrow as pa

    frame = open_frame(pa.table([distinct], names=["values"]))
    if frame is None:
        return labels_of(distinct.to_pylist(), name)
    return attrs.evolve(frame, names=(name,)).column(0)


def plain(column: Any) -> Any:
    """Return a column in one piece, by its values where it came as a dictionary, and text in one type."""
    import pyarrow as pa

    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    values = whole.dictionary_decode() if pa.types.is_dictionary(whole.type) else whole
    return values.cast(pa.large_string()) if pa.types.is_string(values.type) else values


def places_in(column: Any, distinct: Any) -> npt.NDArray[np.intp]:
    """Return the place of each value of a column among the distinct ones."""
    import pyarrow.compute as pc

    places = pc.index_in(by_value(plain(column)), value_set=by_value(distinct))
    if places.null_count:
        message = "the table has values that it did not have when it was opened; leave it unchanged while learning"
        raise DataError(message)
    found: npt.NDArray[np.intp] = places.to_numpy().astype(np.intp)
    return found


class CodedColumn(Protocol):
    """A column of a result: the values that may come, and the code of each."""

    @property
    def distinct(self) -> Any:
        """Return the values."""

    @property
    def codes(self) -> npt.NDArray[np.intp]:
        """Return the code of each value."""


def codes_of(result: Any, columns: Sequence[CodedColumn], *, wide: bool) -> Codes:
    """Return the codes of the values in the first columns of a result."""
    shape = len(columns), result.num_rows
    coded: Codes = np.empty(shape, np.uint16) if wide else np.empty(shape, np.uint8)
    for number, column in enumerate(columns):
        coded[number] = column.codes[places_in(result.column(number), column.distinct)]
    return coded


def by_value(values: Any) -> Any:
    """Return fractions with one zero and one NaN: databases take all of them for the same value, look-ups do not."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_float32(values.type) or pa.types.is_float64(values.type)):
        return values
    return pc.if_else(pc.is_nan(values), pa.scalar(nan, values.type), pc.add(values, pa.scalar(0.0, values.type)))
