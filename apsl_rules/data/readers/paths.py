"""Paths to data: what kind of file a name means, and opening it with a clear sentence for every failure."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from os import PathLike, fspath
from os.path import exists, isdir
from pathlib import Path
from typing import IO, Literal, TextIO, TypeAlias, cast
from zipfile import BadZipFile, ZipFile

from apsl_rules.errors import DataError
from apsl_rules.names import count_of, near_file

FileKind: TypeAlias = Literal[
    "csv",
    "tsv",
    "txt",
    "jsonl",
    "json",
    "parquet",
    "feather",
    "arrow",
    "xlsx",
    "ods",
    "dta",
    "sav",
    "zsav",
    "xpt",
    "sas7bdat",
    "sqlite",
]
AnyPath: TypeAlias = str | PathLike[str]

_TEXT_KINDS: tuple[FileKind, ...] = ("csv", "tsv", "txt", "jsonl", "json")
_BINARY_KINDS: tuple[FileKind, ...] = (
    *("parquet", "feather", "arrow", "xlsx", "ods", "dta", "sav", "zsav", "xpt", "sas7bdat", "sqlite"),
)
_TEXTS = [f".{kind}{packed}" for kind in _TEXT_KINDS for packed in ("", ".gz", ".zip")]
#: How the names of files end that are read as tables.
TABLE_ENDINGS: tuple[str, ...] = (*_TEXTS, *(f".{kind}" for kind in _BINARY_KINDS))
_ENDINGS = f"{', '.join(TABLE_ENDINGS[:-1])} or {TABLE_ENDINGS[-1]}"
#: After the names of such files a sheet or a table can be named.
_OF_SHEETS = (".xlsx#", ".ods#", ".sqlite#")
#: The usual encoding, with a mark of the order of bytes or without.
UTF_8 = "utf-8-sig"


def is_there(place: AnyPath) -> bool:
    """Whether something has this path; nothing has one that is too long for the system."""
    return exists(place)  # noqa: PTH110 - a Path raises for such a name


def is_folder(place: AnyPath) -> bool:
    """Whether a folder has this path."""
    return isdir(place)  # noqa: PTH112 - as above


def existing_file(path: AnyPath) -> Path:
    """Check that a path is a file with something in it."""
    file = Path(path)
    if is_folder(file):
        message = f"{str(file)!r} is a folder; give a file ending in {_ENDINGS}"
        raise DataError(message)
    if not is_there(file):
        message = f"there is no file {str(file)!r}{near_file(file) or '; check the path'}"
        raise DataError(message)
    if file.stat().st_size == 0:
        message = f"the file {str(file)!r} is empty; give one with a header and at least two rows"
        raise DataError(message)
    return file


def file_kind(path: AnyPath) -> FileKind:
    """Return the kind of a file by the end of its name.

    >>> file_kind("alarm.csv.gz"), file_kind("survey.xlsx#2021")
    ('csv', 'xlsx')
    """
    name = Path(split_sheet(path)[0]).name.lower()
    for kind in _BINARY_KINDS:
        if name.endswith(f".{kind}"):
            return kind
    for kind in _TEXT_KINDS:
        if name.removesuffix(".gz").removesuffix(".zip").endswith(f".{kind}"):
            return kind
    message = f"cannot tell what kind of file {str(path)!r} is; its name must end in {_ENDINGS}"
    raise DataError(message)


def split_sheet(path: AnyPath) -> tuple[str, str | None]:
    """Return the path of a file, and the sheet of a workbook that is named after it, if any.

    >>> split_sheet("survey.xlsx#2021"), split_sheet("survey.xlsx")
    (('survey.xlsx', '2021'), ('survey.xlsx', None))
    """
    name = fspath(path)
    at, ending = max((name.casefold().rfind(one), one) for one in _OF_SHEETS)
    if at < 0 or is_there(name):
        return name, None
    end = at + len(ending)
    return name[: end - 1], name[end:]


@contextmanager
def open_bytes(file: Path) -> Iterator[IO[bytes]]:
    """Open a file, packed or not; an archive must have one file in it."""
    if file.suffix.casefold() != ".zip":
        with gzip.GzipFile(file) if file.suffix == ".gz" else file.open("rb") as handle:
            yield cast("IO[bytes]", handle)
        return
    with ZipFile(file) as archive:
        names = [one for one in archive.namelist() if not one.endswith("/") and not one.startswith("__MACOSX/")]
        if len(names) != 1:
            message = f"the archive {str(file)!r} has {count_of(len(names), 'file')}; give one with a single table"
            raise DataError(message)
        with archive.open(names[0]) as handle:
            yield handle


@contextmanager
def open_text(file: Path, encoding: str = UTF_8) -> Iterator[TextIO]:
    """Open a text file, packed or not, and turn every failure to read it into one sentence."""
    try:
        with open_bytes(file) as packed, TextIOWrapper(packed, encoding, newline="") as handle:
            yield handle
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        message = f"the file {str(file)!r} is not UTF-8 text (it has the byte 0x{byte:02x}); save it as UTF-8"
        raise DataError(message) from error
    except (OSError, EOFError, zlib.error, BadZipFile) as error:
        message = f"cannot read the file {str(file)!r} ({error}); check that it is whole and readable"
        raise DataError(message) from error
