"""`apsl many` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from apsl_rules import network
from apsl_rules.graphs.networks.sampling import simulate
from apsl_rules.parts import load_part
from support.terminal import apsl_here

pytestmark = pytest.mark.slow


def test_many_prints_the_union_and_what_sharing_saved(tmp_path: Path) -> None:
    """`apsl many` lists the edges of all parts together, saves each part, and says how many tests were computed."""
    done = apsl_here("many", "asia", "--targets", "either,smoke", "--out", str(tmp_path / "parts"))

    assert done.code == 0
    assert "either -> xray" in done.out.splitlines()
    assert "tests computed; one target at a time takes" in done.out
    assert [load_part(tmp_path / "parts" / f"{at}.json").target for at in (1, 2)] == ["either", "smoke"]


def test_many_of_all_is_the_whole_graph() -> None:
    """With all nodes as targets every edge of the network is there, as JSON too."""
    done = json.loads(apsl_here("many", "cancer", "--targets", "all", "--json").out)

    assert {(row["source"], row["target"]) for row in done["edges"]} == network("cancer").dag.edges
    assert len(done["targets"]) == 5


def test_many_lists_the_edges_of_the_asked_parts_only(tmp_path: Path) -> None:
    """At depth 1 every edge that is listed, counted or given as JSON touches a target."""
    simulate(network("asia"), 2000, tmp_path / "clinic.csv", seed=5)
    asked = ("many", "clinic.csv", "--targets", "either,lung")
    listed = apsl_here(*asked, folder=tmp_path).out.splitlines()
    edges = [line.split() for line in listed[: listed.index("")]]
    given = json.loads(apsl_here(*asked, "--json", folder=tmp_path).out)["edges"]

    assert len(edges) == len(given) == 5
    assert any(line.startswith("5 edges from 2 parts of depth 1") for line in listed[len(edges) + 1 :])
    assert all({"either", "lung"} & {source, target} for source, _, target in edges)
    assert [(row["source"], row["target"]) for row in given] == [(source, target) for source, _, target in edges]


@pytest.mark.parametrize(("targets", "sentence"), [("", "--targets is ''"), ("eiter", "did you mean 'either'")])
def test_many_refuses_odd_targets(targets: str, sentence: str) -> None:
    """No target and an unknown one get a sentence."""
    done = apsl_here("many", "asia", "--targets", targets)

    assert done.code == 1
    assert sentence in done.err


def test_many_shows_both_ends_of_edges_with_hidden_causes(tmp_path: Path) -> None:
    """Edges that are open, that may be no causes, and those of a hidden cause have signs of their own."""
    random = np.random.default_rng(1)
    hidden, c, d = random.random((3, 20_000)) < 0.5
    a, b = (random.random(20_000) < 0.1 + 0.4 * hidden + 0.4 * cause for cause in (c, d))
    frame = pd.DataFrame({"A": a, "B": b, "C": c, "D": d}).astype(str)
    frame.to_csv(tmp_path / "hidden.csv", index=False)
    done = apsl_here("many", "hidden.csv", "--targets", "A,B", "--hidden", folder=tmp_path)
    assert done.code == 0
    assert "A <-> B" in done.out.splitlines()
    assert "C o-> A" in done.out.splitlines()
