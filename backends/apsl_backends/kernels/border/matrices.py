"""Covariance matrices of columns in blocks, checked before their addresses are taken."""

from __future__ import annotations

from math import isfinite

import numpy as np

from apsl_backends.kernels.border import checks
from apsl_backends.kernels.border.checks import Floats, Integers

#: The share of its variance up to which what is left of a column, given others, is taken for rounding.
TOLERANCE = 1e-7
SMALLEST_TOLERANCE = 1e-12
_FLAWS = {
    1: "the matrix has a variance that is negative, not finite, or neither 0 nor between 1e-100 and 1e100",
    2: "the matrix is not symmetric; take the mean of it and its transpose",
    3: "the matrix has a covariance that is not finite or too large for the variances",
}


def covariances(matrix: Floats, starts: Integers, rows: float, tolerance: float) -> tuple[int, int]:
    """Return the addresses of a covariance matrix and of the starts of its blocks, with the end of the last."""
    columns = len(matrix)
    at_matrix = checks.address(matrix, np.float64, (columns, columns), "matrix")
    at_starts = checks.sections(starts, columns, 0, "starts")
    require_finite(rows=rows)
    if rows < 1.0 or not SMALLEST_TOLERANCE <= tolerance < 1.0:
        message = f"rows must be at least 1, not {rows}, and tolerance from 1e-12 to below 1, not {tolerance}"
        raise ValueError(message)
    flaw = checks.kernels().apsl_find_flaw(at_matrix, columns)
    if flaw:
        raise ValueError(_FLAWS[flaw])
    return at_matrix, at_starts


def require_finite(**values: float) -> None:
    """Refuse a number that is not finite."""
    for name, value in values.items():
        if not isfinite(value):
            message = f"{name} must be a finite number, not {value}"
            raise ValueError(message)
