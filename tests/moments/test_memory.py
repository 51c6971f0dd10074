"""Moments in memory agree with plain numpy, and no order, thread or division of the rows changes a bit."""

from __future__ import annotations

from itertools import permutations
from math import fsum
from typing import Literal, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apsl_backends.engines import sums as embedded_rows
from apsl_backends.engines.moments import MemoryMoments
from apsl_backends.engines.sums import EmbeddedRows, patterns_of
from apsl_backends.kernels.bindings.embedded import EmbeddedHandle, NumberColumn
from apsl_rules.data import MixedTable, coded_table
from apsl_rules.data.moments import Embedding, MomentSource
from apsl_rules.errors import DataError
from apsl_rules.stopping import no_flag
from support.mixed import draw_mixed, embedded, plain_estimate, ratio_of_determinants, ratio_of_wilks


def same_bits(one: object, other: object) -> bool:
    """Return whether two arrays have the same bytes."""
    return np.asarray(one).tobytes() == np.asarray(other).tobytes()


Degree: TypeAlias = Literal[1, 2, 3]
DEGREES: tuple[Degree, ...] = (1, 2, 3)


@settings(max_examples=25)
@given(st.integers(0, 4), st.integers(1, 4), st.integers(20, 700), st.integers(0, 999), st.sampled_from(DEGREES))
def test_covariances_are_those_of_numpy(numbers: int, categories: int, rows: int, seed: int, degree: Degree) -> None:
    """The covariance of all columns, in any order of places, is numpy's to 12 digits, and symmetric."""
    table = draw_mixed(numbers, categories, rows, seed)
    source = MemoryMoments(table, Embedding(degree=degree))
    found = source.covariance(range(len(table.names)))
    assert np.allclose(found, np.cov(embedded(source), bias=True).reshape(found.shape), rtol=0, atol=1e-12 * 20)
    assert same_bits(found, found.T.copy())
    assert isinstance(source, MomentSource)


def test_places_choose_blocks() -> None:
    """The blocks come in the order in which places are asked for, with the same bits."""
    source = MemoryMoments(draw_mixed(3, 3, 400))
    whole = source.covariance(range(6))
    starts = np.concatenate([[0], np.cumsum(source.heading.widths)])
    asked = [4, 1, 5]
    columns = [column for place in asked for column in range(starts[place], starts[place + 1])]
    assert same_bits(source.covariance(asked), whole[np.ix_(columns, columns)])


def test_threads_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    """One thread and three give the same covariance and the same tests, also with many sections."""
    monkeypatch.setattr(embedded_rows, "SECTION", 1 << 10)
    monkeypatch.setattr(embedded_rows, "_WORTH_A_THREAD", 1)
    table = draw_mixed(3, 2, 5000)
    alone, together = MemoryMoments(table), MemoryMoments(table, threads=3)
    assert same_bits(alone.covariance(range(5)), together.covariance(range(5)))
    queries = [(x, y, z) for x, y, z in permutations(range(5), 3)]
    for one, other in zip(alone.test_rows(queries), together.test_rows(queries), strict=True):
        assert same_bits(one, other)


def test_sums_do_not_depend_on_the_number_of_rows() -> None:
    """A million small values are summed to the last digit, as if with unlimited precision."""
    values = np.random.default_rng(1).random(1_000_000)
    handle = EmbeddedHandle([NumberColumn(values, 1)], len(values))
    sums = EmbeddedRows(handle, ("x",)).sums(np.zeros(1, np.int64))
    assert sums.sums[0, 1] + sums.errors[0, 1] == pytest.approx(fsum(values.tolist()), rel=2e-15)


def test_values_far_from_zero_keep_their_digits() -> None:
    """Numbers with mean 1e9 and standard deviation 1 have the correlations of what is left of the mean."""
    rng = np.random.default_rng(4)
    plain = np.round(rng.normal(size=(2, 4000)) * 2**10) / 2**10
    plain[1] += plain[0] / 2
    shifted = plain + 2.0**30
    empty = draw_mixed(1, 0, 4000).categories
    source = MemoryMoments(MixedTable(("a", "b"), empty, shifted, ("a", "b")), Embedding("values", 1))
    assert np.allclose(source.covariance([0, 1]), np.corrcoef(plain), rtol=0, atol=1e-12)


QUERIES = [(0, 1), (1, 0), (0, 2), (2, 5), (4, 5), (3, 2, 1), (2, 3, 1), (0, 1, 2, 3), (4, 1, 0, 5), (0, 4, 5, 3)]


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_tests_agree_with_determinants_and_regressions(missing: float) -> None:
    """Ratios are those of four determinants, and -ln of Wilks' Λ by least squares, on the complete rows."""
    source = MemoryMoments(draw_mixed(3, 3, 900, 5, missing))
    found = source.test_rows(QUERIES)
    for number, query in enumerate(QUERIES):
        ratio, rows = ratio_of_determinants(source, query)
        assert found.ratios[number] == pytest.approx(ratio, abs=1e-9)
        assert found.ratios[number] == pytest.approx(ratio_of_wilks(source, query), abs=1e-9)
        assert found.rows[number] == rows
        widths = np.where(source.heading.is_number, 1, source.heading.widths)
        assert (found.x_ranks[number], found.y_ranks[number]) == (widths[query[0]], widths[query[1]])
        assert found.ranks[number] == source.heading.widths[list(query[2:])].sum()


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_no_order_and_no_company_changes_a_test(missing: float) -> None:
    """A test alone, turned round, given others in another order or among others, has the same bits."""
    source = MemoryMoments(draw_mixed(3, 3, 700, 2, missing))
    pairs = [(x, y) for x in range(6) for y in range(6) if x != y]
    together = source.test_rows(pairs)
    for number, (x, y) in enumerate(pairs):
        alone, turned = source.test_rows([(x, y)]), source.test_rows([(y, x)])
        assert together.ratios[number] == alone.ratios[0] == turned.ratios[0]
        assert together.x_ranks[number] == turned.y_ranks[0]
    assert source.test_rows([(0, 1, 2, 4, 3)]).ratios[0] == source.test_rows([(1, 0, 3, 2, 4)]).ratios[0]


def test_dependent_columns_count_once() -> None:
    """A copy among the given columns adds nothing to the rank, and what is given is independent of all."""
    values = draw_mixed(2, 0, 300).numbers
    table = MixedTable(("a", "b", "copy"), draw_mixed(1, 0, 300).categories, values[[0, 1, 0]], ("a", "b", "copy"))
    found = MemoryMoments(table, Embedding(degree=1)).test_rows([(0, 1, 2), (0, 2), (0, 1)])
    assert found.x_ranks.tolist() == [0, 1, 1]
    assert found.ratios[0] == 0.0
    assert found.ratios[1] == pytest.approx(-np.log(1e-7))


@pytest.mark.parametrize(("rows", "missing"), [(60, 0.3), (1500, 0.05)])
def test_missing_values_have_the_estimate_of_plain_iterations(rows: int, missing: float) -> None:
    """The estimate is that of a plain expectation and maximisation; its likelihood never falls."""
    source = MemoryMoments(draw_mixed(3, 2, rows, 8, missing), Embedding(degree=2))
    handle = source.rows.handle
    places = np.arange(5)
    patterns = patterns_of([handle.is_missing(place) for place in range(5)])
    for iterations in (0, 1, 12):
        done = handle.incomplete_covariance(places, patterns, no_flag(), tolerance=0.0, iterations=iterations)
        assert done is not None
        expected, likelihoods = plain_estimate(embedded(source), iterations, 1e-7)
        assert np.allclose(done[0], expected, rtol=0, atol=1e-9)
        assert done[1] == iterations
        assert (np.diff(likelihoods) > -1e-6).all()
    final = source.covariance(range(5))
    assert np.linalg.eigvalsh(final).min() > 0
    assert np.allclose(final, plain_estimate(embedded(source), 60, 1e-7)[0], atol=5e-3)


def test_a_copy_with_missing_values_is_filled_from_its_original() -> None:
    """Where a column is nearly singular the estimate stays finite and close to that of complete data."""
    rng = np.random.default_rng(3)
    values = rng.normal(size=(2, 500))
    values = np.vstack([values, values[0]])
    full = MixedTable(("a", "b", "c"), draw_mixed(1, 0, 500).categories, values.copy(), ("a", "b", "c"))
    values[2, rng.random(500) < 0.3] = np.nan
    gaps = MixedTable(("a", "b", "c"), full.categories, values, ("a", "b", "c"))
    found = MemoryMoments(gaps, Embedding(degree=1)).covariance(range(3))
    assert np.allclose(found, MemoryMoments(full, Embedding(degree=1)).covariance(range(3)), atol=0.02)


def test_numbers_of_few_values_keep_few_polynomials() -> None:
    """Two values have degree 1, three degree 2, and a constant no column at all."""
    values = np.array([[0.0, 1.0] * 30, [0.0, 1.0, 2.0] * 20, [7.0] * 60, np.arange(60.0)])
    table = MixedTable(("a", "b", "c", "d"), draw_mixed(1, 0, 60).categories, values, ("a", "b", "c", "d"))
    for embedding in (Embedding(), Embedding("values")):
        source = MemoryMoments(table, embedding)
        assert source.heading.widths.tolist() == [1, 2, 0, 3]
        assert source.test_rows([(0, 2), (2, 3, 1)]).ratios.tolist() == [0.0, 0.0]


def test_a_column_without_values_is_named() -> None:
    """Where all values are missing there is no estimate, and the message says of which column."""
    values = np.vstack([np.arange(50.0), np.full(50, np.nan)])
    table = MixedTable(("a", "empty"), draw_mixed(1, 0, 50).categories, values, ("a", "empty"))
    source = MemoryMoments(table)
    with pytest.raises(DataError, match="'empty'"):
        source.covariance([0, 1])
    assert source.test_rows([(0, 1)]).rows.tolist() == [0]


def test_what_is_costly_is_kept_with_the_table() -> None:
    """A second source of the same table uses what the first one made, for another degree the same scores."""
    table = draw_mixed(2, 1, 100)
    first, second, third = MemoryMoments(table), MemoryMoments(table), MemoryMoments(table, Embedding(degree=1))
    assert first.rows.handle is second.rows.handle
    assert first.rows.handle.columns[1][0] is third.rows.handle.columns[1][0]


def test_columns_without_embedded_columns_are_tested() -> None:
    """Levels with too few rows are pooled until nothing is left of a category; tests of such columns have no rank."""
    codes = coded_table(np.array([[0, 0], [0, 1], [1, 0], [1, 2], [2, 1], [2, 2]]), names=["a", "b"])
    source = MemoryMoments(MixedTable(("a", "b"), codes, np.empty((0, 6)), ()))
    assert source.heading.widths.tolist() == [0, 0]
    found = source.test_rows([(0, 1), (1, 0)])
    assert found.rows.tolist() == [6, 6]
    assert found.x_ranks.tolist() == found.y_ranks.tolist() == [0, 0]
    assert found.ratios.tolist() == [0.0, 0.0]
