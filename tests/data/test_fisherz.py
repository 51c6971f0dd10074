"""Fisher's z: right figures, and defined verdicts where correlations are singular."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, pearsonr

from apsl_backends.fisherz import FisherZ
from apsl_rules.errors import InvalidArgumentError


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
