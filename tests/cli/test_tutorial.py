"""``apsl tutorial``: every step runs and shows what its words say."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import pytest

from apsl_rules.cli.tutorial import STEPS
from support.terminal import Done, apsl_here

pytestmark = pytest.mark.slow

#: What the words after a step speak of, step by step.
SHOWN = (
    ("asia    category", "dysp    category"),
    ("├──▶ dysp", "├◀── lung", "note: arrows assume"),
    ("lung -> either   [V-collider]", "edge .99, direction .91"),
    ("│    └─── smoke", "│    └─── asia"),
    ("│    └◀── smoke", "│    └◀── asia"),
    ("P(bronc = yes), smoke = yes against no", "0.301 (0.259 to 0.343)"),
    ("either  dysp    arrow     0.45",),
    (),
    (),
)


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Done:
    """Return the whole walk, printed into a pipe."""
    return apsl_here("tutorial", folder=tmp_path_factory.mktemp("walk"))


def test_every_step_is_explained_run_and_read(walked: Done) -> None:
    """Each step has its title, its command, and the output that its words speak of."""
    assert walked.code == 0
    steps = walked.out.split("/9  ")[1:]
    assert [text.splitlines()[0] for text in steps] == [step.title for step in STEPS]
    for text, step, shown in zip(steps, STEPS, SHOWN, strict=True):
        assert f"$ {step.line}\n" in text
        assert all(words in text for words in shown)


def test_the_mistake_is_answered_as_it_would_be(walked: Done) -> None:
    """Standard error has the sentence about it, and what was written."""
    assert "apsl: unknown target 'eiter'; did you mean 'either'?\n" in walked.err
    assert "wrote part.html: the report of the part around either\n" in walked.err


def test_steps_are_listed_and_shown_one_by_one(tmp_path: Path) -> None:
    """A single step has what the earlier ones made; a folder keeps the files; nothing is overwritten."""
    one = apsl_here("tutorial", "--step", "3", folder=tmp_path)
    assert one.out.startswith("3/9  Ask why\n")
    assert "lung -> either   [V-collider]" in one.out
    assert list(tmp_path.iterdir()) == []
    assert len(apsl_here("tutorial", "--list").out.splitlines()) == 2 * len(STEPS)

    assert apsl_here("tutorial", "--step", "2", "--folder", "trial", folder=tmp_path).code == 0
    assert sorted(path.name for path in (tmp_path / "trial").iterdir()) == ["clinic.csv", "part.json"]
    assert "is not empty" in apsl_here("tutorial", "--folder", "trial", folder=tmp_path).err
    assert apsl_here("tutorial", "--step", "10").err == "apsl: --step is 10; give a number from 1 to 9\n"


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")
def test_on_a_terminal_enter_goes_on_and_q_leaves(tmp_path: Path) -> None:
    """The walk waits before each command."""
    ours, theirs = pty.openpty()
    command = [str(Path(sys.executable).with_name("apsl")), "tutorial"]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=tmp_path) as process:
        os.close(theirs)
        first = _read_until(ours, b"q leaves")
        os.write(ours, b"\n")
        second = _read_until(ours, b"q leaves")
        os.write(ours, b"q\n")
        assert process.wait(60) == 0
    os.close(ours)

    assert b"2,000 rows" not in first
    assert b"2,000 rows, 8 columns" in second
    assert b"Learn around one column" in second


def _read_until(terminal: int, words: bytes) -> bytes:
    """Return what a terminal shows up to some words."""
    seen = b""
    while words not in seen:
        assert select.select([terminal], [], [], 60)[0], seen
        seen += os.read(terminal, 4096)
    return seen
