"""Answers on disk: a SQLite file of answers by the key of a question, each with the alphas at which it stands."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from threading import RLock
from time import monotonic
from types import TracebackType
from typing import Self
from weakref import finalize

import attrs

from apsl_rules.errors import CacheFileError

_APPLICATION = 0x4150534C  # "APSL", the mark by which sqlite files tell whose they are
_FORMAT = 3
_WAIT_SECONDS = 60.0
_BATCH = 1_000
_BATCH_SECONDS = 1.0
_KEYS_AT_ONCE = 500

_SCHEMA = (
    "CREATE TABLE answers (key BLOB NOT NULL, low REAL NOT NULL, high REAL NOT NULL, answer BLOB NOT NULL, "
    "PRIMARY KEY (key, low)) WITHOUT ROWID"
)


@attrs.frozen
class Answer:
    """Something found out, under the key of the question, that stands where low <= alpha < high."""

    key: bytes
    answer: bytes
    low: float = 0.0
    high: float = 1.0

    def stands_at(self, alpha: float) -> bool:
        """Return whether the answer is the same at this alpha."""
        return self.low <= alpha < self.high


class VerdictCache:
    """A file of answers; use it in a ``with`` block or close it, so that the last answers are written."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        self._lock = RLock()
        self._pending: dict[bytes, list[Answer]] = {}
        self._written = monotonic()
        with self._in_words():
            self._connection = sqlite3.connect(
                self.path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False
            )
        self._forgotten = finalize(self, _close_forgotten, self._connection, self._pending, str(self.path))
        try:
            with self._in_words():
                self._prepare()
        except CacheFileError:
            self._forgotten()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __len__(self) -> int:
        with self._lock, self._in_words():
            self._flush()
            count: int = self._connection.execute("SELECT count(*) FROM answers").fetchone()[0]
            return count

    def find(self, keys: Sequence[bytes], alpha: float) -> dict[bytes, bytes]:
        """Return the answers that are known under some keys and stand at this alpha."""
        found: dict[bytes, bytes] = {}
        with self._lock, self._in_words():
            for start in range(0, len(keys), _KEYS_AT_ONCE):
                run = keys[start : start + _KEYS_AT_ONCE]
                places = ",".join("?" * len(run))
                query = f"SELECT key, answer FROM answers WHERE key IN ({places}) AND low <= ? AND high > ?"  # noqa: S608 - only question marks are put in
                found.update(self._connection.execute(query, (*run, alpha, alpha)))
            for key in keys if self._pending else ():
                found.update((key, one.answer) for one in self._pending.get(key, ()) if one.stands_at(alpha))
        return found

    def keep(self, answers: Iterable[Answer]) -> None:
        """Keep answers; they reach the file in batches, a second or so later."""
        with self._lock:
            for answer in answers:
                self._pending.setdefault(answer.key, []).append(answer)
            if len(self._pending) >= _BATCH or monotonic() - self._written > _BATCH_SECONDS:
                self.flush()

    def flush(self) -> None:
        """Write what has not been written yet."""
        with self._lock, self._in_words():
            self._flush()

    def close(self) -> None:
        """Write what has not been written yet and close the file."""
        with self._lock, self._in_words():
            if self._forgotten.detach() is not None:
                try:
                    self._flush()
                finally:
                    self._connection.close()

    def _flush(self) -> None:
        """Write what waits; what cannot be written is dropped, so that the reason is reported once."""
        try:
            _write(self._connection, self._pending)
        except sqlite3.Error:
            self._pending.clear()
            raise
        self._written = monotonic()

    def _prepare(self) -> None:
        """Make a new file ours, and refuse one that is not."""
        if self._mark() == (0, 0, 0):
            # Another process may be doing the same: the second one finds the table.
            with _transaction(self._connection):
                if self._mark() == (0, 0, 0):
                    self._connection.execute(_SCHEMA)
                    self._connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                    self._connection.execute(f"PRAGMA user_version = {_FORMAT}")
        application, version, _ = self._mark()
        if application != _APPLICATION:
            message = (
                f"{str(self.path)!r} is the sqlite file of another program, not a verdict cache; give another path"
            )
            raise CacheFileError(message)
        if version != _FORMAT:
            message = (
                f"the verdict cache {str(self.path)!r} has format {version}, this release reads {_FORMAT}; "
                f"give another path"
            )
            raise CacheFileError(message)
        self._connection.execute("PRAGMA synchronous = NORMAL")

    def _mark(self) -> tuple[int, int, int]:
        """Return whose file it is, its format, and how many tables it has."""
        ask = self._connection.execute
        return (
            ask("PRAGMA application_id").fetchone()[0],
            ask("PRAGMA user_version").fetchone()[0],
            ask("SELECT count(*) FROM sqlite_master").fetchone()[0],
        )

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Turn what sqlite complains of into one sentence."""
        try:
            yield
        except sqlite3.Error as error:
            raise CacheFileError(_why_unusable(str(self.path), error)) from error


def _why_unusable(path: str, error: sqlite3.Error) -> str:
    advice = "check that it is an undamaged cache file in a folder that can be written"
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
        advice = "free some disk space"
    return f"cannot use {path!r} as a verdict cache ({error}); {advice}, or give another path"


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _write(connection: sqlite3.Connection, pending: dict[bytes, list[Answer]]) -> None:
    if not pending:
        return
    rows = [(one.key, one.low, one.high, one.answer) for answers in pending.values() for one in answers]
    with _transaction(connection):
        connection.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?)", rows)
    pending.clear()


def _close_forgotten(connection: sqlite3.Connection, pending: dict[bytes, list[Answer]], path: str) -> None:
    """Write and close files that are still open; an error is logged."""
    try:
        _write(connection, pending)
    except sqlite3.Error as error:
        logging.getLogger("apsl_rules").warning(_why_unusable(path, error))
    finally:
        connection.close()
