"""The runner of experiments: equal results for any number of processes, killed or not, and a report from them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from design import DrawnSamples, parse_experiment
from results import Advance, read_results, run, summarise

from apsl_rules._files import Log
from apsl_rules.errors import ApslError, DataError, InvalidArgumentError

pytestmark = pytest.mark.slow

TOOL = Path(__file__).parents[2] / "tools" / "reproduce" / "run.py"
TEXT = """\
name = "tiny"
summary = "small enough for a test"

[[grids]]
networks = ["cancer"]
sizes = [50, 60]
sets = [1, 2, 3, 4]
learners = ["apsl", "apsl-paper"]
depths = [1, "max"]
"""
FILES = ("results.csv", "results.parquet", "about.json")
TINY = parse_experiment(TEXT, "tiny")


def contents(folder: Path) -> dict[str, bytes]:
    """Read all files that must be the same whenever the same experiment has run."""
    return {name: (folder / name).read_bytes() for name in FILES}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the experiment from beginning to end in one process."""
    folder = tmp_path_factory.mktemp("whole")
    run(TINY, DrawnSamples(1), folder)
    return folder


def start(spec: Path, out: Path, *words: str) -> subprocess.Popen[str]:
    """Start the tool in a process of its own."""
    command = [sys.executable, str(TOOL), str(spec), "--out", str(out), *words]
    return subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_a_killed_run_with_two_processes_goes_on_to_the_same_results(tmp_path: Path, whole: Path) -> None:
    """After SIGKILL in the middle, and a torn line in the log, the same command gives the same files byte for byte."""
    spec = tmp_path / "tiny.toml"
    spec.write_text(TEXT)
    log = tmp_path / "tiny" / "log.jsonl"
    first = start(spec, tmp_path, "--processes", "2")
    while first.poll() is None and not (log.exists() and log.read_bytes().count(b"\n") >= 3):
        time.sleep(0.005)
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    kept = log.read_bytes().rpartition(b"\n")[0] + b"\n"
    units = kept.count(b"\n")
    assert 3 <= units < 16
    log.write_bytes(kept + b'{"key": "torn')

    second = start(spec, tmp_path, "--processes", "2")
    out, err = second.communicate()

    assert second.returncode == 0, err
    assert err.splitlines()[0] == f"tiny: {units * 10} of 160 parts"
    assert "tiny: 160 of 160 parts" in err
    assert "written: " in out
    assert log.read_bytes().startswith(kept)
    assert contents(tmp_path / "tiny") == contents(whole)


@pytest.mark.usefixtures("interrupts_are_heard")
@pytest.mark.parametrize("units", [0, 2], ids=["while processes start", "while they learn"])
def test_an_interrupted_run_ends_with_a_sentence(units: int, tmp_path: Path) -> None:
    """Ctrl-C reaches all processes of a terminal, and none of them leaves a traceback."""
    spec = tmp_path / "tiny.toml"
    spec.write_text(TEXT.replace("[50, 60]", "[20_000, 30_000]").replace("sets = [", "sets = [5, 6, 7, 8, "))
    log = tmp_path / "tiny" / "log.jsonl"
    command = [sys.executable, str(TOOL), str(spec), "--out", str(tmp_path), "--processes", "2"]
    begun = subprocess.Popen(command, text=True, stderr=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    while begun.poll() is None and not (log.exists() and log.read_bytes().count(b"\n") >= units):
        time.sleep(0.005)
    time.sleep(0.3 if not units else 0.0)
    os.killpg(begun.pid, signal.SIGINT)
    _, err = begun.communicate()

    assert begun.returncode == 1
    assert "Traceback" not in err
    assert err.splitlines()[-1] == "reproduce: stopped; give the same command again to go on"


def test_a_finished_run_learns_nothing_again(whole: Path) -> None:
    """The second run finds everything in the log."""
    seen: list[Advance] = []
    before = contents(whole)
    run(TINY, DrawnSamples(1), whole, watch=seen.append)

    assert [(one.done, one.total) for one in seen] == [(160, 160)]
    assert contents(whole) == before


def test_results_are_read_back_and_summarised(whole: Path) -> None:
    """A row for each part and way of scoring, times apart, and means over targets and sets."""
    results = read_results(whole)
    short = summarise(results)

    assert (len(results.scores), len(results.times)) == (160 * 4, 160)
    assert set(results.scores["depth"]) == {"1", "max"}
    assert len(short) == 2 * 2 * 2 * 4
    assert set(short["runs"]) == {20}
    assert set(short["sets"]) == {4}
    one = short.query("size == 50 and learner == 'apsl' and depth == '1' and scoring == 'dag marks'").iloc[0]
    rows = results.scores.query("size == 50 and learner == 'apsl' and depth == '1' and scoring == 'dag marks'")
    assert one["distance"] == pytest.approx(sum(rows["distance"]) / 20)
    assert one["cpu"] > 0
    for row in short.query("scoring == 'cpdag marks'").to_dict("records"):
        mine = results.scores
        for key in ("size", "learner", "depth", "scoring"):
            mine = mine[mine[key] == row[key]]
        arrows, right = mine["arrows"].sum(), mine["compelled_correct"].sum()
        assert row["arrow_precision"] == pytest.approx(right / arrows if arrows else 1.0)


def test_two_runs_in_one_folder_at_once_are_refused(tmp_path: Path) -> None:
    """The second one is told to wait."""
    with Log(tmp_path / "log.jsonl"), pytest.raises(InvalidArgumentError, match="another process is writing"):
        run(TINY, DrawnSamples(1), tmp_path)


def test_a_log_with_a_foreign_line_is_refused(tmp_path: Path) -> None:
    """Only the last line can be torn; any other fault means that the file is not ours."""
    (tmp_path / "log.jsonl").write_text('{"key": "a"}\nhello\n{"key": "b"}\n')
    with pytest.raises(DataError, match=r"line 2 of .* is no record of finished work"), Log(tmp_path / "log.jsonl"):
        pass


def test_records_are_on_the_disk_when_added(tmp_path: Path) -> None:
    """Another reader sees each record at once, and a closed log takes none."""
    log = Log(tmp_path / "log.jsonl")
    with log:
        log.add({"key": "a", "name": "é"})
        assert json.loads((tmp_path / "log.jsonl").read_text("utf-8")) == {"key": "a", "name": "é"}
    with pytest.raises(InvalidArgumentError, match="not open"):
        log.add({"key": "b"})


def test_mistakes_are_refused(tmp_path: Path) -> None:
    """No processes, no results, and a mistake on the command line, which ends in one sentence."""
    with pytest.raises(InvalidArgumentError, match="processes is 0"):
        run(TINY, DrawnSamples(1), tmp_path, processes=0)
    with pytest.raises(DataError, match="run the experiment first"):
        read_results(tmp_path)
    refused = start(tmp_path / "nowhere.toml", tmp_path)
    out, err = refused.communicate()
    assert (refused.returncode, out) == (1, "")
    assert err.startswith("reproduce: the experiment ")
    assert len(err.splitlines()) == 1
    assert issubclass(DataError, ApslError)
