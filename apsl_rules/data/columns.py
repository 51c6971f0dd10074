"""Columns as they come from a source or a frame, and their summaries, from which kinds are decided."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.kinds import MOST_CODES, ColumnSummary, ColumnType, is_id_name
from apsl_rules.errors import DataError
from apsl_rules.names import Node

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw
    import pandas as pd

Mask: TypeAlias = npt.NDArray[np.bool_]

_EXACT = 2.0**53
#: So many values of a column are looked at first: most fractions are known by them.
_FIRST = 64


@attrs.frozen(eq=False)
class Numbers:
    """A column of integers or floats; what stands at a missing place has no meaning."""

    values: npt.NDArray[Any]
    missing: Mask
    #: A column says by this what it is.
    is_label: ClassVar[Literal[False]] = False

    @property
    def present(self) -> npt.NDArray[Any]:
        """Return the values that are there."""
        return self.values[~self.missing] if self.missing.any() else self.values

    def take(self, rows: npt.NDArray[np.intp]) -> Numbers:
        """Return some rows."""
        return numbers(self.values[rows], self.missing[rows])


@attrs.frozen(eq=False)
class Labels:
    """A column of labels: ``codes`` are places in ``levels``, -1 is a missing value.

    ``declared`` says that the column came with these levels in this order, as a category does.
    """

    codes: npt.NDArray[np.intp]
    levels: tuple[Any, ...]
    declared: bool = False
    is_label: ClassVar[Literal[True]] = True

    def take(self, rows: npt.NDArray[np.intp]) -> Labels:
        """Return some rows."""
        return attrs.evolve(self, codes=self.codes[rows])


Column: TypeAlias = Numbers | Labels


class Source(Protocol):
    """A table of any kind, seen as named columns."""

    @property
    def names(self) -> tuple[Node, ...]:
        """Return the labels of the columns."""

    @property
    def rows(self) -> int:
        """Return the number of rows."""

    def column(self, place: int) -> Column:
        """Return one column."""

    def integers(self, start: int, stop: int) -> npt.NDArray[np.integer[Any]] | None:
        """Return a run of columns as the rows of one integer array, or None when one of them is something else."""


def numbers(values: npt.NDArray[Any], missing: Mask | None = None) -> Numbers:
    """Take an integer or float array as a column of numbers, NaN being missing and whole floats being integers."""
    absent = np.zeros(len(values), dtype=bool) if missing is None else missing
    if values.dtype.kind == "f":
        absent = absent | np.isnan(values)
        whole = whole_numbers(np.where(absent, 0, values) if absent.any() else values)
        values = values.astype(np.float64, copy=False) if whole is None else whole
    return Numbers(values, absent)


def whole_numbers(values: npt.NDArray[Any]) -> npt.NDArray[np.integer[Any]] | None:
    """Return an array of numbers as integers, or None when a value is fractional, missing or too large to be exact."""
    if values.dtype.kind in "iu":
        return values
    first = values[..., :_FIRST]
    if values.dtype.kind != "f" or (first != np.rint(first)).any():
        return None
    if not (np.abs(values) < _EXACT).all() or (values != np.rint(values)).any():
        return None
    return values.astype(np.int64)


def labels_of(values: list[Any], name: Node) -> Column:
    """Turn arbitrary values into a column: numbers when all are numbers, labels otherwise."""
    try:
        distinct = list(dict.fromkeys(values))
        absent = [is_missing(value) for value in distinct]
    except TypeError as error:
        message = f"column {name!r} holds values that cannot be levels ({error}); turn them into text or numbers"
        raise DataError(message) from error
    levels = [value for value, gone in zip(distinct, absent, strict=True) if not gone]
    place = dict.fromkeys(distinct, -1) | {level: number for number, level in enumerate(levels)}
    codes = np.fromiter(map(place.__getitem__, values), dtype=np.intp, count=len(values))
    return labels_or_numbers(codes, levels)


def labels_or_numbers(codes: npt.NDArray[np.intp], levels: list[Any]) -> Column:
    """Make a column of numbers when every level is a number (True and False are not), of labels otherwise."""
    plain = [level.item() if isinstance(level, np.generic) else level for level in levels]
    labels = Labels(codes, tuple(plain))
    if not plain or not all(
        isinstance(level, int | float | Decimal) and not isinstance(level, bool) for level in plain
    ):
        return labels
    kind = np.int64 if all(isinstance(level, int) for level in plain) else np.float64
    try:
        values = np.array(plain, dtype=kind)
    except OverflowError:
        return labels
    return numbers(values[codes], codes < 0)


def is_missing(value: Any) -> bool:
    """Return whether a value stands for none: None, or what does not equal itself (NaN, NaT, NA)."""
    if value is None:
        return True
    try:
        return bool(value != value)  # noqa: PLR0124 - only a missing value differs from itself
    except TypeError:  # pandas' NA answers neither yes nor no
        return True


Rows = npt.NDArray[np.int64]

_SAMPLED = 4096
_LOOKED_AT = 1000
_MOMENTS = (date, datetime, time, timedelta, np.datetime64, np.timedelta64)
_DAY = r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2})"
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?: ?[AP]M)?(?: ?Z|[+-]\d{2}:?\d{2})?"
_DATE = re.compile(rf"{_DAY}(?:[T ]{_CLOCK})?|{_CLOCK}", re.IGNORECASE)


def as_numbers(column: Column) -> Numbers | None:
    """Return a column as numbers: bools as 0 and 1, labels that spell numbers; None for other labels."""
    if not column.is_label:
        return column
    values = _as_floats(column.levels)
    return None if values is None else numbers(np.append(values, np.nan)[column.codes])


def summarise(column: Column, name: Node, rows: Rows | None = None) -> ColumnSummary:
    """Return the summary of a column; ``rows`` says in how many rows each of its values stands, if not in one."""
    if column.is_label:
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
    return isinstance(level, str) and as_finite(level) is not None


def as_finite(value: Any) -> float | None:
    """Return a number or the text of one as a float, or None for anything else and what is not finite."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal | np.number):
        return None
    try:
        number = _as_float(value)
    except (ValueError, OverflowError):
        return None
    return number if isfinite(number) else None


def _type_of(levels: list[Any], *, declared: bool) -> ColumnType:
    if levels and all(isinstance(level, bool) for level in levels):
        return "boolean"
    if levels and all(isinstance(level, _MOMENTS) or is_date_text(level) for level in levels):
        return "date"
    return "category" if declared else "text"


def is_date_text(level: Any) -> bool:
    """Return whether a level is the text of a date or of a time."""
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
    if isinstance(level, str) and not level.isascii():
        raise ValueError(level)
    return float(level)


# --- frames -------------------------------------------------------------------------------------------------------


#: Where a frame that a reader made keeps the notes on how its file was read.
NOTES = "apsl_rules notes"


@attrs.frozen(eq=False)
class PandasFrame:
    """A DataFrame as a source; its row labels are left out."""

    frame: pd.DataFrame
    names: tuple[Node, ...]
    dtypes: tuple[Any, ...] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "dtypes", tuple(self.frame.dtypes))

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return len(self.frame)

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what was assumed when a file was read."""
        return tuple(self.frame.attrs.get(NOTES, ()))

    def column(self, place: int) -> Column:
        """Return one column: categories with all levels, numbers of any storage as numbers, the rest as labels."""
        import pandas as pd

        values = self.frame.iloc[:, place]
        dtype = self.dtypes[place]
        if isinstance(dtype, pd.SparseDtype):
            values, dtype = values.astype(dtype.subtype), dtype.subtype
        if isinstance(dtype, pd.CategoricalDtype):
            codes = values.cat.codes.to_numpy().astype(np.intp)
            return Labels(codes, tuple(dtype.categories.tolist()), declared=True)
        if pd.api.types.is_bool_dtype(dtype):
            return Labels(_codes_of_bools(values), (False, True), declared=True)
        if pd.api.types.is_integer_dtype(dtype):
            missing = values.isna().to_numpy()
            filled = values.fillna(0) if missing.any() else values
            return numbers(filled.to_numpy(dtype=getattr(dtype, "numpy_dtype", dtype)), missing)
        if pd.api.types.is_float_dtype(dtype):
            return numbers(values.to_numpy(dtype=np.float64, na_value=np.nan))
        try:
            codes, levels = pd.factorize(_array_of(values))
        except TypeError as error:
            name = self.names[place]
            message = f"column {name!r} holds values that cannot be levels ({error}); turn them into text or numbers"
            raise DataError(message) from error
        return labels_or_numbers(codes, list(levels))

    def integers(self, start: int, stop: int) -> npt.NDArray[np.integer[Any]] | None:
        """Return a run of columns as the rows of one integer array, where all have plain numbers."""
        if not all(isinstance(dtype, np.dtype) and dtype.kind in "iuf" for dtype in self.dtypes[start:stop]):
            return None
        if whole_numbers(self.frame.iloc[:_FIRST, start:stop].to_numpy()) is None:  # before all are copied
            return None
        return whole_numbers(np.ascontiguousarray(self.frame.iloc[:, start:stop].to_numpy().T))


def _array_of(values: pd.Series[Any]) -> Any:
    """Return what a column holds; pandas 2 warns of the wrapping that it puts around plain arrays itself."""
    import pandas as pd

    array = values.array
    return array.to_numpy() if isinstance(array, pd.arrays.NumpyExtensionArray) else array


def _codes_of_bools(values: pd.Series[Any]) -> npt.NDArray[np.intp]:
    missing = values.isna().to_numpy()
    codes = (values.fillna(value=False) if missing.any() else values).to_numpy(dtype=bool).astype(np.intp)
    codes[missing] = -1
    return codes


@attrs.frozen(eq=False)
class OtherFrame:
    """The columns of a table that narwhals can read."""

    series: tuple[nw.Series[Any], ...]
    names: tuple[Node, ...]
    rows: int

    def column(self, place: int) -> Column:
        """Return one column: categories with all declared levels, numbers as numbers, the rest as labels."""
        import narwhals.stable.v2 as nw

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
        if dtype in (nw.Categorical, nw.String) and values.implementation.is_pyarrow():
            return _from_arrow(values.to_native(), declared=dtype == nw.Categorical)
        if dtype == nw.Categorical and not values.implementation.is_polars():
            return _declared_labels(values, tuple(values.cat.get_categories().to_list()))
        return labels_of(values.to_list(), self.names[place])

    def integers(self, start: int, stop: int) -> npt.NDArray[np.integer[Any]] | None:
        """Return a run of columns as the rows of one integer array, where all have plain numbers."""
        run = self.series[start:stop]
        if not all(_fits_numpy(values.dtype) for values in run):
            return None
        arrays = [values.to_numpy() for values in run]
        if whole_numbers(np.stack([values[:_FIRST] for values in arrays])) is None:  # before all are copied
            return None
        return whole_numbers(np.stack(arrays))


def _fits_numpy(dtype: Any) -> bool:
    """Return whether a column holds numbers that numpy has; it has no integers of 128 bits."""
    import narwhals.stable.v2 as nw

    return dtype.is_float() or (dtype.is_integer() and dtype not in (nw.Int128, nw.UInt128))


def _declared_labels(values: nw.Series[Any], levels: tuple[Any, ...]) -> Labels:
    place = {level: number for number, level in enumerate(levels)} | {None: -1}
    codes = np.fromiter(map(place.__getitem__, values.to_list()), dtype=np.intp, count=len(values))
    return Labels(codes, levels, declared=True)


def _from_arrow(values: Any, *, declared: bool) -> Column:
    """Take over the codes of a dictionary or text column of pyarrow, whose chunks may number labels differently."""
    place: dict[Any, int] = {}
    codes = [np.empty(0, np.intp)]
    for chunk in (values if declared else values.dictionary_encode()).chunks:
        rank = [-1 if label is None else place.setdefault(label, len(place)) for label in chunk.dictionary.to_pylist()]
        if rank == [*range(len(rank))] and not chunk.null_count:
            codes.append(chunk.indices.to_numpy().astype(np.intp))
            continue
        # The last place is what a missing index finds.
        codes.append(np.array([*rank, -1])[chunk.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False)])
    joined = np.concatenate(codes)
    return Labels(joined, tuple(place), declared=True) if declared else labels_or_numbers(joined, list(place))


def open_frame(source: Any) -> OtherFrame | None:
    """Open what narwhals can read, collecting lazy tables, or give None for anything else."""
    import narwhals.stable.v2 as nw

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
