"""``apsl stability`` on files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from apsl_rules.parts import load_part
from support.terminal import apsl_here

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def csv(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Draw a table into a file."""
    path = str(tmp_path_factory.mktemp("data") / "cancer.csv")
    assert apsl_here("simulate", "cancer", "-n", "20000", "--seed", "1", "-o", path).code == 0
    return path


def test_a_table_is_printed_and_the_part_saved(csv: str, tmp_path: Path) -> None:
    """A row for each edge, a line with the run's facts, and a part file with the support of its marks."""
    out = tmp_path / "part.json"

    done = apsl_here(
        "stability", csv, "-t", "Cancer", "--resamples", "5", "--seed", "1", "--threads", "2", "--out", str(out)
    )

    assert done.code == 0
    assert done.err == f"wrote {out}: the part around Cancer, with the support of its marks\n"
    assert done.out.splitlines()[0].split()[:5] == ["source", "target", "mark", "support", "edge"]
    assert "5 resamples, seed 1, learner apsl" in done.out
    assert load_part(out).support


def test_json_has_the_same_figures(csv: str) -> None:
    """``--json`` prints the rows with the number of resamples and the seed."""
    done = apsl_here("stability", csv, "-t", "Cancer", "--resamples", "3", "--json")

    data = json.loads(done.out)

    assert (data["resamples"], data["seed"], data["incomplete"]) == (3, 0, None)
    assert {frozenset((row["source"], row["target"])) for row in data["edges"]} >= {frozenset(("Cancer", "Xray"))}


def test_a_limit_exits_with_two_and_mistakes_with_one(csv: str) -> None:
    """What was counted by then is printed; a network has no rows and a target is needed."""
    stopped = apsl_here("stability", csv, "-t", "Cancer", "--resamples", "5", "--max-tests", "1")
    network = apsl_here("stability", "cancer", "-t", "Cancer")
    nobody = apsl_here("stability", csv)

    assert (stopped.code, network.code, nobody.code) == (2, 1, 1)
    assert "incomplete: 0 of 5 resamples counted" in stopped.out
    assert "a Network has none" in network.err
    assert "needs a target" in nobody.err
