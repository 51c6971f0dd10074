"""What a column holds before it is encoded, whatever kind of table it came from.

A source names its columns and hands them out one by one as numbers or labels; columns of plain whole numbers also
come as blocks, which is what makes wide tables quick to encode.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Protocol, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.errors import DataError
from apsl_rules.names import Node

Mask: TypeAlias = npt.NDArray[np.bool_]

_EXACT = 2.0**53
#: So many values of a column are looked at first: most fractions are known by them.
_FIRST = 64


@attrs.frozen(eq=False)
class Numbers:
    """A column of integers or floats; what stands at a missing place has no meaning."""

    values: npt.NDArray[Any]
    missing: Mask

    @property
    def present(self) -> npt.NDArray[Any]:
        """Return the values that are there."""
        return self.values[~self.missing] if self.missing.any() else self.values


@attrs.frozen(eq=False)
class Labels:
    """A column of labels: ``codes`` are places in ``levels``, -1 is a missing value.

    ``declared`` says that the column came with these levels in this order, as a category does.
    """

    codes: npt.NDArray[np.intp]
    levels: tuple[Any, ...]
    declared: bool = False


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
