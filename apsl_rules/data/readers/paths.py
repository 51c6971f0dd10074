"""Paths to data: what kind of file a name means, and opening it with a clear sentence for every failure."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Literal, TextIO, TypeAlias

from apsl_rules.errors import DataError

FileKind: TypeAlias = Literal["csv", "tsv", "txt", "parquet"]
AnyPath: TypeAlias = str | PathLike[str]

_TEXT_KINDS: tuple[FileKind, ...] = ("csv", "tsv", "txt")
_ENDINGS = ".csv, .csv.gz, .tsv, .tsv.gz, .txt, .txt.gz or .parquet"


def existing_file(path: AnyPath) -> Path:
    """Check that a path is a file with something in it."""
    file = Path(path)
    if file.is_dir():
        message = f"{str(file)!r} is a folder; give a file ending in {_ENDINGS}"
        raise DataError(message)
    if not file.exists():
        message = f"there is no file {str(file)!r}; check the path"
        raise DataError(message)
    if file.stat().st_size == 0:
        message = f"the file {str(file)!r} is empty; give one with a header and at least two rows"
        raise DataError(message)
    return file


def file_kind(path: AnyPath) -> FileKind:
    """Return the kind of a file by the end of its name.

    >>> file_kind("alarm.csv.gz")
    'csv'
    """
    name = Path(path).name.lower()
    if name.endswith(".parquet"):
        return "parquet"
    for kind in _TEXT_KINDS:
        if name.removesuffix(".gz").endswith(f".{kind}"):
            return kind
    message = f"cannot tell what kind of file {str(path)!r} is; its name must end in {_ENDINGS}"
    raise DataError(message)


@contextmanager
def open_text(file: Path) -> Iterator[TextIO]:
    """Open a text file, packed or not, and turn every failure to read it into one sentence."""
    opener = gzip.open if file.suffix == ".gz" else open
    try:
        with opener(file, "rt", encoding="utf-8-sig", newline="") as handle:
            yield handle
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        message = f"the file {str(file)!r} is not UTF-8 text (it has the byte 0x{byte:02x}); save it as UTF-8"
        raise DataError(message) from error
    except (OSError, EOFError, zlib.error) as error:
        message = f"cannot read the file {str(file)!r} ({error}); check that it is whole and readable"
        raise DataError(message) from error
