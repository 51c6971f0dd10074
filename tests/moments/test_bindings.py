"""The bindings of the kernels of moments refuse what does not fit, and keep what they read."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from apsl_backends.kernels.bindings.embedded import (
    CategoryColumn,
    EmbeddedHandle,
    MatrixBlocks,
    NumberColumn,
    Patterns,
    ProductSums,
    matrix_tests,
)
from apsl_backends.kernels.bindings.scores import ScoreCurve, count_values, score_values
from apsl_rules.stopping import INTERRUPTED, no_flag

ROWS = 40
VALUES = np.linspace(-2.0, 2.0, ROWS)
CODES: npt.NDArray[np.uint8] = (np.arange(ROWS) % 3).astype(np.uint8)
INDICATORS = np.array([0, -1, 1])
GOOD: list[NumberColumn | CategoryColumn] = [NumberColumn(VALUES, 3), CategoryColumn(CODES, INDICATORS, 2)]


def ints(*values: int) -> Any:
    """Return 64-bit integers."""
    return np.array(values, np.int64)


NUMBERS = np.zeros(2, np.bool_)
SIGNED: Any = CODES.astype(np.int64)
WRONG_COLUMNS: list[tuple[str, Any]] = [
    ("values must be a contiguous array of float64", NumberColumn(VALUES.astype(np.float32), 1)),
    ("values must be a contiguous array of float64", NumberColumn(np.arange(2.0 * ROWS)[::2], 1)),
    ("values must be a contiguous array of float64", NumberColumn(VALUES[1:], 1)),
    ("values must be a contiguous array of float64", NumberColumn(VALUES.reshape(2, -1), 1)),
    ("degree cannot be 4 here", NumberColumn(VALUES, 4)),
    ("degree cannot be -1 here", NumberColumn(VALUES, -1)),
    (
        "a number, a code or a graph that was given to the kernels is out of range",
        NumberColumn(np.append(VALUES[1:], np.inf), 1),
    ),
    (
        "codes must be columns by rows of 8, 16 or 32 bits without sign, not 2-d int64",
        CategoryColumn(SIGNED, INDICATORS, 2),
    ),
    ("codes must be a contiguous array of uint8", CategoryColumn(CODES[1:], INDICATORS, 2)),
    ("codes must be a contiguous array of uint8", CategoryColumn(np.repeat(CODES, 2)[::2], INDICATORS, 2)),
    ("indicators must be a contiguous array of int64", CategoryColumn(CODES, INDICATORS.astype(np.int32), 2)),
    ("indicators cannot be [0, -1, 1] here", CategoryColumn(CODES, INDICATORS, 1)),
    ("width cannot be 4 here", CategoryColumn(CODES, INDICATORS, 4)),
    ("indicators cannot be [0, -2, 1] here", CategoryColumn(CODES, ints(0, -2, 1), 2)),
    ("a number, a code or a graph that was given to the kernels is out of range", CategoryColumn(CODES, ints(0), 1)),
    (
        "a number, a code or a graph that was given to the kernels is out of range",
        CategoryColumn(CODES + np.uint8(2), INDICATORS, 2),
    ),
]


@pytest.mark.parametrize(("sentence", "column"), WRONG_COLUMNS)
def test_wrong_columns_are_refused(sentence: str, column: Any) -> None:
    """Columns of another type, layout or length, and codes and indicators out of range, raise an exception."""
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(sentence)}"):
        EmbeddedHandle([GOOD[0], column], ROWS)


PATTERNS = Patterns(np.arange(ROWS), ints(0, ROWS), np.zeros((1, 2), np.bool_))
WRONG_CALLS: list[tuple[str, Callable[[EmbeddedHandle], Any]]] = [
    ("places must be between 0 and 1", lambda handle: handle.section_sums(ints(0, 2), 0, ROWS, no_flag())),
    ("places must be between 0 and 1", lambda handle: handle.section_sums(ints(-1), 0, ROWS, no_flag())),
    (
        "places must be a contiguous array of int64",
        lambda handle: handle.section_sums(np.array([0], np.int32), 0, ROWS, no_flag()),
    ),
    ("rows cannot be (-1, 40) here", lambda handle: handle.section_sums(ints(0), -1, ROWS, no_flag())),
    ("rows cannot be (0, 41) here", lambda handle: handle.section_sums(ints(0), 0, ROWS + 1, no_flag())),
    ("rows cannot be (5, 4) here", lambda handle: handle.section_sums(ints(0), 5, 4, no_flag())),
    (
        "stop must be a contiguous array of int64",
        lambda handle: handle.section_sums(ints(0), 0, ROWS, np.zeros(1, np.int64)),
    ),
    (
        "starts must go from 0 to 1 in steps of at least 2",
        lambda handle: handle.row_tests(ints(0, 1), ints(0), no_flag()),
    ),
    (
        "starts must go from 0 to 2 in steps of at least 2",
        lambda handle: handle.row_tests(ints(0, 3), ints(0, 1), no_flag()),
    ),
    ("places must be between 0 and 1", lambda handle: handle.row_tests(ints(0, 2), ints(0, 2), no_flag())),
    ("tolerance cannot be 0.0 here", lambda handle: handle.row_tests(ints(0, 2), ints(0, 1), no_flag(), tolerance=0.0)),
    (
        "rows must be between 0 and 39",
        lambda handle: handle.incomplete_covariance(
            ints(0, 1), PATTERNS._replace(rows=np.arange(ROWS) + 1), no_flag(), tolerance=1e-4, iterations=2
        ),
    ),
    (
        "starts must go from 0 to 40 in steps of at least 1",
        lambda handle: handle.incomplete_covariance(
            ints(0, 1), PATTERNS._replace(starts=ints(0, 0, ROWS)), no_flag(), tolerance=1e-4, iterations=2
        ),
    ),
    (
        "missing cannot be 'all of a place' here",
        lambda handle: handle.incomplete_covariance(
            ints(0, 1), PATTERNS._replace(missing=np.ones((1, 2), np.bool_)), no_flag(), tolerance=1e-4, iterations=2
        ),
    ),
    (
        "missing must be a contiguous array of bool",
        lambda handle: handle.incomplete_covariance(
            ints(0, 1), PATTERNS._replace(missing=np.zeros((1, 3), np.bool_)), no_flag(), tolerance=1e-4, iterations=2
        ),
    ),
    (
        "tolerance cannot be nan here",
        lambda handle: handle.incomplete_covariance(ints(0, 1), PATTERNS, no_flag(), tolerance=np.nan, iterations=2),
    ),
    ("columns cannot be 4 here", lambda _: ProductSums(3).add(ProductSums(4))),
    ("rows cannot be 0.0 here", lambda _: ProductSums(3).covariance()),
    (
        "matrix must be a contiguous array of float64",
        lambda _: matrix_tests(MatrixBlocks(np.eye(3), ints(1, 1), ints(1, 1), NUMBERS), ints(0, 2), ints(0, 1)),
    ),
    (
        "leading cannot be [1, 2] here",
        lambda _: matrix_tests(MatrixBlocks(np.eye(2), ints(1, 1), ints(1, 2), NUMBERS), ints(0, 2), ints(0, 1)),
    ),
    (
        "places must be between 0 and 1",
        lambda _: matrix_tests(MatrixBlocks(np.eye(2), ints(1, 1), ints(1, 1), NUMBERS), ints(0, 2), ints(0, 2)),
    ),
    ("knots cannot be 'not ascending' here", lambda _: count_values(VALUES, np.array([1.0, 1.0]))),
    ("knots cannot be 'not ascending' here", lambda _: count_values(VALUES, np.array([2.0, 1.0]))),
    ("knots cannot be 'not ascending' here", lambda _: count_values(VALUES, np.array([np.nan]))),
    ("number of knots cannot be 0 here", lambda _: count_values(VALUES, np.array([]))),
    (
        "tails cannot be (1, 1) here",
        lambda _: score_values(VALUES, ScoreCurve(np.arange(2.0), np.zeros(2), np.zeros(2), np.zeros(2), (1, 1))),
    ),
    (
        "tails cannot be (-1, 1) here",
        lambda _: score_values(VALUES, ScoreCurve(np.arange(2.0), np.zeros(2), np.zeros(2), np.zeros(2), (-1, 1))),
    ),
    ("values must be a contiguous array of float64", lambda _: count_values(VALUES[::2], np.array([1.0]))),
    (
        "at must be a contiguous array of float64",
        lambda _: score_values(VALUES, ScoreCurve(np.array([1.0]), np.zeros(2), np.zeros(1), np.zeros(1))),
    ),
]


@pytest.mark.parametrize(("sentence", "call"), WRONG_CALLS)
def test_wrong_calls_are_refused(sentence: str, call: Callable[[EmbeddedHandle], Any]) -> None:
    """Places, rows, patterns, flags and curves that do not fit raise an exception, and the handle stays usable."""
    handle = EmbeddedHandle(GOOD, ROWS)
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(sentence)}"):
        call(handle)
    assert handle.row_tests(ints(0, 2), ints(0, 1), no_flag()) is not None


def test_missing_values_are_no_values_to_sum() -> None:
    """A place with missing values has no plain covariance."""
    handle = EmbeddedHandle([NumberColumn(np.where(VALUES > 1, np.nan, VALUES), 1)], ROWS)
    assert handle.missing.tolist() == [int((VALUES > 1).sum())]
    with pytest.raises(ValueError, match="missing"):
        handle.section_sums(ints(0), 0, ROWS, no_flag())


def test_a_flag_that_is_set_ends_every_call() -> None:
    """Calls return nothing when the run is to end."""
    handle, stop = EmbeddedHandle(GOOD, ROWS), no_flag()
    stop[0] = INTERRUPTED
    assert handle.section_sums(ints(0, 1), 0, ROWS, stop) is None
    assert handle.row_tests(ints(0, 2), ints(0, 1), stop) is None
    assert handle.incomplete_covariance(ints(0, 1), PATTERNS, stop, tolerance=1e-4, iterations=2) is None


def test_a_handle_keeps_its_arrays() -> None:
    """The arrays of the columns may be forgotten, and their indicators be changed."""
    indicators = INDICATORS.copy()
    handle = EmbeddedHandle([NumberColumn(VALUES.copy(), 3), CategoryColumn(CODES.copy(), indicators, 2)], ROWS)
    before = handle.row_tests(ints(0, 2), ints(0, 1), no_flag())
    indicators[:] = 1 << 40
    gc.collect()
    after = handle.row_tests(ints(0, 2), ints(0, 1), no_flag())
    assert before is not None
    assert after is not None
    assert before.measures.tolist() == after.measures.tolist()


def test_empty_calls_have_empty_answers() -> None:
    """No columns, no rows and no tests are all right."""
    handle = EmbeddedHandle([], 0)
    empty = handle.row_tests(ints(0), ints(), no_flag())
    assert empty is not None
    assert empty.measures.size == 0
    nothing = EmbeddedHandle([NumberColumn(np.empty(0), 1), NumberColumn(np.empty(0), 1)], 0)
    found = nothing.row_tests(ints(0, 2), ints(0, 1), no_flag())
    assert found is not None
    assert found.figures.tolist() == [[0, 0, 0, 0]]
