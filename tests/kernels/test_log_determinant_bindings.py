"""The bindings of the log-determinant kernels refuse what does not fit, and keep what they read."""

from __future__ import annotations

import gc
from collections.abc import Callable
from threading import Thread
from typing import Any

import numpy as np
import pytest

from apsl_backends.kernels.bindings.moments import TOLERANCE, MomentsHandle
from apsl_backends.kernels.bindings.tables import thresholds
from support.block_tests import (
    INDEPENDENT,
    RULES,
    UNRELIABLE,
    integers,
    opened,
    outcome,
    sweep,
    unset,
)
from support.determinants import (
    Floats,
    Integers,
    Plain,
    draw_blocks,
)

MATRIX = np.eye(4)
STARTS = np.arange(5)
FORM = "must be a contiguous array of"
VARIANCE = "a variance that is negative, not finite, or neither 0 nor between"
COVARIANCE = "a covariance that is not finite or too large for the variances"


@pytest.mark.parametrize(
    ("matrix", "sentence"),
    [
        (np.eye(4, dtype=np.float32), f"matrix {FORM} float64"),
        (np.eye(8)[::2, ::2], f"matrix {FORM} float64"),
        (np.asfortranarray(np.arange(16.0).reshape(4, 4)), f"matrix {FORM} float64"),
        (np.eye(4)[:3], f"matrix {FORM} float64"),
        (np.ones((4, 4, 4)), f"matrix {FORM} float64"),
        (np.eye(4, dtype=np.int64), f"matrix {FORM} float64"),
        (np.eye(4).astype(">f8"), f"matrix {FORM} float64"),
        (np.full((4, 4), np.nan), VARIANCE),
        (np.diag([1.0, 1.0, np.inf, 1.0]), VARIANCE),
        (np.diag([1.0, 1.0, -1e-3, 1.0]), VARIANCE),
        (np.diag([1.0, 1.0, 1e-200, 1.0]), VARIANCE),
        (np.eye(4) + np.eye(4, k=1) / 2, "the matrix is not symmetric"),
        (np.full((4, 4), 2.0) - np.eye(4), COVARIANCE),
        (np.diag([0.0, 1.0, 1.0, 1.0]) + 0.1 * (np.eye(4, k=1) + np.eye(4, k=-1)), COVARIANCE),
    ],
)
def test_wrong_matrices_are_refused(matrix: Floats, sentence: str) -> None:
    """A matrix of another type or layout, or that is none of covariances, raises an exception."""
    with pytest.raises((TypeError, ValueError), match=sentence):
        MomentsHandle(matrix, STARTS, 100, RULES)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"starts": STARTS[1:]}, "starts must go from 0 to 4"),
        ({"starts": STARTS[:-1]}, "starts must go from 0 to 4"),
        ({"starts": integers(0, 3, 2, 4)}, "starts must go from 0 to 4"),
        ({"starts": integers(0, -1, 4)}, "starts must go from 0 to 4"),
        ({"starts": np.arange(5, dtype=np.int32)}, f"starts {FORM} int64"),
        ({"starts": np.arange(10)[::2]}, "starts must go from 0 to 4"),
        ({"starts": integers()}, f"starts {FORM} int64"),
        ({"leading": integers(1, 1, 1)}, f"leading {FORM} int64"),
        ({"leading": integers(1, 1, 1, 2)}, "leading must be at most the columns of each block"),
        ({"leading": integers(1, 1, 1, -1)}, "leading must be at most the columns of each block"),
        ({"rows": np.nan}, "rows must be a finite number"),
        ({"rows": np.inf}, "rows must be a finite number"),
        ({"rows": 0.0}, "rows must be at least 1"),
        ({"tolerance": 0.0}, "tolerance from 1e-12 to below 1"),
        ({"tolerance": np.nan}, "tolerance from 1e-12 to below 1"),
        ({"tolerance": 1.0}, "tolerance from 1e-12 to below 1"),
        ({"rules": RULES._replace(alpha=np.nan)}, "alpha is nan and must lie between 0 and 1"),
        ({"rules": RULES._replace(rows_per_column=np.inf)}, "rows_per_column must be a finite number"),
        ({"rules": RULES._replace(thresholds=np.zeros(9)[::3])}, f"thresholds {FORM} float64"),
        ({"rules": RULES._replace(thresholds=np.zeros((3, 3)))}, f"thresholds {FORM} float64"),
    ],
)
def test_wrong_settings_are_refused(wrong: dict[str, Any], sentence: str) -> None:
    """Starts, leading columns and numbers that do not fit the matrix raise an exception."""
    right = {"starts": STARTS, "rows": 100.0, "rules": RULES, "leading": None, "tolerance": TOLERANCE}
    with pytest.raises((TypeError, ValueError), match=sentence):
        MomentsHandle(MATRIX, **{**right, **wrong})


WRONG_BLOCKS: list[Any] = [
    integers(0, 4),
    integers(0, -1),
    integers(0, 1 << 62),
    np.array([0, 1], np.int32),
    np.array([0.0, 1.0]),
    np.arange(4)[::2],
    np.arange(4).reshape(2, 2),
]
WRONG_PLACES: list[Any] = [[], [0], [0, 4], [0, -1], [0, 1 << 64], [0, 1.0], [0, np.nan], [0, None], "01"]


@pytest.mark.parametrize("blocks", WRONG_BLOCKS)
def test_wrong_blocks_are_refused(blocks: Integers) -> None:
    """Blocks that do not exist, and arrays of another type or layout, raise an exception in every call."""
    handle = MomentsHandle(MATRIX, STARTS, 100, RULES)
    swept = sweep(handle, np.arange(2))
    calls: dict[str, Callable[[], object]] = {
        "blocks": lambda: handle.run_tests(integers(0, 2), blocks),
        "ranked": lambda: handle.eliminate(0, blocks, swept, 1, unset()),
    }
    for name, call in calls.items():
        with pytest.raises((TypeError, ValueError), match=f"{name} ({FORM} int64|must be between 0 and 3)"):
            call()
    assert outcome(handle, 0, 1).decision == INDEPENDENT


def test_wrong_calls_are_refused() -> None:
    """Sections, sizes, flags and outcomes that do not fit raise an exception."""
    handle = MomentsHandle(MATRIX, STARTS, 100, RULES)
    blocks, swept = integers(0, 1, 2, 3), sweep(handle, np.arange(1, 4))
    fixed_flag = unset()
    fixed_flag.flags.writeable = False
    for starts in (integers(0, 3), integers(0, 5), integers(0, 1, 4), integers(1, 4), integers(), integers(0, 5, 4)):
        with pytest.raises((TypeError, ValueError), match=f"starts ({FORM} int64|must go from 0 to 4 in steps of)"):
            handle.run_tests(starts, blocks)
    places = r"cannot be chosen from|every block must be one of 4|^'float' object cannot|^'<' not supported"
    for wrong_blocks in WRONG_PLACES:
        with pytest.raises((TypeError, ValueError), match=places):
            handle.search(wrong_blocks, 0, 0, unset())
    for fixed, most in ((-1, 0), (3, 0), (0, 3), (0, -1), (2, 1)):
        with pytest.raises(ValueError, match=r"must|cannot|there are"):
            handle.search(range(4), fixed, most, unset())
    wrong_flags: list[Any] = [np.zeros(1, np.int64), np.zeros(2, np.int32), np.zeros(4, np.int64)[::2], fixed_flag]
    for stop in wrong_flags:
        with pytest.raises(TypeError, match="stop must be"):
            handle.search(range(4), 0, 1, stop)
        with pytest.raises(TypeError, match="stop must be"):
            handle.eliminate(0, integers(1, 2, 3), swept, 1, stop)
    for wrong in (
        swept._replace(decisions=np.full(3, 7, np.int8)),
        swept._replace(decisions=np.ones(3, np.int8), dofs=integers(1, 0, 1)),
        swept._replace(dofs=integers(1, 1, 1 << 50)),
        swept._replace(statistics=np.full(3, np.nan)),
        swept._replace(statistics=np.zeros(1)),
        swept._replace(ranks=integers(0)),
    ):
        with pytest.raises((TypeError, ValueError), match=r"these are no outcomes|there are 3 candidates, but"):
            handle.eliminate(0, integers(1, 2, 3), wrong, 1, unset())
    for x, most in ((4, 1), (-1, 1), (0, -1)):
        with pytest.raises(ValueError, match=r"must|cannot|there are"):
            handle.eliminate(x, integers(1, 2, 3), swept, most, unset())


def test_empty_calls_have_empty_answers() -> None:
    """No tests, no candidates, blocks without columns and a matrix without any are all right."""
    handle = MomentsHandle(MATRIX, integers(0, 0, 4, 4), 100, RULES)
    assert handle.run_tests(integers(0), integers()).statistics.size == 0
    assert outcome(handle, 0, 1, (2,)) == Plain(INDEPENDENT, 0.0, 0, 0)
    nothing = handle.eliminate(0, integers(), handle.run_tests(integers(0), integers()), 2, unset())
    assert nothing is not None
    assert (nothing.members.size, nothing.tests) == (0, 0)
    empty = MomentsHandle(np.zeros((0, 0)), integers(0), 100, RULES)
    assert empty.run_tests(integers(0), integers()).statistics.size == 0


def test_a_call_that_is_too_large_leaves_the_handle_usable() -> None:
    """A test of more columns than there can be memory for raises an exception, and the next call works."""
    handle = opened(draw_blocks(["curve"] * 4, 90, 2))
    before = outcome(handle, 0, 1, (2, 3))
    with pytest.raises(MemoryError, match="use fewer columns or rows"):
        outcome(handle, 0, 1, (2,) * 40_000)
    assert outcome(handle, 0, 1, (2, 3)) == before


def test_repeated_blocks_change_nothing() -> None:
    """A given block that is named twice counts once, and given x itself nothing is left to test."""
    handle = opened(draw_blocks(["curve"] * 4, 90, 2))
    assert outcome(handle, 0, 1, (2, 2, 2, 3, 2, 3, 2, 3, 2, 3, 2)) == outcome(handle, 0, 1, (2, 3))
    assert outcome(handle, 0, 1, (0,)) == Plain(UNRELIABLE, 0.0, 0, 2)


def test_a_handle_keeps_its_arrays() -> None:
    """The arrays that a handle was made of may be forgotten, and its starts be changed."""
    table = draw_blocks(["curve"] * 4, 90, 2)
    starts, leading = table.starts.copy(), integers(2, 2, 2, 2)
    handle = MomentsHandle(
        table.matrix.copy(), starts, 90, RULES._replace(thresholds=thresholds(0.05).copy()), leading=leading
    )
    expected = outcome(opened(table), 0, 1, (2, 3))
    starts[:] = 1 << 40
    leading[:] = 1 << 40
    gc.collect()
    assert outcome(handle, 0, 1, (2, 3)) == expected


def test_threads_share_a_handle() -> None:
    """Threads that ask the same handle get the answers of one that asks alone."""
    table = draw_blocks(["curve"] * 8, 90, 2)
    handle = opened(table)
    alone = handle.search(range(8), 0, 6, unset())
    answers: list[object] = []
    threads = [
        Thread(target=lambda: answers.extend(handle.search(range(8), 0, 6, unset()) for _ in range(50)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [alone] * 200
