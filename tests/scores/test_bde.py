"""The BDeu score: figures worked out elsewhere, a slow reference, and scores of learned parts with their mistakes."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apsl_backends.scores import bde as bdeu
from apsl_backends.scores.bde import BDeu
from apsl_rules import learn, network, score
from apsl_rules.data import coded_table
from apsl_rules.data.tables import Table
from apsl_rules.errors import ApslError, DataError, InvalidArgumentError, UnknownNodeError
from apsl_rules.graphs.dag import Dag
from apsl_rules.graphs.equivalence import cpdag
from apsl_rules.graphs.networks.sampling import sample
from support.graphs import all_dags
from support.scoring import coded, naive_empirical, naive_local, tables

EIGHT = coded([[0, 0, 0, 1, 1, 1, 1, 0], [0, 0, 1, 1, 1, 0, 1, 0]], "XY")


@pytest.mark.parametrize(("ess", "alone", "joined"), [(1.0, -6.841860, -7.239773), (10.0, -5.850148, -5.674254)])
def test_figures(ess: float, alone: float, joined: float) -> None:
    """Eight rows of two columns score as worked out by hand, and the same in both directions."""
    score = BDeu(EIGHT, ess=ess)
    assert score.family("X") == pytest.approx(alone, abs=1e-6)
    assert score.family("Y") == pytest.approx(alone, abs=1e-6)
    assert score.family("Y", ["X"]) == pytest.approx(joined, abs=1e-6)
    assert score.family("X", ["Y"]) == score.family("Y", ["X"])
    assert score.graph(Dag({"X": [], "Y": ["X"]})) == score.family("X") + score.family("Y", ["X"])


def test_prices() -> None:
    """With an equivalent sample size of 10 the arrow wins by 0.176 nats, and loses by 2.222 with the kappa prior."""
    for penalty, gain in ((0.0, 0.175894), ("kappa", -2.222001), ("columns", 0.175894 - np.log(2)), (0.25, -0.074106)):
        score = BDeu(EIGHT, ess=10, penalty=penalty)
        assert score.family("Y", ["X"]) - score.family("Y") == pytest.approx(gain, abs=1e-6)


@given(tables(max_columns=5, max_levels=4), st.floats(0.01, 100), st.floats(0, 5), st.data())
def test_families_agree_with_the_definition(drawn: Table, ess: float, penalty: float, data: st.DataObject) -> None:
    """The score of a family is what the definition says, summed over all configurations."""
    score = BDeu(drawn, ess=ess, penalty=penalty)
    node, *others = data.draw(st.permutations(drawn.names))
    parents = others[: data.draw(st.integers(0, len(others)))]
    expected = naive_local(drawn, node, parents, ess) - penalty * len(parents)
    assert score.family(node, parents) == pytest.approx(expected, abs=1e-7)


EMPIRICAL_WEIGHTS = st.sampled_from([0.0, 0.1, 0.5, 1.0])


@given(tables(max_columns=5, max_levels=60), st.floats(0.1, 20), st.floats(0, 5), EMPIRICAL_WEIGHTS, st.data())
def test_gains_and_joints_agree_with_families(
    drawn: Table, ess: float, penalty: float, empirical_weight: float, data: st.DataObject
) -> None:
    """Gains and differences of joint scores are exactly the differences of families, also of far too many levels."""
    score = BDeu(drawn, ess=ess, penalty=penalty, empirical_weight=empirical_weight)
    node, *rest = data.draw(st.permutations(range(len(drawn.names))))
    parents = tuple(sorted(rest[: data.draw(st.integers(0, len(rest)))]))
    others = sorted(rest[: data.draw(st.integers(0, len(rest)))])
    expected = [score.local(node, tuple(sorted({*parents} ^ {other}))) - score.local(node, parents) for other in others]
    assert score.gains(node, parents, np.array(others, np.int64)).tolist() == expected
    everyone = sorted(rest)
    wider = [score.local(node, tuple(sorted({*parents} ^ {one}))) - score.local(node, parents) for one in everyone]
    assert score.gains(node, parents, np.array(everyone, np.int64)).tolist() == wider
    joints = score.joints(tuple(range(len(drawn.names))))
    before = sum(1 << parent for parent in parents)
    assert joints[before | 1 << node] - joints[before] - score.penalty * len(parents) == score.local(node, parents)


def test_hashed_configurations() -> None:
    """Configurations beyond any array are counted all the same: 250 levels to the third power."""
    random = np.random.default_rng(5)
    drawn = coded(random.integers(0, 250, size=(4, 400)), "abcd")
    score = BDeu(drawn, ess=3)
    assert score.family("a", "bcd") == pytest.approx(naive_local(drawn, "a", "bcd", 3), abs=1e-7)
    own, fewer, more = (score.local(0, parents) for parents in ((1, 2), (2,), (1, 2, 3)))
    assert score.gains(0, (1, 2), np.array([1, 3])).tolist() == [fewer - own, more - own]


def test_many_numbers_of_configurations() -> None:
    """Terms are right when more different numbers of configurations occur than are kept, and for large counts."""
    random = np.random.default_rng(6)
    cards = np.array([2, 3, 5, 7, 11, 13, 17, 19, 23])
    drawn = coded(
        random.integers(0, cards[:, None], size=(9, 3000)) // random.integers(1, 3, size=(9, 3000)), "abcdefghi"
    )
    score = BDeu(drawn, ess=2)
    joints = score.joints(tuple(range(9)))
    for subset in (0, 1, 6, 100, 255, 300, 510):
        parents = tuple(node for node in range(1, 9) if subset & ~1 & 1 << node)
        assert joints[subset | 1] - joints[subset & ~1] == score.local(0, parents)
    for names in ("", "b", "bc", "bcdefghi"):
        assert score.family("a", names) == pytest.approx(naive_local(drawn, "a", names, 2), abs=1e-6)


def test_more_levels_than_a_byte_holds() -> None:
    """Columns of more than 256 levels are scored too."""
    drawn = coded(np.random.default_rng(5).integers(0, 400, size=(2, 500)), "ab")
    assert drawn.codes.dtype == np.uint16
    assert BDeu(drawn).family("a", "b") == pytest.approx(naive_local(drawn, "a", "b", 10), abs=1e-7)


@given(
    tables(max_columns=5, max_levels=60, max_rows=300), st.floats(0.1, 50), EMPIRICAL_WEIGHTS.filter(bool), st.data()
)
def test_empirical_families_agree_with_the_definition(
    drawn: Table, ess: float, empirical_weight: float, data: st.DataObject
) -> None:
    """With an empirical prior, each configuration weighs the product of its columns' shares."""
    score = BDeu(drawn, ess=ess, empirical_weight=empirical_weight)
    node, *others = data.draw(st.permutations(drawn.names))
    parents = others[: data.draw(st.integers(0, len(others)))]
    expected = naive_empirical(drawn, node, parents, ess, empirical_weight)
    assert score.family(node, parents) == pytest.approx(expected, abs=1e-6)


def test_empirical_figures() -> None:
    """With equal shares every weight gives the same prior; otherwise the observed shares make the data likelier."""
    for weight in (0.25, 1.0):  # both columns have four rows of each level, and a half is a whole number of steps
        score = BDeu(EIGHT, ess=10, empirical_weight=weight)
        assert score.family("Y", ["X"]) == pytest.approx(-5.674254, abs=1e-6)
    skewed = coded([[0] * 18 + [1, 1], [0] * 18 + [0, 1]], "XY")  # X: 9 in 10; Y: 19 in 20
    uniform, empirical = (BDeu(skewed, ess=4, empirical_weight=one) for one in (0.0, 1.0))
    assert uniform.family("X") == pytest.approx(-8.683272, abs=1e-6)
    assert empirical.family("X") > uniform.family("X")


def test_far_more_levels_than_rows() -> None:
    """Levels that are declared but hardly ever seen are expected as rarely as that, however many there are."""
    codes = np.random.default_rng(3).integers(0, 60_000, size=(2, 40))
    codes[:, 0] = 59_999
    drawn = coded(np.concatenate([codes, codes % 3]), "abcd")
    score = BDeu(drawn, empirical_weight=0.5)
    for node, parents in (("a", ""), ("c", "a"), ("a", "bcd"), ("d", "c")):
        assert score.family(node, parents) == pytest.approx(naive_empirical(drawn, node, parents, 10, 0.5), abs=1e-6)


@pytest.mark.parametrize("empirical_weight", [-0.1, 1.5, "half", True, float("nan")])
def test_empirical_weights_are_checked(empirical_weight: Any) -> None:
    """The empirical weight is a number from 0 to 1."""
    with pytest.raises(InvalidArgumentError, match="empirical_weight is"):
        BDeu(EIGHT, empirical_weight=empirical_weight)


@given(tables(max_columns=4, min_columns=4, max_levels=3), st.floats(0.1, 50), st.floats(0, 5), EMPIRICAL_WEIGHTS)
def test_equivalent_graphs_score_the_same(drawn: Table, ess: float, penalty: float, empirical_weight: float) -> None:
    """Graphs with the same edges and the same V-structures have exactly the same score."""
    score = BDeu(drawn, ess=ess, penalty=penalty, empirical_weight=empirical_weight)
    classes: dict[object, set[int]] = {}
    for alike, parents in _GRAPHS:
        total = sum(score.local(node, before) for node, before in enumerate(parents))
        classes.setdefault(alike, set()).add(total)
    assert all(len(totals) == 1 for totals in classes.values())


_GRAPHS = [
    ((cpdag(dag).arrows, cpdag(dag).lines), [tuple(sorted(int(str(one)) for one in before)) for before in dag.parents])
    for dag in all_dags(4)
]


@given(tables(max_columns=5, max_levels=4), st.data())
def test_the_order_of_columns_and_rows_is_of_no_account(drawn: Table, data: st.DataObject) -> None:
    """Scores by number are equal to the last bit when columns and rows are shuffled."""
    columns = data.draw(st.permutations(range(len(drawn.names))))
    rows = data.draw(st.permutations(range(drawn.rows)))
    shuffled = coded(drawn.codes[columns][:, rows], [drawn.names[at] for at in columns])
    one, other = BDeu(drawn), BDeu(shuffled)
    assert one.nodes == other.nodes
    for size in range(len(one.nodes)):
        for parents in combinations(range(1, len(one.nodes)), size):
            assert one.local(0, parents) == other.local(0, parents)


def test_order_of_columns_when_asked() -> None:
    """Nodes are numbered as the columns come when asked to."""
    drawn = coded([[0, 1], [1, 0]], "BA")
    assert BDeu(drawn).nodes == ("A", "B")
    assert BDeu(drawn, order="column").nodes == ("B", "A")


def test_constant_columns_tell_nothing() -> None:
    """A column that never varies neither gains nor loses anything."""
    drawn = coded([[0, 0, 0, 0], [0, 1, 1, 0], [1, 1, 0, 0]], "CXY")
    score = BDeu(drawn)
    assert score.family("C", ["X"]) == 0
    assert score.family("Y", ["X", "C"]) == score.family("Y", ["X"])


def test_missing_values_are_refused() -> None:
    """A column with missing values cannot be scored, and the sentence says what to do."""
    frame = pd.DataFrame({"A": ["x", None, "y"], "B": [1, 0, 1]})
    with pytest.raises(DataError, match=r"values are missing in 'A'; .* \(missing='level'\)"):
        BDeu(coded_table(frame, missing="testwise"))
    assert BDeu(coded_table(frame, missing="level")).family("A") < 0


def test_bad_settings_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings that make no sense get a sentence."""
    for ess in (0, -1, float("inf"), float("nan"), True):
        with pytest.raises(InvalidArgumentError, match="ess is"):
            BDeu(EIGHT, ess=ess)
    for penalty in (-1.0, "cheap", float("nan")):
        with pytest.raises(InvalidArgumentError, match="penalty is"):
            BDeu(EIGHT, penalty=penalty)
    score = BDeu(EIGHT)
    with pytest.raises(UnknownNodeError, match="unknown node 'Z'"):
        score.family("Z")
    with pytest.raises(InvalidArgumentError, match="other nodes"):
        score.family("X", ["X"])
    with pytest.raises(InvalidArgumentError, match="other nodes"):
        score.family("X", ["Y", "Y"])
    with pytest.raises(ApslError, match="cannot be scored"):
        BDeu(coded(np.empty((2, 0), np.int64), "XY"))
    monkeypatch.setattr(bdeu, "MOST_BYTES", 1000)
    with pytest.raises(DataError, match="working space"):
        BDeu(EIGHT)


CHILD = network("child")
ROWS = sample(CHILD, 400, seed=5)


@pytest.mark.parametrize("learner", ["apsl", "apsl-paper", "apsl-authors", "apsl-fs-paper", "mmhc"])
@pytest.mark.parametrize("depth", [1, 2])
def test_a_score_counts_what_the_part_holds(learner: str, depth: int) -> None:
    """Edges and arrows are those of the part; the extension has the same edges, keeps the arrows, leaves none open."""
    for target in ("Disease", "LungParench", "CO2Report"):
        part = learn(ROWS, target, depth=depth, learner=learner)
        marks = score(part, CHILD, against="dag")
        guess = score(part, CHILD, against="dag", scored="extension", columns=ROWS.names)

        assert (marks.predicted, marks.arrows) == (len(part.edges), len(part.arrows))
        arrows, lines = CHILD.cpdag.region(target, depth)
        asked = {edge for edge in CHILD.dag.edges if edge in arrows or frozenset(edge) in lines}
        assert marks.correct == len(part.arrows & asked)
        assert (guess.predicted, guess.adjacent, guess.arrows) == (marks.predicted, marks.adjacent, marks.predicted)
        assert guess.undirected == 0
        assert marks.correct <= guess.correct <= marks.correct + marks.undirected
