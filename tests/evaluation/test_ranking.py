"""Ranks and tests over many tasks: the paper's figures, and agreement with scipy and scikit-posthocs."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
import pytest
import scikit_posthocs
from hypothesis import given
from hypothesis import strategies as st
from ranking import Ranking, published_ranks, rank, table3, table3_columns, table4
from scipy import stats

from apsl_rules.errors import InvalidArgumentError, UnknownNameError, UnknownNodeError

DISTANCE = rank(table3_columns("ar_distance"), better="lower")
RUNTIME = rank(table3_columns("runtime_s"), better="lower")
#: The sum of the squared mean ranks of distance, from the sums of ranks 18.5, 26, 36.5 and 39.
SQUARES = (18.5**2 + 26**2 + 36.5**2 + 39**2) / 12**2


def test_table_3_gives_the_published_ranks() -> None:
    """The mean ranks of distance and runtime are those in the text of the paper, and more exactly these."""
    assert list(DISTANCE.ranks.values()) == pytest.approx([1.542, 2.167, 3.042, 3.25], abs=5e-4)
    assert list(RUNTIME.ranks.values()) == pytest.approx([1.75, 1.583, 2.833, 3.833], abs=5e-4)
    assert published_ranks("ar_distance", 1) == {name: round(mean, 2) for name, mean in DISTANCE.ranks.items()}
    assert published_ranks("runtime_s", 1) == {name: round(mean, 2) for name, mean in RUNTIME.ranks.items()}


def test_the_tests_of_table_3() -> None:
    """χ² with its p, and the critical difference, which the paper gives as 1.35, from q = 2.569."""
    distance, runtime = DISTANCE.friedman(), RUNTIME.friedman()

    assert (distance.chi2, distance.p, distance.dof) == pytest.approx((13.81, 0.0032, 3), abs=5e-3)
    assert distance.p == pytest.approx(0.0032, abs=5e-5)
    assert runtime.chi2 == pytest.approx(23.7, abs=5e-2)
    assert DISTANCE.friedman(ties="ignored").chi2 == pytest.approx(12 * 12 / 20 * (SQUARES - 25), abs=1e-9)
    assert DISTANCE.critical_difference() == pytest.approx(1.354, abs=5e-4)
    assert DISTANCE.critical_difference() / np.sqrt(4 * 5 / (6 * 12)) == pytest.approx(2.569, abs=5e-4)


def test_which_methods_differ_by_the_papers_own_critical_difference() -> None:
    """APSL-FS, and also APSL, which the paper leaves out, is more accurate than PCD-by-PCD; neither than CMB."""
    assert DISTANCE.differ("APSL-FS", "PCD-by-PCD")
    assert DISTANCE.differ("APSL", "PCD-by-PCD")
    assert not DISTANCE.differ("APSL", "CMB")
    assert not DISTANCE.differ("APSL-FS", "CMB")
    assert DISTANCE.groups() == (("APSL-FS", "APSL", "CMB"), ("CMB", "PCD-by-PCD"))
    assert RUNTIME.groups() == (("APSL-FS", "APSL"), ("APSL", "PCD-by-PCD", "CMB"))
    assert RUNTIME.differ("APSL-FS", "CMB")


@pytest.mark.parametrize("depth", [1, 3, 5, "max"])
@pytest.mark.parametrize("measure", ["ar_distance", "runtime_s"])
def test_published_ranks_add_up(depth: Any, measure: Any) -> None:
    """Four mean ranks sum to 10, up to the rounding of each."""
    assert sum(published_ranks(measure, depth).values()) == pytest.approx(10, abs=0.021)


def test_the_published_tables_are_whole() -> None:
    """Table III has each algorithm on each network and size once, and its distances fit its precisions and recalls."""
    rows = table3()

    assert len({(row.network, row.size, row.algorithm) for row in rows}) == 6 * 2 * 4 == len(rows)
    assert all(0 <= row.ar_precision <= 1 and 0 <= row.ar_recall <= 1 for row in rows)
    # The mean of distances is at least the distance of means; rounding moves it by at most 0.013.
    assert all(row.ar_distance > np.hypot(1 - row.ar_precision, 1 - row.ar_recall) - 0.013 for row in rows)
    assert {network: len(nodes) for network, nodes in table4().items()} == dict.fromkeys(
        ["Child", "Insurance", "Alarm", "Child10", "Insurance10", "Alarm10"], 5
    )
    with pytest.raises(UnknownNameError, match="the paper has no ranks of 'ar_distance' at depth 2"):
        published_ranks("ar_distance", 2)


def test_directions() -> None:
    """Lower or higher figures may be better, and the best may have the highest or the lowest rank."""
    figures = {"a": [1.0, 1.0], "b": [2.0, 2.0], "c": [3.0, 3.0]}

    assert rank(figures, better="lower").ranks == {"a": 3.0, "b": 2.0, "c": 1.0}
    assert rank(figures, better="higher").ranks == {"a": 1.0, "b": 2.0, "c": 3.0}
    assert rank(figures, better="lower", best="low").ranks == {"a": 1.0, "b": 2.0, "c": 3.0}
    assert rank(figures, better="higher", best="low").ranks == {"a": 3.0, "b": 2.0, "c": 1.0}
    assert rank(figures, better="lower").order == rank(figures, better="lower", best="low").order == ("a", "b", "c")
    assert rank(figures, better="higher").order == ("c", "b", "a")


def test_what_is_printed_alike_can_be_tied() -> None:
    """With two decimals .301 and .304 share their places; without rounding they do not."""
    figures = {"a": [0.301], "b": [0.304], "c": [0.1]}

    assert rank(figures, better="lower").ranks == {"a": 2.0, "b": 1.0, "c": 3.0}
    assert rank(figures, better="lower", decimals=2).ranks == {"a": 1.5, "b": 1.5, "c": 3.0}


def test_the_ends_of_the_scale() -> None:
    """Methods that always tie do not differ at all; an order that never changes is as sure as can be."""
    tied = rank({"a": [1.0] * 5, "b": [1.0] * 5, "c": [1.0] * 5}, better="lower")
    steady = rank({"a": [1.0] * 5, "b": [2.0] * 5, "c": [3.0] * 5}, better="lower")

    assert (tied.friedman().chi2, tied.friedman().p, tied.groups()) == (0.0, 1.0, (("a", "b", "c"),))
    assert steady.friedman().chi2 == pytest.approx(10)
    assert (steady.friedman().f, steady.friedman().f_p) == (inf, 0.0)


FIGURES = st.tuples(st.integers(3, 6), st.integers(2, 12)).flatmap(
    lambda shape: st.lists(
        st.lists(st.integers(0, 6), min_size=shape[1], max_size=shape[1]), min_size=shape[0], max_size=shape[0]
    )
)


@given(FIGURES)
def test_agreement_with_scipy_and_scikit_posthocs(columns: list[list[int]]) -> None:
    """χ² and p are scipy's, the p of each pair is scikit-posthocs', and groups are pairs that do not differ."""
    ranking = rank({f"m{at}": [float(one) for one in column] for at, column in enumerate(columns)}, better="higher")
    table = np.array(columns).T
    ours = ranking.friedman()
    if any(len(set(row)) > 1 for row in table.tolist()):
        peer = stats.friedmanchisquare(*columns)
        assert (ours.chi2, ours.p) == pytest.approx((peer.statistic, peer.pvalue), abs=1e-9)
    pairs = scikit_posthocs.posthoc_nemenyi_friedman(table).to_numpy()
    critical = ranking.critical_difference()
    for i, x in enumerate(ranking.ranks):
        for j, y in enumerate(ranking.ranks):
            if i != j:
                assert ranking.p_value(x, y) == pytest.approx(pairs[i, j], abs=1e-6)
                together = any(x in group and y in group for group in ranking.groups())
                assert together is not ranking.differ(x, y)
                assert ranking.differ(x, y) is bool(abs(ranking.ranks[x] - ranking.ranks[y]) >= critical)


def test_the_sharper_f_of_iman_and_davenport() -> None:
    """The example of Demšar (2006), section 3.2.2: four methods, fourteen sets, χ² 9.28 and F 3.69."""
    ranking = Ranking({"a": 3.143, "b": 2.000, "c": 2.893, "d": 1.964}, tasks=14, best="low")
    got = ranking.friedman()

    assert (got.chi2, got.f) == pytest.approx((9.28, 3.69), abs=0.02)
    assert got.f_dofs == (3, 39)
    assert got.f_p < 0.05
    assert ranking.critical_difference() == pytest.approx(1.25, abs=5e-3)
    assert ranking.critical_difference(alpha=0.1) == pytest.approx(1.12, abs=5e-3)


@pytest.mark.parametrize(
    ("figures", "choices", "said"),
    [
        ({"a": [1.0]}, {}, "there are 1 methods on 1 tasks to compare; give at least 2"),
        ({"a": [1.0], "b": [1.0, 2.0]}, {}, "different numbers of tasks: a has 1, b has 2"),
        ({"a": [1.0], "b": [float("nan")]}, {}, "a figure of 'b' is missing or infinite"),
        ({"a": [], "b": []}, {}, "there are 2 methods on 0 tasks to compare"),
        ({"a": [1.0], "b": [1.0]}, {"better": "less"}, "better is 'less'; give 'lower' or 'higher'"),
        ({"a": [1.0], "b": [1.0]}, {"best": "top"}, "best is 'top'; give 'high' or 'low'"),
    ],
)
def test_mistakes_get_one_sentence(figures: Any, choices: dict[str, Any], said: str) -> None:
    """Figures that cannot be ranked are refused."""
    with pytest.raises(InvalidArgumentError, match=said):
        rank(figures, **{"better": "lower", **choices})


def test_odd_questions_are_refused() -> None:
    """A significance level outside 0 to 1, and a method that is not there."""
    wrong: dict[str, Any] = {"ties": "no", "best": "top", "measure": "ar_dist"}
    with pytest.raises(InvalidArgumentError, match="alpha is 5; give a number between 0 and 1"):
        DISTANCE.critical_difference(alpha=5)
    with pytest.raises(InvalidArgumentError, match="ties is 'no'; give 'corrected' or 'ignored'"):
        DISTANCE.friedman(ties=wrong["ties"])
    with pytest.raises(InvalidArgumentError, match="best is 'top'; give 'high' or 'low'"):
        Ranking({"a": 1.0, "b": 2.0}, tasks=3, best=wrong["best"])
    with pytest.raises(InvalidArgumentError, match="the Friedman test needs at least 2 tasks"):
        rank({"a": [1.0], "b": [2.0]}, better="lower").friedman()
    with pytest.raises(UnknownNameError, match="Table III has no 'ar_dist'; did you mean 'ar_distance'"):
        table3_columns(wrong["measure"])
    with pytest.raises(UnknownNodeError, match="unknown method 'APSL-SF'; did you mean 'APSL-FS'"):
        DISTANCE.differ("APSL-SF", "CMB")
