"""Normal scores: exact ranks up to a million rows, counts between knots beyond."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import rankdata

from apsl_backends.engines.coders import NumberCoder, coder_of, curve_coder, indicators_of
from apsl_backends.engines.normal_scores import line_of, normal_scores, values_of_counts
from apsl_backends.kernels.bindings.scores import ScoreCurve, score_values
from apsl_rules.data import NumberValues
from apsl_rules.data.moments import Embedding


@given(st.lists(st.one_of(st.floats(-1e300, 1e300), st.just(np.nan), st.integers(0, 3).map(float)), max_size=80))
def test_scores_are_those_of_average_ranks(values: list[float]) -> None:
    """Any values, missing and tied ones too, have the scores of scipy's ranks, standardised."""
    array = np.array(values)
    found = normal_scores(array)
    known = ~np.isnan(array)
    assert found.distinct == min(4, len(np.unique(array[known])))
    assert np.isnan(found.values[~known]).all()
    if found.distinct > 1:
        scores = ndtri((rankdata(array[known]) - 0.5) / known.sum())
        assert np.allclose(found.values[known], (scores - scores.mean()) / scores.std(), atol=1e-12)


@given(st.lists(st.one_of(st.floats(-1e300, 1e300), st.sampled_from([5e-310, -2e-320, 0.0, 1.0])), max_size=60))
def test_lines_do_not_depend_on_whether_values_were_counted(values: list[float]) -> None:
    """Values without ties, which are not counted, are standardised like counted ones to the last bit, in any room."""
    array = np.array(values)
    distinct, rows = np.unique(array, return_counts=True)
    counted, _ = values_of_counts(distinct, rows)
    line = line_of(array)
    for found in (line.of(distinct), line.of(distinct, np.empty(len(distinct)))):
        assert found.tobytes() == counted.tobytes()


def test_levels_with_few_rows_are_pooled() -> None:
    """The most frequent level is the reference; rare levels share an indicator, or belong to the reference."""
    assert indicators_of(np.array([9, 20, 20, 5]))[0].tolist() == [0, -1, 1, 2]
    numbers, width = indicators_of(np.array([4, 30, 3, 10, 0]))
    assert (numbers.tolist(), width) == ([1, -1, 1, 0, -1], 2)
    numbers, width = indicators_of(np.array([2, 30, 2, 10]))
    assert (numbers.tolist(), width) == ([-1, -1, -1, 0], 1)
    assert indicators_of(np.array([], np.int64))[1] == indicators_of(np.array([7]))[1] == 0


Draw: TypeAlias = Callable[[np.random.Generator, int], npt.NDArray[np.float64]]
DRAWS: dict[str, Draw] = {
    "normal": lambda rng, rows: rng.normal(size=rows),
    "heavy tails": lambda rng, rows: rng.standard_cauchy(rows),
    "skewed": lambda rng, rows: np.exp(3 * rng.normal(size=rows)),
    "ties": lambda rng, rows: np.where(rng.random(rows) < 0.6, 0.0, rng.exponential(size=rows)),
    "two heaps": lambda rng, rows: rng.normal(size=rows) + 1e6 * rng.integers(0, 2, rows),
    "whole": lambda rng, rows: rng.integers(0, 90, rows).astype(float),
    "missing": lambda rng, rows: np.where(rng.random(rows) < 0.1, np.nan, rng.normal(size=rows)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", DRAWS)
def test_counts_between_knots_are_close_to_ranks(name: str) -> None:
    """Scores are off by less than 3e-3, and all moments up to the sixth by less than 1e-4; ties are exact."""
    values = DRAWS[name](np.random.default_rng(3), 300_000)
    exact, found = normal_scores(values), normal_scores(values, most_sorted=0)
    known = ~np.isnan(values)
    one, other = exact.values[known], found.values[known]
    assert found.distinct == exact.distinct
    assert np.abs(one - other).max() < 3e-3
    for power in range(1, 7):
        assert (other**power).mean() == pytest.approx((one**power).mean(), rel=1e-4, abs=1e-4)
    assert np.abs((one - other)[values[known] == 0.0]).max(initial=0.0) < 1e-5
    if name == "whole":
        assert np.abs(one - other).max() < 1e-12


def test_infinite_values_have_ranks_and_no_mean() -> None:
    """Normal scores take infinite values as the largest ones; standardised values refuse them."""
    values = np.array([1.0, np.inf, 2.0, -np.inf, 0.0])
    assert np.argsort(normal_scores(values).values).tolist() == [3, 4, 0, 2, 1]
    with pytest.raises(ValueError, match="infinite"):
        line_of(values)


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_the_scale_of_values_does_not_matter(size: float) -> None:
    """Values are standardised alike from arrays, distinct values and chunks, whatever their size."""
    values = np.random.default_rng(5).normal(1.0, 2.0, 3000) * size
    expected = (values - values.mean()) / (values / size).std() / size
    plain = Embedding("values", 1)
    curve = curve_coder(3000, lambda: (values[:1000], values[1000:]), plain).scores
    distinct, rows = np.unique(values, return_counts=True)
    coder = coder_of(NumberValues(distinct), pa.array(distinct), rows, plain)
    assert isinstance(coder, NumberCoder)
    assert isinstance(coder.scores, np.ndarray)
    assert isinstance(curve, ScoreCurve)
    for found in (line_of(values).of(values), score_values(values, curve)):
        assert np.allclose(found, expected, rtol=0, atol=1e-9)
    assert np.allclose(np.sort(coder.scores), np.sort(expected), rtol=0, atol=1e-9)


def test_values_are_the_same_from_rows_and_from_counts() -> None:
    """Memory and engines standardise values alike to the last bit, whatever the order of the rows."""
    rows = np.round(np.random.default_rng(3).normal(3.0, 2.0, 999), 2)
    rows[::7] = np.nan
    distinct, counts = np.unique(rows[~np.isnan(rows)], return_counts=True)
    found, scale = values_of_counts(distinct, counts)

    assert line_of(rows).deviation == scale
    for some in (rows, rows[::-1].copy()):
        kept = ~np.isnan(some)
        assert np.array_equal(line_of(some).of(some)[kept], found[np.searchsorted(distinct, some[kept])])
        assert np.isnan(line_of(some).of(some)[~kept]).all()
