"""Standard input and output: their encoding, what is read from a pipe, and interrupts."""

from __future__ import annotations

import gzip
import io
import os
import signal
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from apsl_rules.errors import DataError, Interrupted, InvalidArgumentError


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


Result = TypeVar("Result")


def take_partial_result(stop: Interrupted, result: Result | None) -> Result:
    """Return the result of an interrupted run, and ignore further interrupts while it is written."""
    if result is None:
        raise stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return result


#: What messages call it.
STANDARD_INPUT = "standard input"

_KEY = f"{__name__}.path"
_BEGINNINGS = (
    (b"PAR1", "parquet"),
    (b"ARROW1", "feather"),
    (b"PK\x03\x04", "xlsx"),
    (b'{"format":"apsl_rules part', "json"),
    (b"{", "jsonl"),
    (b"network ", "bif"),
    (b"//", "bif"),
)
_MARK = b"\xef\xbb\xbf"
_PACKED = b"\x1f\x8b"


def source_argument(name: str = "source", **settings: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the argument of a command that takes a file, the name of a network, or ``-`` for standard input."""
    return click.argument(name, callback=keep_standard_input, **settings)


def is_standard_input(path: str) -> bool:
    """Whether a path is that of the file in which standard input is kept while a command runs."""
    return click.get_current_context().meta.get(_KEY) == path


def name_standard_input(message: str, context: click.Context) -> str:
    """Return a message that says "standard input" where it has the path of the file in which that is kept."""
    path = context.meta.get(_KEY)
    return message if path is None else message.replace(repr(path), STANDARD_INPUT).replace(path, STANDARD_INPUT)


def keep_standard_input(context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """Keep standard input in a file for as long as the command runs, so that every reader can read it."""
    if value != "-" or context.resilient_parsing:
        return value
    if _KEY in context.meta:
        message = "'-' is given twice, and there is one standard input; give a file for one of them"
        raise DataError(message)
    if sys.stdin is None or sys.stdin.closed:
        message = "standard input is closed; pipe a table into it, or give a file"
        raise DataError(message)
    if sys.stdin.isatty():
        click.echo("reading a table from standard input; Ctrl-D ends it", err=True)
    content = _unpacked(sys.stdin.buffer.read())
    if not content.strip():
        message = "standard input is empty; pipe a table into it, or give a file"
        raise DataError(message)
    from tempfile import TemporaryDirectory

    folder = context.find_root().with_resource(TemporaryDirectory(prefix="apsl-"))
    path = Path(folder) / f"input.{_ending(content)}"
    path.write_bytes(content)
    context.meta[_KEY] = str(path)
    return str(path)


def _unpacked(content: bytes) -> bytes:
    if not content.startswith(_PACKED):
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        message = f"standard input is packed by gzip and cannot be unpacked ({error}); check that it is whole"
        raise DataError(message) from error


def _ending(content: bytes) -> str:
    """Return the ending of the file that would hold such content."""
    begun = content.removeprefix(_MARK).lstrip()
    for beginning, ending in _BEGINNINGS:
        if begun.startswith(beginning):
            return ending
    first = begun.partition(b"\n")[0]
    return "tsv" if first.count(b"\t") > first.count(b",") else "csv"
