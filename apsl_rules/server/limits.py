"""What one call of the server may take, and texts that do no harm."""

from __future__ import annotations

import gzip
import zlib
from contextlib import suppress
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import attrs

from apsl_rules.data.readers import TABLE_ENDINGS, parquet_rows, split_sheet
from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.graphs.networks import network_names
from apsl_rules.names import count_of, nearest

#: The most characters of one text; a longer one is cut.
LONGEST = 2000


def plain_text(text: str) -> str:
    r"""Spell a text so that all of it can be seen: what is not printed is escaped, and a long one is cut.

    >>> plain_text("a\u202eb\n")
    'a\\u202eb\\n'
    """
    seen = "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)
    return seen if len(seen) <= LONGEST else f"{seen[: LONGEST - 1]}…"


def plain_data(data: Any) -> Any:
    """Return data for JSON: every text plain, numbers that JSON does not have as null."""
    if isinstance(data, str):
        return plain_text(data)
    if isinstance(data, bool | int | None):
        return data
    if isinstance(data, float):
        return data if isfinite(data) else None
    if isinstance(data, dict):
        return {plain_text(str(key)): plain_data(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [plain_data(one) for one in data]
    return plain_text(str(data))


#: How the names of files end that are read: tables, networks and saved parts.
ENDINGS = (*TABLE_ENDINGS, ".bif", ".bif.gz", ".json")

_CHUNK = 2**20
#: The most files that are named, and the most entries of a folder that are looked at.
_MOST_FILES, _MOST_SEEN = 100, 10_000
_MEGABYTE = 10**6


@attrs.frozen
class Limits:
    """The folders whose files may be read, and the most bytes, rows and seconds of one call."""

    folders: tuple[Path, ...]
    most_bytes: int = 100 * _MEGABYTE
    most_rows: int = 1_000_000
    seconds: float = 60.0

    @classmethod
    def of(cls, data: dict[str, Any]) -> Limits:
        """Return the limits that plain data stand for."""
        folders = tuple(map(Path, data["folders"]))
        return cls(folders, data["most_bytes"], data["most_rows"], data["seconds"])

    def to_dict(self) -> dict[str, Any]:
        """Return the limits as plain data."""
        return {**attrs.asdict(self), "folders": [str(one) for one in self.folders]}

    def source(self, name: str) -> str:
        """Return what a client may open under a name: a known network, or a file in an allowed folder."""
        if name in network_names():
            return name
        path, sheet = split_sheet(name)
        file = self._file(path)
        self._check_size(file, name)
        return str(file) if sheet is None else f"{file}#{sheet}"

    def check_rows(self, rows: int, name: str) -> None:
        """Refuse a table with too many rows."""
        if rows > self.most_rows:
            message = f"{name!r} has {count_of(rows, 'row')}, and at most {self.most_rows:,} are read; give a sample"
            raise DataError(message)

    def _file(self, name: str) -> Path:
        """Return a file by its path, absolute or from one of the folders; links do not lead out of them."""
        if not name.casefold().endswith(ENDINGS):
            message = (
                f"{name!r} is neither a network nor a file that is read; its name must end in {', '.join(ENDINGS)}"
            )
            raise InvalidArgumentError(message)
        file = self._found(name)
        if file is not None:
            return file
        message = f"there is no file {name!r} in the folders that may be read{self.hint(name)}"
        raise DataError(message)

    def _found(self, name: str) -> Path | None:
        for folder in self.folders:
            with suppress(OSError, ValueError, RuntimeError):  # not there, a null byte, links in a circle
                file = (folder / name).resolve(strict=True)
                if file.is_relative_to(folder) and file.is_file():
                    return file
        return None

    def files(self, part: str = "") -> tuple[list[dict[str, Any]], int]:
        """Return the files that may be read and whose names have a part, by name, and how many more there are."""
        found = [one for one in self._names() if part.casefold() in one.casefold()]
        listed = [{"data": one, "bytes": self._file(one).stat().st_size} for one in found[:_MOST_FILES]]
        return listed, len(found) - len(listed)

    def hint(self, name: str) -> str:
        """Return which file may be meant by a name that is none, or where to find out."""
        return nearest(name, self._names()) or "; list_files names those that may be read"

    def _names(self) -> list[str]:
        """Return the paths below the folders of the files that may be read; links that lead out of them are none."""
        found = set()
        for folder in self.folders:
            for file in islice(folder.rglob("*"), _MOST_SEEN):
                is_hidden = any(piece.startswith(".") for piece in file.relative_to(folder).parts)
                if not is_hidden and file.name.casefold().endswith(ENDINGS) and file.is_file():
                    name = file.relative_to(folder).as_posix()
                    if self._found(name) is not None:
                        found.add(name)
        return sorted(found)

    def _check_size(self, file: Path, name: str) -> None:
        """Refuse a file that is too large, also once it is unpacked."""
        if file.stat().st_size > self.most_bytes or _unpacked(file, self.most_bytes) > self.most_bytes:
            message = f"{name!r} is larger than {self.most_bytes / _MEGABYTE:,.0f} MB, which is the most; give a sample"
            raise DataError(message)
        if file.name.casefold().endswith(".parquet"):
            self.check_rows(parquet_rows(file), name)


def _unpacked(file: Path, most: int) -> int:
    """Return how many bytes a packed file holds, or more than a bound as soon as there are more."""
    ending = file.suffix.casefold()
    try:
        if ending == ".gz":
            size = 0
            with gzip.open(file) as handle:
                while size <= most and (chunk := handle.read(_CHUNK)):
                    size += len(chunk)
            return size
        if ending == ".xlsx":
            with ZipFile(file) as book:
                return sum(one.file_size for one in book.infolist())
    except (OSError, EOFError, zlib.error, BadZipFile):
        return 0  # the reader will say what is wrong with it
    return 0
