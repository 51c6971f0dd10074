"""Commands about the program itself: verify, doctor; and what a terminal gets more than a pipe."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from apsl_rules.graphs.networks.bayesian_network import Network
from apsl_rules.graphs.networks.bif import write_bif
from support.graphs import MICRO
from support.terminal import apsl, apsl_here

pytestmark = pytest.mark.slow


def on_a_terminal(*words: str, **environment: str) -> str:
    """Run ``apsl`` on a pseudo terminal and give everything that it wrote there."""
    leader, follower = pty.openpty()
    command = [str(Path(sys.executable).with_name("apsl")), *words]
    plain = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
    with subprocess.Popen(
        command, stdin=follower, stdout=follower, stderr=follower, env={**plain, "TERM": "xterm", **environment}
    ) as process:
        os.close(follower)
        written = b""
        while True:
            try:
                piece = os.read(leader, 65536)
            except OSError:  # the last writer has closed the terminal
                break
            if not piece:
                break
            written += piece
        process.wait()
    os.close(leader)
    return written.decode()


def test_verify_ends_with_exact() -> None:
    """A known network is checked at every target and depth, and the last line says "exact"."""
    done = apsl_here("verify", "asia")

    assert done.code == 0
    assert "8 targets × depths 1, 2, 3, 4, max: 40 runs" in done.out
    assert done.out.splitlines()[-1].startswith("exact")


def test_verify_names_what_differs(tmp_path: Path) -> None:
    """A learner that errs is named with its false arrows, and the exit code is 1."""
    dag = MICRO["N1"]
    coins = {node: np.full((*[2] * len(dag.parents_of(node)), 2), 0.5) for node in dag.nodes}
    file = tmp_path / "n1.bif"
    file.write_text(write_bif(Network("n1", dag, dict.fromkeys(dag.nodes, ("heads", "tails")), coins)), "utf-8")
    done = apsl_here("verify", str(file), "--learner", "apsl-paper", "--depth", "1")

    assert done.code == 1
    assert "t, depth 1: t -> b is false" in done.out
    assert done.out.splitlines()[-1].startswith("not exact: ")


def test_verify_refuses_a_table(tmp_path: Path) -> None:
    """A table has no known truth, and the sentence says what is needed."""
    (tmp_path / "t.csv").write_text("a,b\n1,2\n", "utf-8")
    done = apsl_here("verify", str(tmp_path / "t.csv"))

    assert done.code == 1
    assert "verifying needs a saved part, or a known network" in done.err


def test_doctor_finds_a_healthy_installation(tmp_path: Path) -> None:
    """Every check has a line, and as JSON every state is good or merely absent; the default learned from a table."""
    done = apsl_here("doctor", "--json", folder=tmp_path)

    checks = {one["what"]: one for one in json.loads(done.out)}
    assert done.code == 0
    assert checks["table"]["said"].startswith("the default learner (apsl-score) found 4 edges")
    assert list(tmp_path.iterdir()) == []
    assert {"apsl_rules", "plugins", "known graph", "table", "extra plot"} <= set(checks)
    assert all(one["state"] in ("ok", "-") for one in checks.values())


def test_doctor_says_what_is_broken(tmp_path: Path) -> None:
    """A plugin that offers nonsense is named by the doctor, which exits with 1."""
    (tmp_path / "broken.py").write_text(
        "from apsl_rules import hookimpl\n@hookimpl\ndef apsl_learners():\n    return [42]\n", "utf-8"
    )
    done = apsl_here("--plugin", "broken", "doctor", folder=tmp_path)

    assert done.code == 1
    assert any(line.startswith("! ") and "broken" in line for line in done.out.splitlines())


def test_doctor_shows_the_level_of_the_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line about the kernels names the library in use and the levels that the processor supports."""
    monkeypatch.setenv("APSL_CPU_LEVEL", "baseline")
    checks = {one["what"]: one for one in json.loads(apsl("doctor", "--json").out)}

    assert checks["kernels"]["state"] == "ok"
    assert checks["kernels"]["said"].startswith("kernels-baseline.")
    assert "; this processor supports baseline" in checks["kernels"]["said"]


def test_doctor_says_that_the_kernels_cannot_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the kernels cannot be used, lines say so and what does not work then, and all else is well."""
    monkeypatch.setenv("APSL_CPU_LEVEL", "abacus")
    done = apsl("doctor")

    bad = [line for line in done.out.splitlines() if line.startswith("! ")]
    assert done.code == 1
    assert bad[0].split()[1] == "kernels"
    assert "APSL_CPU_LEVEL is 'abacus'; this processor supports" in bad[0]
    assert all("the default learner cannot learn from a table:" in line for line in bad[1:])


def test_commands_are_completed() -> None:
    """The shell is given the commands that begin as the word does."""
    asked = {"_APSL_COMPLETE": "bash_complete", "COMP_WORDS": "apsl lear", "COMP_CWORD": "1"}
    assert "plain,learners" in on_a_terminal(**asked)


def test_a_terminal_gets_colours_and_a_pipe_does_not() -> None:
    """The same words in both; escape sequences on the terminal only, and none of colour under NO_COLOR."""
    words = ("why", "asia", "either", "lung", "-t", "either")

    assert "\x1b[1;32m->\x1b[0m" in on_a_terminal(*words)
    assert "\x1b" not in apsl(*words).out
    assert "\x1b[1;32m" not in on_a_terminal(*words, NO_COLOR="1")
