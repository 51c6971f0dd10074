"""Commands run as a user types them, with what they printed, for the pages that show them."""

from __future__ import annotations

import contextlib
import io
import shlex
import sys
from pathlib import Path
from unittest.mock import patch

import attrs

ROOT = Path(__file__).parents[1]


@attrs.frozen
class Recorded:
    """What one command line left: exit code, standard output and standard error."""

    line: str
    code: int
    out: str
    err: str

    def block(self) -> str:
        """Return the command and what it printed, as a terminal shows it."""
        return f"```\n$ {self.line}\n{(self.out + self.err).rstrip()}".rstrip() + "\n```"


def run(line: str) -> Recorded:
    """Run a command line that begins with ``apsl`` in this process and in the current folder."""
    from apsl_rules.cli.main import run as command_line

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), patch.object(sys, "argv", shlex.split(line)):
        code = command_line()
    return Recorded(line, code, out.getvalue(), err.getvalue())


def written(page: Path, text: str, words: list[str]) -> int:
    """Write a page, or with ``--check`` say whether it is what would be written; return the exit code."""
    if words == ["--check"]:
        if page.read_text("utf-8") == text:
            return 0
        print(f"{page.relative_to(ROOT)} is out of date; make it again with the script that its second line names")
        return 1
    page.write_text(text, "utf-8")
    return 0
