"""A target given as values, as scikit-learn has it: ``learn(X, y)`` is a table with one more column, the target."""

from __future__ import annotations

from typing import Any, NoReturn, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from apsl_rules._arguments import spelt
from apsl_rules.data.open_table import array_names
from apsl_rules.errors import DataError
from apsl_rules.names import Node, check_target, count_of

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
