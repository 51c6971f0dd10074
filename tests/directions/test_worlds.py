"""What is thought of hidden causes where nobody says: it depends on the source and on the learner."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from apsl_rules import Dag, compare, effect, learn, learn_graph, learn_many, network, stability
from apsl_rules.graphs.networks import sample
from apsl_rules.learning import blanket
from apsl_rules.learning.api import blanket_of
from apsl_rules.oracles import Oracle
from support.databases import mixed_frame
from support.terminal import apsl_here

KNOWN = {
    "possible": "ommon causes may be missing",
    "excluded": "rrows assume that no common cause is missing",
    "allowed": "ommon causes may be hidden, and the marks show where",
}


def rows(size: int = 600, seed: int = 4) -> pd.DataFrame:
    """Return a table of asia."""
    drawn = sample(network("asia"), size, seed=seed)
    columns = zip(drawn.names, drawn.levels, drawn.codes, strict=True)
    return pd.DataFrame({name: np.array(levels)[codes] for name, levels, codes in columns})


@pytest.mark.parametrize(
    ("settings", "world"),
    [
        ({}, "possible"),
        ({"hidden": "auto"}, "possible"),
        ({"hidden": "excluded"}, "excluded"),
        ({"learner": "apsl-score"}, "excluded"),
        ({"learner": "apsl"}, "excluded"),
        ({"learner": "apsl-score", "hidden": "possible"}, "possible"),
        ({"learner": "apsl-hidden"}, "allowed"),
        ({"hidden": "allowed"}, "allowed"),
    ],
)
def test_a_table_is_open_where_the_learner_is_left_to_us(settings: dict[str, Any], world: str) -> None:
    """The part says in which world it was drawn, and its summary in one clause."""
    part = learn(rows(), "either", **settings)
    assert part.settings["hidden"] == world
    assert KNOWN[world] in part.summary()


def test_known_graphs_and_oracles_are_closed() -> None:
    """Their answers are perfect, or their own, so that arrows follow from them."""
    dag = Dag({"a": [], "b": [], "c": ["a", "b"]})
    assert learn(dag, "c").arrows == {("a", "c"), ("b", "c")}
    given = network("asia")
    assert learn(given, "dysp").arrows == learn(given, "dysp", hidden="excluded").arrows

    class Asked(Oracle):
        """An oracle of one's own, with a table behind it."""

        nodes = dag.nodes
        alpha = 0.05
        name = "asked"

        def verdict(self, x: Any, y: Any, given: Any = ()) -> Any:
            from apsl_rules.evidence import Verdict

            decision: Any = "independent" if {x, y} == {"a", "b"} and not given else "dependent"
            return Verdict(x, y, tuple(given), decision, "asked", p=0.5 if decision == "independent" else 0.001)

    assert learn(Asked(), "c").arrows == {("a", "c"), ("b", "c")}


def test_every_way_to_learn_from_a_table_follows() -> None:
    """Many parts, the whole graph and stability are drawn as one part is; learners that are compared are closed."""
    frame = rows()
    one = learn(frame, "either", depth=2)
    assert learn_many(frame, ["either"], depth=2)["either"].arrows == one.arrows
    assert learn_graph(frame).parts[0].settings["hidden"] == "possible"
    assert stability(frame, "either", resamples=1).part.settings["hidden"] == "possible"
    compared = compare(frame, "either", learners=["auto", "apsl"])
    assert {part.settings["hidden"] for part in compared.parts.values()} == {"excluded"}


def test_an_effect_rests_on_the_same_world() -> None:
    """Without knowledge no shape of a column decides an effect; with it the effect is one."""
    frame = mixed_frame(400, 3)
    closed = effect(frame, "dose", "pain", hidden="excluded")
    open_world = effect(frame, "dose", "pain")
    assert open_world.part.settings["hidden"] == "possible"
    assert closed.part.settings["hidden"] == "excluded"


def test_a_blanket_holds_the_spouses_whose_arrows_are_not_drawn() -> None:
    """Independence tells the members of a blanket, whatever may be drawn."""
    frame = rows(2000, 2)
    part = learn(frame, "bronc")
    assert part.settings["hidden"] == "possible"
    assert blanket_of(part).members == blanket(frame, "bronc").members == ("dysp", "either", "smoke")


@pytest.mark.parametrize(
    ("words", "world"),
    [
        ([], "possible"),
        (["--hidden", "excluded"], "excluded"),
        (["--hidden", "possible"], "possible"),
        (["--hidden"], "allowed"),
        (["--learner", "apsl-score"], "excluded"),
    ],
)
def test_the_command_line_follows(words: list[str], world: str, tmp_path: Path) -> None:
    """A part file names the world, and --hidden without a value still means allowed."""
    frame, out = tmp_path / "rows.csv", tmp_path / "part.json"
    rows().to_csv(frame, index=False)
    done = apsl_here("learn", str(frame), "-t", "either", "--out", str(out), *words)
    assert done.code == 0, done.err
    assert json.loads(out.read_text("utf-8"))["settings"]["hidden"] == world


@pytest.mark.parametrize("engine", ["duckdb", "dask"])
def test_rows_that_stay_elsewhere_are_drawn_alike(engine: str, tmp_path: Path) -> None:
    """Distinct values are counted where the rows are, so that the default is the same part from anywhere."""
    frame = mixed_frame(400, 3)
    frame.to_parquet(tmp_path / "rows.parquet")
    here, there = learn(frame, "dose", depth=2), learn(tmp_path / "rows.parquet", "dose", depth=2, counts=engine)
    assert there.arrows == here.arrows
    assert {way: there.direction_probability(*way) for way in there.arrows} == {
        way: here.direction_probability(*way) for way in here.arrows
    }
