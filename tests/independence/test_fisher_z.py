"""Fisher's z: right figures, and defined verdicts where correlations are singular."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, pearsonr

from apsl_backends.independence.fisher_z import FisherZ
from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.oracles.protocol import BaseOracle


def numbers(seed: int, rows: int = 60, columns: int = 5) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Draw correlated columns."""
    random = np.random.default_rng(seed)
    return random.normal(size=(rows, columns)) @ random.normal(size=(columns, columns)) + 10.0


@given(st.integers(0, 200), st.integers(0, 3))
def test_the_figures_are_those_of_the_precision_matrix(seed: int, size: int) -> None:
    """Statistic and p agree with the partial correlation read off the inverse correlation matrix."""
    matrix = numbers(seed)
    oracle = FisherZ(matrix, list("abcde"))
    places = [0, 1, *range(2, 2 + size)]
    precision = np.linalg.inv(np.corrcoef(matrix[:, places].T))
    partial = -precision[0, 1] / np.sqrt(precision[0, 0] * precision[1, 1])
    expected = np.sqrt(60 - size - 3) * abs(np.arctanh(partial))

    verdict = oracle.verdict("a", "b", tuple("cde")[:size])

    assert verdict.statistic == pytest.approx(expected, rel=1e-5)
    assert verdict.p == pytest.approx(2 * norm.sf(expected), rel=1e-4)


def test_a_sweep_is_the_correlations() -> None:
    """The marginal verdicts agree with SciPy's correlations."""
    matrix = numbers(3)
    swept = FisherZ(matrix, list("abcde")).associations("c")

    for verdict in swept:
        correlation = pearsonr(matrix[:, 2], matrix[:, "abcde".index(str(verdict.y))]).statistic
        assert verdict.statistic == pytest.approx(np.sqrt(57) * abs(np.arctanh(correlation)))


def test_copies_and_constants_have_defined_verdicts() -> None:
    """A constant is independent of all; a copy is dependent, separates its original from all, and breaks nothing."""
    matrix = numbers(4, columns=3)
    odd = np.column_stack([matrix, matrix[:, 0], np.full(60, 7.0)])
    oracle = FisherZ(odd, ["a", "b", "c", "copy", "constant"])

    assert oracle.verdict("a", "copy").dependent
    assert oracle.verdict("a", "constant").independent
    assert oracle.verdict("a", "b", ["copy"]).independent
    given_both = oracle.verdict("b", "c", ["a", "copy"])
    assert given_both.statistic == pytest.approx(
        np.sqrt(55 / 56) * (oracle.verdict("b", "c", ["a"]).statistic or 0.0), rel=1e-6
    )


def test_too_few_rows_are_unreliable() -> None:
    """With no degree of freedom left the verdict is unreliable."""
    assert FisherZ(numbers(1, rows=5), list("abcde")).verdict("a", "b", ["c", "d"]).decision == "unreliable"


def test_wrong_questions_are_refused() -> None:
    """Alpha outside (0, 1) and a node given twice are refused."""
    with pytest.raises(InvalidArgumentError, match="between 0 and 1"):
        FisherZ(numbers(1), list("abcde"), alpha=1.0)
    with pytest.raises(InvalidArgumentError, match="must differ"):
        FisherZ(numbers(1), list("abcde")).verdict("a", "b", ["b"])


@given(st.integers(0, 100), st.sampled_from([3, 4, 30, 400]))
def test_a_sweep_agrees_with_single_verdicts(seed: int, rows: int) -> None:
    """Decisions, figures and ranking of a sweep are those of its verdicts asked one by one; names break ties."""
    matrix = numbers(seed, rows=rows)
    matrix = np.column_stack([matrix, matrix[:, 1], np.zeros(rows)])
    oracle = FisherZ(matrix, ["d", "c", "b", "a", "e", "twin", "still"], alpha=0.3)
    swept, alone = oracle.associations("d"), BaseOracle.associations(oracle, "d")

    assert [one.decision for one in swept] == [one.decision for one in alone]
    assert [one.y for one in swept.ranked(unreliable="dependent")] == [
        one.y for one in alone.ranked(unreliable="dependent")
    ]
    assert swept.log_p() == pytest.approx(alone.log_p(), rel=1e-7, abs=1e-9, nan_ok=True)
    assert swept.verdict_on("twin").statistic == swept.verdict_on("c").statistic


def test_huge_and_tiny_numbers_do_not_overflow() -> None:
    """The scale of a column does not matter, from 1e-200 to 1e200."""
    matrix = numbers(5)
    scaled = matrix * np.array([1e200, 1e-200, 1.0, 1e-30, 1e30])
    plain, other = (FisherZ(one, list("abcde")).verdict("a", "b", "c") for one in (matrix, scaled))

    assert other.statistic == pytest.approx(plain.statistic, rel=1e-9)


def test_far_tails_keep_their_order() -> None:
    """A p that underflows still has a logarithm, and a copy has a finite statistic."""
    matrix = numbers(6, rows=5000)
    verdict = FisherZ(np.column_stack([matrix, matrix[:, 0]]), list("abcdef")).verdict("a", "f")

    assert verdict.p == 0.0
    assert verdict.log_p is not None
    assert -1e7 < verdict.log_p < -1e5


def test_values_that_are_no_numbers_are_refused() -> None:
    """A missing or infinite value is named, and so is an empty table."""
    matrix = numbers(7)
    matrix[3, 1] = np.nan
    with pytest.raises(DataError, match="'b'"):
        FisherZ(matrix, list("abcde"))
    with pytest.raises(DataError, match="no rows"):
        FisherZ(matrix[:0], list("abcde"))
