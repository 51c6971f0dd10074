"""Which values of a cause are compared, and the codes of its levels."""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data import FileTable, MixedTable, Table
from apsl_rules.data.counts import CountSource
from apsl_rules.data.databases import is_database, is_ibis_table
from apsl_rules.data.moments import MomentSource
from apsl_rules.data.readers import PlainTable, read_columns
from apsl_rules.effects.samples import Covariance
from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.learning import Source
from apsl_rules.names import Node, listing, nearest, shown, spelt
from apsl_rules.notes import Sentence

if TYPE_CHECKING:
    import pandas as pd


@attrs.frozen
class Interval:
    """An estimate between the two ends of a confidence interval.

    Attributes
    ----------
    estimate
        The estimate.
    low, high
        The two ends of its confidence interval.
    error
        Its standard error.
    freedom
        The degrees of freedom of the error.
    """

    estimate: float
    low: float
    high: float
    error: float = 0.0
    freedom: float = float("inf")

    def __str__(self) -> str:
        return f"{figure(self.estimate)} ({figure(self.low)} to {figure(self.high)})"


@attrs.frozen
class Change:
    """Which change of a cause is looked at, and what of the target.

    ``level`` and ``reference`` are the levels that a category is set to; both are None for a number, which is raised by
    one unit. ``outcome`` is the level of the target whose probability is meant, None for the mean of a number.

    Attributes
    ----------
    is_number
        Whether the cause is a number, raised by one unit.
    is_mean
        Whether the mean of the target is meant, not the probability of a level.
    """

    level: Any = None
    reference: Any = None
    outcome: Any = None
    is_number: bool = False
    is_mean: bool = False

    def text(self, cause: object, target: object) -> str:
        """Return what is compared, in words."""
        what = f"mean of {shown(target)}" if self.is_mean else f"P({shown(target)} = {shown(self.outcome)})"
        if self.is_number:
            return f"{what} per unit of {shown(cause)}"
        return f"{what}, {shown(cause)} = {shown(self.level)} against {shown(self.reference)}"


@attrs.frozen
class Estimates:
    """What was estimated with one adjustment set: the interval of each change, and the rows behind it.

    ``distribution`` has, for categories, the probability of each level of the target if the cause were set to each of
    its levels. ``notes`` say what a reader should know.

    Attributes
    ----------
    changes
        The interval of each change.
    rows
        How many rows are behind them.
    covariance
        The covariance of the columns of the question, from which sensitivity is worked out.
    """

    changes: dict[Change, Interval]
    rows: int
    distribution: dict[Any, dict[Any, Interval]] = attrs.field(factory=dict)
    notes: tuple[str, ...] = ()
    covariance: Covariance | None = attrs.field(default=None, eq=False, repr=False)


@attrs.frozen
class Refusal:
    """Why nothing could be estimated, in a sentence."""

    reason: Sentence = attrs.field(converter=Sentence)

    def __str__(self) -> str:
        return self.reason


def figure(value: float) -> str:
    """Return a figure with three digits that count.

    >>> figure(0.12345), figure(-1234.5), figure(0.0)
    ('0.123', '-1,234', '0')
    """
    if abs(value) >= 1000:  # noqa: PLR2004 - thousands have commas and no decimals
        return f"{value:,.0f}"
    return f"{value:.3g}" if value else "0"


#: How the interval of a number that was cut is spelt; its upper limit belongs to it.
_INTERVAL = re.compile(r"[\[(][^,]+, (.+)\]")


@attrs.frozen(eq=False)
class LevelCodes:
    """The place of each value among the levels of its node, -1 where it is missing; ``count`` rows."""

    codes: Mapping[Node, npt.NDArray[np.int64]]
    count: int


def is_in_memory(data: Any) -> bool:
    """Return whether the rows of a table can be looked at one by one."""
    if is_database(data) or is_ibis_table(data):
        return False
    return not isinstance(data, FileTable | CountSource | MomentSource | Source | MixedTable)


def level_codes(data: Any, levels: Mapping[Node, tuple[str, ...]]) -> LevelCodes:
    """Look up the values of the columns that a table has among known levels."""
    if isinstance(data, Table):
        return _of_table(data, levels)
    if not is_in_memory(data):
        message = f"{type(data).__name__} has no rows to look at one by one; give a frame or a file"
        raise InvalidArgumentError(message)
    if isinstance(data, str | os.PathLike):
        data = read_columns(data)
    if isinstance(data, PlainTable):
        return _of_plain(data, levels)
    frame = _frame(data)
    columns = {node: frame[node] for node in levels if node in frame.columns}
    return LevelCodes({node: _of_column(node, one, levels[node]) for node, one in columns.items()}, len(frame))


def _frame(data: Any) -> pd.DataFrame:
    import pandas as pd

    if isinstance(data, pd.DataFrame):
        return data
    if hasattr(data, "to_pandas"):
        return pd.DataFrame(data.to_pandas())
    try:
        return pd.DataFrame(data)
    except ValueError as error:
        message = f"the rows to predict are {spelt(data)}; give a frame with a column for each node"
        raise DataError(message) from error


def _of_table(table: Table, levels: Mapping[Node, tuple[str, ...]]) -> LevelCodes:
    codes = {}
    for node, known in levels.items():
        if node in table.place:
            place = table.place[node]
            names = [_place(node, level, known) for level in table.levels[place][: int(table.cards[place])]]
            codes[node] = np.array([*names, -1], np.int64)[table.codes[place]]
    return LevelCodes(codes, table.rows)


def _of_plain(table: PlainTable, levels: Mapping[Node, tuple[str, ...]]) -> LevelCodes:
    codes = {}
    for number, node in enumerate(table.names):
        if node in levels:
            column = table.column(number)
            if column.is_label:
                places = [_place(node, level, levels[node]) for level in column.levels]
                codes[node] = np.array([*places, -1], np.int64)[column.codes]
            else:
                codes[node] = np.full(table.rows, -1, np.int64)
                found, inverse = np.unique(column.present, return_inverse=True)
                places = [_place(node, one, levels[node]) for one in found.tolist()]
                codes[node][~column.missing] = np.array(places, np.int64)[inverse]
    return LevelCodes(codes, table.rows)


def _of_column(node: Node, column: pd.Series, known: tuple[str, ...]) -> npt.NDArray[np.int64]:
    gone = column.isna().to_numpy()
    places = {value: _place(node, value, known) for value in dict.fromkeys(column[~gone].tolist())}
    codes = np.full(len(column), -1, np.int64)
    codes[~gone] = [places[value] for value in column[~gone].tolist()]
    return codes


def _place(node: Node, value: Any, known: tuple[str, ...]) -> int:
    """Return the place of a level; whole numbers may come as floats where values are missing.

    Where numbers were cut, it is the interval that a number lies in, by its limits as they are spelt; numbers beyond
    all of them belong to the first or the last.
    """
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    for name in (str(value), text):
        if name in known:
            return known.index(name)
    if isinstance(value, int | float) and not isinstance(value, bool):
        limits = [_INTERVAL.fullmatch(name) for name in known]
        if all(limits):
            above = [float(limit[1]) for limit in limits if limit is not None]
            return min(bisect_left(above, value), len(known) - 1)
    hint = nearest(text, known) or f"; the levels are {listing(known)}"
    message = f"{node!r} has no level {spelt(value)}{hint}"
    raise DataError(message)
