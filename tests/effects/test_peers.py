"""Effects beside those of other packages: pcalg's published test cases, and pgmpy's adjustment formula."""

from __future__ import annotations

from random import Random

import numpy as np
import pandas as pd
import pytest

from apsl_backends.independence.d_separation import DSeparation
from apsl_rules import Dag, effect, learn
from apsl_rules.effects import neighbourhood_of
from apsl_rules.names import Node
from support.graphs import random_dag
from support.population import PopulationMoments

pytestmark = pytest.mark.slow

#: The weighted graph of pcalg's tests/test_jointIda.R (CRAN, GPL; only its numbers are used here).
PCALG: dict[tuple[Node, Node], float] = {
    ("1", "3"): 1.1,
    ("1", "4"): 0.3,
    ("2", "6"): 0.4,
    ("3", "2"): 0.6,
    ("3", "4"): 0.8,
    ("3", "6"): 0.9,
    ("4", "2"): 0.5,
    ("5", "1"): 0.2,
    ("5", "4"): 0.7,
}
PCALG_DAG = Dag({node: [tail for tail, head in PCALG if head == node] for node in "123456"})


def test_the_parent_sets_of_pcalg() -> None:
    """Node 1 can have the parents {}, {3} or {5}, and node 2 has {3, 4}, as pcalg's test lists them."""
    oracle = DSeparation(PCALG_DAG)
    found = {
        node: sorted(one.parents for one in neighbourhood_of(learn(oracle, node), node).orientations())
        for node in ("1", "2")
    }

    assert found == {"1": [(), ("3",), ("5",)], "2": [("3", "4")]}


def test_the_effects_of_pcalg() -> None:
    """The effects of 1 on 6 are those of the three parent sets, worked out by hand; that of 2 on 6 is 0.4."""
    oracle, moments = DSeparation(PCALG_DAG), PopulationMoments(PCALG_DAG, PCALG)
    of_one = effect(learn(oracle, "1"), "1", "6", data=moments)
    of_two = effect(learn(oracle, "2"), "2", "6", data=moments)
    through = 1.1 * (0.9 + 0.6 * 0.4 + 0.8 * 0.5 * 0.4) + 0.3 * 0.5 * 0.4
    behind = 0.7 * 0.5 * 0.4 * 0.2 / 1.04  # by way of 5, where that is not held

    assert of_one.values_of(of_one.main) == pytest.approx([0.3 * 0.5 * 0.4 + behind, through, through + behind])
    assert of_two.values_of(of_two.main) == pytest.approx([0.4])


def test_the_true_effect_is_among_the_possible_ones() -> None:
    """As in pcalg's tests/test_ida.R: a hundred random graphs and pairs, with their exact covariance."""
    random, missed = Random(123), 0
    for number in range(100):
        dag = random_dag(number, random.randint(3, 16), 2.0)
        x, y = random.sample(dag.nodes, 2)
        moments = PopulationMoments(dag, number)
        found = effect(learn(DSeparation(dag), x), x, y, data=moments)
        missed += not np.isclose(found.values_of(found.main), moments.true_effect(x, y), rtol=0, atol=1e-10).any()

    assert missed == 0


@pytest.mark.release
@pytest.mark.filterwarnings("ignore")  # pgmpy's own
def test_categories_are_those_of_pgmpy() -> None:
    """P(t | do(x)) by pgmpy's causal inference on the fitted network is ours to 1e-8, for every level."""
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.inference import CausalInference
    from pgmpy.models import DiscreteBayesianNetwork

    rng = np.random.default_rng(3)
    z = rng.integers(0, 3, 4000)
    x = (rng.random(4000) < 0.2 + 0.2 * z).astype(int) + (rng.random(4000) < 0.3)
    t = (rng.random(4000) < 0.1 + 0.15 * x + 0.15 * z).astype(int)
    frame = pd.DataFrame({"z": z, "x": x, "t": t}).astype(str)
    (one,) = effect(Dag({"z": [], "x": ["z"], "t": ["x", "z"]}), "x", "t", data=frame).possible
    counts = np.zeros((3, 3, 2))
    np.add.at(counts, (z, x, t), 1)
    model = DiscreteBayesianNetwork([("z", "x"), ("z", "t"), ("x", "t")])
    of_t = (counts / counts.sum(axis=2, keepdims=True)).reshape(9, 2).T
    of_x = (counts.sum(axis=2) / counts.sum(axis=(1, 2))[:, None]).T
    model.add_cpds(
        TabularCPD("z", 3, (counts.sum(axis=(1, 2)) / 4000)[:, None]),
        TabularCPD("x", 3, of_x, ["z"], [3]),
        TabularCPD("t", 2, of_t, ["z", "x"], [3, 3]),
    )
    inference = CausalInference(model)

    assert one.estimates is not None
    for level, row in one.estimates.distribution.items():
        theirs = inference.query(["t"], do={"x": int(level)}, adjustment_set={"z"}, show_progress=False)
        ours = [row[outcome].estimate for outcome in ("0", "1")]
        assert ours == pytest.approx([theirs.get_value(t=0), theirs.get_value(t=1)], abs=1e-8)
