"""The standard streams of a command; a failed write ends the command with one sentence."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Any

from apsl_rules.errors import InvalidArgumentError


def prepare_streams() -> None:
    """Prepare both streams: a closed one drops its output, and invalid characters are escaped."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - open to the end
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if isinstance(sys.stdout, io.TextIOWrapper) and not sys.stdout.isatty():
        raw = _Output(sys.stdout.fileno(), "wb", closefd=False)
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(raw), sys.stdout.encoding, errors="backslashreplace", newline=_newline()
        )


def _newline() -> str | None:
    """Return the end of lines that standard output has on this system."""
    return None if os.linesep != "\n" else "\n"


class _Output(io.FileIO):
    """Standard output, whose failure is reported once; what comes after it is dropped."""

    _failed = False

    def write(self, data: Any, /) -> int:
        """Write some bytes; a failure becomes one sentence."""
        if self._failed:
            return len(data)
        try:
            return super().write(data)
        except OSError as error:
            self._failed = True
            if isinstance(error, BrokenPipeError):  # the reader closed the pipe, which is no mistake
                raise
            message = f"cannot write to standard output: {error.strerror or error}; choose a place with free space"
            raise InvalidArgumentError(message) from error
