"""Log-determinants of covariance matrices: tests and scores agree with other routes to the same figures."""

from __future__ import annotations

from itertools import combinations
from math import log

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from apsl_backends.kernels.bindings.moments import TOLERANCE, MomentsHandle
from support.block_tests import (
    DEPENDENT,
    INDEPENDENT,
    RULES,
    UNRELIABLE,
    integers,
    numbers,
    opened,
    outcome,
)
from support.determinants import (
    Blocks,
    Plain,
    by_canonical_correlations,
    draw_blocks,
    exact_pivot,
    log_pseudo_determinant,
    places_of,
    tables_of_blocks,
)


def test_two_numbers_have_the_figure_of_their_correlation() -> None:
    """A correlation of .6 in 100 rows gives -100·ln .64."""
    found = outcome(numbers(np.array([[1.0, 0.6], [0.6, 1.0]]), 100), 0, 1)
    assert (found.decision, found.dof, found.rank) == (DEPENDENT, 1, 0)
    assert found.statistic == pytest.approx(44.62871026284195, rel=1e-14)


def test_a_given_number_makes_the_correlation_partial() -> None:
    """Three correlations of .5 make a partial one of 1/3, so -90·ln(8/9); the correction takes 1, 1 and 1.5 rows."""
    matrix = np.full((3, 3), 0.5) + np.eye(3) / 2
    corrected = RULES._replace(corrected=True)
    assert outcome(numbers(matrix, 90), 0, 2, (1,)).statistic == pytest.approx(90 * log(9 / 8), rel=1e-14)
    assert outcome(numbers(matrix, 90, corrected), 0, 2, (1,)).statistic == pytest.approx(86.5 * log(9 / 8), rel=1e-14)


def test_the_figure_is_that_of_wilks() -> None:
    """Fisher's irises have the known Λ = .0234386 of four measures by three species, with 8 degrees of freedom."""
    iris = pytest.importorskip("sklearn.datasets").load_iris()
    columns = np.hstack([iris.data, np.eye(3)[iris.target]])
    found = outcome(opened(Blocks(columns, integers(0, 4, 7))), 0, 1)
    assert (found.decision, found.dof, found.rank) == (DEPENDENT, 8, 0)
    assert found.statistic == pytest.approx(-150 * log(0.0234386306), abs=1e-5)


@given(tables_of_blocks(), st.data())
@example(draw_blocks(["number", "copy", "number"], 50, 1), None)
def test_tests_agree_with_canonical_correlations(table: Blocks, data: st.DataObject | None) -> None:
    """A statistic is -n·Σ ln(1 - ρ²) over the canonical correlations of what is left, with ranks by singular values."""
    order = range(table.number) if data is None else data.draw(st.permutations(range(table.number)))
    x, y, *rest = order
    chosen = tuple(rest if data is None else data.draw(st.lists(st.sampled_from(rest), unique=True)))
    correlations, of_x, of_y, rank = by_canonical_correlations(table, x, y, chosen)
    found = outcome(opened(table), x, y, chosen)
    assert (found.rank, found.dof) == (rank, of_x * of_y)
    varies = [bool(np.diag(table.matrix)[places_of(table, (one,))].max() > 0) for one in (x, y)]
    assert (found.decision == UNRELIABLE) == (found.dof == 0 and all(varies))
    left = 1.0 - correlations**2
    if left.min(initial=1.0) > 1e-5:
        assert found.statistic == pytest.approx(-table.rows * float(np.log(left).sum()), rel=1e-6, abs=1e-6)
    else:  # one determines a part of the other
        assert found.statistic > -table.rows * log(2e-5)
    assert (found.decision == DEPENDENT) == (found.dof > 0 and found.statistic >= RULES.thresholds[found.dof])


@given(tables_of_blocks(("number", "curve", "category")), st.data())
def test_tests_agree_with_four_determinants(table: Blocks, data: st.DataObject) -> None:
    """The statistic is n·(ln|S_xz| + ln|S_yz| - ln|S_z| - ln|S_xyz|)."""
    x, y, *rest = data.draw(st.permutations(range(table.number)))
    chosen = tuple(rest[: data.draw(st.integers(0, len(rest)))])
    scale = 1 / np.sqrt(np.diag(table.matrix))
    matrix = table.matrix * np.outer(scale, scale)

    def part(*blocks: int) -> float:
        places = places_of(table, blocks)
        return float(np.linalg.slogdet(matrix[np.ix_(places, places)])[1])

    assume(np.linalg.cond(matrix) < 1e5)
    statistic = table.rows * (part(x, *chosen) + part(y, *chosen) - part(*chosen) - part(x, y, *chosen))
    assert outcome(opened(table), x, y, chosen).statistic == pytest.approx(statistic, abs=1e-8)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["given", "x"]))
def test_tests_agree_with_pseudo_determinants(seed: int, where: str) -> None:
    """With dependent columns among the given ones or in x, pseudo-determinants give the same figure."""
    kinds = ["number", "all levels", "twice"] if where == "given" else ["all levels", "number", "curve"]
    table = draw_blocks([*kinds, "number"], 60, seed)
    x, y, chosen = (0, 3, (1, 2)) if where == "given" else (0, 3, (1,))
    scale = 1 / np.sqrt(np.diag(table.matrix))
    matrix = table.matrix * np.outer(scale, scale)
    logs = [
        log_pseudo_determinant(matrix[np.ix_(places, places)])
        for blocks in ((x, *chosen), (y, *chosen), chosen, (x, y, *chosen))
        for places in [places_of(table, blocks)]
    ]
    statistic = table.rows * (logs[0] + logs[1] - logs[2] - logs[3])
    assert outcome(opened(table), x, y, chosen).statistic == pytest.approx(statistic, rel=1e-5, abs=1e-5)


@given(st.integers(0, 2**32 - 1), st.integers(2, 9))
def test_numbers_have_the_partial_correlation_of_the_inverse(seed: int, count: int) -> None:
    """Given all others, the partial correlation is read from the inverse of the matrix."""
    columns = np.random.default_rng(seed).normal(size=(50, count)) @ (
        np.eye(count) + np.triu(np.full((count, count), 0.4), 1)
    )
    table = Blocks(columns, np.arange(count + 1))
    inverse = np.linalg.inv(table.matrix)
    square = inverse[0, 1] ** 2 / inverse[0, 0] / inverse[1, 1]
    found = outcome(opened(table), 0, 1, tuple(range(2, count)))
    assert found.statistic == pytest.approx(-50 * np.log1p(-square), abs=1e-9)


@pytest.mark.parametrize(("noise", "error"), [(1.0, 1e-12), (1e-1, 1e-11), (1e-2, 1e-8), (1e-3, 1e-6)])
def test_near_copies_have_the_exact_figure(noise: float, error: float) -> None:
    """Columns that are given and nearly the same lose digits, but few; rational numbers lose none."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        z = rng.normal(size=(200, 1)) + noise * rng.normal(size=(200, 3))
        x = z.mean(axis=1) + noise * rng.normal(size=200)
        table = Blocks(np.column_stack([z, x, z[:, 0] + x / 9 + noise * rng.normal(size=200)]), np.arange(6))
        ratio = exact_pivot(table.matrix, [0, 1, 2, 4]) / exact_pivot(table.matrix, [0, 1, 2, 3, 4])
        found = outcome(opened(table), 3, 4, (0, 1, 2))
        assert (found.dof, found.rank) == (1, 3)
        assert found.statistic == pytest.approx(200 * log(ratio), abs=200 * error)


@given(tables_of_blocks(), st.data())
def test_no_order_changes_a_bit(table: Blocks, data: st.DataObject) -> None:
    """Neither the order of x and y nor that of the given blocks, nor what was asked before, changes the outcome."""
    x, y, *rest = data.draw(st.permutations(range(table.number)))
    other = tuple(data.draw(st.permutations(rest)))
    used, fresh = opened(table), opened(table)
    for size in range(len(rest)):
        outcome(used, x, y, tuple(rest[:size]))
    assert outcome(used, x, y, tuple(rest)) == outcome(used, y, x, other) == outcome(fresh, y, x, other)


def test_what_is_determined_is_dependent_with_a_finite_figure() -> None:
    """A copy leaves nothing; that counts as a share of the tolerance. Given the original nothing is left to test."""
    handle = opened(draw_blocks(["number", "copy", "number"], 50, 3))
    found = outcome(handle, 0, 1)
    assert (found.decision, found.dof) == (DEPENDENT, 1)
    assert found.statistic == pytest.approx(-50 * log(TOLERANCE))
    assert outcome(handle, 1, 2, (0,)) == Plain(UNRELIABLE, 0.0, 0, 1)


def test_few_rows_are_unreliable() -> None:
    """A test needs a row beyond those of the mean and of each column, and more if the rules say so."""
    matrix = np.eye(3)
    decisions = [outcome(numbers(matrix, rows), 0, 1, (2,)).decision for rows in (3, 4, 4.5, 5)]
    assert decisions == [UNRELIABLE, UNRELIABLE, INDEPENDENT, INDEPENDENT]
    strict = RULES._replace(rows_per_column=5.0)
    assert [outcome(numbers(matrix, rows, strict), 0, 1, (2,)).decision for rows in (19, 20)] == [2, 0]


def test_many_degrees_of_freedom_are_decided_by_the_tail() -> None:
    """Where no critical value is tabled, the logarithm of the tail decides as well."""
    table = draw_blocks(["curve"] * 3 + ["category"] * 3, 80, 5)
    short = RULES._replace(thresholds=RULES.thresholds[:2].copy())
    handles = opened(table), opened(table, short)
    for x, y in combinations(range(6), 2):
        assert outcome(handles[0], x, y) == outcome(handles[1], x, y)


def test_only_leading_columns_are_tested() -> None:
    """Where only the first column of a block leads, it alone is tested, and all are given."""
    table = draw_blocks(["curve", "curve", "curve"], 80, 7)
    single = Blocks(table.columns, np.arange(7))
    handle = MomentsHandle(table.matrix, table.starts, 80, RULES, leading=integers(1, 1, 1))
    assert outcome(handle, 0, 1, (2,)) == outcome(opened(single), 0, 2, (4, 5))
