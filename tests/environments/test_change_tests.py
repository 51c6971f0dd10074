"""The test of changes against plain arithmetic, its size where nothing changed, and what explains a difference."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

from apsl_rules import table
from apsl_rules.environments import ChangeTest, RowChanges, State, explain
from apsl_rules.environments.change_tests import log_tail, nats_a_row
from apsl_rules.names import Node


def changes(alpha: float = 0.01, **columns: object) -> RowChanges:
    """Return the tests on a table whose environments are in the column E."""
    return RowChanges(table(pd.DataFrame(columns), kinds={"E": "category"}), "E", alpha, ("a", "b"))


def test_the_statistic_is_the_score_of_levels_and_spreads() -> None:
    """Without given columns: the sums of both scores over their covariance, worked out by hand."""
    random = np.random.default_rng(1)
    where, y = np.repeat(["a", "b"], 60), random.exponential(size=120)
    found = changes(E=where, y=y).test("y")

    z = (y - y.mean()) / y.std()
    from scipy.stats import norm, rankdata

    weakest = np.inf
    for values in (np.clip(z, -5, 5), norm.ppf((rankdata(y) - 0.5) / 120)):
        inside = (where == "b") - 0.5
        left = values - values.mean()
        away = np.abs(left) - np.abs(left).mean()
        scores = np.stack([inside * left, inside * away])
        statistic = scores.sum(axis=1) @ np.linalg.solve(scores @ scores.T, scores.sum(axis=1))
        weakest = min(weakest, float(statistic))
    assert found.verdict.statistic == pytest.approx(weakest)
    assert found.verdict.dof == 2
    assert found.verdict.p == pytest.approx(chi2.sf(weakest, 2))
    assert found.nats == pytest.approx(nats_a_row(weakest, 2, 120))


@pytest.mark.parametrize("statistic", [0.5, 30.0, 700.0, 1300.0])
@pytest.mark.parametrize("freedom", [1, 4, 30])
def test_the_tail_is_right_far_out(statistic: float, freedom: int) -> None:
    """Ln p agrees with scipy's, and where p is no float with the first term of its series."""
    assert log_tail(statistic, freedom) == pytest.approx(float(chi2.logsf(statistic, freedom)), rel=0.05)


@pytest.mark.parametrize("kind", ["skewed", "uneven", "category"])
def test_what_does_not_change_is_seldom_called_changed(kind: str) -> None:
    """The given column moves between environments, y follows it by a curve: about 5 % are called changed."""
    called = 0
    for seed in range(200):
        random = np.random.default_rng(seed)
        where = np.repeat(["a", "b"], 300)
        x = random.normal(size=600) + 0.5 * (where == "b")
        noise = random.exponential(size=600) - 1
        y: object = x**2 + (noise * (1 + 0.5 * np.abs(x)) if kind == "uneven" else noise)
        if kind == "category":
            y = np.where(random.random(600) < 1 / (1 + np.exp(-x)), "yes", "no")
        called += changes(0.05, E=where, x=x, y=y).test("y", ("x",)).verdict.dependent
    assert called <= 200 * 0.05 + 3 * np.sqrt(200 * 0.05 * 0.95)


def test_each_aspect_is_seen_with_its_size() -> None:
    """A shift, a spread and turned slopes are told apart; the size of the first two is told, in the right direction."""
    random = np.random.default_rng(3)
    where, x = np.repeat(["b", "a"], 1000), random.normal(size=2000)
    second, noise = where == "b", random.normal(size=2000)
    found = changes(
        E=where, x=x, shifted=x + noise + second, wide=x + noise * (1 + second), turned=np.where(second, -x, x) + noise
    )
    shifted, wide, turned = (found.test(name, ("x",)) for name in ("shifted", "wide", "turned"))

    assert [one.aspect for one in (shifted, wide, turned)] == ["level", "spread", "slopes"]
    assert all(one.verdict.dependent and not one.is_small for one in (shifted, wide, turned))
    assert shifted.level == pytest.approx(0.67, abs=0.1)
    assert wide.spread == pytest.approx(2.0, abs=0.2)


def test_too_few_rows_are_no_answer() -> None:
    """An environment of fewer than twenty rows is not compared, and then there may be nothing to compare with."""
    random = np.random.default_rng(4)
    found = changes(E=np.repeat(["a", "b"], [100, 15]), y=random.normal(size=115)).test("y")

    assert found.verdict.decision == "unreliable"
    assert explain("y", (), _Always(found)).state is State.UNTESTED


class _Always:
    """Tests that always give one answer."""

    def __init__(self, answer: ChangeTest) -> None:
        self._answer = answer

    def test(self, column: Node, given: object = ()) -> ChangeTest:
        """Return the answer."""
        del column, given
        return self._answer


def test_the_smallest_set_explains_a_difference() -> None:
    """A chain: the last column is explained by the one before it alone, the first by nothing."""
    random = np.random.default_rng(5)
    where = np.repeat(["a", "b"], 1000)
    first = random.normal(size=2000) + (where == "b")
    second = first + random.normal(size=2000)
    third = second + random.normal(size=2000)
    found = changes(E=where, first=first, second=second, third=third, alone=random.normal(size=2000))

    assert explain("first", ("second",), found).state is State.CHANGED
    explained = explain("third", ("first", "second"), found)
    assert (explained.state, explained.given) == (State.PASSED_ON, ("second",))
    assert explain("alone", ("third",), found).state is State.SAME
