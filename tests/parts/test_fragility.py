"""How little it takes for an arrow to fall."""

from __future__ import annotations

import numpy as np
import pandas as pd

from apsl_rules import Dag, learn, network
from apsl_rules.graphs.networks import sample

COLLIDER = Dag({"a": [], "b": [], "t": ["a", "b"]})


def test_tests_tell_the_alpha() -> None:
    """With the figures of its tests an arrow falls exactly beyond the alphas that are told."""
    rows = sample(network("asia"), 3000, seed=2)
    part = learn(rows, "either", learner="apsl", alpha=0.01)
    found = part.fragile()

    assert {(one.tail, one.head) for one in found} == part.arrows
    for one in found:
        assert one.lead is None
        assert one.alpha_below is not None
        assert one.alpha_above is not None
        assert one.alpha_below <= 0.01 < one.alpha_above


def test_an_arrow_falls_at_the_alpha_that_is_told() -> None:
    """Just below the alpha the V-structure is found, just above it is not."""
    rng = np.random.default_rng(8)
    a, b = rng.random(400) < 0.5, rng.random(400) < 0.5
    rows = pd.DataFrame({"a": a, "b": b, "t": (a | b) ^ (rng.random(400) < 0.1)}).astype(str)
    one = learn(rows, "t", learner="apsl", alpha=0.01).fragile()[0]

    assert one.alpha_above is not None
    assert learn(rows, "t", learner="apsl", alpha=one.alpha_above * 0.99).arrows == {("a", "t"), ("b", "t")}
    assert learn(rows, "t", learner="apsl", alpha=min(0.999, one.alpha_above * 1.01)).arrows == frozenset()


def test_scores_tell_the_lead() -> None:
    """Arrows of the default learner have the lead of their weakest finding, the weakest arrow first."""
    found = learn(sample(network("asia"), 3000, seed=2), "either", hidden="excluded").fragile()

    assert [one.strength for one in found] == sorted(one.strength for one in found)
    assert all(one.lead is not None and one.lead > 0 for one in found)
    assert "nats" in str(found[0])


def test_a_known_graph_does_not_fall() -> None:
    """Without figures nothing takes an arrow away."""
    found = learn(COLLIDER, "t", hidden="excluded").fragile()

    assert [str(one) for one in found] == [
        "a -> t falls never: its proof has no figure",
        "b -> t falls never: its proof has no figure",
    ]
    assert found[0].to_dict()["alpha_below"] is None
