"""Columns as integer codes with named levels, whatever they held before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data._integer_codes import dense
from apsl_rules.data.columns import Column, Labels, Numbers
from apsl_rules.data.cuts import Cut, intervals
from apsl_rules.data.kinds import MOST_LEVELS
from apsl_rules.errors import DataError
from apsl_rules.names import Node, order_key

LevelRule: TypeAlias = Literal["observed", "declared"]


@attrs.frozen(eq=False)
class Coded:
    """Columns as the rows of an array of codes, -1 where a value is missing, and the names of the codes."""

    codes: npt.NDArray[np.integer[Any]]
    levels: Sequence[tuple[Any, ...]]


def code_integers(block: npt.NDArray[np.integer[Any]], names: Sequence[Node], rule: LevelRule) -> Coded:
    """Encode integer columns without missing values that are the rows of a block."""
    if rule == "observed":
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


def code(column: Column, name: Node, rule: LevelRule) -> Coded:
    """Encode one column as a category."""
    if isinstance(column, Labels):
        return _code_labels(column, rule)
    present = column.present
    if len(present) == 0:
        return _spread(column, Coded(present[None, :], [()]))
    if present.dtype.kind == "f":
        values, codes = np.unique(present, return_inverse=True)
        return _spread(column, Coded(codes[None, :], [tuple(values.tolist())]))
    return _spread(column, code_integers(present[None, :], [name], rule))


def code_cut(column: Numbers, cut: Cut, weights: npt.NDArray[np.int64] | None = None) -> Coded:
    """Encode a column of finite numbers as intervals; ``weights`` say in how many rows each value stands."""
    present = column.present
    if len(present) == 0:
        return _spread(column, Coded(present[None, :], [()]))
    of_present = None if weights is None else weights[~column.missing]
    codes, levels = intervals(present.astype(np.float64, copy=False), cut, of_present)
    return _spread(column, Coded(codes[None, :], [levels]))


def _code_labels(column: Labels, rule: LevelRule) -> Coded:
    seen = np.flatnonzero(np.bincount(column.codes + 1, minlength=len(column.levels) + 1)[1:]).tolist()
    if rule == "declared" and column.declared:
        seen = list(range(max(seen, default=-1) + 1))
    else:  # A copy of the table in a text file or a database declares no order, and searches break ties by it.
        seen.sort(key=lambda place: order_key(column.levels[place]))
    # The last place is what the code -1 of a missing value finds.
    rank = np.full(len(column.levels) + 1, -1)
    rank[seen] = np.arange(len(seen))
    return Coded(rank[column.codes][None, :], [tuple(column.levels[place] for place in seen)])


def _spread(column: Numbers, coded: Coded) -> Coded:
    """Put the codes of the present values back to their rows."""
    codes = np.full((1, len(column.values)), -1)
    codes[:, ~column.missing] = coded.codes
    return attrs.evolve(coded, codes=codes)
