"""The README: every example runs, and what it shows is what the code prints."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

from terminal import apsl

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", README, flags=re.DOTALL)


def test_the_python_examples_print_what_the_readme_shows() -> None:
    """Each Python block that prints is followed by a block with exactly its output."""
    scope: dict[str, object] = {}
    checked = 0
    for (language, code), (_, shown) in zip(BLOCKS, [*BLOCKS[1:], ("", "")], strict=True):
        if language != "python":
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "README.md", "exec"), scope)  # noqa: S102 - the README's own examples
        if printed.getvalue():
            assert printed.getvalue().strip() == shown.strip()
            checked += 1

    assert checked >= 4


def test_the_commands_of_the_readme_run(tmp_path: Path) -> None:
    """Each `apsl` command in the README, run in order in one folder, succeeds."""
    commands = [line for language, text in BLOCKS if not language for line in text.splitlines() if line[:5] == "apsl "]

    assert commands
    for command in commands:
        done = apsl(*shlex.split(command)[1:], folder=tmp_path)
        assert (done.code, done.err) == (0, ""), command
