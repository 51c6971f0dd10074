"""The likelihood-ratio test on moments keeps its level where levels are rare, or says that it cannot tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from apsl_backends.engines.opener import moments_of
from apsl_backends.independence.moment_tests import MomentOracle
from apsl_rules.data import MixedTable, table

Floats = npt.NDArray[np.float64]

LEVEL = 0.05
#: The tables of each pair of rates.
TABLES = 250


def _rare(rng: np.random.Generator, given: Floats, rate: float, slope: float) -> npt.NDArray[np.str_]:
    """Draw a category whose level "yes" depends on a number by a logistic curve and has about this rate."""
    grid = np.linspace(-4, 4, 801)
    weights = np.exp(-(grid**2) / 2)
    low, high = -20.0, 20.0
    for _ in range(60):
        start = (low + high) / 2
        mean = float(weights @ (1 / (1 + np.exp(-start - slope * grid))) / weights.sum())
        low, high = (low, start) if mean > rate else (start, high)
    return np.where(rng.random(len(given)) < 1 / (1 + np.exp(-low - slope * given)), "yes", "no")


def _tables(rows: int, rates: tuple[float, float], slope: float, causes: int, tables: int) -> Iterator[pd.DataFrame]:
    """Draw tables in which numbers are the only common causes of two rare categories and of a number."""
    for seed in range(tables):
        rng = np.random.default_rng([seed, rows, causes])
        drawn = rng.normal(size=(max(causes, 1), rows))
        cause = drawn.sum(axis=0) / np.sqrt(len(drawn))
        columns: dict[str, object] = {f"z{number}": values for number, values in enumerate(drawn)}
        columns["x"] = _rare(rng, cause, rates[0], slope if causes else 0.0)
        columns["y"] = _rare(rng, cause, rates[1], slope if causes else 0.0)
        columns["number"] = (cause if causes else 0.0) + rng.normal(size=rows)
        yield pd.DataFrame(columns)


def _shares(drawn: Iterable[pd.DataFrame], x: str, y: str, causes: int) -> tuple[float, int]:
    """Return the share of the tests with figures that reject, and how many these are."""
    rejected = tested = 0
    for frame in drawn:
        read = table(frame, kinds={"x": "category", "y": "category"})
        assert isinstance(read, MixedTable)
        verdict = MomentOracle(moments_of(read), alpha=LEVEL).verdict(x, y, [f"z{number}" for number in range(causes)])
        tested += verdict.decision != "unreliable" and bool(verdict.dof)
        rejected += verdict.dependent
    return rejected / max(tested, 1), tested


@pytest.mark.parametrize(
    ("rows", "causes", "slope"), [(1000, 1, 1.0), (1000, 1, 1.5), (1000, 2, 1.0), (3000, 1, 1.0), (3000, 2, 1.0)]
)
def test_rare_levels_with_common_causes_keep_the_level(rows: int, causes: int, slope: float) -> None:
    """Two categories that are rare at the same values of numbers are dependent given these no more often than told."""
    drawn = (_tables(rows, rates, slope, causes, TABLES) for rates in ((0.02, 0.05), (0.03, 0.04), (0.05, 0.05)))
    share, tested = _shares(chain.from_iterable(drawn), "x", "y", causes)
    assert tested >= 2 * TABLES
    assert (0.01 if causes > 1 else 0.03) <= share <= 0.07


@pytest.mark.parametrize(
    ("rows", "slope"),
    [(1000, 1.5), (3000, 2.0), *(pytest.param(*one, marks=pytest.mark.release) for one in ((1000, 2.0), (3000, 1.5)))],
)
def test_products_of_causes_are_no_dependence(rows: int, slope: float) -> None:
    """Where two steep causes multiply the rates of rare levels, a dependence that this explains is unreliable."""
    drawn = (_tables(rows, rates, slope, 2, 120) for rates in ((0.02, 0.05), (0.03, 0.04), (0.05, 0.05)))
    share, tested = _shares(chain.from_iterable(drawn), "x", "y", 2)
    assert tested >= 120
    assert share <= 0.07


def test_a_dependence_beyond_products_of_causes_is_seen() -> None:
    """A rare level that is an effect of another one is dependent on it given two steep causes of both."""
    seen = 0
    for frame in _tables(1000, (0.05, 0.05), 1.5, 2, 40):
        rng = np.random.default_rng(len(frame))
        copied = rng.random(len(frame)) < 0.3
        drawn = frame.assign(y=np.where(copied, frame["x"], frame["y"]))
        read = table(drawn, kinds={"x": "category", "y": "category"})
        assert isinstance(read, MixedTable)
        seen += MomentOracle(moments_of(read), alpha=0.01).verdict("x", "y", ["z0", "z1"]).dependent
    assert seen >= 38


@pytest.mark.release
@pytest.mark.parametrize("rows", [1000, 3000])
def test_rare_levels_given_nothing_keep_the_level(rows: int) -> None:
    """With nothing given the level is kept too."""
    drawn = (_tables(rows, rates, 0.0, 0, TABLES) for rates in ((0.03, 0.05), (0.04, 0.05), (0.05, 0.05)))
    share, tested = _shares(chain.from_iterable(drawn), "x", "y", 0)
    assert tested >= 2 * TABLES
    assert 0.03 <= share <= 0.07


@pytest.mark.parametrize(
    "causes", [pytest.param(0, marks=pytest.mark.release), 1, pytest.param(2, marks=pytest.mark.release)]
)
def test_a_number_and_a_rare_level_keep_the_level(causes: int) -> None:
    """A number and a rare category with common causes are dependent given these no more often than told."""
    cases = ((300, 0.05), (1000, 0.02), (1000, 0.05))
    drawn = (_tables(rows, (rate, rate), 1.0, causes, TABLES) for rows, rate in cases)
    share, tested = _shares(chain.from_iterable(drawn), "x", "number", causes)
    assert tested >= 2 * TABLES
    assert 0.03 <= share <= 0.07


@pytest.mark.parametrize("causes", [0, 1])
def test_levels_that_would_hardly_ever_meet_are_unreliable(causes: int) -> None:
    """Where independent levels would meet in less than one row, hardly any test is made."""
    _, tested = _shares(_tables(300, (0.025, 0.03), 1.0, causes, 100), "x", "y", causes)
    assert tested <= 10


@pytest.mark.parametrize("causes", [0, 1, 2])
def test_frequent_levels_stay_reliable(causes: int) -> None:
    """Categories with frequent levels are tested with few rows."""
    _, tested = _shares(_tables(150, (0.3, 0.4), 1.0, causes, 50), "x", "y", causes)
    assert tested == 50
