"""The choice of a learner by the source: whom "auto" takes, and how the part says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from apsl_backends.counting import choose as opening
from apsl_backends.counting.table_counts import TableCounts
from apsl_backends.independence.chi_square import ChiSquare
from apsl_rules import compare, known_dag, learn, learn_many, network, stability
from apsl_rules.data import table
from apsl_rules.data.table import Table
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.learning import choose as choosing
from apsl_rules.learning.whole_graph import learn_graph
from apsl_rules.rules.knowledge import Knowledge

ROWS = sample(network("cancer"), 400, seed=3)
HOLES = pd.DataFrame({"a": ["x", None, "y", "y"] * 30, "b": ["u", "v", "v", "u"] * 30})
NUMBERS = pd.DataFrame(np.random.default_rng(1).normal(size=(50, 2)), columns=["a", "b"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "target", "settings", "learner", "why"),
    [
        (ROWS, "Cancer", {}, "apsl-score", "the source is a table, read as discrete columns"),
        (ROWS, "Cancer", {"knowledge": Knowledge()}, "apsl-score", "the source is a table, read as discrete columns"),
        (NUMBERS, "a", {}, "apsl-score", "the source is a table, read as discrete columns"),
        (ROWS, "Cancer", {"max_tests": 1000}, "apsl", "the run is limited"),
        (ROWS, "Cancer", {"knowledge": Knowledge(tiers=(("Smoker",), ("Cancer",)))}, "apsl", "knowledge is given"),
        (ROWS, "Cancer", {"counts": "duckdb"}, "apsl", "the table is not counted in memory"),
        (TableCounts(ROWS), "Cancer", {}, "apsl", "the table is not counted in memory"),
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


def test_perfect_answers_leave_nothing_to_choose() -> None:
    """From a known graph tests alone are exact, so there is no choice to explain, with limits or without."""
    for source, target in ((network("cancer"), "Cancer"), (known_dag({"a": [], "b": ["a"]}), "a")):
        for most in (None, 1000):
            part = learn(source, target, max_tests=most)
            assert (part.learner, part.notes) == ("apsl", ())


def test_the_source_decides_by_default() -> None:
    """Whoever names no learner gets the one that the source decides on."""
    part = learn(ROWS, "Cancer")
    assert part.notes[0].startswith("learner 'auto' chose 'apsl-score'")
    assert part.rows() == learn(ROWS, "Cancer", learner="auto").rows()


def test_a_file_that_is_unfit_for_scores_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file with holes is opened for scores and then left to tests, but not read again."""
    path = tmp_path / "holes.csv"
    HOLES.to_csv(path, index=False)
    opened: list[type] = []
    encoded = opening._encode  # noqa: SLF001 - where every table in memory comes from

    def watched(source: Any, encoding: Any) -> Any:
        opened.append(type(source))
        return encoded(source, encoding)

    monkeypatch.setattr(opening, "_encode", watched)
    part = learn(path, "a", missing="testwise")
    assert (part.learner, opened) == ("apsl", [type(path), Table])
    assert part.rows() == learn(path, "a", missing="testwise", learner="apsl").rows()


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


def test_parts_of_whole_graphs_and_of_many_targets_say_what_was_chosen() -> None:
    """The choice is made once for all parts, and each of them names it; a known graph leaves nothing to choose."""
    note = "learner 'auto' chose 'apsl-score': the source is a table, read as discrete columns"
    assert learn_graph(ROWS).notes[0] == note
    assert {part.notes[0] for part in learn_many(ROWS, ["Cancer", "Xray"]).values()} == {note}
    assert (
        learn_many(HOLES, ["a"], missing="testwise")["a"].notes[0] == "learner 'auto' chose 'apsl': values are missing"
    )
    assert learn_graph(network("cancer")).notes == ()


def test_resamples_have_the_learner_of_the_part() -> None:
    """A resample without the one row that has a hole is learned by tests all the same."""
    column: Any = ["x", None, *(["y", "x"] * 59)]
    holed = HOLES.assign(a=column)
    found = stability(holed, "a", resamples=8, seed=1, missing="testwise")
    same = stability(holed, "a", resamples=8, seed=1, missing="testwise", learner="apsl")
    assert found.part.learner == "apsl"
    assert found.rows() == same.rows()


def test_tables_too_large_for_a_search_are_left_to_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond some rows or columns the default does not search by scores."""
    for limit in ("MOST_ROWS", "MOST_COLUMNS"):
        with monkeypatch.context() as patched:
            patched.setattr(choosing, limit, 2)
            part = learn(ROWS, "Cancer")
        assert part.notes[0] == "learner 'auto' chose 'apsl': the table is too large to search by scores"


def test_the_choice_is_compared_with_others() -> None:
    """What the source decides on can stand beside learners by name, under its own."""
    compared = compare(ROWS, "Cancer", learners=["auto", "apsl", "apsl-score"])
    assert list(compared.parts) == ["auto", "apsl", "apsl-score"]
    assert compared.parts["auto"].rows() == compared.parts["apsl-score"].rows()


def test_an_oracle_stays_the_one_that_is_asked() -> None:
    """An oracle over a table with holes is unfit for scores, but it is not replaced by another one."""
    oracle = ChiSquare(table(HOLES, missing="testwise"), alpha=0.2)
    assert learn(oracle, "a").oracle == "chisquare"
    assert learn_graph(oracle).parts[0].oracle == "chisquare"
