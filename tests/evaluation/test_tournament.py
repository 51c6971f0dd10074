"""The tournament: what is counted as wrong, whose figures are red, and a page that follows from what is kept."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import tournament
from arena import Contest, of_network, write
from contestant import METHODS
from standings import US, class_marks, judged, marks, of_class, page, wrong

from apsl_rules import Dag
from environments import environments

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "docs" / "tournament" / "results.json"
COLLIDER = Dag({"a": [], "b": [], "c": ["a", "b"], "d": ["c"]})
ABOUT = {"form": "quick", "versions": {"apsl_rules": "1"}, "machine": "m", "python": "3", "date": "d"}


def test_missing_extra_and_turned_edges_are_wrong() -> None:
    """A line is both ways; at one node only its own edges count; arrows alone stand for their class."""
    true = class_marks(COLLIDER)
    found = marks([["a", "c"], ["c", "b"], ["c", "d"], ["d", "c"], ["a", "d"]])

    assert true == marks([["a", "c"], ["b", "c"], ["c", "d"]])
    assert wrong(true, true) == 0
    assert wrong(found, true) == 3
    assert wrong(found, true, "b") == 1
    assert of_class([["a", "b"], ["b", "c"]], ["a", "b", "c"]) == marks(
        [["a", "b"], ["b", "a"], ["b", "c"], ["c", "b"]]
    )
    assert of_class([["a", "b"], ["b", "a"], ["b", "c"]], ["a", "b", "c"])[frozenset("bc")] == "c"


def test_known_directions_are_counted() -> None:
    """A line between columns of known order is an edge without an arrow; pairs that are not joined do not count."""
    order = frozenset({("a", "b"), ("a", "c"), ("b", "c"), ("a", "d")})
    one = Contest("t", "real", "mixed", pd.DataFrame({"a": [1.0]}), None, order)
    found = judged({"marks": [["a", "b"], ["c", "a"], ["b", "c"], ["c", "b"]], "seconds": 1.0}, one)

    assert found == {"seconds": 1.0, "edges": 3, "right": 1, "false": 1}
    assert judged({"failed": "no"}, one) == {"failed": "no"}


def test_what_others_do_better_is_red_and_counted() -> None:
    """Fewer wrong edges, a quicker search and less memory; a tie is none, and we are compared on the same tables."""

    def result(shd: int, seconds: float, peak: float) -> dict[str, Any]:
        return {"shd": shd, "shd of a part": shd / 10, "seconds": seconds, "seconds of a part": 0.5, "peak": peak}

    ours = {"child-1": result(5, 1.0, 90), "child-2": result(1, 1.0, 90)}
    theirs = {"child-1": result(5, 3.0, 200)}
    better = {"child-1": result(2, 0.5, 50), "alarm-1": {"failed": "out of time"}}
    text = page({"about": ABOUT, "methods": {US: ours, "FLOP": theirs, "pyAgrum MIIC": better}})

    assert '| Child, 20 categories | 3.0 | <span class="loss">**2.0**</span> | 5.0 |' in text
    assert "| FLOP | 3.00 | 6.0 | 200 |" in text
    assert '<span class="loss">**0.50**</span>' in text
    assert "**In 4 of 10 cells another program is better than ours.**" in text
    assert "- pyAgrum MIIC has nothing on alarm-1: `out of time`." in text


def test_the_page_follows_from_what_is_kept() -> None:
    """And every program has an environment with pinned versions."""
    stored = json.loads(KEPT.read_text("utf-8"))

    assert (ROOT / "docs" / "tournament.md").read_text("utf-8") == page(stored)
    assert set(stored["methods"]) <= set(METHODS)
    assert {environment for environment, *_ in METHODS.values()} <= set(environments())
    assert all("==" in one["requires"][0] for one in environments().values() if "requires" in one)


@pytest.mark.slow
def test_we_take_part(tmp_path: Path) -> None:
    """The script learns from a table in a process of its own, whole and around targets, and says what it cost."""
    one = of_network("asia", 1)
    write([one], tmp_path)
    script = str(ROOT / "tools" / "tournament" / "contestant.py")
    done = subprocess.run(
        [sys.executable, script, US, str(tmp_path), "30"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    figures = judged(found, one)

    assert found["table"] == one.name
    assert set(found["parts"]) == set(one.targets)
    assert figures["shd"] <= 3
    assert figures["shd of a part"] <= 1
    assert figures["peak"] > 1


def test_all_methods_run_from_scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each once, by its name, whatever commas that has; a run that was stopped goes on where it was."""
    ran: list[str] = []

    def run(method: str, _some: object, _limit: int) -> dict[str, Any]:
        ran.append(method)
        if method == "FLOP" and ran.count(method) == 1:
            raise KeyboardInterrupt
        return {"child-1": {"shd": 1, "shd of a part": 1, "seconds": 1.0, "seconds of a part": 1.0, "peak": 50}}

    for name, value in {"KEPT": tmp_path / "kept.json", "PAGE": ROOT / "p.md", "run": run}.items():
        monkeypatch.setattr(tournament, name, value)
    monkeypatch.setattr(tournament, "write_text", lambda path, text: (tmp_path / path.name).write_text(text, "utf-8"))
    monkeypatch.setattr(tournament, "contests", lambda **_: [])
    monkeypatch.setattr(tournament, "about", lambda **_: ABOUT)
    monkeypatch.setattr(sys, "argv", ["tournament.py"])
    with pytest.raises(KeyboardInterrupt):
        tournament.main()
    tournament.main()

    assert sorted(ran) == sorted([*METHODS, "FLOP"])
    assert "FLOP" in (tmp_path / "p.md").read_text("utf-8")
