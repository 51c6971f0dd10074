"""Formulas that give one number from another as exactly as the digits of the table tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]

#: Printed numbers have at least so many digits; half a unit in the last one is their error.
PRECISION = 5e-7
_MOST_DECIMALS = 9
#: Where rounding may move a value by more than this share of its spread, agreement says little.
_COARSE = 0.05
_SLACK = 1.5
#: The first rows tell most columns apart.
_FIRST = 200
_FEWEST_RANKS = 20


def places(values: Floats) -> Floats:
    """Return the places of values in their order, NaN where one is missing."""
    there = ~np.isnan(values)
    found = np.full(len(values), np.nan)
    found[there] = np.unique(values[there], return_inverse=True)[1]
    return found


def correlation(x: Floats, y: Floats) -> float:
    """Return the correlation of two columns, 0 if one does not vary."""
    x, y = x - x.mean(), y - y.mean()
    scale = np.sqrt((x @ x) * (y @ y))
    return float(x @ y / scale) if scale > 0 else 0.0


def errors_of(values: Floats) -> Floats:
    """Return by how much each value may be off as it is written: half a unit of its last decimal, or of its last digit.

    >>> errors_of(np.array([1.25, 3.5, 2.0])).tolist()
    [0.005, 0.005, 0.005]
    """
    known = values[~np.isnan(values)]
    least = PRECISION * np.abs(values)
    for decimals in range(_MOST_DECIMALS):
        scaled = known * 10.0**decimals
        if np.all(np.abs(scaled - np.round(scaled)) <= 1e-9 * np.maximum(1, np.abs(scaled))):
            return np.maximum(least, 0.5 * 10.0**-decimals)
    return least


# --- functions of one number ------------------------------------------------------------------------------------------

_Function: TypeAlias = Callable[[Floats], Floats]
#: Functions of a number and how they are written, with the numbers that they are for.
_FUNCTIONS: tuple[tuple[str, _Function, Callable[[Floats], bool]], ...] = (
    ("{}", lambda x: x, lambda x: True),  # noqa: ARG005 - for any number
    ("log({})", np.log, lambda x: bool(x.min() > 0)),
    ("exp({})", np.exp, lambda x: bool(np.abs(x).max() < 300)),  # noqa: PLR2004 - what a float holds
    ("the log of 1 + {}", np.log1p, lambda x: bool(x.min() > -1)),
    ("{}²", np.square, lambda x: bool(np.abs(x).max() < 1e100)),  # noqa: PLR2004
    ("the root of {}", np.sqrt, lambda x: bool(x.min() >= 0)),
    ("1/{}", lambda x: 1 / x, lambda x: bool((x != 0).all())),
    ("{}³", lambda x: x**3, lambda x: bool(np.abs(x).max() < 1e90)),  # noqa: PLR2004
    ("|{}|", np.abs, lambda x: bool(x.min() < 0)),
    ("asinh({})", np.arcsinh, lambda x: True),  # noqa: ARG005 - for any number
)


def formula(x: Floats, y: Floats, x_error: Floats, y_error: Floats) -> tuple[str, float, float] | None:
    """Return how a number is written as a function of another with its slope and constant, or None."""
    for spelling, function, is_for in _FUNCTIONS:
        if not is_for(x):
            continue
        with np.errstate(all="ignore"):
            value = function(x)
            error = np.maximum(np.abs(function(x + x_error) - value), np.abs(function(x - x_error) - value))
        if not np.isfinite(value).all() or value.std() == 0:
            continue
        if (found := line(value, y, np.nan_to_num(error, nan=np.inf), y_error)) is not None:
            return (spelling, *found)
    return None


def line(
    x: Floats, y: Floats, x_error: Floats, y_error: Floats, *, is_first: bool = False
) -> tuple[float, float] | None:
    """Return the slope and the constant of the line on which all points are, as far as digits tell, or None.

    The first points alone may vary too little to say more than that none is off.
    """
    if len(y) > 2 * _FIRST and line(x[:_FIRST], y[:_FIRST], x_error[:_FIRST], y_error[:_FIRST], is_first=True) is None:
        return None
    scale, spread = x.std(), y.std()
    if scale == 0:
        return (0.0, 0.0) if is_first else None
    error = y_error + spread / scale * x_error
    weights = 1 / np.maximum(error, 1e-12 * spread + 1e-300) ** 2
    weights /= weights.max()
    middle, centre = np.average(x, weights=weights), np.average(y, weights=weights)
    slope = float((weights * (x - middle)) @ (y - centre) / max(weights @ (x - middle) ** 2, 1e-300))
    off = np.abs(y - centre - slope * (x - middle))
    error = y_error + abs(slope) * x_error
    if (off > _SLACK * error + 1e-12 * spread).any():
        return None
    if not is_first and (spread == 0 or np.median(error) > _COARSE * spread):
        return None
    return slope, float(centre - slope * middle)


def written(found: tuple[str, float, float], name: str) -> str:
    """Return a formula as it is written."""
    spelling, slope, constant = found
    core = spelling.format(name)
    size = abs(slope)
    factor = "" if abs(size - 1) < 1e-3 else f"{size:.4g} · "  # noqa: PLR2004
    sign = "-" if slope < 0 else ""
    has_constant = abs(constant) > 1e-3 * max(1.0, size)
    if spelling == "{}" and slope < 0 and not factor and has_constant:
        return f"{constant:.6g} - {core}"
    tail = f" {'-' if constant < 0 else '+'} {abs(constant):.4g}" if has_constant else ""
    return f"{sign}{factor}{core}{tail}"


def is_rank(ranks: Floats, values: Floats) -> bool:
    """Return whether whole numbers are the ranks of other values, in rising or falling order."""
    rows = len(values)
    if len(np.unique(values)) < rows / 2 or ranks.min() < 0 or ranks.max() > rows:
        return False
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    first = last - counts + 1
    ways = ((first + last) / 2, first, last, np.arange(1, len(counts) + 1))
    return any(
        np.array_equal(ranks, way[place]) or np.array_equal(rows + 1 - ranks, way[place])
        for way in ways
        if len(way) > _FEWEST_RANKS
    )
