"""Open what a user gives as a source: a frame, an array, a mapping, a file, or features and a target."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.resources import files
from math import isfinite
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn, Protocol, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.columns import (
    Column,
    Labels,
    OtherFrame,
    PandasFrame,
    Source,
    labels_of,
    numbers,
    open_frame,
    whole_numbers,
)
from apsl_rules.data.databases.connection import DatabaseTable, is_database, shown_source
from apsl_rules.data.readers import PlainTable, file_kind, read_columns, read_integers
from apsl_rules.data.tables import Table
from apsl_rules.errors import DataError
from apsl_rules.names import Node, check_labels, check_target, count_of, listed, listing, spelt

_KINDS = "a pandas, polars or pyarrow table, a 2-d numpy array, or the path of a table (CSV, Parquet, Excel, ...)"


def open_source(source: Any, names: Iterable[Node] | None = None) -> Source:
    """Open a table of any kind and check that it has columns, different names and at least two rows.

    ``names`` replaces the labels of the columns. Without it an array's columns are called X1, X2 and so on, those of
    an integer text file 1, 2 and so on.
    """
    if isinstance(source, str | DatabaseTable) and is_database(source):
        message = f"{shown_source(source)!r} is a table of a database, which is not read here; query it into a frame"
        raise DataError(message)
    given = None if names is None else tuple(listed("names", names, "names, one for each column", letters=True))
    opened = _open_file(source, given) if isinstance(source, str | PathLike) else _open_object(source, given)
    if not opened.names:
        message = "the table has no columns; give at least two"
        raise DataError(message)
    if opened.rows < 2:  # noqa: PLR2004 - nothing varies in one row
        message = f"the table has {count_of(opened.rows, 'row')}; at least 2 are needed"
        raise DataError(message)
    check_names(opened.names)
    return opened


def check_names(names: Sequence[Node]) -> None:
    """Refuse labels that occur twice or cannot be looked up."""
    try:
        times = Counter(names)
    except TypeError as error:
        message = f"the columns cannot have these names ({error}); give text, numbers, tuples or other hashables"
        raise DataError(message) from error
    check_labels(names)
    odd = [name for name in names if not _can_be_saved(name)]
    if odd:
        message = (
            f"the columns cannot be called {listing(odd)}: names are text, numbers or tuples of these; rename them, "
            "such as with frame.rename(columns=str)"
        )
        raise DataError(message)
    twice = [name for name in times if times[name] > 1]
    if twice:
        message = f"duplicate column names: {listing(twice)}; give every column a name of its own"
        raise DataError(message)


def _can_be_saved(name: Node) -> bool:
    """Whether a part with this name among its nodes can be written and read again."""
    if isinstance(name, tuple):
        return all(map(_can_be_saved, name))
    return name is None or isinstance(name, str | Integral) or (isinstance(name, float) and isfinite(name))


def _open_file(path: str | PathLike[str], names: tuple[Node, ...] | None) -> Source:
    if file_kind(path) == "txt":
        matrix = read_integers(path)
        labels = replace_names([str(place) for place in range(1, matrix.shape[1] + 1)], names)
        return Matrix(matrix, labels, holds_codes=True)
    return _open_object(read_columns(path), names)


def _open_object(source: Any, names: tuple[Node, ...] | None) -> Source:
    if isinstance(source, Table):
        return Encoded(source, replace_names(source.names, names))
    if isinstance(source, PlainTable | Matrix | Stacked | PandasFrame | OtherFrame):
        return attrs.evolve(source, names=replace_names(source.names, names))
    if isinstance(source, np.ndarray):
        return _open_array(source, names)
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(source, pandas.DataFrame):
        return PandasFrame(source, replace_names(source.columns.tolist(), names))
    frame = open_frame(source)
    if frame is None:
        message = f"cannot take {type(source).__name__} for a table; give {_KINDS}"
        raise DataError(message)
    return attrs.evolve(frame, names=replace_names(frame.names, names))


def _open_array(source: npt.NDArray[Any], names: tuple[Node, ...] | None) -> Matrix:
    if source.ndim != 2 or source.dtype.kind not in "biufUO":  # noqa: PLR2004 - rows and columns
        message = (
            f"the array has {count_of(source.ndim, 'dimension')} and holds {source.dtype}; "
            f"give a 2-d array of numbers, bools or text, rows by columns"
        )
        raise DataError(message)
    if type(source) is not np.ndarray and isinstance(source, np.ma.MaskedArray):  # numpy.ma takes long to import
        message = "masked arrays are not taken; give a DataFrame, or an array with NaN or None where values are missing"
        raise DataError(message)
    return Matrix(source, replace_names(array_names(source.shape[1]), names))


def array_names(columns: int) -> list[str]:
    """Return what the columns of an array are called."""
    return [f"X{place}" for place in range(1, columns + 1)]


def replace_names(labels: Sequence[Node], names: Sequence[Node] | None) -> tuple[Node, ...]:
    """Return the names that were given for the columns of a table, one for each, or those that they have."""
    if names is None:
        return tuple(labels)
    if len(names) != len(labels):
        given, columns = count_of(len(names), "name"), count_of(len(labels), "column")
        message = f"there are {given} for {columns}; give one name for each column"
        raise DataError(message)
    return tuple(names)


@attrs.frozen(eq=False)
class Matrix:
    """A numpy array as a source; ``holds_codes`` says that all its numbers are the codes of levels."""

    matrix: npt.NDArray[Any]
    names: tuple[Node, ...]
    holds_codes: bool = False

    @property
    def columns(self) -> tuple[Node, ...]:
        """Return the names, as a frame does."""
        return self.names

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return int(self.matrix.shape[0])

    def column(self, place: int) -> Column:
        """Return one column."""
        values = self.matrix[:, place]
        if values.dtype.kind == "b":
            return Labels(values.astype(np.intp), (False, True), declared=True)
        if values.dtype.kind in "iuf":
            return numbers(values)
        return labels_of(values.tolist(), self.names[place])

    def lend_codes(self) -> npt.NDArray[np.uint8] | None:
        """Return the columns of a memory map of bytes that is read only and has one column after the other."""
        matrix = self.matrix
        is_fit = isinstance(matrix, np.memmap) and matrix.mode == "r" and matrix.dtype == np.uint8
        return matrix.T if is_fit and matrix.T.flags.c_contiguous else None

    def integers(self, start: int, stop: int) -> npt.NDArray[np.integer[Any]] | None:
        """Return a run of columns as the rows of one integer array."""
        return whole_numbers(np.ascontiguousarray(self.matrix[:, start:stop].T))


@attrs.frozen(eq=False)
class Encoded:
    """A table that is already encoded as a source."""

    table: Table
    names: tuple[Node, ...]

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return self.table.rows

    def column(self, place: int) -> Column:
        """Return one column by its level names."""
        codes = self.table.codes[place].astype(np.intp)
        codes[codes == self.table.cards[place]] = -1
        return Labels(codes, self.table.levels[place], declared=True)

    def integers(self, start: int, stop: int) -> None:
        """Return None: the codes have a meaning only with their levels."""
        del start, stop


@attrs.frozen(eq=False)
class Stacked:
    """Two tables with the same columns as a source, the rows of the second below those of the first.

    The last column, ``names[-1]``, says by one of two ``labels`` which table a row is from.
    """

    tables: tuple[Source, Source]
    shared: tuple[Node, ...]
    names: tuple[Node, ...]
    labels: tuple[str, str]

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return sum(one.rows for one in self.tables)

    def column(self, place: int) -> Column:
        """Return one column; of numbers in one table and labels in the other, all are labels."""
        if place == len(self.shared):
            codes = np.repeat(np.arange(2), [one.rows for one in self.tables]).astype(np.intp)
            return Labels(codes, self.labels, declared=True)
        first, second = (one.column(one.names.index(self.shared[place])) for one in self.tables)
        if not first.is_label and not second.is_label:
            return numbers(
                np.concatenate([first.values, second.values]), np.concatenate([first.missing, second.missing])
            )
        return _below(_as_labels(first), _as_labels(second))

    def integers(self, start: int, stop: int) -> None:
        """Return None: the columns are joined one by one."""
        del start, stop


def _as_labels(column: Column) -> Labels:
    if column.is_label:
        return column
    levels, codes = np.unique(column.values, return_inverse=True)
    return Labels(np.where(column.missing, -1, codes).astype(np.intp), tuple(levels.tolist()))


def _below(first: Labels, second: Labels) -> Labels:
    """Return labels below others; equal levels are one."""
    levels = tuple(dict.fromkeys((*first.levels, *second.levels)))
    place = {level: at for at, level in enumerate(levels)}
    to = np.array([*(place[level] for level in second.levels), -1], np.intp)
    return Labels(np.concatenate([first.codes, to[second.codes]]), levels, first.declared and second.declared)


#: What the target is called where its values have no name.
UNNAMED = "y"


class Values(Protocol):
    """A column of values: a Series of pandas or polars, or an array."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Return how many values there are."""

    def __len__(self) -> int: ...


Target: TypeAlias = Node | Values


def join_target(source: Any, target: Any) -> tuple[Any, Node]:
    """Return a source and the name of its target; values that are given as the target become a column of the table.

    Their name is that of a Series, or "y". A column of the table itself may be given, too.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"a": [0, 1], "b": [1, 0]})
    >>> joined, name = join_target(frame[["a"]], frame["b"])
    >>> name, list(joined.columns), join_target(frame, "b")[1]
    ('b', ['a', 'b'], 'b')
    """
    if not hasattr(target, "__array__") or not hasattr(target, "__len__") or getattr(target, "shape", None) == ():
        check_target(target)
        return source, target
    frame = _frame(source, target)
    values = _values(target)
    if len(values) != len(frame):
        _refuse(f"X has {count_of(len(frame), 'row')} and y has {len(values):,}; give one value for each row")
    index = getattr(target, "index", None)
    if hasattr(source, "index") and hasattr(index, "equals") and not source.index.equals(index):
        _refuse("the rows of X and y have different labels; give y.loc[X.index], or reset both indices")
    name = _name(target)
    if name in frame.columns:
        if not _are_same(frame[name].to_numpy(), values):
            _refuse(f"X has a column {name!r} with other values than y; rename one of them")
        return source, name
    return _joined(frame, name, target, values), name


def _frame(source: Any, target: Any) -> Any:
    """Return a table in memory as a frame to which a column can be added."""
    import narwhals.stable.v2 as nw

    if isinstance(source, np.ndarray) and source.ndim == 2:  # noqa: PLR2004 - rows and columns
        import pandas as pd

        return nw.from_native(pd.DataFrame(source, columns=array_names(source.shape[1])), eager_only=True)
    try:
        return nw.from_native(source, eager_only=True)
    except TypeError:
        _refuse(
            f"the target is {spelt(target)}, which holds values, and only a table in memory (pandas, polars, pyarrow, "
            "a 2-d array) can be joined with some; name a node of the source instead"
        )


def _values(target: Any) -> npt.NDArray[Any]:
    """Return the values of one column."""
    values = np.asarray(target)
    if values.ndim > 1 and values.size > len(values):
        shape = " × ".join(map(str, values.shape))
        _refuse(f"y has the shape {shape}; give one column of values, or learn_many for many targets")
    return values.reshape(len(values))


def _name(target: Any) -> Node:
    """Return the name of a Series, or of the only column of a frame; "y" where there is none."""
    columns = getattr(target, "columns", None)
    name = getattr(target, "name", None) if columns is None else next(iter(columns))
    return UNNAMED if name is None or (isinstance(name, str) and not name) else name


def _are_same(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> bool:
    """Return whether two columns have the same values, missing ones at the same places."""
    import pandas as pd

    gone, also = pd.isna(one), pd.isna(other)
    return bool(np.array_equal(gone, also) and np.array_equal(one[~gone], other[~also]))


def _joined(frame: Any, name: Node, target: Any, values: npt.NDArray[Any]) -> Any:
    """Return the frame with one more column, which keeps its type where it is a Series of the same library."""
    import narwhals.stable.v2 as nw

    if frame.implementation.is_pandas():
        joined = frame.to_native().copy(deep=False)
        joined[name] = target if hasattr(target, "name") else values
        return joined
    if not isinstance(name, str):
        _refuse(f"y is called {name!r}, and columns of this table have text as names; rename y")
    own = nw.from_native(target, series_only=True, pass_through=True)
    is_same = isinstance(own, nw.Series) and own.implementation is frame.implementation
    column = own if is_same else nw.new_series(name, values.tolist(), backend=frame.implementation)
    return frame.with_columns(column.alias(name)).to_native()


def _refuse(message: str) -> NoReturn:
    raise DataError(message)


def example_table() -> Path:
    """Return the path of a CSV file with 2,000 rows that were drawn from the network ``asia``.

    >>> example_table().name
    'clinic.csv'
    """
    return Path(str(files("apsl_specs") / "tables" / "clinic.csv"))
