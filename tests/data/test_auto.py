"""The choice of a learner by the source: whom "auto" takes, and how the part says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from apsl_rules import known_dag, learn, network
from apsl_rules.graph_learning import learn_graph
from apsl_rules.knowledge import Knowledge
from apsl_rules.sampling import sample

ROWS = sample(network("cancer"), 400, seed=3)
HOLES = pd.DataFrame({"a": ["x", None, "y", "y"] * 30, "b": ["u", "v", "v", "u"] * 30})
NUMBERS = pd.DataFrame(np.random.default_rng(1).normal(size=(50, 2)), columns=["a", "b"])


@pytest.mark.parametrize(
    ("source", "target", "settings", "learner", "why"),
    [
        (ROWS, "Cancer", {}, "apsl-score", "the source is a table of discrete columns"),
        (ROWS, "Cancer", {"max_tests": 1000}, "apsl", "the run is limited"),
        (ROWS, "Cancer", {"knowledge": Knowledge(tiers=(("Smoker",), ("Cancer",)))}, "apsl", "knowledge is given"),
        (network("cancer"), "Cancer", {}, "apsl", "the answers are perfect"),
        (known_dag({"a": [], "b": ["a"]}), "a", {}, "apsl", "the answers are perfect"),
        (HOLES, "a", {"missing": "testwise"}, "apsl", "values are missing"),
        (NUMBERS, "a", {"oracle": "fisherz"}, "apsl", "the source has no table of discrete columns"),
    ],
)
def test_the_source_decides(source: Any, target: str, settings: dict[str, Any], learner: str, why: str) -> None:
    """Scores refine parts from complete tables of discrete columns; all else is left to tests. The part says why."""
    part = learn(source, target, learner="auto", **settings)
    assert part.learner == learner
    assert part.notes[0] == f"learner 'auto' chose {learner!r}: {why}"
    assert part.rows() == learn(source, target, learner=learner, **settings).rows()


def test_whole_graphs_are_left_to_the_source_too() -> None:
    """The learner of a whole graph is chosen in the same way."""
    assert learn_graph(ROWS, learner="auto").learner == "apsl-score"
    assert learn_graph(network("cancer"), learner="auto").learner == "apsl"


def test_each_choice_tests_at_its_own_level() -> None:
    """The tests are made at the level of the learner that is chosen, or at the one given."""
    for source, name in ((ROWS, "apsl-score"), (network("cancer"), "apsl")):
        part = learn(source, "Cancer", learner="auto")
        alone = learn(source, "Cancer", learner=name)
        assert part.settings == alone.settings
    assert learn(ROWS, "Cancer", learner="auto", alpha=0.2).settings["alpha"] == 0.2
