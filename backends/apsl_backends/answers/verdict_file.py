"""Verdicts on disk: figures of tests in a SQLite file, by the fingerprint of a table."""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf, isnan, nextafter
from os import PathLike
from pathlib import Path
from threading import RLock
from time import monotonic
from types import TracebackType
from typing import Any, Self, overload
from weakref import finalize

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.errors import CacheFileError
from apsl_rules.evidence import Decision, Verdict
from apsl_rules.names import Node, order_key
from apsl_rules.oracles import Elimination, Query, Search, Separation, Sweep

_APPLICATION = 0x4150534C  # "APSL", the mark by which sqlite files tell whose they are
_FORMAT = 2
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


_ROW = np.dtype([("statistic", "<f8"), ("p", "<f8"), ("log_p", "<f8"), ("dof", "<i8"), ("n", "<i8"), ("reliable", "?")])


def pack_verdict(verdict: Verdict) -> bytes | None:
    """Return the figures of a verdict, or None when it could not be decided again from them."""
    return json.dumps(_figures(verdict)).encode() if _decidable(verdict) else None


def decide(packed: bytes, query: Query, alpha: float) -> Verdict:
    """Answer a question from its figures."""
    return _verdict(json.loads(packed), query, alpha)


def pack_search(key: bytes, search: Search, separation: Separation, alpha: float) -> Answer | None:
    """Return the outcome of a search with the range of alpha in which it holds, or None without figures.

    Nodes are kept as places in the search.
    """
    verdict = separation.verdict
    if verdict is not None and not _decidable(verdict):
        return None
    place = {node: number for number, node in reversed(list(enumerate(_candidates(search))))}
    outcome = {
        "found": separation.found,
        "tests": int(separation.tests),
        "given": None if verdict is None else [place[node] for node in verdict.given],
        "figures": None if verdict is None else _figures(verdict),
    }
    packed = json.dumps(outcome).encode()
    if verdict is None or verdict.p is None:
        return Answer(key, packed)  # no test was reliable, which no alpha changes
    if separation.found:
        # What was tried before has p at or below alpha, and this has p above it.
        return Answer(key, packed, alpha, float(verdict.p))
    # The weakest dependence has the largest p of all.
    return Answer(key, packed, float(verdict.p))


def unpack_search(packed: bytes, search: Search, alpha: float) -> Separation:
    """Return a search the outcome that was kept."""
    outcome = json.loads(packed)
    candidates = _candidates(search)
    verdict = None
    if outcome["figures"] is not None:
        given = tuple(candidates[place] for place in outcome["given"])
        verdict = _verdict(outcome["figures"], (search.x, search.y, given), alpha)
    separator = verdict.given if verdict is not None and outcome["found"] else None
    return Separation(search.x, search.y, separator, verdict, outcome["tests"])


def pack_elimination(key: bytes, elimination: Elimination, place: Mapping[Node, int], alpha: float) -> Answer | None:
    """Return the outcome of an elimination, which holds at this alpha only, or None without figures.

    Nodes are kept as their places among all nodes.
    """
    left = {node: one.verdict for node, one in elimination.separations.items()}
    told = {**left, **elimination.weakest}
    if not all(verdict is not None and _decidable(verdict) for verdict in told.values()):
        return None
    outcome = {
        "members": [place[node] for node in elimination.members],
        "verdicts": [
            [place[node], [place[one] for one in verdict.given], _figures(verdict)]
            for node, verdict in told.items()
            if verdict is not None
        ],
        "tests": int(elimination.tests),
    }
    return Answer(key, json.dumps(outcome).encode(), alpha, nextafter(alpha, inf))


def unpack_elimination(packed: bytes, x: Node, nodes: Sequence[Node], alpha: float) -> Elimination:
    """Return a node the outcome of its elimination that was kept."""
    outcome = json.loads(packed)
    members = tuple(nodes[place] for place in outcome["members"])
    separations: dict[Node, Separation] = {}
    weakest: dict[Node, Verdict] = {}
    for at, places, figures in outcome["verdicts"]:
        node, given = nodes[at], tuple(nodes[place] for place in places)
        verdict = _verdict(figures, (x, node, given), alpha)
        if node in members:
            weakest[node] = verdict
        else:
            separations[node] = Separation(x, node, given, verdict)
    return Elimination(members, separations, weakest, outcome["tests"])


def pack_sweep(sweep: Sweep, others: Sequence[Node]) -> bytes | None:
    """Return the figures of x against all others, in the order of the nodes, or None when one could not be decided."""
    of_node = {verdict.y: verdict for verdict in sweep}
    verdicts = [of_node[node] for node in others]
    tests = {verdict.test for verdict in verdicts}
    if len(tests) != 1 or not all(map(_decidable, verdicts)):
        return None
    rows = np.empty(len(verdicts), dtype=_ROW)
    for field in ("statistic", "p", "log_p"):
        rows[field] = [getattr(verdict, field) for verdict in verdicts]
    for field in ("dof", "n"):
        rows[field] = [-1 if (count := getattr(verdict, field)) is None else count for verdict in verdicts]
    rows["reliable"] = [verdict.decision != "unreliable" for verdict in verdicts]
    return json.dumps(tests.pop()).encode() + b"\n" + rows.tobytes()


def unpack_sweep(packed: bytes, x: Node, others: Sequence[Node], alpha: float) -> Sweep:
    """Return the sweep that was kept; its verdicts are built as they are looked at."""
    test, _, rows = packed.partition(b"\n")
    return CachedSweep(_CachedVerdicts(np.frombuffer(rows, dtype=_ROW), x, others, json.loads(test), alpha))


@attrs.frozen(eq=False)
class _CachedVerdicts(Sequence[Verdict]):
    """The verdicts of a kept sweep."""

    rows: npt.NDArray[Any]
    x: Node
    others: Sequence[Node]
    test: str
    alpha: float

    def __len__(self) -> int:
        return len(self.others)

    @overload
    def __getitem__(self, index: int) -> Verdict: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Verdict]: ...
    def __getitem__(self, index: int | slice) -> Verdict | Sequence[Verdict]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        statistic, p, log_p, dof, n, reliable = self.rows[index].item()
        figures = {
            "test": self.test,
            "statistic": None if isnan(statistic) else statistic,
            "p": None if isnan(p) else p,
            "log_p": None if isnan(log_p) else log_p,
            "dof": None if dof < 0 else dof,
            "n": None if n < 0 else n,
            "reliable": reliable,
        }
        return _verdict(figures, (self.x, self.others[index], ()), self.alpha)


class CachedSweep(Sweep):
    """A sweep from the cache, ranked without building the verdicts that have no rank."""

    def __init__(self, kept: _CachedVerdicts) -> None:
        super().__init__(kept.x, kept)
        self._kept = kept

    def untested(self) -> tuple[Verdict, ...]:
        """Return the verdicts on the columns for which there were too few rows, in order."""
        return tuple(self._kept[place] for place in np.flatnonzero(~self._kept.rows["reliable"]).tolist())

    def ranked(self, *, unreliable: Decision, among: npt.NDArray[np.bool_] | None = None) -> tuple[Verdict, ...]:
        """Return the dependent verdicts among those marked, strongest first and by name among equals."""
        rows = self._kept.rows
        chosen = rows["reliable"] & ~(rows["p"] > self._kept.alpha)
        if unreliable == "dependent":
            chosen |= ~rows["reliable"]
        if among is not None:
            chosen &= among
        verdicts = [self._kept[place] for place in np.flatnonzero(chosen).tolist()]
        return tuple(sorted(verdicts, key=lambda verdict: (-verdict.association, order_key(verdict.y))))

    def log_p(self) -> npt.NDArray[np.float64]:
        """Return ln p for each other column, NaN where the test is unreliable."""
        rows = self._kept.rows
        return np.where(rows["reliable"], rows["log_p"], np.nan)


def _decidable(verdict: Verdict) -> bool:
    return verdict.p is not None or verdict.decision == "unreliable"


def _figures(verdict: Verdict) -> dict[str, Any]:
    return {
        "test": verdict.test,
        "statistic": None if verdict.statistic is None else float(verdict.statistic),
        "p": None if verdict.p is None else float(verdict.p),
        "log_p": None if verdict.log_p is None else float(verdict.log_p),
        "dof": None if verdict.dof is None else int(verdict.dof),
        "n": None if verdict.n is None else int(verdict.n),
        "reliable": verdict.decision != "unreliable",
    }


def _verdict(figures: dict[str, Any], query: Query, alpha: float) -> Verdict:
    x, y, given = query
    decision: Decision = "unreliable"
    if figures["reliable"]:
        decision = "independent" if figures["p"] > alpha else "dependent"
    return Verdict(
        x,
        y,
        given,
        decision,
        figures["test"],
        statistic=figures["statistic"],
        p=figures["p"],
        dof=figures["dof"],
        n=figures["n"],
        log_p=figures["log_p"],
    )


def _candidates(search: Search) -> tuple[Node, ...]:
    return (*search.must_include, *search.pool)
