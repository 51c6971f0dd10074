"""`apsl score` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from apsl_rules import learn, network, score
from support.terminal import apsl_here

pytestmark = pytest.mark.slow


@pytest.fixture
def part_file(tmp_path: Path) -> Path:
    """Save a part of CHILD with arrows and lines."""
    learn(network("child"), "Disease", depth=2).save(tmp_path / "part.json")
    return tmp_path / "part.json"


def test_a_saved_part_is_scored(part_file: Path) -> None:
    """With perfect answers the part is what data can tell: no wrong edge, but lines where the DAG has arrows."""
    exact = apsl_here("score", str(part_file), "--truth", "child")
    harsh = apsl_here("score", str(part_file), "--truth", "child", "--against", "dag")

    assert (exact.code, exact.err) == (0, "")
    assert exact.words.startswith(
        "apsl around Disease to depth 2, against the CPDAG: 19 correct, 19 predicted, 19 true "
        "marks: precision 1.000, recall 1.000, F1 1.000, distance 0.000 "
    )
    assert harsh.words.endswith(
        "wrong edges: SHD 11, 0 reversed, 0 missing, 0 extra, 11 undirected, 0 falsely directed"
    )


def test_json_has_the_row(part_file: Path) -> None:
    """The row is that of `score`; an extension goes by the columns as the table has them."""
    child = network("child")
    part = learn(child, "Disease", depth=2)
    done = apsl_here("score", str(part_file), "--truth", "child", "--against", "dag", "--scored", "extension", "--json")
    expected = score(part, child, against="dag", scored="extension", columns=child.dag.nodes).as_row()

    about = {"target": "Disease", "depth": 2, "learner": "apsl", "truth": "child"}
    assert json.loads(done.out) == {**about, **expected}


def test_mistakes_get_one_sentence(part_file: Path) -> None:
    """No truth, another network, a table as truth, no part file."""
    table = part_file.with_name("table.csv")
    table.write_text("a,b\n0,1\n1,0\n", "utf-8")
    said = [
        apsl_here("score", str(part_file)),
        apsl_here("score", str(part_file), "--truth", "asia"),
        apsl_here("score", str(part_file), "--truth", str(table)),
        apsl_here("score", str(part_file.with_name("none.json")), "--truth", "child"),
    ]

    assert [done.code for done in said] == [1, 1, 1, 1]
    assert "missing option '--truth'" in said[0].err
    assert said[1].err.startswith("apsl: what was learned and the true graph must have the same nodes, but only what")
    assert "is a table; scoring needs a known network" in said[2].err
    assert said[3].err.startswith("apsl: cannot read the part file")
