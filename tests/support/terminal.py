"""The command line for tests: as a process of its own, or much quicker, in this one."""

from __future__ import annotations

import importlib
import io
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryFile
from typing import TextIO
from unittest.mock import patch

import attrs


@attrs.frozen
class Done:
    """What a finished command left: exit code, standard output and standard error."""

    code: int
    out: str
    err: str

    @property
    def words(self) -> str:
        """Return standard output without the ends of its lines, which depend on the width of the terminal."""
        return " ".join(self.out.split())


def apsl(*words: str, folder: Path | None = None, stdin: bytes = b"") -> Done:
    """Run ``apsl`` with some words and something on standard input, and wait for it."""
    command = [str(Path(sys.executable).with_name("apsl")), *words]
    done = subprocess.run(command, capture_output=True, input=stdin, cwd=folder, check=False)
    return Done(done.returncode, *(_text(stream) for stream in (done.stdout, done.stderr)))


def _text(stream: bytes) -> str:
    return stream.decode("utf-8").replace("\r\n", "\n")


def apsl_here(
    *words: str, folder: Path | None = None, stdin: bytes = b"", environment: Mapping[str, str] | None = None
) -> Done:
    """Run ``apsl`` as :func:`apsl` does, but in this process, which is afterwards as it was.

    Not for what only a process has: signals, pipes, terminals, the encoding of its streams, what it imports, and
    variables that are read while it starts. An internal error, of which a process says a sentence, fails the test.
    """
    from apsl_rules.cli.main import run

    with ExitStack() as stack:
        stack.enter_context(chdir(folder or Path.cwd()))
        out, err = (stack.enter_context(_stream()) for _ in range(2))
        stack.enter_context(patch.dict(os.environ, environment or {}))
        stack.enter_context(_kept_as_it_was())
        stack.enter_context(patch.object(sys, "argv", ["apsl", *words]))
        stack.enter_context(patch.object(sys.modules["__main__"], "__package__", None))  # as the script of apsl has it
        stack.enter_context(patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8")))
        with redirect_stdout(out), redirect_stderr(err):
            code = run()
            sys.stdout.flush()  # no longer the stream above: the command wraps it
        said = [_written(stream) for stream in (out, err)]
    assert "apsl: internal error" not in said[1], said[1]
    return Done(code, *said)


@contextmanager
def _stream() -> Iterator[TextIO]:
    """Open a standard stream, which has a number as that of a process has."""
    with TemporaryFile("w+", encoding="utf-8", newline="\n") as stream:
        yield stream


def _written(stream: TextIO) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read().replace("\r\n", "\n")


@contextmanager
def _kept_as_it_was() -> Iterator[None]:
    """Take back what a command changes in its process: the log, interrupts, the path and modules of plugins."""
    logger = logging.getLogger("apsl_rules")
    handlers, level = logger.handlers[:], logger.level
    is_main = threading.current_thread() is threading.main_thread()
    interrupt = signal.getsignal(signal.SIGINT)
    path, modules = sys.path[:], set(sys.modules)
    importlib.invalidate_caches()  # a plugin may have been written a moment ago
    try:
        yield
    finally:
        added = set(sys.path) - set(path)
        logger.handlers[:] = handlers
        logger.setLevel(level)
        sys.path[:] = path
        if is_main:
            signal.signal(signal.SIGINT, interrupt)
        for name in sorted(set(sys.modules) - modules):
            file = getattr(sys.modules[name], "__file__", None)
            if file is not None and any(Path(file).is_relative_to(folder) for folder in added):
                del sys.modules[name]
