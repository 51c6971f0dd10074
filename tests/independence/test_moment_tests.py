"""The likelihood-ratio test on moments: against statsmodels, in any order, with missing values, inside eliminations."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from apsl_backends.engines.opener import moments_of
from apsl_backends.finders.by_tests import Hiton
from apsl_backends.independence.moment_tests import MomentOracle, MomentTester
from apsl_rules.data import MixedTable, table
from apsl_rules.data.moments import MOST_WIDTH, Embedding
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.oracles import Asker, Oracle
from apsl_rules.plugins import FinderSettings

PLAIN = Embedding("values", 1)


def _frame(rows: int, seed: int, *, gaps: float = 0.0) -> pd.DataFrame:
    """Draw numbers and categories that depend on each other: a -> b -> c, a -> k, u alone."""
    random = np.random.default_rng(seed)
    a = random.normal(size=rows)
    b = a + random.normal(size=rows)
    c = np.exp(b / 2) + random.normal(size=rows)
    k = np.digitize(a + random.logistic(size=rows), [-1.0, 1.0])
    frame = pd.DataFrame(
        {"a": a, "b": b, "c": c, "k": np.array(["low", "mid", "top"])[k], "u": random.normal(size=rows)}
    )
    if gaps:
        frame = frame.mask(random.random(frame.shape) < gaps)
    return frame


def _read(frame: pd.DataFrame) -> MixedTable:
    read = table(frame)
    assert isinstance(read, MixedTable)
    return read


def _oracle(frame: pd.DataFrame, *, alpha: float = 0.05, embedding: Embedding | None = None) -> MomentOracle:
    return MomentOracle(moments_of(_read(frame), embedding), alpha=alpha)


def _design(frame: pd.DataFrame, names: list[str]) -> np.ndarray[Any, Any]:
    """Return the columns that stand for some nodes: numbers as they are, indicators of categories."""
    return np.column_stack([np.asarray(pd.get_dummies(frame[[name]], drop_first=True), float) for name in names])


@pytest.mark.release
@pytest.mark.parametrize(("x", "y", "given"), [("a", "k", ["b"]), ("k", "c", ["a", "b"]), ("b", "k", [])])
def test_the_statistic_is_that_of_wilks(x: str, y: str, given: list[str]) -> None:
    """-n ln of Wilks' Λ from a multivariate regression of one end on the other and what is given."""
    from statsmodels.multivariate.manova import MANOVA

    frame = _frame(400, 3)
    ends = (x, y) if y == "k" else (y, x)
    outcome, cause = _design(frame, [ends[1]]), _design(frame, [ends[0]])
    rest = np.column_stack([np.ones(len(frame)), *([_design(frame, given)] if given else [])])
    fitted = MANOVA(outcome, np.column_stack([cause, rest]))
    contrast = np.eye(cause.shape[1], cause.shape[1] + rest.shape[1])
    tested = fitted.mv_test([("cause", contrast)]).results["cause"]["stat"]
    wilks = float(tested.loc["Wilks' lambda", "Value"])
    verdict = _oracle(frame, embedding=PLAIN).verdict(x, y, given)
    given_rank = rest.shape[1] - 1
    scale = len(frame) - 1 - given_rank - (cause.shape[1] + outcome.shape[1] + 1) / 2
    assert verdict.statistic == pytest.approx(-scale * np.log(wilks), rel=1e-9)
    dof = cause.shape[1] * outcome.shape[1]
    assert verdict.dof == dof
    assert verdict.p == pytest.approx(stats.chi2.sf(-scale * np.log(wilks), dof), rel=1e-7)
    assert (verdict.rank, verdict.n) == (given_rank, 400)


def _numbers(seed: int, rows: int = 60, columns: int = 5) -> pd.DataFrame:
    """Draw correlated columns."""
    random = np.random.default_rng(seed)
    values = random.normal(size=(rows, columns)) @ random.normal(size=(columns, columns)) + 10.0
    return pd.DataFrame(values, columns=list("abcdefgh"[:columns]))


@given(st.integers(0, 200), st.integers(0, 3))
def test_numbers_are_tested_by_their_partial_correlation(seed: int, size: int) -> None:
    """The statistic of two numbers is -n ln(1 - r²), with the partial correlation r read off the inverse matrix."""
    frame = _numbers(seed)
    precision = np.linalg.inv(np.corrcoef(frame.to_numpy()[:, : 2 + size].T))
    partial = -precision[0, 1] / np.sqrt(precision[0, 0] * precision[1, 1])
    verdict = _oracle(frame, embedding=PLAIN).verdict("a", "b", tuple("cde")[:size])
    expected = -(60 - 1 - size - 1.5) * np.log1p(-(partial**2))
    assert verdict.statistic == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert verdict.p == pytest.approx(stats.chi2.sf(expected, 1), rel=1e-5)
    assert verdict.dof == 1


def test_copies_have_defined_verdicts() -> None:
    """A copy is dependent, given it nothing can be told of its original, and it does no harm beside its original."""
    oracle = _oracle(_numbers(4, columns=3).assign(copy=lambda frame: frame["a"]), embedding=PLAIN)
    assert oracle.verdict("a", "copy").dependent
    assert oracle.verdict("a", "b", ["copy"]).decision == "unreliable"
    assert oracle.separator("a", "copy", ["b", "c"]).given is None
    given_one, given_both = oracle.verdict("b", "c", ["a"]), oracle.verdict("b", "c", ["a", "copy"])
    assert given_both.statistic == pytest.approx(given_one.statistic, rel=1e-9)
    assert given_both.rank == given_one.rank == 1


@given(st.integers(0, 100), st.sampled_from([8, 30, 400]), st.sampled_from([PLAIN, Embedding()]))
def test_a_sweep_agrees_with_single_verdicts(seed: int, rows: int, embedding: Embedding) -> None:
    """Decisions, figures and ranking of a sweep are those of its verdicts asked one by one; names break ties."""
    frame = _numbers(seed, rows).set_axis(list("dcbae"), axis=1).assign(twin=lambda drawn: drawn["c"])
    oracle = _oracle(frame, alpha=0.3, embedding=embedding)
    swept, alone = oracle.associations("d"), Oracle.associations(oracle, "d")
    assert [one.decision for one in swept] == [one.decision for one in alone]
    assert [one.y for one in swept.ranked(unreliable="dependent")] == [
        one.y for one in alone.ranked(unreliable="dependent")
    ]
    assert swept.log_p() == pytest.approx(alone.log_p(), rel=1e-9, nan_ok=True)
    assert swept.verdict_on("twin").statistic == swept.verdict_on("c").statistic


def test_the_scale_of_a_number_does_not_matter() -> None:
    """Numbers from 1e-200 to 1e200 have the verdicts that they have on a common scale."""
    frame = _numbers(5)
    scaled = frame * np.array([1e200, 1e-200, 1.0, 1e-30, 1e30])
    for embedding in (PLAIN, Embedding()):
        plain, other = (_oracle(one, embedding=embedding).verdict("a", "b", ["c"]) for one in (frame, scaled))
        assert other.statistic == pytest.approx(plain.statistic, rel=1e-9)


def test_far_tails_keep_their_order() -> None:
    """A p-value that underflows still has a logarithm, and a copy has a finite statistic."""
    frame = _numbers(6, rows=5000)
    verdict = _oracle(frame.assign(f=frame["a"]), embedding=PLAIN).verdict("a", "f")
    assert verdict.p == 0.0
    assert verdict.log_p is not None
    assert -1e6 < verdict.log_p < -1e4


@given(st.integers(0, 1000), st.sampled_from(list(combinations("abcku", 2))), st.sets(st.sampled_from("abcku")))
def test_neither_order_nor_naming_changes_a_verdict(seed: int, pair: tuple[str, str], others: set[str]) -> None:
    """The ends, the given nodes and the columns of the table may come in any order."""
    x, y = pair
    rest = sorted(others - {x, y})
    frame = _frame(200, seed)
    one = _oracle(frame).verdict(x, y, rest)
    other = _oracle(frame[["u", "k", "c", "b", "a"]]).verdict(y, x, rest[::-1])
    assert other.statistic == pytest.approx(one.statistic, rel=1e-9, abs=1e-9)
    assert (other.decision, other.dof, other.n) == (one.decision, one.dof, one.n)


def test_curved_relations_with_what_is_given_are_no_dependence() -> None:
    """Given a common cause on which both depend by curves, a plain test rejects far too often, the default does not."""
    rejected = {1: 0, 3: 0}
    for seed in range(60):
        random = np.random.default_rng(seed)
        z = random.normal(size=500)
        frame = pd.DataFrame({"z": z, "x": z**2 + random.normal(size=500), "y": z**2 + random.normal(size=500)})
        for degree in (1, 3):
            embedding = Embedding("normal-scores", 1 if degree == 1 else 3)
            rejected[degree] += _oracle(frame, embedding=embedding).verdict("x", "y", ["z"]).dependent
    assert rejected[1] > 50
    assert rejected[3] < 15


def test_p_values_are_uniform_under_independence() -> None:
    """The p-value of independent columns of all kinds is spread evenly."""
    found: list[float] = []
    for seed in range(150):
        random = np.random.default_rng(seed)
        frame = pd.DataFrame(
            {
                "x": random.exponential(size=300),
                "y": random.normal(size=300),
                "k": random.choice(list("abc"), size=300),
                "m": random.choice(list("defgh"), size=300),
            }
        )
        verdicts = _oracle(frame).verdicts([(x, y, ()) for x, y in combinations(frame.columns, 2)])
        found += [verdict.p for verdict in verdicts if verdict.p is not None]
    assert len(found) == 900
    assert stats.kstest(found, "uniform").pvalue > 0.01


def test_rows_with_missing_values_are_left_out_test_by_test() -> None:
    """Each test equals the one on the rows that are complete in its columns."""
    frame = _frame(300, 5, gaps=0.1)
    oracle = _oracle(frame, embedding=PLAIN)
    for x, y, rest in (("a", "b", []), ("a", "c", ["b"]), ("k", "c", ["a", "b"])):
        complete = frame.dropna(subset=[x, y, *rest]).reset_index(drop=True)
        alone = _oracle(complete[[x, y, *rest]], embedding=PLAIN).verdict(x, y, rest)
        verdict = oracle.verdict(x, y, rest)
        assert verdict.n == len(complete)
        assert verdict.statistic == pytest.approx(alone.statistic, rel=1e-8)


def test_too_few_rows_are_unreliable() -> None:
    """A category of many levels needs more rows than a number."""
    random = np.random.default_rng(1)
    levels = random.permutation([f"l{level}" for level in range(25)] * 5)
    frame = pd.DataFrame({"x": random.normal(size=125), "k": levels, "y": random.normal(size=125)})
    oracle = _oracle(frame)
    assert oracle.verdict("x", "k").decision == "unreliable"
    assert oracle.verdict("x", "y").decision != "unreliable"


@pytest.mark.parametrize("gaps", [0.0, 0.05])
@pytest.mark.parametrize("width", [MOST_WIDTH, 0])
def test_eliminations_and_searches_agree_with_single_tests(
    gaps: float, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the kernel, by rows, from one matrix or many: the same members, and separators that single tests confirm."""
    monkeypatch.setattr("apsl_rules.data.moments.MOST_WIDTH", width)
    oracle = _oracle(_frame(400, 7, gaps=gaps), alpha=0.01)
    asker, stepwise = Asker(oracle, origin="the oracle"), Asker(oracle, origin="the oracle")
    stepwise.eliminates = False
    for node in asker.nodes:
        found = Hiton(asker, FinderSettings(2)).candidates(node)
        plain = Hiton(stepwise, FinderSettings(2)).candidates(node)
        assert found.members == plain.members
        for other in asker.nodes:
            separation = None if other == node else found.separation(other)
            if separation is not None and separation.given is not None:
                assert separation.verdict is not None
                again = oracle.verdict(node, other, separation.given)
                assert separation.verdict.statistic == pytest.approx(again.statistic, rel=1e-9, abs=1e-12)
                assert separation.verdict.n == again.n


def test_a_wrong_alpha_is_refused() -> None:
    """Alpha must lie between 0 and 1."""
    source = moments_of(_read(_frame(50, 1)))
    with pytest.raises(InvalidArgumentError, match=r"alpha is 1\.5 but must lie between 0 and 1"):
        MomentOracle(source, alpha=1.5)


def test_large_degrees_of_freedom_are_decided_by_p() -> None:
    """Beyond the tabled critical values the tail decides."""
    random = np.random.default_rng(2)
    codes = random.integers(0, 20, 8000)
    frame = pd.DataFrame(
        {"k": [f"k{i}" for i in codes], "m": [f"m{i}" for i in (codes + random.integers(0, 2, 8000)) % 20]}
    )
    frame["u"] = [f"u{i}" for i in random.integers(0, 20, 8000)]
    frame["x"] = random.normal(size=8000)
    frame.loc[0, "k"] = None  # decided from rows
    tester = MomentTester(moments_of(_read(frame)), 0.01, 5.0)
    found = tester.test([(0, 1), (0, 2)])
    assert found.dofs.tolist() == [361, 361]
    assert found.decisions.tolist() == [1, 0]
