"""The command line for tests: as a process of its own, or quicker, in this one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import attrs
from click.testing import CliRunner


@attrs.frozen
class Done:
    """What a finished command left: exit code, standard output and standard error."""

    code: int
    out: str
    err: str


def apsl(*words: str, folder: Path | None = None, stdin: bytes = b"") -> Done:
    """Run ``apsl`` with some words and something on standard input, and wait for it."""
    command = [str(Path(sys.executable).with_name("apsl")), *words]
    done = subprocess.run(command, capture_output=True, input=stdin, cwd=folder, check=False)
    return Done(done.returncode, *(_text(stream) for stream in (done.stdout, done.stderr)))


def _text(stream: bytes) -> str:
    return stream.decode("utf-8").replace("\r\n", "\n")


def apsl_here(*words: str, stdin: bytes = b"") -> Done:
    """Run ``apsl`` with some words in this process; an error of the library is told as the command tells it."""
    from apsl_rules.cli.main import apsl as command
    from apsl_rules.errors import ApslError

    done = CliRunner().invoke(command, words, input=stdin)
    if isinstance(done.exception, ApslError):
        return Done(1, done.stdout, f"apsl: {done.exception}\n")
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Done(done.exit_code, done.stdout, done.stderr)
