"""`apsl many` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from apsl_rules import load_part, network
from terminal import apsl


def test_many_prints_the_union_and_what_sharing_saved(tmp_path: Path) -> None:
    """`apsl many` lists the edges of all parts together, saves each part, and says how many tests were computed."""
    done = apsl("many", "asia", "--targets", "either,smoke", "--out", str(tmp_path / "parts"))

    assert done.code == 0
    assert "either -> xray" in done.out.splitlines()
    assert "tests computed; one by one it would be" in done.out
    assert [load_part(tmp_path / "parts" / f"{at}.json").target for at in (1, 2)] == ["either", "smoke"]


def test_many_of_all_is_the_whole_graph() -> None:
    """With all nodes as targets every edge of the network is there, as JSON too."""
    done = json.loads(apsl("many", "cancer", "--targets", "all", "--json").out)

    assert {(row["source"], row["target"]) for row in done["edges"]} == network("cancer").dag.edges
    assert len(done["targets"]) == 5


@pytest.mark.parametrize("targets", ["", "eiter"])
def test_many_refuses_odd_targets(targets: str) -> None:
    """No target and an unknown one get a sentence."""
    done = apsl("many", "asia", "--targets", targets)

    assert done.code == 1
    assert "--targets is ''" in done.err or "did you mean 'either'" in done.err
