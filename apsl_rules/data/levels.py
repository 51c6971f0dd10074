"""Columns as integer codes with named levels, whatever they held before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data._integer_codes import dense
from apsl_rules.data.columns import Column, Labels, Numbers
from apsl_rules.data.cuts import Cut, intervals
from apsl_rules.errors import DataError
from apsl_rules.names import Node, order_key

LevelRule: TypeAlias = Literal["observed", "declared"]

MOST_LEVELS = 65_535


_FEW_VALUES = 10
_ROWS_PER_VALUE = 25


@attrs.frozen
class Coding:
    """How to encode: which levels count, how to cut numbers, and which columns to cut in any case.

    ``cut`` is for fractions and for whole numbers with many values; without it fractions are refused.
    """

    levels: LevelRule = "observed"
    cut: Cut | None = None
    cuts: Mapping[Node, Cut] = attrs.field(factory=dict)

    def cuts_whole(self, values: int, rows: int) -> bool:
        """Whether whole numbers with so many values in so many rows are cut: hardly any test could use them."""
        many = values > _FEW_VALUES and _ROWS_PER_VALUE * values > rows
        return many and self.cut is not None and self.levels == "observed"


@attrs.frozen(eq=False)
class Coded:
    """Columns as the rows of an array of codes, -1 where a value is missing, and the names of the codes.

    ``cut`` says that the codes are intervals.
    """

    codes: npt.NDArray[np.integer[Any]]
    levels: Sequence[tuple[Any, ...]]
    cut: bool = False


class ContinuousError(Exception):
    """A column of fractions has no cut; the error carries its number of distinct values."""

    def __init__(self, distinct: int) -> None:
        super().__init__(distinct)
        self.distinct = distinct


def code_integers(block: npt.NDArray[np.integer[Any]], names: Sequence[Node], coding: Coding) -> Coded:
    """Encode integer columns without missing values that are the rows of a block."""
    if coding.levels == "observed":
        ranked = dense(block)
        return Coded(ranked.codes, ranked.levels)
    for name, low, high in zip(names, block.min(axis=1).tolist(), block.max(axis=1).tolist(), strict=True):
        if low < 0 or high >= MOST_LEVELS:
            message = (
                f"column {name!r} has integers from {low} to {high}, but levels='declared' takes integers as codes and "
                f"needs them from 0 to {MOST_LEVELS - 1:,}; give levels='observed'"
            )
            raise DataError(message)
    return Coded(block, [tuple(range(largest + 1)) for largest in block.max(axis=1).tolist()])


def code(column: Column, name: Node, coding: Coding, weights: npt.NDArray[np.int64] | None = None) -> Coded:
    """Encode one column; ``weights`` say in how many rows each of its values stands, if not in one."""
    cut = coding.cuts.get(name)
    if isinstance(column, Labels):
        if cut is not None:
            message = f"column {name!r} holds labels, and only numbers can be cut; leave it out of discretize="
            raise DataError(message)
        return _code_labels(column, coding.levels)
    present = column.present
    if len(present) == 0:
        return _spread(column, Coded(present[None, :], [()]))
    of_present = None if weights is None else weights[~column.missing]
    if cut is None and present.dtype.kind == "f":
        cut = coding.cut
    elif cut is None:
        whole = code_integers(present[None, :], [name], coding)
        rows = len(present) if of_present is None else int(of_present.sum())
        if not coding.cuts_whole(len(whole.levels[0]), rows):
            return _spread(column, whole)
        cut = coding.cut
    if cut is None:
        raise ContinuousError(len(np.unique(present)))
    values = present.astype(np.float64)
    if not np.isfinite(values).all():
        message = f"column {name!r} has infinite values, which fall into no interval; replace them or drop the column"
        raise DataError(message)
    codes, levels = intervals(values, cut, of_present)
    return _spread(column, Coded(codes[None, :], [levels], cut=True))


def _code_labels(column: Labels, rule: LevelRule) -> Coded:
    seen = np.flatnonzero(np.bincount(column.codes + 1, minlength=len(column.levels) + 1)[1:]).tolist()
    if not column.declared:
        seen.sort(key=lambda place: order_key(column.levels[place]))
    elif rule == "declared":
        seen = list(range(max(seen, default=-1) + 1))
    # The last place is what the code -1 of a missing value finds.
    rank = np.full(len(column.levels) + 1, -1)
    rank[seen] = np.arange(len(seen))
    return Coded(rank[column.codes][None, :], [tuple(column.levels[place] for place in seen)])


def _spread(column: Numbers, coded: Coded) -> Coded:
    """Put the codes of the present values back to their rows."""
    codes = np.full((1, len(column.values)), -1)
    codes[:, ~column.missing] = coded.codes
    return attrs.evolve(coded, codes=codes)
