"""The log of finished work: one line of JSON for each unit, on the disk before the next one counts as begun.

A process that is killed leaves at most its last line incomplete. The next process removes that line and continues.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from apsl_rules.errors import DataError, InvalidArgumentError


class Log:
    """A file of records, each with a ``key``; open it with ``with``, by one process at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] | None = None
        self.records: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> Self:
        """Lock the file, read what it has, and cut off a torn last line."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        file = self._path.open("a+b")
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
            message = f"another process is writing {str(self._path)!r}; wait for it, or give another folder"
            raise InvalidArgumentError(message) from error
        file.seek(0)
        whole, _, torn = file.read().rpartition(b"\n")
        self.records = _parse(whole, self._path)
        if torn:
            file.truncate(len(whole) + 1 if whole else 0)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def add(self, record: dict[str, Any]) -> None:
        """Append a record and wait until it is on the disk."""
        if self._file is None:
            message = "the log is not open; use it in a with block"
            raise InvalidArgumentError(message)
        self._file.write(json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self.records[record["key"]] = record


def _lock(file: IO[bytes]) -> None:
    """Keep other processes out of a file, as far as the system can: Windows has no such locks."""
    try:
        import fcntl
    except ImportError:
        return
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _parse(whole: bytes, path: Path) -> dict[str, dict[str, Any]]:
    """Read complete lines; one that is no record means that something else has written to the file."""
    records = {}
    for number, line in enumerate(whole.split(b"\n") if whole else (), 1):
        try:
            record = json.loads(line)
            records[record["key"]] = record
        except (ValueError, TypeError, KeyError) as error:
            message = f"line {number} of {str(path)!r} is no record of finished work; delete the file to begin anew"
            raise DataError(message) from error
    return records
