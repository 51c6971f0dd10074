"""Levels of a column: those that occur, in the order of their names, and those that cuts of numbers make."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.columns import Column, Labels, Numbers
from apsl_rules.data.dataset import Codes
from apsl_rules.data.kinds import MOST_LEVELS
from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.names import Node, order_key, spelt
from apsl_rules.notes import argument

Method: TypeAlias = Literal["quantile", "width"]

_FEWEST, _MOST = 2, 65_534


@attrs.frozen
class Cut:
    """How to cut a column into at most ``bins`` intervals."""

    method: Method
    bins: int


def parse_cut(text: str) -> Cut:
    """Read how to cut a column, such as ``quantile:3``.

    >>> parse_cut("width:4")
    Cut(method='width', bins=4)
    """
    match = re.fullmatch(r"(quantile|width):([0-9]{1,5})", text) if isinstance(text, str) else None
    if match is None or not _FEWEST <= int(match[2]) <= _MOST:
        message = (
            f"cannot discretise by {spelt(text)}; give 'quantile:k' or 'width:k' with k from {_FEWEST} to {_MOST:,}, "
            f"such as 'quantile:3'"
        )
        raise InvalidArgumentError(message)
    return Cut("quantile" if match[1] == "quantile" else "width", int(match[2]))


def intervals(
    values: npt.NDArray[np.float64], cut: Cut, weights: npt.NDArray[np.int64] | None = None
) -> tuple[npt.NDArray[np.intp], tuple[str, ...]]:
    """Cut finite values into intervals closed on the right, and give their codes and the intervals as text.

    ``weights`` say in how many rows each value stands, if not in one.

    Equal values always share an interval, and no interval is empty, so there may be fewer than asked for.

    >>> intervals(np.array([0.5, 1.5, 2.5, 9.5]), Cut("quantile", 2))
    (array([0, 0, 1, 1]), ('[0.5, 1.5]', '(1.5, 9.5]'))
    """
    points = cut_points(values, cut, weights)
    codes = np.searchsorted(points, values, side="left")
    edges = _readable([edge + 0.0 for edge in (float(values.min()), *points.tolist(), float(values.max()))])  # no -0.0
    if len(points) == 0 and edges[0] == edges[1]:
        return codes, (edges[0],)
    opening = ["[", *["("] * len(points)]
    names = [f"{mark}{low}, {high}]" for mark, low, high in zip(opening, edges[:-1], edges[1:], strict=True)]
    return codes, tuple(names)


def cut_points(
    values: npt.NDArray[np.float64], cut: Cut, weights: npt.NDArray[np.int64] | None = None
) -> npt.NDArray[np.float64]:
    """Return the inner limits of the intervals, rising, each with a value at or below it and a value above it."""
    shares = np.arange(1, cut.bins) / cut.bins
    if cut.method == "quantile":
        # Limits that are values of the column stay where they are whatever the rounding.
        order = np.argsort(values, kind="stable")
        rows = np.arange(1, len(values) + 1) if weights is None else np.cumsum(weights[order])
        points = values[order][np.searchsorted(rows, -(-np.arange(1, cut.bins) * rows[-1] // cut.bins))]
        # A value that fills more than the last interval still leaves one for all below it.
        points = np.minimum(points, values[values < values.max()].max(initial=values.min()))
    else:
        # Weighting the ends cannot overflow, as their difference could.
        points = values.min() * (1 - shares) + values.max() * shares
    limits = np.unique(points[points < values.max()])
    filled = np.unique(np.searchsorted(limits, values, side="left"))
    return limits[filled[filled < len(limits)]]


def _readable(edges: list[float]) -> list[str]:
    """Spell numbers with as few digits as keep different ones apart."""
    different = len(set(edges))
    for digits in range(4, 17):
        words = [f"{edge:.{digits}g}" for edge in edges]
        if len(set(words)) == different:
            return words
    return [repr(edge) for edge in edges]


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
                f"column {name!r} has integers from {low} to {high}, but {argument('levels', 'declared')} takes "
                "integers as codes and "
                f"needs them from 0 to {MOST_LEVELS - 1:,}; give {argument('levels', 'observed')}"
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
        return _spread(column, Coded(codes[None, :], [tuple((values + 0.0).tolist())]))  # no -0.0
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


_NARROW = 256


@attrs.frozen(eq=False)
class Dense:
    """Codes without holes: ``codes[i, r]`` is the rank of a value among ``levels[i]``."""

    codes: Codes | npt.NDArray[np.intp]
    levels: list[tuple[int, ...]]


def dense(block: npt.NDArray[np.integer[Any]]) -> Dense:
    """Encode the columns that are the rows of a block, each by the sorted values seen in it."""
    low, high = block.min(axis=1), block.max(axis=1)
    # Unsigned arithmetic wraps round, so that the span is right at the ends of the 64-bit range too.
    span = high.astype(np.uint64) - low.astype(np.uint64)
    if (span < _NARROW).all():
        return _narrow(block, low, span.astype(np.intp))
    if len(block) == 1:
        return _wide(block)
    parts = [dense(block[place : place + 1]) for place in range(len(block))]
    return Dense(np.concatenate([part.codes for part in parts]), [part.levels[0] for part in parts])


def _narrow(block: npt.NDArray[np.integer[Any]], low: npt.NDArray[Any], span: npt.NDArray[np.intp]) -> Dense:
    width = int(span.max()) + 1
    codes: npt.NDArray[np.uint8] = (block - low[:, None]).astype(np.uint8)
    cells = codes + np.arange(0, len(block) * width, width)[:, None]
    seen = np.bincount(cells.ravel(), minlength=len(block) * width).reshape(len(block), width) > 0
    holes = seen.sum(axis=1) <= span
    if holes.any():
        ranks = (np.cumsum(seen, axis=1) - 1).astype(np.uint8)
        codes = ranks.ravel()[cells]
    shared: dict[tuple[int, int], tuple[int, ...]] = {}
    levels = []
    for place, (first, count) in enumerate(zip(low.tolist(), (span + 1).tolist(), strict=True)):
        if holes[place]:
            levels.append(tuple(first + step for step in np.flatnonzero(seen[place]).tolist()))
        else:
            levels.append(shared.setdefault((first, count), tuple(range(first, first + count))))
    return Dense(codes, levels)


def _wide(block: npt.NDArray[np.integer[Any]]) -> Dense:
    values, codes = np.unique(block[0], return_inverse=True)
    return Dense(codes[None, :], [tuple(values.tolist())])
