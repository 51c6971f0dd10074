"""The bindings refuse every array that the counting kernels would misread, and every index that they would follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apsl_backends.kernels.bindings import tables
from apsl_backends.kernels.bindings.tables import (
    LastTests,
    TableHandle,
    open_measure,
    tails,
    thresholds,
)
from apsl_backends.kernels.library import OUTCOME_FIELDS, SUM_FIELDS, Measure
from apsl_rules.stopping import no_flag

LINES, COLUMNS = 50, 4
CODES = np.random.default_rng(1).integers(0, 3, (COLUMNS, LINES), dtype=np.uint8)
CARDS = np.full(COLUMNS, 3)
COMPLETE = np.zeros(COLUMNS, np.bool_)
MEASURE = Measure(0, LINES, 3, 0.05)


def small_tester() -> tables.TesterHandle:
    """Open a small tester."""
    return tables.TesterHandle(TableHandle(CODES, CARDS, COMPLETE), open_measure(MEASURE))


def batch(count: int) -> tables.TestBatch:
    """Return room for tests."""
    return tables.TestBatch(np.zeros((count, SUM_FIELDS), np.int64), np.zeros(count), np.zeros(count, np.int8))


def last(count: int) -> LastTests:
    """Return room for the last tests of an elimination."""
    return LastTests(np.zeros((count, OUTCOME_FIELDS), np.int64), np.zeros(count))


def misread(array: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
    """Return an array in forms that the kernels would misread: another type, byte order, layout, place or length."""
    shifted = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    forms = [
        array.astype(np.float32),
        array.astype(array.dtype.newbyteorder(">")) if array.itemsize > 1 else array.astype(np.int16),
        np.repeat(array, 2, axis=-1)[..., ::2],
        array[None],
        array[:-1],
        shifted if array.itemsize > 1 else array.astype(np.complex64),
    ]
    return [*forms, np.asfortranarray(array)] if array.ndim > 1 else forms


@pytest.mark.parametrize("name", ["cards", "incomplete", "weights"])
def test_tables_of_misread_arrays_are_refused(name: str) -> None:
    """Each array of a table is refused in every form but its own."""
    arrays: dict[str, Any] = {"cards": CARDS, "incomplete": COMPLETE, "weights": np.ones(LINES, np.int64)}
    for form in misread(arrays[name]):
        with pytest.raises(TypeError, match=f"{name} must be"):
            TableHandle(CODES, **{**arrays, name: form})


def test_misread_codes_are_refused() -> None:
    """Codes must be rows of bytes, of two or of four; transposed and strided ones are refused."""
    wide = CODES.astype(np.uint16)
    wrong = [
        CODES.T,
        wide.T,
        CODES[:, ::2],
        CODES[0],
        CODES.astype(np.int8),
        CODES.astype(np.uint64),
        wide.astype(">u2"),
    ]
    for form in [*wrong, np.asfortranarray(wide)]:
        lines = form.shape[0]
        with pytest.raises(TypeError, match="codes must be"):
            TableHandle(form, np.full(lines, 3), np.zeros(lines, np.bool_))


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.uint32])
def test_codes_beyond_their_cardinality_are_refused(kind: type[np.uint8]) -> None:
    """A code that is no level of its column would be counted beside the table."""
    codes = CODES.astype(kind)
    codes[2, 17] = 3
    with pytest.raises(ValueError, match="column 2 has a code beyond"):
        TableHandle(codes, CARDS, COMPLETE)
    TableHandle(codes, CARDS, np.array([False, False, True, False]))
    codes[2, 17] = np.iinfo(kind).max
    with pytest.raises(ValueError, match="column 2 has a code beyond"):
        TableHandle(codes, CARDS, ~COMPLETE)


def test_impossible_tables_are_refused() -> None:
    """Negative numbers, weights beyond all counting, and measures for smaller tables are refused."""
    weights = np.ones(LINES, np.int64)
    with pytest.raises(ValueError, match="a cardinality is -1"):
        TableHandle(CODES, CARDS - 4, COMPLETE)
    for most in (1 << 32, (1 << 63) - 1):
        with pytest.raises(ValueError, match=f"a cardinality is {most}"):
            TableHandle(CODES, np.full(COLUMNS, most), ~COMPLETE)
    with pytest.raises(ValueError, match="a weight is -1"):
        TableHandle(CODES, CARDS, COMPLETE, weights - 2)
    with pytest.raises(ValueError, match="the weights stand for"):
        TableHandle(CODES, CARDS, COMPLETE, weights << 60)
    for small in (MEASURE._replace(rows=LINES - 1), MEASURE._replace(levels=2)):
        with pytest.raises(ValueError, match="the measure is for"):
            tables.TesterHandle(TableHandle(CODES, CARDS, COMPLETE), open_measure(small))
    for wrong in (MEASURE._replace(rows=1), MEASURE._replace(kind=2), MEASURE._replace(levels=0)):
        with pytest.raises(ValueError, match="must be G² or χ²"):
            open_measure(wrong)
    for alpha in (0.0, 1.0, float("nan")):
        with pytest.raises(ValueError, match="alpha"):
            thresholds(alpha)


def test_empty_tables_are_no_trouble() -> None:
    """Tables without rows, without columns, or without both can be opened."""
    for columns, lines in ((0, 0), (3, 0), (0, 5)):
        table = TableHandle(
            np.zeros((columns, lines), np.uint8), np.zeros(columns, np.int64), np.zeros(columns, np.bool_)
        )
        assert (table.columns, table.rows) == (columns, lines)
    none = TableHandle(np.zeros((3, 0), np.uint8), np.zeros(3, np.int64), np.zeros(3, np.bool_))
    found = tables.TesterHandle(none, open_measure(MEASURE)).search([0, 1, 2], 0, 1, no_flag())
    assert (found.decision, found.tests) == (0, 1)


@given(
    st.lists(st.lists(st.one_of(st.integers(-2, COLUMNS), st.sampled_from([2**62, -(2**62)])), max_size=4), max_size=4),
    st.integers(-1, 5),
    st.integers(-1, 5),
)
def test_tests_are_run_or_refused(tests: list[list[int]], low: int, high: int) -> None:
    """Tests of columns that are there are run; all others are refused before anything is followed."""
    starts = np.cumsum([0, *map(len, tests)])
    places = np.array([place for test in tests for place in test], np.int64)
    asked = tests[low:high] if 0 <= low <= high <= len(tests) else None
    run = small_tester()
    out = batch(len(tests))
    if asked is not None and all(len(test) > 1 and {*test} <= {*range(COLUMNS)} for test in asked):
        run.run_tests(starts, places, out, low, high)
        assert (out.sums[low:high, 5] == LINES).all()
        return
    with pytest.raises(ValueError, match=r"tests|test must have"):
        run.run_tests(starts, places, out, low, high)


@given(st.lists(st.sampled_from([0, 1, 2, 4, -3, 2**62, -(2**62)]), min_size=3, max_size=3))
def test_starts_out_of_order_are_refused(starts: list[int]) -> None:
    """Starts that do not rise by two or more, or lie beyond the places, are refused."""
    run, out = small_tester(), batch(2)
    if starts == [0, 2, 4]:
        run.run_tests(np.array(starts), np.array([0, 1, 2, 3]), out, 0, 2)
        return
    with pytest.raises(ValueError, match="test must have"):
        run.run_tests(np.array(starts), np.array([0, 1, 2, 3]), out, 0, 2)


def test_misread_tests_are_refused() -> None:
    """Every array of a batch of tests is refused in every form but its own, and where it cannot be written."""
    run = small_tester()
    arrays = {"starts": np.array([0, 2, 4]), "places": np.array([0, 1, 2, 3]), **batch(2)._asdict()}

    def call(**words: Any) -> None:
        out = tables.TestBatch(*(words[one] for one in tables.TestBatch._fields))
        run.run_tests(words["starts"], words["places"], out, 0, 2)

    _refuses_all(call, arrays, written=tables.TestBatch._fields, free={"places"})
    call(**arrays)


def test_misread_eliminations_are_refused() -> None:
    """Every array of an elimination is refused in every form but its own, and so are columns that are not there."""
    run = small_tester()
    arrays = {"ranked": np.array([1, 2, 3]), **last(3)._asdict(), "stop": no_flag()}

    def call(**words: Any) -> None:
        run.eliminate(0, words["ranked"], 2, LastTests(words["outcomes"], words["statistics"]), words["stop"])

    _refuses_all(call, arrays, written=("outcomes", "statistics", "stop"), free=set())
    call(**arrays)
    for x, ranked in ((-1, [1]), (COLUMNS, [1]), (0, [COLUMNS]), (0, [-1]), (0, [1, 2**62])):
        with pytest.raises(ValueError, match="every place must be one of the 4 columns"):
            run.eliminate(x, np.array(ranked), 2, last(len(ranked)), no_flag())
    with pytest.raises(ValueError, match="-1 columns cannot be given"):
        run.eliminate(0, np.array([1]), -1, last(1), no_flag())
    assert run.eliminate(0, np.array([], np.int64), 2, last(0), no_flag()).members == []


@given(
    st.lists(st.integers(-2, COLUMNS + 1), max_size=5),
    st.sampled_from([-1, 0, 1, 2, 9, 2**62]),
    st.sampled_from([-1, 0, 1, 2, 9, 2**62]),
)
def test_searches_are_made_or_refused(places: list[int], fixed: int, most: int) -> None:
    """Searches among columns that are there are made; all others are refused."""
    run = small_tester()
    if {*places} <= {*range(COLUMNS)} and fixed >= 0 and 0 <= most <= len(places) - 2 - fixed:
        assert run.search(places, fixed, most, no_flag()).tests > 0
        return
    with pytest.raises(ValueError, match=r"cannot be chosen|every place"):
        run.search(places, fixed, most, no_flag())


def test_misread_flags_are_refused() -> None:
    """The flag of a search must be one that other threads can set and that the kernel can."""
    for form in misread(no_flag()):
        with pytest.raises(TypeError, match="stop must be"):
            small_tester().search([0, 1], 0, 0, form)


def test_misread_statistics_are_refused() -> None:
    """Statistics and degrees of freedom must be as many, in their own types."""
    with pytest.raises(TypeError, match="dofs must be"):
        tails(np.ones(3), np.ones(2, np.int64))
    with pytest.raises(TypeError, match="statistics must be"):
        tails(np.ones(3, np.float32), np.ones(3, np.int64))
    assert tails(np.array([1.0, -1.0, 5.0]), np.array([0, 3, -7])).p.tolist() == [1.0, 1.0, 1.0]


def _refuses_all(
    call: Callable[..., None], arrays: dict[str, Any], *, written: tuple[str, ...], free: set[str]
) -> None:
    """Require that a call refuses each array in each form; an array of any length may be shorter."""
    for name, array in arrays.items():
        for form in misread(array):
            if name in free and form.ndim == 1 and form.dtype == array.dtype and form.flags.carray:
                continue
            with pytest.raises((TypeError, ValueError), match=r"must be|tests"):
                call(**{**arrays, name: form})
    for name in written:
        fixed = arrays[name].copy()
        fixed.setflags(write=False)
        with pytest.raises(TypeError, match=f"{name} must be an array that can be written"):
            call(**{**arrays, name: fixed})
