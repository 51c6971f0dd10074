"""polars, pyarrow and every other table that narwhals can read, as a source of columns."""

from __future__ import annotations

from typing import Any

import attrs
import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from apsl_rules.data.columns import Column, Labels, labels_of, numbers, whole_numbers
from apsl_rules.errors import DataError
from apsl_rules.names import Node


@attrs.frozen(eq=False)
class OtherFrame:
    """The columns of a table that narwhals can read."""

    series: tuple[nw.Series[Any], ...]
    names: tuple[Node, ...]
    rows: int

    def column(self, place: int) -> Column:
        """Return one column: categories with all declared levels, numbers as numbers, the rest as labels."""
        values = self.series[place]
        dtype = values.dtype
        if _fits_numpy(dtype):
            missing = values.is_null().to_numpy()
            return numbers((values.fill_null(0) if missing.any() else values).to_numpy(), missing)
        if dtype == nw.Boolean:
            return _declared_labels(values, (False, True))
        if isinstance(dtype, nw.Enum):
            return _declared_labels(values, dtype.categories)
        # What polars calls Categorical has no order of its own: it numbers labels as the process meets them.
        if dtype == nw.Categorical and values.implementation.is_pyarrow():
            return _from_dictionary(values)
        if dtype == nw.Categorical and not values.implementation.is_polars():
            return _declared_labels(values, tuple(values.cat.get_categories().to_list()))
        return labels_of(values.to_list(), self.names[place])

    def integers(self, start: int, stop: int) -> npt.NDArray[np.integer[Any]] | None:
        """Return a run of columns as the rows of one integer array, where all have plain numbers."""
        run = self.series[start:stop]
        if not all(_fits_numpy(values.dtype) for values in run):
            return None
        return whole_numbers(np.stack([values.to_numpy() for values in run]))


def _fits_numpy(dtype: Any) -> bool:
    """Return whether a column holds numbers that numpy has; it has no integers of 128 bits."""
    return dtype.is_float() or (dtype.is_integer() and dtype not in (nw.Int128, nw.UInt128))


def _declared_labels(values: nw.Series[Any], levels: tuple[Any, ...]) -> Labels:
    place = {level: number for number, level in enumerate(levels)} | {None: -1}
    codes = np.fromiter(map(place.__getitem__, values.to_list()), dtype=np.intp, count=len(values))
    return Labels(codes, levels, declared=True)


def _from_dictionary(values: nw.Series[Any]) -> Labels:
    """Take over the codes of a dictionary column of pyarrow, whose chunks may number the labels differently."""
    place: dict[Any, int] = {}
    codes = [np.empty(0, np.intp)]
    for chunk in values.to_native().chunks:
        rank = [-1 if label is None else place.setdefault(label, len(place)) for label in chunk.dictionary.to_pylist()]
        # The last place is what a missing index finds.
        codes.append(np.array([*rank, -1])[chunk.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False)])
    return Labels(np.concatenate(codes), tuple(place), declared=True)


def open_frame(source: Any) -> OtherFrame | None:
    """Open what narwhals can read, collecting lazy tables, or give None for anything else."""
    try:
        frame = nw.from_native(source, pass_through=True)
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect()
        if not isinstance(frame, nw.DataFrame):
            return None
        return OtherFrame(tuple(frame.get_column(name) for name in frame.columns), tuple(frame.columns), len(frame))
    except (nw.exceptions.NarwhalsError, ImportError) as error:
        message = f"cannot read the table ({error}); give it as a pandas DataFrame"
        raise DataError(message) from error
