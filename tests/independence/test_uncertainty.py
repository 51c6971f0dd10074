"""Symmetrical uncertainty and mutual information: the published vector, plain formulas, and symmetry to the bit."""

from __future__ import annotations

from collections import Counter
from math import log2

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import entropy

from apsl_backends.independence.count_tests import SymmetricalUncertainty
from apsl_rules.data.tables import Table
from apsl_rules.errors import UnknownNodeError
from support.counting import coded, tables


def test_the_published_vector() -> None:
    """H(x) = 1.561278 and H(y) = 1 bits give an uncertainty of 0.511962."""
    measure = SymmetricalUncertainty(coded([[0, 0, 1, 1, 2, 2, 0, 1], [0, 0, 1, 1, 1, 1, 0, 0]], names="xy"))

    assert measure.pair("x", "y") == pytest.approx(0.511962, abs=1e-6)
    assert measure.information("x", "y") / np.log(2) == pytest.approx(0.511962 * 2.561278 / 2, abs=1e-6)


def by_formula(table: Table, x: int, y: int) -> tuple[float, float]:
    """Return uncertainty and information in bits from the rows in which both columns are there."""
    rows = [
        (int(i), int(j))
        for i, j in zip(table.codes[x], table.codes[y], strict=True)
        if i < table.cards[x] and j < table.cards[y]
    ]
    if not rows:
        return 0.0, 0.0
    of_x, of_y = Counter(i for i, _ in rows), Counter(j for _, j in rows)
    information = sum(
        count / len(rows) * log2(count * len(rows) / (of_x[i] * of_y[j])) for (i, j), count in Counter(rows).items()
    )
    both = sum(float(entropy(list(counts.values()), base=2)) for counts in (of_x, of_y))
    return (2 * information / both if both > 0 else 0.0), information


@pytest.mark.slow
@given(tables(columns=4))
def test_the_figures_are_those_of_the_formula(table: Table) -> None:
    """Uncertainty and information agree with plain sums, are the same in both orders, and the same in a sweep."""
    measure = SymmetricalUncertainty(table)
    for x, one in enumerate(table.names):
        swept = measure.against_all(one)
        for y, other in enumerate(table.names):
            if x == y:
                continue
            uncertainty, information = by_formula(table, x, y)
            assert measure.pair(one, other) == pytest.approx(uncertainty, abs=1e-9)
            assert measure.information(one, other) == pytest.approx(information * np.log(2), abs=1e-9)
            assert measure.pair(one, other) == measure.pair(other, one) == swept[y]
            assert SymmetricalUncertainty(table).pair(other, one) == swept[y]
            assert 0.0 <= swept[y] <= 1.0


def test_constants_and_copies() -> None:
    """A constant has no uncertainty in common with anything, itself included; a copy has all of it."""
    table = coded([[0, 0, 0, 0], [0, 1, 2, 1], [2, 0, 1, 0]], names="xyz")
    measure = SymmetricalUncertainty(table)

    assert measure.against_all("x").tolist() == [0.0, 0.0, 0.0]
    assert measure.against_all("y").tolist() == pytest.approx([0.0, 1.0, 1.0])
    assert measure.information("y", "z") == pytest.approx(1.5 * np.log(2))


def test_threads_change_nothing() -> None:
    """A sweep over many columns is the same on two threads."""
    codes = np.random.default_rng(1).integers(0, 3, (3000, 1500), dtype=np.uint8)
    table = coded(codes, names=[f"c{place}" for place in range(3000)])
    one, two = (SymmetricalUncertainty(table, threads=threads).against_all("c7") for threads in (1, 2))

    assert np.array_equal(one, two)


def test_an_unknown_column_is_named() -> None:
    """A name that is no column is refused with the nearest one."""
    with pytest.raises(UnknownNodeError, match="did you mean"):
        SymmetricalUncertainty(coded([[0, 1], [1, 0]], names=["Smoker", "Lung"])).pair("Smokr", "Lung")
