"""The command line as a process of its own, for tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import attrs


@attrs.frozen
class Done:
    """What a finished command left: exit code, standard output and standard error."""

    code: int
    out: str
    err: str


def apsl(*words: str, folder: Path | None = None) -> Done:
    """Run ``apsl`` with some words and wait for it."""
    command = [str(Path(sys.executable).with_name("apsl")), *words]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", cwd=folder, check=False)
    return Done(done.returncode, done.stdout, done.stderr)
