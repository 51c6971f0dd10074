"""The benchmarks and fault scripts in tools: each can be started, one command runs all, and peers are read right."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from apsl_rules import Dag, network
from apsl_rules.errors import GraphError
from apsl_rules.graphs.equivalence import cpdag
from apsl_rules.graphs.networks import random_network

TOOLS = Path(__file__).parents[2] / "tools"
sys.path.append(str(TOOLS / "bench"))  # the tools are scripts beside each other, not a package

from filter_exact import exact_shares  # noqa: E402 - needs the path above
from graph_sets import from_network  # noqa: E402 - needs the path above
from peer_figures import Figures, PeerRuns, Unfinished, class_of, compared  # noqa: E402 - needs the path above
from suite import BENCHMARKS, HELPERS, Benchmark, Outcome, figures, page, run  # noqa: E402 - needs the path above

SCRIPTS = sorted([*TOOLS.glob("bench/*.py"), *TOOLS.glob("faults/*.py")])


@pytest.mark.slow
@pytest.mark.release
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_script_can_be_started(script: Path) -> None:
    """All that it imports is there, and it says how it is used."""
    done = subprocess.run([sys.executable, str(script), "--help"], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")


def test_every_benchmark_is_run_by_the_suite() -> None:
    """A new script is listed, with its quick form, or named as a helper."""
    listed = [*HELPERS, *(one.name for one in BENCHMARKS)]

    assert sorted(listed) == sorted(path.stem for path in TOOLS.glob("bench/*.py"))


@pytest.mark.parametrize("name", ["asia", "cancer", "sachs"])
def test_the_exact_parts_of_the_filter_are_those_on_the_page(name: str) -> None:
    """Sound APSL is exact at any depth, and the page on the engine has the other shares."""
    shares = exact_shares(name)
    page = (TOOLS.parent / "docs" / "engine.md").read_text("utf-8")

    assert len(set(shares[:3])) == 1
    assert f"| {' | '.join([name, *shares[2:]])} |" in page


def test_tables_and_lines_become_rows_of_one_table() -> None:
    """Each row of a table and each line that names a figure is a row; captions and headings are none."""
    printed = "A caption\n\n| rows | CPU ms | ratio |\n|---|---|---|\n| 10 | 2 | 0.5 |\n\nCPU: 0.3 of one by one"

    assert list(figures(printed)) == [("rows 10", "CPU ms 2; ratio 0.5"), ("CPU", "0.3 of one by one")]


def test_what_is_missing_is_told_in_the_table(tmp_path: Path) -> None:
    """A benchmark without its sets is not run, and its row says why."""
    places = {"sets": tmp_path / "none", "scratch": tmp_path}
    outcome = run(Benchmark("accuracy", "Accuracy", "{sets}", "{sets}", ("sets",)), places, full=False)

    assert outcome.trouble == f"not run: no {tmp_path / 'none'}"
    assert f"| accuracy | Accuracy | {outcome.trouble} |" in page([outcome])


def test_a_failure_is_told_with_its_last_line(tmp_path: Path) -> None:
    """A benchmark that fails has a row too."""
    outcome = run(Benchmark("exact", "Exact", "few"), {"scratch": tmp_path}, full=False)

    assert isinstance(outcome, Outcome)
    assert outcome.trouble.startswith("failed: ")
    assert "invalid int value: 'few'" in outcome.trouble


def test_a_graph_of_a_peer_stands_for_its_class() -> None:
    """A line that is there both ways is a line, and so is an arrow that is not compelled; the distance counts marks."""
    truth = cpdag(Dag({"a": [], "b": [], "c": ["a", "b"], "d": ["e"], "e": []}))
    same = class_of(list("abcde"), [["a", "c"], ["b", "c"], ["d", "e"], ["e", "d"]])
    other = class_of(list("abcde"), [["c", "a"], ["b", "c"], ["d", "a"]])

    assert same == truth
    assert compared(same, truth, 0.5) == Figures(1.0, 0.0, 0.5)
    assert compared(other, truth, 0.5) == Figures(4 / 6, 4.0, 0.5)
    with pytest.raises(GraphError, match="no graph without cycles"):
        class_of(list("abc"), [["a", "b"], ["b", "c"], ["c", "a"]])


@pytest.mark.slow
@pytest.mark.release
@pytest.mark.parametrize("learner", ["causal-learn-ges", "causal-learn-grasp", "causal-learn-boss"])
def test_a_peer_finds_a_small_network(learner: str) -> None:
    """From many rows of a network with arrows and lines, whatever the order of its columns."""
    behind = random_network(5, mean_parents=1.0, max_parents=2, levels=2, seed=7)
    drawn = from_network("random", behind, 5000, 1)
    found = PeerRuns(sys.executable, 60, None).figures(learner, drawn)

    assert drawn.truth.arrows
    assert drawn.truth.lines
    assert isinstance(found, Figures)
    assert (found.f1, found.distance) == (1.0, 0.0)


@pytest.mark.slow
@pytest.mark.release
def test_what_a_peer_found_is_kept(tmp_path: Path) -> None:
    """A second run reads the graph from the file, and a longer limit gives a slow peer another try."""
    kept = tmp_path / "kept.json"
    wide, small = (from_network(name, network(name), 500, 1) for name in ("alarm", "cancer"))
    first = PeerRuns(sys.executable, 1, kept)
    found, slow = first.figures("causal-learn-grasp", small), first.figures("causal-learn-grasp", wide)
    entries = json.loads(kept.read_text("utf-8"))
    other = {key: {"marks": [], "seconds": 7.0} if "marks" in one else {"limit": 0} for key, one in entries.items()}
    kept.write_text(json.dumps(other), "utf-8")
    again = PeerRuns(sys.executable, 1, kept)

    assert isinstance(found, Figures)
    assert slow == Unfinished("> 1 s", "causal-learn-grasp: over 1 CPU seconds on alarm 500 seed 1", is_slow=True)
    assert again.figures("causal-learn-grasp", small) == Figures(0.0, 4.0, 7.0)
    assert again.figures("causal-learn-grasp", wide) == slow
    assert PeerRuns(sys.executable, 0, kept).figures("causal-learn-grasp", wide) == slow
    assert PeerRuns(sys.executable, 0, kept).figures("causal-learn-boss", wide) == Unfinished(
        "not run", "causal-learn-boss: not run on all sets"
    )


def test_a_missing_peer_is_told() -> None:
    """A peer whose package is not in its environment has no figures, and the reason is there to be printed."""
    asia = from_network("asia", network("asia"), 20, 1)

    assert PeerRuns(sys.executable, 1, None).figures("pyagrum-bic", asia) == Unfinished(
        "not run", "pyagrum-bic: pyagrum is not installed"
    )
