"""Pages of the docs that scripts write by running commands: up to date, and the scripts notice when they are not."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.release
@pytest.mark.parametrize("script", ["walk", "wrong_inputs"])
def test_a_recorded_page_is_what_the_commands_print(script: str) -> None:
    """If this fails, run `python tools/walk.py` or `python tools/wrong_inputs.py` and look at the difference."""
    command = [sys.executable, str(ROOT / "tools" / f"{script}.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)

    assert (done.returncode, done.stdout) == (0, "")


def test_at_least_ten_wrong_inputs_are_shown() -> None:
    """Each is a command with the one sentence that it gets."""
    lines = (ROOT / "docs" / "wrong-inputs.md").read_text("utf-8").splitlines()
    answers = [after for line, after in itertools.pairwise(lines) if line.startswith("$ apsl ")]

    assert len(answers) >= 10
    assert all(answer.startswith("apsl: ") for answer in answers)
