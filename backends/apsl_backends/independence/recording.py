"""Recorded answers: an oracle that writes down what another one says, and one that says it again.

A recording makes a run repeatable without its source, and lets the whole boundary between learner and oracle be
tested: a learner must do the same with the replay as with the original.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from apsl_rules._documents import DocumentError, file_text, json_data, label, node_of
from apsl_rules._files import write_text
from apsl_rules.errors import DataError
from apsl_rules.evidence import Verdict, verdict_data, verdict_of
from apsl_rules.names import Node
from apsl_rules.oracles import Oracle, Search, Separation, Sweep

FORMAT = "apsl_rules recording"


def _key(kind: str, *parts: Any) -> str:
    return json.dumps([kind, *parts], ensure_ascii=False)


def _labels(nodes: Sequence[Node]) -> list[Any]:
    return [label(node) for node in nodes]


def _search_key(search: Search) -> str:
    ends = [label(search.x), label(search.y)]
    return _key("search", *ends, _labels(search.pool), _labels(search.must_include), search.max_size)


def _separation_data(separation: Separation) -> dict[str, Any]:
    given = None if separation.given is None else _labels(separation.given)
    verdict = None if separation.verdict is None else verdict_data(separation.verdict)
    return {"given": given, "verdict": verdict, "tests": separation.tests}


class RecordingOracle(Oracle):
    """Asks another oracle and keeps every answer."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle
        self.nodes = oracle.nodes
        self.name = oracle.name
        self.perfect = oracle.perfect
        self._answers: dict[str, Any] = {}

    def verdict(self, x: Node, y: Node, given: Sequence[Node] = ()) -> Verdict:
        """Answer one question and keep the answer."""
        verdict = self._oracle.verdict(x, y, given)
        self._answers[_key("verdict", label(x), label(y), _labels(given))] = verdict_data(verdict)
        return verdict

    def associations(self, x: Node) -> Sweep:
        """Test x against all others and keep the answers."""
        sweep = self._oracle.associations(x)
        self._answers[_key("sweep", label(x))] = [verdict_data(verdict) for verdict in sweep]
        return sweep

    def separator(
        self,
        x: Node,
        y: Node,
        pool: Sequence[Node],
        *,
        must_include: Sequence[Node] = (),
        max_size: int | None = None,
    ) -> Separation:
        """Search for a separator and keep the outcome."""
        separation = self._oracle.separator(x, y, pool, must_include=must_include, max_size=max_size)
        key = _search_key(Search(x, y, tuple(pool), tuple(must_include), max_size))
        self._answers[key] = _separation_data(separation)
        return separation

    def save(self, path: str | Path) -> None:
        """Write all answers to a JSON file."""
        head = {"format": FORMAT, "name": self.name, "perfect": self.perfect, "nodes": _labels(self.nodes)}
        write_text(path, json.dumps({**head, "answers": self._answers}, ensure_ascii=False) + "\n")


class ReplayOracle(Oracle):
    """Answers from a recording, and from nothing else."""

    def __init__(self, path: str | Path) -> None:
        self._path = str(path)
        data = _read_recording(self._path)
        self.nodes = tuple(node_of(one) for one in data["nodes"])
        self.name = str(data["name"])
        self.perfect = bool(data["perfect"])
        self._answers: dict[str, Any] = dict(data["answers"])

    def _answer(self, key: str) -> Any:
        if key not in self._answers:
            message = f"the recording {self._path!r} has no answer to {key}; record the run again with these settings"
            raise DataError(message)
        return self._answers[key]

    def verdict(self, x: Node, y: Node, given: Sequence[Node] = ()) -> Verdict:
        """Answer a question that was recorded."""
        return verdict_of(self._answer(_key("verdict", label(x), label(y), _labels(given))))

    def associations(self, x: Node) -> Sweep:
        """Return a sweep that was recorded."""
        return Sweep(x, [verdict_of(one) for one in self._answer(_key("sweep", label(x)))])

    def separator(
        self,
        x: Node,
        y: Node,
        pool: Sequence[Node],
        *,
        must_include: Sequence[Node] = (),
        max_size: int | None = None,
    ) -> Separation:
        """Return the outcome of a search that was recorded."""
        data = self._answer(_search_key(Search(x, y, tuple(pool), tuple(must_include), max_size)))
        given = None if data["given"] is None else tuple(node_of(one) for one in data["given"])
        return Separation(x, y, given, data["verdict"] and verdict_of(data["verdict"]), data["tests"])


def _read_recording(path: str) -> dict[str, Any]:
    """Read a recording and make sure that it is one."""
    try:
        data = json_data(file_text(path))
    except DocumentError as error:
        message = f"the recording {path!r} cannot be read: {error}"
        raise DataError(message) from error
    if not isinstance(data, dict) or data.get("format") != FORMAT or not {"nodes", "name", "answers"} <= data.keys():
        message = f"{path!r} is no recording of an oracle; make one with RecordingOracle(oracle).save(path)"
        raise DataError(message)
    return data
