"""``-`` in the place of a file: what standard input brings, told apart by how it begins."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from apsl_rules.cli.completion import complete_networks
from apsl_rules.errors import DataError

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
    return click.argument(name, callback=keep_standard_input, shell_complete=complete_networks, **settings)


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
