"""The choice of a learner by the source: whom "auto" takes, and how the part says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from apsl_backends.engines import opener
from apsl_backends.independence.count_tests import ChiSquare
from apsl_rules import Dag, compare, learn, learn_many, network
from apsl_rules.data import coded_table
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.knowledge import Knowledge
from apsl_rules.learning.api import learn_graph
from support.counted import table_counts

TABLE = "the source is a table, read as discrete columns"
MIXED = "the source is a table with numbers"
ROWS = sample(network("cancer"), 400, seed=3)
HOLES = pd.DataFrame({"a": ["x", None, "y", "y"] * 30, "b": ["u", "v", "v", "u"] * 30})
NUMBERS = pd.DataFrame(np.random.default_rng(1).normal(size=(50, 2)), columns=["a", "b"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "target", "settings", "learner", "why"),
    [
        (ROWS, "Cancer", {}, "apsl-score", TABLE),
        (ROWS, "Cancer", {"knowledge": Knowledge()}, "apsl-score", TABLE),
        (NUMBERS, "a", {}, "apsl-mixed", MIXED),
        (ROWS, "Cancer", {"max_tests": 1000}, "apsl-score", TABLE),
        (ROWS, "Cancer", {"knowledge": Knowledge(tiers=(("Smoker",), ("Cancer",)))}, "apsl-score", TABLE),
        (ROWS, "Cancer", {"counts": "duckdb"}, "apsl-score", TABLE),
        (table_counts(ROWS), "Cancer", {}, "apsl-score", TABLE),
        (HOLES, "a", {"missing": "testwise"}, "apsl-score", TABLE),
        (NUMBERS, "a", {"counts": "duckdb"}, "apsl-mixed", MIXED),
        (NUMBERS, "a", {"oracle": "fisherz"}, "apsl-mixed", MIXED),
        (NUMBERS, "a", {"oracle": "gsquare"}, "apsl-score", TABLE),
        (NUMBERS, "a", {"discretize": "quantile:3"}, "apsl-score", TABLE),
        (ChiSquare(ROWS), "Cancer", {}, "apsl", "the source is an oracle itself"),
    ],
)
def test_the_source_decides(source: Any, target: str, settings: dict[str, Any], learner: str, why: str) -> None:
    """Scores refine parts of tables, by counts or moments, whatever else is asked; else tests do. The part says why."""
    part = learn(source, target, learner="auto", **settings, hidden="excluded")
    assert part.learner == learner
    assert part.notes[0] == f"learner 'auto' chose {learner!r}: {why}"
    assert part.rows() == learn(source, target, learner=learner, **settings, hidden="excluded").rows()


def test_perfect_answers_leave_nothing_to_choose() -> None:
    """From a known graph tests alone are exact, so there is no choice to explain, with limits or without."""
    for source, target in ((network("cancer"), "Cancer"), (Dag({"a": [], "b": ["a"]}), "a")):
        for most in (None, 1000):
            part = learn(source, target, max_tests=most, hidden="excluded")
            assert (part.learner, part.notes) == ("apsl", ())


def test_the_source_decides_by_default() -> None:
    """Whoever names no learner gets the one that the source decides on."""
    part = learn(ROWS, "Cancer", hidden="excluded")
    assert part.notes[0].startswith("learner 'auto' chose 'apsl-score'")
    assert part.rows() == learn(ROWS, "Cancer", learner="auto", hidden="excluded").rows()


def test_a_file_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is opened before the learner is chosen, and not read again."""
    path = tmp_path / "holes.csv"
    HOLES.to_csv(path, index=False)
    opened: list[type] = []

    def watched(source: Any, encoding: Any) -> Any:
        opened.append(type(source))
        return read(source, encoding)

    read = opener._read  # noqa: SLF001 - to count the readings
    monkeypatch.setattr(opener, "_read", watched)
    part = learn(path, "a", missing="testwise", hidden="excluded")
    assert (part.learner, opened) == ("apsl-score", [type(path)])


def test_whole_graphs_are_left_to_the_source_too() -> None:
    """The learner of a whole graph is chosen in the same way."""
    assert learn_graph(ROWS, learner="auto", hidden="excluded").learner == "apsl-score"
    assert learn_graph(network("cancer"), learner="auto").learner == "apsl"


def test_each_choice_tests_at_its_own_level() -> None:
    """The tests are made at the level of the learner that is chosen, or at the one given."""
    for source, name in ((ROWS, "apsl-score"), (network("cancer"), "apsl")):
        part = learn(source, "Cancer", learner="auto", hidden="excluded")
        alone = learn(source, "Cancer", learner=name, hidden="excluded")
        assert part.settings == alone.settings
    assert learn(ROWS, "Cancer", learner="auto", alpha=0.2, hidden="excluded").settings["alpha"] == 0.2


def test_parts_of_whole_graphs_and_of_many_targets_say_what_was_chosen() -> None:
    """The choice is made once for all parts, and each of them names it; a known graph leaves nothing to choose."""
    note = f"learner 'auto' chose 'apsl-score': {TABLE}"
    assert learn_graph(ROWS, hidden="excluded").notes[0] == note
    assert {part.notes[0] for part in learn_many(ROWS, ["Cancer", "Xray"], hidden="excluded").values()} == {note}
    assert learn_many(HOLES, ["a"], missing="testwise", hidden="excluded")["a"].notes[0] == note
    assert learn_graph(network("cancer")).notes == ()


def test_the_choice_is_compared_with_others() -> None:
    """What the source decides on can stand beside learners by name, under its own."""
    compared = compare(ROWS, "Cancer", learners=["auto", "apsl", "apsl-score"])
    assert list(compared.parts) == ["auto", "apsl", "apsl-score"]
    assert compared.parts["auto"].rows() == compared.parts["apsl-score"].rows()


def test_an_oracle_stays_the_one_that_is_asked() -> None:
    """An oracle over a table is not replaced by another one."""
    oracle = ChiSquare(coded_table(HOLES, missing="testwise"), alpha=0.2)
    assert learn(oracle, "a", hidden="excluded").oracle == "chisquare"
    assert learn_graph(oracle, hidden="excluded").parts[0].oracle == "chisquare"
