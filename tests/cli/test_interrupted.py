"""Runs that end early: by Ctrl-C, by a limit, by SIGKILL; and what the same command makes of it afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from apsl_rules.parts import load_part
from support.terminal import apsl

pytestmark = [pytest.mark.usefixtures("interrupts_are_heard"), pytest.mark.slow]

# A plugin that makes visits slow, so that a signal surely meets the run between its begin and its end.
SLOW = """
import time
from apsl_rules import hookimpl

@hookimpl
def apsl_progress(progress):
    print("visited", progress.visited, flush=True)
    time.sleep(0.3)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a table, the slow plugin, and the part of a run that nobody disturbed."""
    place = tmp_path_factory.mktemp("interrupted")
    (place / "slow.py").write_text(SLOW, "utf-8")
    assert apsl("simulate", "alarm", "-n", "500", "--seed", "3", "-o", str(place / "rows.csv")).code == 0
    assert apsl(*WORDS, "--out", "whole.json", folder=place).code == 0
    return place


# A learner by scores searches all of these columns at once, so that there is no visit to interrupt after.
WORDS = ("learn", "rows.csv", "-t", "HR", "-k", "3", "--learner", "apsl", "--quiet")


def disturbed(folder: Path, out: str, number: int) -> subprocess.CompletedProcess[str]:
    """Send a signal to a slowed run after its second visit, and wait for its end."""
    command = [str(Path(sys.executable).with_name("apsl")), "--plugin", "slow", *WORDS, "--out", out, "--resume"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(2):
            while not process.stdout.readline().startswith("visited "):
                assert process.poll() is None
        time.sleep(0.1)
        os.kill(process.pid, number)
        out_text, err_text = process.communicate()
        return subprocess.CompletedProcess(command, process.returncode, out_text, err_text)


def test_ctrl_c_gives_an_incomplete_part_that_resumes_to_the_same_end(folder: Path) -> None:
    """An interrupt ends with exit code 2 and a saved part that says what is open; the same command completes it."""
    done = disturbed(folder, "cut.json", signal.SIGINT)
    part = load_part(folder / "cut.json")

    assert (done.returncode, done.stderr) == (2, "")
    assert part.incomplete is not None
    assert part.incomplete.startswith("stopped at an interrupt after ")
    assert "still to visit" in part.incomplete
    assert (folder / "cut.json.answers").exists()

    assert apsl(*WORDS, "--out", "cut.json", "--resume", folder=folder).code == 0
    assert (folder / "cut.json").read_bytes() == (folder / "whole.json").read_bytes()
    assert not (folder / "cut.json.answers").exists()


def test_sigkill_spoils_nothing(folder: Path) -> None:
    """A killed run leaves its answers and no half-written part; the same command ends as if nothing had been."""
    done = disturbed(folder, "killed.json", signal.SIGKILL)

    assert done.returncode == -signal.SIGKILL
    assert not (folder / "killed.json").exists()
    assert (folder / "killed.json.answers").exists()

    assert apsl(*WORDS, "--out", "killed.json", "--resume", folder=folder).code == 0
    assert (folder / "killed.json").read_bytes() == (folder / "whole.json").read_bytes()


def test_a_limit_leaves_answers_from_which_the_run_goes_on(folder: Path) -> None:
    """A run stopped by its limit and taken up without one ends like a run without a limit."""
    limited = apsl(*WORDS, "--out", "limited.json", "--resume", "--max-tests", "200", folder=folder)

    assert limited.code == 2
    assert json.loads((folder / "limited.json").read_text("utf-8"))["incomplete"].startswith("stopped at 200 tests")
    assert apsl(*WORDS, "--out", "limited.json", "--resume", folder=folder).code == 0
    assert (folder / "limited.json").read_bytes() == (folder / "whole.json").read_bytes()


@pytest.mark.parametrize("further", [(), ("--out", "x.json", "--cache", "y.sqlite")])
def test_resume_needs_a_place_of_its_own(folder: Path, further: tuple[str, ...]) -> None:
    """Without --out, or with a cache elsewhere, --resume is refused with one sentence."""
    done = apsl(*WORDS, "--resume", *further, folder=folder)

    assert done.code == 1
    assert done.err == "apsl: --resume keeps the answers beside the file of --out; give --out, and no --cache with it\n"
