"""The log of finished work: one line of JSON for each unit, written before the next one counts as begun.

A process that is killed leaves at most its last line incomplete. The next process removes that line and continues.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import IO, Any, Self

from apsl_rules._atomic import cannot_write
from apsl_rules.errors import DataError, InvalidArgumentError

#: How every record begins, and so a torn one; any other file is left as it is.
_BEGINNING = b'{"key":'


class Log(Mapping[str, dict[str, Any]]):
    """A file of records by ``key``; open it with ``with``, by one process at a time.

    Records are read from the file when they are asked for, so that a long log takes little memory. The system has each
    one when ``add`` returns; it is asked to write them to the disk at least every ``seconds``, and at the end.
    """

    def __init__(self, path: Path, *, seconds: float = 0.0) -> None:
        self._path = path
        self._seconds = seconds
        self._written = monotonic()
        self._file: IO[bytes] | None = None
        self._is_new = False
        #: Where each record begins and ends in the file.
        self.places: dict[str, tuple[int, int]] = {}

    def __enter__(self) -> Self:
        """Lock the file, find its records, and cut off a torn last line."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._is_new = not self._path.exists()
            file = self._path.open("a+b")
        except OSError as error:
            raise cannot_write(self._path, error) from error
        try:
            self._take_up(file)
        except BaseException:
            file.close()
            raise
        self._file = file
        return self

    def _take_up(self, file: IO[bytes]) -> None:
        try:
            _lock(file)
        except BlockingIOError as error:
            message = f"another process is writing {str(self._path)!r}; wait for it, or give another place"
            raise InvalidArgumentError(message) from error
        file.seek(0)
        self.places, end = find_records(file, self._path)
        file.truncate(end)
        file.seek(end)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._file is None:
            return
        file, self._file = self._file, None
        with file:
            if self._is_new and not self.places:
                with suppress(OSError):  # Windows removes no open file
                    self._path.unlink()
            try:
                os.fsync(file.fileno())
            except OSError as failed:
                if error is None:
                    raise cannot_write(self._path, failed) from failed

    def add(self, record: dict[str, Any]) -> None:
        """Append a record."""
        if self._file is None:
            message = "the log is not open; use it in a with block"
            raise InvalidArgumentError(message)
        line = json.dumps({"key": record["key"], **record}, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
        number = self._file.fileno()
        begin = os.lseek(number, 0, os.SEEK_END)
        try:
            _write_whole(number, line)
            if monotonic() - self._written >= self._seconds:
                os.fsync(number)
                self._written = monotonic()
        except OSError as error:
            os.ftruncate(number, begin)  # what is there stays whole
            raise cannot_write(self._path, error) from error
        self.places[record["key"]] = (begin, begin + len(line))

    def __getitem__(self, key: str) -> dict[str, Any]:
        return read_record(self._path, self.places[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)


def read_record(path: Path, place: tuple[int, int]) -> dict[str, Any]:
    """Read one record of a log from its place in the file."""
    begin, end = place
    try:
        with path.open("rb") as file:
            file.seek(begin)
            record: dict[str, Any] = json.loads(file.read(end - begin))
    except (OSError, ValueError) as error:
        message = f"cannot read {str(path)!r} any more ({error}); the file was changed after it was opened"
        raise DataError(message) from error
    return record


def find_records(file: IO[bytes], path: Path) -> tuple[dict[str, tuple[int, int]], int]:
    """Return where each record of a log begins and ends, and where the last whole one ends.

    A line that is no record, nor the beginning of one, means that something else has written to the file.
    """
    places: dict[str, tuple[int, int]] = {}
    end = 0
    for number, line in enumerate(file, 1):
        if not line.endswith(b"\n") and line.startswith(_BEGINNING[: len(line)]):
            break
        try:
            places[json.loads(line)["key"]] = (end, end + len(line))
        except (ValueError, TypeError, KeyError) as error:
            message = f"line {number} of {str(path)!r} is no record of finished work; delete the file to begin anew"
            raise DataError(message) from error
        end += len(line)
    return places, end


def _write_whole(number: int, line: bytes) -> None:
    """Write a line past all buffers, so that nothing of one that failed is written later."""
    while line:
        line = line[os.write(number, line) :]


def _lock(file: IO[bytes]) -> None:
    """Keep other processes out of a file, as far as the system can: Windows has no such locks."""
    try:
        import fcntl
    except ImportError:
        return
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
