"""Environments and interventions in a run: what they orient, how the proofs say so, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from apsl_rules import Dag, Knowledge, Part, blanket, learn, learn_graph, learn_many, load, stability, table
from apsl_rules.errors import ApslError
from apsl_rules.evidence import ENVIRONMENTS
from apsl_rules.rules import Mark, adjacent, arrow
from support.terminal import apsl_here


def sites(seed: int, change: str = "spread", rows: int = 3000) -> pd.DataFrame:
    """Return a chain a -> b -> c -> d with a change of how b is made between two sites."""
    random = np.random.default_rng(seed)
    site = random.choice(["north", "south"], rows)
    south = site == "south"
    a = random.normal(size=rows)
    slope = np.where(south, -0.5, 0.8) if change == "slopes" else 0.8
    noise = random.normal(size=rows) * (1 + south if change == "spread" else 1)
    b = slope * a + noise + (0.8 * south if change == "shift" else 0)
    c = 0.8 * b + random.normal(size=rows)
    d = 0.7 * c + random.normal(size=rows)
    return pd.DataFrame({"site": site, "a": a, "b": b, "c": c, "d": d})


@pytest.mark.parametrize("change", ["shift", "spread", "slopes"])
def test_a_change_orients_the_chain_that_independence_cannot(change: str) -> None:
    """Without the column nothing of the chain is known; with it all of it is, whatever changed."""
    rows = sites(7, change)
    plain = learn(rows.drop(columns="site"), "c", depth="max", hidden="excluded", min_direction=0)
    part = learn(rows, "c", depth="max", hidden="excluded", environment="site")

    assert not {("a", "b"), ("b", "c"), ("c", "d")} <= plain.arrows
    assert {("site", "b"), ("a", "b"), ("b", "c"), ("c", "d")} <= part.arrows
    assert part.mark("site", "c") is Mark.GAP or ("site", "c") not in part.arrows


def test_proofs_say_what_only_an_environment_tells() -> None:
    """The arrows downstream of a change hold although causes may be hidden, and their proofs name the environment."""
    part = learn(sites(7), "c", depth=2, environment="site")

    assert {("site", "b"), ("b", "c"), ("c", "d")} <= part.arrows
    assert ("a", "b") not in part.arrows  # a common cause could be hidden
    proof = str(part.why("b", "c"))
    assert "only site tells" in proof
    assert "site ⊥ c | b (change = " in proof
    told = [one for one in part.findings if one.evidence.source == ENVIRONMENTS]
    assert {one.fact for one in told} >= {arrow.fact("b", "c"), adjacent.fact("site", "b")}


def test_a_part_with_environments_is_saved_and_derived_again(tmp_path: Path) -> None:
    """The file has the findings, and its conclusions follow from them."""
    part = learn(sites(7), "c", depth=2, environment="site")
    part.save(tmp_path / "part.json")
    again = load(tmp_path / "part.json")

    assert isinstance(again, Part)
    assert (again.arrows, again.lines) == (part.arrows, part.lines)
    assert apsl_here("verify", str(tmp_path / "part.json")).code == 0


def test_where_nothing_changed_nothing_is_told() -> None:
    """No edge leaves the environment, and no arrow rests on it."""
    for seed in range(3):
        graph = learn_graph(sites(seed, "nothing", 1500), environment=["site"])
        assert not [one for one in graph.arrows if one[0] == "site"]


def test_interventions_act_on_what_they_are_said_to() -> None:
    """The targets are given; a target without any effect, and a change nobody spoke of, are named in notes."""
    right = learn(sites(7), "c", depth=2, interventions={"site": ["b"]})
    wrong = learn(sites(7), "c", depth=2, interventions={"site": ["d"]})

    assert {("site", "b"), ("b", "c"), ("c", "d")} <= right.arrows
    assert not [one for one in right.notes if one.code == "intervention"]
    told = " ".join(one for one in wrong.notes if one.code == "intervention")
    assert "site is said to act on d, but no test sees that it does" in told
    assert "'b' differ too between levels of site" in told


def test_categories_alone_go_by_counts() -> None:
    """A table of categories is compared by G²."""
    rows = sites(7, "shift")
    cut = {name: pd.qcut(rows[name], 3, labels=["low", "middle", "high"]) for name in "abcd"}
    part = learn(rows.assign(**cut), "c", depth=2, environment="site")

    assert ("site", "b") in part.arrows
    assert "G² = " in str(part.why("site", "b"))


def test_known_graphs_take_environments_as_what_comes_first() -> None:
    """With perfect answers an environment is knowledge: nothing points at it."""
    dag = Dag({"E": [], "a": [], "b": ["a", "E"], "c": ["b"]})

    assert learn(dag, "b", environment="E").arrows == {("E", "b"), ("a", "b"), ("b", "c")}
    chain = Dag({"E": [], "b": ["E"], "c": ["b"]})
    assert learn(chain, "c").lines
    assert learn(chain, "c", environment="E").arrows == {("b", "c")}


def test_knowledge_keeps_its_meaning_behind_environments() -> None:
    """What is in no tier still causes nothing of the first tier; environments are not joined with each other."""
    known = Knowledge(tiers=[["a"], ["b"]]).after(["E", "F"], ["a", "b", "c"])

    assert known.why_barred("c", "a") is not None
    assert known.why_barred("b", "E") is not None
    assert known.why_apart("E", "F") is not None
    assert known.why_barred("a", "c") is None


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"environment": "sit"}, "unknown column in environment 'sit'"),
        ({"environment": 3.5}, "unknown column in environment 3.5"),
        ({"environment": [["site"]]}, "give a column, such as 'month', or a list of columns"),
        ({"interventions": "site"}, "give columns with what they act on"),
        ({"interventions": {"site": "b"}}, "give a list, such as"),
        ({"interventions": {"site": ["nobody"]}}, "nobody"),
        ({"environment": ["site", "a"], "interventions": {"site": ["a"]}}, "'a' says where rows come from"),
    ],
)
def test_wrong_environments_get_a_sentence(settings: dict[str, object], words: str) -> None:
    """Each mistake is named with what to do."""
    with pytest.raises(ApslError, match=words):
        learn(sites(7, rows=200), "c", **settings)  # type: ignore[arg-type]


def test_a_number_cannot_say_where_rows_come_from_once_it_is_read() -> None:
    """A table that was read before has its kinds."""
    rows = sites(7, rows=300)
    rows["year"] = np.arange(300) % 30 + 0.5
    with pytest.raises(ApslError, match="read as a number"):
        learn(table(rows), "c", environment="year")


def test_the_command_takes_environments_and_interventions(tmp_path: Path) -> None:
    """Options name columns; the drawing has the arrow from the site."""
    path = tmp_path / "sites.csv"
    sites(7).to_csv(path, index=False)

    drawn = apsl_here("learn", str(path), "-t", "c", "--depth", "2", "--environment", "site").out
    assert "site" in drawn
    acted = apsl_here("learn", str(path), "-t", "c", "--depth", "2", "--interventions", "site=b")
    assert acted.code == 0
    wrong = apsl_here("learn", str(path), "-t", "c", "--interventions", "site")
    assert wrong.code == 1
    assert "such as 'arm=dose'" in wrong.err


def test_many_parts_resamples_and_blankets_honour_environments() -> None:
    """Each has the environment before the column that is made differently, and what it orients."""
    rows = sites(7)
    parts = learn_many(rows, ["b", "c"], environment="site")
    assert {("site", "b"), ("b", "c"), ("c", "d")} <= parts.union.arrows
    drawn = stability(rows, "b", environment="site", resamples=3).part
    assert {("site", "b"), ("b", "c")} <= drawn.arrows
    assert drawn.support[frozenset(("site", "b"))] == 1
    assert "site" in blanket(rows, "b", environment="site").members
    with pytest.raises(ApslError, match="the blanket finder 'gs' does not honour environment"):
        blanket(rows, "b", environment="site", finder="gs")
