"""Columns that come through Arrow: their distinct values as a table would take them, and back to codes.

Arrow loads pandas for many small services (``to_numpy``, scalars, grouping). Workers of a cluster do what is between
reading and codes, so that is done here from buffers, without pandas.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data import Column, Distinct, labels_of, summarise
from apsl_rules.errors import DataError
from apsl_rules.names import Node

MOST_DISTINCT = 5_000_000
"""The most distinct values of a column that are ever looked at, be it to cut them into few levels."""

#: The values of a column with very many that are looked at to tell what they are.
_FIRST_VALUES = 100_000


def column_of(distinct: Any, name: Node) -> Column:
    """Take the distinct values of a column for what a table in memory would take them."""
    import pyarrow as pa

    from apsl_rules.data import open_frame

    frame = open_frame(pa.table([distinct], names=["values"]))
    if frame is None:
        return labels_of(distinct.to_pylist(), name)
    return attrs.evolve(frame, names=(name,)).column(0)


class ColumnFigures(NamedTuple):
    """What an engine counts of a column with very many distinct values, none of which leave it for that.

    ``low`` and ``high`` are None for values that are no whole numbers.
    """

    present: int
    distinct: int
    low: int | None = None
    high: int | None = None


@attrs.frozen(eq=False)
class Summary:
    """The distinct values of a column as its engine has them, and what a table makes of them, with the rows of each.

    ``values`` is None where there are too many to look at, so that ``counted`` has some of them only; ``is_number``
    says that they are stored as numbers.
    """

    values: Any
    counted: Distinct
    is_number: bool = False

    @classmethod
    def of_some(cls, values: Any, name: Node, rows: int, figures: ColumnFigures) -> Summary:
        """Take some distinct values of a column with too many to look at, and figures of all of them."""
        import pyarrow as pa

        column = column_of(values, name)
        known = attrs.evolve(
            summarise(column, name),
            present=figures.present,
            distinct=figures.distinct,
            missing=rows - figures.present,
            different=figures.distinct == figures.present,
        )
        if known.whole and figures.low is not None and figures.high is not None:
            known = attrs.evolve(known, low=figures.low, high=figures.high)
        shares = np.full(len(values), rows // len(values), np.int64)
        shares[: rows % len(values)] += 1
        is_number = pa.types.is_integer(values.type) or pa.types.is_floating(values.type)
        return cls(None, Distinct(column, shares, known), is_number)

    @classmethod
    def joined(cls, parts: Sequence[tuple[Any, npt.NDArray[np.int64]]], name: Node) -> Summary:
        """Join the distinct values that several parts of a column have, sorted, and add up their rows."""
        import pyarrow as pa

        values = pa.concat_arrays([by_value(values) for values, _ in parts])
        rows = pa.array(np.concatenate([rows for _, rows in parts]))
        grouped = pa.table([values, rows], names=["v", "n"]).group_by("v", use_threads=False).aggregate([("n", "sum")])
        if grouped.num_rows > MOST_DISTINCT:
            total = int(array_of(rows).sum())
            return cls.of_some(values[:_FIRST_VALUES].unique(), name, total, _figures(grouped))
        ordered = grouped.sort_by("v") if len(grouped) else grouped
        counted = ordered.column("n_sum").to_numpy().astype(np.int64)
        known = plain(ordered.column("v"))
        return cls(known, Distinct(column_of(known, name), counted))


def _figures(grouped: Any) -> ColumnFigures:
    """Count the values that are there, and return the ends of whole numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    there = grouped.filter(pc.is_valid(grouped.column("v")))
    values, present = there.column("v"), int(pc.sum(there.column("n_sum")).as_py())
    if not pa.types.is_integer(values.type):
        return ColumnFigures(present, len(values))
    ends = pc.min_max(values).as_py()
    return ColumnFigures(present, len(values), ends["min"], ends["max"])


def plain(column: Any) -> Any:
    """Return a column in one piece, by its values where it came as a dictionary, and text in one type."""
    import pyarrow as pa

    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    values = whole.dictionary_decode() if pa.types.is_dictionary(whole.type) else whole
    return values.cast(pa.large_string()) if pa.types.is_string(values.type) else values


def count_values(column: Any) -> tuple[Any, npt.NDArray[np.int64]]:
    """Return the distinct values of a column, a missing one too, and in how many rows each stands."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        counted = plain(column).value_counts()
        return counted.field(0), array_of(counted.field(1))
    counts = [(chunk.dictionary, chunk.indices.value_counts()) for chunk in _chunks(column)]
    values = [plain(dictionary.take(counted.field(0))) for dictionary, counted in counts]
    if not values:
        return plain(pa.nulls(0, column.type.value_type)), np.zeros(0, np.int64)
    coded = pa.concat_arrays(values).dictionary_encode(null_encoding="encode")
    rows = np.zeros(len(coded.dictionary), np.int64)
    np.add.at(rows, array_of(coded.indices), np.concatenate([array_of(counted.field(1)) for _, counted in counts]))
    return coded.dictionary, rows


def places_in(column: Any, distinct: Any) -> npt.NDArray[np.intp]:
    """Return the place of each value of a column among the distinct ones."""
    found = [_places_of_chunk(chunk, distinct) for chunk in _chunks(column)]
    places: npt.NDArray[np.intp] = np.concatenate(found) if found else np.zeros(0, np.intp)
    if (places < 0).any():
        message = "the table has values that it did not have when it was opened; leave it unchanged while learning"
        raise DataError(message)
    return places


def _places_of_chunk(chunk: Any, distinct: Any) -> npt.NDArray[np.intp]:
    """Return the place of each value of an array among the distinct ones, -1 for those that are not among them."""
    import pyarrow as pa

    if not pa.types.is_dictionary(chunk.type):
        return _look_up(chunk, distinct)
    missing = np.flatnonzero(_is_null(distinct))
    places = np.append(_look_up(chunk.dictionary, distinct), missing[0] if len(missing) else -1)
    indices = array_of(chunk.indices)
    return places[np.where(_is_null(chunk.indices), len(places) - 1, indices) if chunk.indices.null_count else indices]


def _look_up(values: Any, distinct: Any) -> npt.NDArray[np.intp]:
    import pyarrow.compute as pc

    found = pc.index_in(by_value(plain(values)), value_set=by_value(distinct))
    places = array_of(found).astype(np.intp)
    if found.null_count:
        places[_is_null(found)] = -1
    return places


def _chunks(column: Any) -> list[Any]:
    import pyarrow as pa

    return list(column.chunks) if isinstance(column, pa.ChunkedArray) else [column]


def array_of(values: Any) -> npt.NDArray[Any]:
    """Return the buffer of an array of numbers; what stands for missing ones in it means nothing."""
    kind = np.dtype({"float": "float32", "double": "float64"}.get(str(values.type), str(values.type)))
    buffer = values.buffers()[1]
    if buffer is None or not len(values):
        return np.zeros(len(values), kind)
    return np.frombuffer(buffer, kind, len(values), values.offset * kind.itemsize)


def _is_null(values: Any) -> npt.NDArray[np.bool_]:
    import pyarrow as pa

    return array_of(values.is_null().cast(pa.uint8())).astype(np.bool_)


def by_value(values: Any) -> Any:
    """Return fractions with one zero and one NaN: databases take all of them for the same value, look-ups do not."""
    import pyarrow as pa

    if not (pa.types.is_float32(values.type) or pa.types.is_float64(values.type)):
        return values
    numbers = array_of(values) + np.zeros(1, array_of(values).dtype)
    numbers[np.isnan(numbers)] = np.nan
    made = pa.Array.from_buffers(values.type, len(values), [None, pa.py_buffer(numbers)])
    return made if not values.null_count else _with_nulls(made, _is_null(values))


def _with_nulls(values: Any, is_null: npt.NDArray[np.bool_]) -> Any:
    import pyarrow as pa

    validity = pa.py_buffer(np.packbits(~is_null, bitorder="little"))
    return pa.Array.from_buffers(values.type, len(values), [validity, values.buffers()[1]])
