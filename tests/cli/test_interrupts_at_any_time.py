"""Interrupts of the command line at any moment: exit code 2 and a sentence, never a traceback."""

from __future__ import annotations

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

APSL = str(Path(sys.executable).with_name("apsl"))

IN_MEMORY = ["learn", "rows.csv", "-t", "HR", "-k", "2", "--learner", "apsl", "--quiet", "--out", "cut.json"]
IN_DUCKDB = ["learn", "rows.csv", "-t", "HR", "-k", "max", "--counts", "duckdb", "--quiet"]

# A plugin that says when visits begin and makes them slow.
SLOW = """
import time
from apsl_rules import hookimpl

@hookimpl
def apsl_progress(progress):
    print("visited", progress.visited, flush=True)
    time.sleep(0.3)
"""

# A plugin that interrupts the process as soon as an oracle is asked for the first time, before any visit.
AT_ONCE = """
import os, signal
from apsl_rules import hookimpl
from apsl_rules.plugins.offers import OracleOffer
from apsl_rules.oracles.protocol import Oracle

class Interrupting(Oracle):
    nodes = ("HR", "CO", "BP")
    name = "interrupting"

    def verdict(self, x, y, given=()):
        os.kill(os.getpid(), signal.SIGINT)
        return None

@hookimpl
def apsl_oracles():
    return [OracleOffer("interrupting", "interrupts", lambda source, settings: Interrupting(), lambda source: False)]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a table and the plugins."""
    place = tmp_path_factory.mktemp("interrupts")
    (place / "slow.py").write_text(SLOW, "utf-8")
    (place / "at_once.py").write_text(AT_ONCE, "utf-8")
    assert apsl("simulate", "alarm", "-n", "500", "--seed", "3", "-o", str(place / "rows.csv")).code == 0
    for words in (IN_MEMORY, IN_DUCKDB):  # compiled by then, so that every moment is one of an ordinary run
        assert apsl(*words, folder=place).code == 0
    return place


def has_begun(pid: int) -> bool:
    """Return whether a process has come as far as importing numpy, so that Python itself has started."""
    try:
        return "numpy" in Path(f"/proc/{pid}/maps").read_text("utf-8", errors="replace")
    except OSError:  # it has ended
        return True


def interrupted(folder: Path, words: list[str], seconds: float) -> tuple[int, str, str]:
    """Start a command and interrupt it some time after Python has started; give exit code and what it printed."""
    command = [APSL, *words]
    environment = os.environ | {"PYTHONFAULTHANDLER": "1"}  # a crash says where it was
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        while process.poll() is None and not has_begun(process.pid):
            time.sleep(0.002)
        time.sleep(seconds)
        if process.poll() is None:
            os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate()
        return process.returncode, out, err


@pytest.mark.parametrize("seconds", [0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.2, 2.0])
def test_no_traceback_at_any_moment_of_a_run(folder: Path, seconds: float) -> None:
    """While it imports, reads, compiles, learns or ends, an interrupt ends in 2; a run that was faster ends in 0."""
    code, _, err = interrupted(folder, IN_MEMORY, seconds)

    assert code in (0, 2)
    assert err in ("", "apsl: interrupted\n", "\napsl: interrupted\n")


@pytest.mark.parametrize("seconds", [0.6, 0.9, 1.2, 1.5, 1.8, 2.1])
def test_an_interrupt_while_duckdb_counts_ends_in_2(folder: Path, seconds: float) -> None:
    """A query that is interrupted in the database ends the run as any interrupt does."""
    code, _, err = interrupted(folder, IN_DUCKDB, seconds)

    assert code in (0, 2), err
    assert err in ("", "apsl: interrupted\n", "\napsl: interrupted\n")


@pytest.mark.parametrize("words", [["networks"], ["--help"], ["show", "nothing.json"]])
def test_no_traceback_in_short_commands(folder: Path, words: list[str]) -> None:
    """Commands that only list or read something are interrupted as cleanly."""
    code, _, err = interrupted(folder, words, 0.0)

    assert code in (0, 1, 2)
    assert "Traceback" not in err


def test_an_interrupt_before_the_first_visit_writes_an_empty_part(folder: Path) -> None:
    """The part has the target only, says why, and is written where it was asked for."""
    words = ("learn", "rows.csv", "-t", "HR", "--learner", "apsl", "--oracle", "interrupting", "--out", "empty.json")
    done = apsl("--plugin", "at_once", *words, folder=folder)
    part = load_part(folder / "empty.json")

    assert (done.code, done.err) == (2, "wrote empty.json: the part around HR, 0 edges\n")
    assert (part.members, part.visited) == (("HR",), ())
    assert part.incomplete is not None
    assert part.incomplete.startswith("stopped at an interrupt after 0 visits; ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["many", "rows.csv", "--targets", "all"], "targets were learned"),
        (["stability", "rows.csv", "-t", "HR", "--resamples", "100000"], ""),
        (["compare", "alarm", "-t", "HR", "-k", "max", "--learners", "apsl,cmb"], ""),
    ],
)
def test_commands_of_several_runs_end_with_a_sentence(folder: Path, words: list[str], said: str) -> None:
    """What is done by then is printed, or one sentence says that nothing is; the exit code is 2."""
    options = [] if words[0] == "compare" else ["--learner", "apsl"]
    command = [APSL, "--plugin", "slow", *words, *options, "--quiet"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        while not process.stdout.readline().startswith("visited"):
            assert process.poll() is None
        time.sleep(1.0)
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate()

    assert process.returncode == 2
    assert "Traceback" not in err
    assert said in out or "apsl: interrupted" in err
