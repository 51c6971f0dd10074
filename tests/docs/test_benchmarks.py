"""The benchmarks and fault scripts in tools: each can be started, and one command runs every benchmark."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / "tools"
sys.path.append(str(TOOLS / "bench"))  # the tools are scripts beside each other, not a package

from suite import BENCHMARKS, HELPERS, Benchmark, Outcome, figures, page, run  # noqa: E402 - needs the path above

SCRIPTS = sorted([*TOOLS.glob("bench/*.py"), *TOOLS.glob("faults/*.py")])


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_script_can_be_started(script: Path) -> None:
    """All that it imports is there, and it says how it is used."""
    done = subprocess.run([sys.executable, str(script), "--help"], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")


def test_every_benchmark_is_run_by_the_suite() -> None:
    """A new script is listed, with its quick form, or named as a helper."""
    listed = [*HELPERS, *(one.name for one in BENCHMARKS)]

    assert sorted(listed) == sorted(path.stem for path in TOOLS.glob("bench/*.py"))


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
