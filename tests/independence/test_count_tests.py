"""G² and χ² as oracles: published vectors, figures of SciPy, causal-learn and pgmpy, and nothing but the counts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from apsl_backends.independence.count_tests import ChiSquare, Degrees, GSquare, Reliability, Statistic, statistic_of
from apsl_rules.data import coded_table
from apsl_rules.data.counts import CachedCounts
from apsl_rules.data.tables import Table
from apsl_rules.errors import InvalidArgumentError, UnknownNodeError
from apsl_rules.oracles.protocol import Oracle, Search
from support.counted import table_counts
from support.counting import coded, tables

DEGREES: tuple[Degrees, ...] = ("adjusted", "full")
STRATA = [[[10, 5], [4, 11]], [[8, 7], [9, 6]]]


def rows_of(counts: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Spell out a contingency table as columns of codes, one for each axis."""
    cells = np.array(counts)
    return np.repeat(np.indices(cells.shape).reshape(cells.ndim, -1), cells.ravel(), axis=1)


def three_strata(drop: int = 0) -> Table:
    """Return x, y and a z of three levels, the last of which does not occur, with some rows dropped."""
    z, x, y = rows_of(STRATA)
    kept = len(x) - drop
    return coded([x[:kept], y[:kept], z[:kept]], [2, 2, 3], names="xyz")


def test_a_two_by_two_table() -> None:
    """Vector (a): G² 19.717205 with one degree of freedom."""
    verdict = GSquare(coded(rows_of([[10, 20], [30, 5]]), names="xy")).verdict("x", "y")

    assert (verdict.decision, verdict.test, verdict.dof, verdict.n) == ("dependent", "G²", 1, 65)
    assert verdict.statistic == pytest.approx(19.717205, abs=1e-6)
    assert verdict.p == pytest.approx(8.9789e-06, rel=1e-4)
    assert verdict.log_p == pytest.approx(np.log(8.9789e-06), rel=1e-5)


def test_an_empty_level_takes_no_degree_of_freedom() -> None:
    """Vector (b): with a level that does not occur, adjusted degrees decide for dependence and full ones against it."""
    table = coded(rows_of([[12, 0, 8], [3, 0, 17]]), names="xy")
    adjusted, full = (GSquare(table, dof=dof).verdict("x", "y") for dof in DEGREES)

    assert adjusted.statistic == full.statistic == pytest.approx(9.096229, abs=1e-6)
    assert (adjusted.dof, adjusted.decision) == (1, "dependent")
    assert adjusted.p == pytest.approx(0.0025614, rel=1e-4)
    assert (full.dof, full.decision) == (2, "independent")
    assert full.p == pytest.approx(0.010587, rel=1e-4)


def test_an_empty_stratum_and_just_enough_rows() -> None:
    """Vector (c): 60 rows for 12 cells are reliable, and an empty stratum counts for nothing."""
    verdict = GSquare(three_strata()).verdict("x", "y", ["z"])

    assert (verdict.decision, verdict.dof, verdict.n) == ("independent", 2, 60)
    assert verdict.statistic == pytest.approx(5.098375, abs=1e-6)
    assert verdict.p == pytest.approx(0.0781451, rel=1e-5)


def test_too_few_rows_are_unreliable_unless_told_otherwise() -> None:
    """Vector (d): 50 rows for 12 cells are not reliable and have no figures; without the rule they have."""
    table = three_strata(drop=10)
    verdict = GSquare(table).verdict("x", "y", ["z"])

    assert (verdict.decision, verdict.n) == ("unreliable", 50)
    assert (verdict.statistic, verdict.p, verdict.dof, verdict.log_p) == (None, None, None, None)
    assert GSquare(table, reliability="none").verdict("x", "y", ["z"]).statistic is not None


def test_p_equal_to_alpha_is_dependent() -> None:
    """A p-value that equals alpha is dependent, and the next smaller alpha makes it independent."""
    table = three_strata()
    p = GSquare(table).verdict("x", "y", ["z"]).p
    assert p is not None

    assert GSquare(table, alpha=p).verdict("x", "y", ["z"]).dependent
    assert GSquare(table, alpha=float(np.nextafter(p, 0))).verdict("x", "y", ["z"]).independent


def test_a_constant_column_is_independent_of_everything() -> None:
    """A column that never varies is independent with p = 1, however few the rows and whatever its cardinality."""
    table = coded([[1, 1, 1, 1], [0, 1, 2, 3], [0, 0, 1, 1]], [3, 4, 2], names="xyz")
    for oracle in (GSquare(table), ChiSquare(table, dof="full")):
        for verdict in (oracle.verdict("x", "y"), oracle.verdict("y", "x", "z"), oracle.associations("y")[0]):
            assert (verdict.independent, verdict.statistic, verdict.p, verdict.dof) == (True, 0.0, 1.0, 0)
            assert verdict.n == 4
    assert GSquare(table).separator("x", "y", "z").given == ()


@pytest.mark.parametrize("degrees", DEGREES)
@pytest.mark.parametrize("kind", [GSquare, ChiSquare])
def test_no_degree_of_freedom_is_unreliable(kind: type[GSquare | ChiSquare], degrees: Degrees) -> None:
    """When y is settled within each stratum nothing was compared: no verdict, no separator, no elimination."""
    table = coded([[0, 1, 1] * 40, [0] * 60 + [1] * 60, [0] * 60 + [1] * 60, [0, 1, 1] * 40], names="xyzt")
    for source in (table, CachedCounts(table_counts(table))):
        oracle = kind(source, dof=degrees)
        verdict = oracle.verdict("x", "y", "z")

        assert (verdict.decision, verdict.statistic, verdict.p, verdict.dof) == ("unreliable", None, None, None)
        assert oracle.separator("y", "z", "xt", must_include="x").given is None
        assert oracle.separator("x", "t", "yz").given is None
        found = oracle.eliminate(oracle.associations("x"), unreliable="dependent", cut=None, max_size=None)
        assert (found.members, dict(found.separations)) == (("t",), {})


def test_missing_values_are_left_out_test_by_test() -> None:
    """A test uses the rows complete in its own columns, and its reliability counts those rows only."""
    x, y = rows_of([[12, 8], [8, 12]])
    z = np.where(np.arange(40) % 2, 2, np.arange(40) // 2 % 2)
    oracle = GSquare(coded([x, y, z], [2, 2, 2], names="xyz"))

    assert (oracle.verdict("x", "y").n, oracle.verdict("x", "z").n) == (40, 20)
    assert oracle.verdict("x", "z").decision != "unreliable"
    assert (oracle.verdict("x", "y", "z").decision, oracle.verdict("x", "y", "z").n) == ("unreliable", 20)
    assert [one.n for one in oracle.associations("x")] == [40, 20]


@pytest.mark.slow
@given(
    st.lists(st.lists(st.integers(1, 40), min_size=2, max_size=4), min_size=2, max_size=4).filter(
        lambda rows: len({len(row) for row in rows}) == 1
    )
)
def test_the_figures_are_those_of_scipy(counts: list[list[int]]) -> None:
    """On tables without empty cells statistic, p and degrees agree with SciPy's contingency tests."""
    table = coded(rows_of(counts), names="xy")
    gsquare = chi2_contingency(np.array(counts), correction=False, lambda_="log-likelihood")
    pearson = chi2_contingency(np.array(counts), correction=False)
    for kind, expected in ((GSquare, gsquare), (ChiSquare, pearson)):
        verdict = kind(table, reliability="none").verdict("x", "y")

        assert verdict.dof == expected.dof
        assert verdict.statistic == pytest.approx(expected.statistic, abs=1e-9)
        assert verdict.p == pytest.approx(expected.pvalue, rel=1e-9, abs=1e-7)


@given(st.lists(st.integers(0, 9), min_size=24, max_size=24), st.sampled_from(["gsquare", "chisquare"]))
def test_given_counts_have_the_same_statistic(cells: list[int], name: Statistic) -> None:
    """The statistic of a table of counts is that of the oracle on the rows behind it, sparse strata included."""
    counts = np.array(cells).reshape(3, 2, 4)
    if not counts.sum():
        return
    x, y, z = rows_of(counts)
    table = coded([x, y, z], [3, 2, 4], names="xyz")
    oracle = (GSquare if name == "gsquare" else ChiSquare)(table, reliability="none")
    figures = statistic_of(counts, statistic=name)
    verdict = oracle.verdict("x", "y", "z")

    assert (verdict.dof, verdict.n) == (figures.dof, figures.n)
    assert verdict.statistic == pytest.approx(figures.statistic, abs=1e-9)


@given(tables(columns=4), st.integers(0, 2**32 - 1), st.sampled_from([GSquare, ChiSquare]))
def test_relabelling_and_reordering_change_no_bit(table: Table, seed: int, kind: type[GSquare | ChiSquare]) -> None:
    """Levels renamed, rows shuffled, columns moved, ends and given columns exchanged: the figures stay bit by bit."""
    random = np.random.default_rng(seed)
    columns, rows = random.permutation(4), random.permutation(table.rows)
    renamed = np.stack(
        [np.append(random.permutation(card), card)[codes] for card, codes in zip(table.cards, table.codes, strict=True)]
    )
    moved = coded(
        renamed[columns][:, rows], table.cards[columns].tolist(), names=[str(table.names[place]) for place in columns]
    )
    before, after = (kind(one, reliability="none", alpha=0.2) for one in (table, moved))
    x, y, *others = table.names

    for size in range(3):
        one, other = before.verdict(x, y, others[:size]), after.verdict(y, x, others[:size][::-1])
        assert (one.statistic, one.p, one.dof, one.n) == (other.statistic, other.p, other.dof, other.n)
    assert [(one.y, one.statistic) for one in before.associations(x).ranked(unreliable="dependent")] == [
        (one.y, one.statistic) for one in after.associations(x).ranked(unreliable="dependent")
    ]


@given(tables(columns=6), st.sampled_from(["none", "five-per-cell"]), st.sampled_from([None, True]))
def test_a_sweep_is_its_verdicts(table: Table, reliability: Reliability, some: bool | None) -> None:
    """A sweep gives the verdicts of single questions, their ranking with names breaking ties, and their ln p."""
    oracle = GSquare(table, reliability=reliability, alpha=0.2)
    swept, alone = oracle.associations("d"), Oracle.associations(oracle, "d")
    among = None if some is None else np.arange(5) % 2 == 0

    assert list(swept) == list(alone)
    assert swept[1:3] == alone[1:3]
    assert swept.verdict_on("e") == alone.verdict_on("e") == swept[-1]
    assert np.array_equal(swept.log_p(), alone.log_p(), equal_nan=True)
    for unreliable in ("dependent", "independent"):
        assert swept.ranked(unreliable=unreliable, among=among) == alone.ranked(unreliable=unreliable, among=among)


def test_equal_associations_rank_by_name() -> None:
    """Copies of one column have the same statistic and stand in the order of their names."""
    x, y = rows_of([[30, 10], [10, 30]])
    oracle = GSquare(coded([x, y, y, y], names=["x", "b", "c", "a"]))

    assert [one.y for one in oracle.associations("x").ranked(unreliable="independent")] == ["a", "b", "c"]


def test_batches_answer_in_order() -> None:
    """Batches of questions and of searches give what they give one by one, and an empty batch gives nothing."""
    oracle = GSquare(three_strata(), reliability="none")
    searches = [Search("x", "y", ("z",)), Search("z", "x", ("y",), ("y",)), Search("x", "z", ("y",), ("y",), 0)]

    assert isinstance(oracle, Oracle)
    assert oracle.verdicts([]) == []
    assert oracle.separators([]) == []
    assert oracle.verdicts([("x", "y", ()), ("z", "y", ("x",))]) == [
        oracle.verdict("x", "y"),
        oracle.verdict("z", "y", ["x"]),
    ]
    assert oracle.separators(searches) == Oracle.separators(oracle, searches)
    assert oracle.separators(searches)[2].tests == 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"alpha": 0.0}, "alpha is 0.0 but must lie between 0 and 1"),
        ({"alpha": 1.0}, "alpha is 1.0 but must lie between 0 and 1"),
        ({"alpha": float("nan")}, "alpha is nan but must lie between 0 and 1"),
        ({"dof": "adjust"}, "dof is 'adjust' but must be one of 'adjusted', 'full'; did you mean 'adjusted'"),
        ({"reliability": "some"}, "reliability is 'some' but must be one of 'five-per-cell', 'none'"),
        ({"threads": 0}, "threads is 0 but must be at least 1"),
    ],
)
def test_wrong_settings_are_refused(options: dict[str, Any], sentence: str) -> None:
    """A setting with a value that is not allowed is refused with a sentence that says what is."""
    with pytest.raises(InvalidArgumentError, match=sentence):
        GSquare(three_strata(), **options)


@pytest.mark.parametrize("given_nodes", [("x",), ("y",), ("z", "z")])
def test_a_node_may_not_be_asked_twice(given_nodes: Sequence[str]) -> None:
    """A node that is an end and given, or given twice, is refused."""
    with pytest.raises(InvalidArgumentError, match="must differ"):
        GSquare(three_strata()).verdict("x", "y", given_nodes)


def test_an_unknown_node_is_named() -> None:
    """A node that is no column is refused in questions, searches and sweeps, with the nearest name."""
    oracle = GSquare(coded([[0, 1], [1, 0]], names=["Smoker", "Lung"]))

    with pytest.raises(UnknownNodeError, match="'Smoke'; did you mean 'Smoker'"):
        oracle.verdict("Smoke", "Lung")
    with pytest.raises(UnknownNodeError, match="did you mean 'Lung'"):
        oracle.separator("Smoker", "Lung", ["Lungs"])
    with pytest.raises(UnknownNodeError, match="the nodes are 'Smoker', 'Lung'"):
        oracle.associations(7)


VECTORS = json.loads((Path(__file__).parent / "peer_vectors.json").read_text("utf-8"))


def drawn(case: dict[str, Any]) -> Table:
    """Draw the table of a case again from its seed."""
    random = np.random.default_rng(case["seed"])
    rows = int(random.choice([200, 500, 1500]))
    cards = random.integers(2, 5, 2 + case["given"])
    columns = [random.integers(0, card, rows) for card in cards]
    copied = random.random(rows) < [0.0, 0.15, 0.4][case["seed"] % 3]
    columns[1] = np.where(copied, columns[0] % cards[1], columns[1])
    return coded_table(np.stack(columns, axis=1), names=[f"c{column}" for column in range(2 + case["given"])])


@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: f"seed {case['seed']}")
def test_the_p_values_agree(case: dict[str, Any]) -> None:
    """G² and χ² give causal-learn's p, and G² pgmpy's statistic but for two habits of its own.

    pgmpy leaves out whole strata in which a level is missing, and corrects tables of two by two for continuity.
    """
    rows = drawn(case)
    asked = ("c0", "c1", rows.names[2:])
    adjusted = GSquare(rows, reliability="none").verdict(*asked)

    assert adjusted.p == pytest.approx(case["causal_learn_gsq"], rel=1e-6, abs=1e-300)
    assert ChiSquare(rows, reliability="none").verdict(*asked).p == pytest.approx(
        case["causal_learn_chisq"], rel=1e-6, abs=1e-300
    )
    statistic, _, dof = case["pgmpy_gsq"]
    if dof == adjusted.dof and rows.cards[:2].tolist() != [2, 2]:
        assert adjusted.statistic == pytest.approx(statistic, rel=1e-6)
