"""Oracles that keep answers on disk: one that looks there before it asks, and one that records all that was asked.

A recording makes a run repeatable without its source, and lets the whole boundary between learner and oracle be
tested: a learner must do the same with the replay as with the original.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from math import inf, nextafter
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np

from apsl_backends.answers.verdict_file import Answer, VerdictCache
from apsl_rules._documents import DocumentError, file_text, json_data, label, node_of
from apsl_rules._files import write_text
from apsl_rules.errors import DataError
from apsl_rules.evidence import Decision, Verdict, verdict_data, verdict_of
from apsl_rules.names import Node, in_order
from apsl_rules.oracles import Cut, Elimination, FrontOracle, Oracle, Query, Search, Separation, Sweep

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


Question = TypeVar("Question")
Found = TypeVar("Found")
#: What is kept of an answer, or None, and the alphas at which it stands: from the first to below the second.
Kept: TypeAlias = tuple[list[Any] | None, float, float]


class CachedOracle(FrontOracle):
    """An oracle in front of another one that asks it only what the cache does not know.

    ``alpha`` is the level at which the oracle behind decides, ``options`` are its settings that change a statistic,
    and ``key_of`` gives the content hash of a column. ``hits`` and ``misses`` count the questions that were answered
    from the cache and from the oracle; a sweep or a search is one question.
    """

    def __init__(
        self,
        oracle: Oracle,
        cache: VerdictCache,
        *,
        alpha: float,
        key_of: Callable[[Node], bytes],
        options: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(oracle)
        self.hits = self.misses = 0
        self._cache = cache
        self._alpha = alpha
        self._key_of = key_of
        self._signature = repr((oracle.name, sorted((options or {}).items()))).encode()

    def flush(self) -> None:
        """Write the answers that are still in memory."""
        self._cache.flush()

    def verdicts(self, queries: Sequence[Query]) -> Sequence[Verdict]:
        """Answer a batch: what the cache does not know goes to the oracle in one round."""

        def write(_query: Query, verdict: Verdict) -> Kept:
            return _figures([verdict]), 0.0, 1.0

        def read(figures: Any, query: Query) -> Verdict:
            return self._verdict(figures[0], query)

        return self._recall(queries, self._query_key, read, self._oracle.verdicts, write)

    def associations(self, x: Node) -> Sweep:
        """Test x against every other node, or take the whole sweep from the cache."""
        others = [node for node in self.nodes if node != x]

        def write(_x: Node, sweep: Sweep) -> Kept:
            return _figures([sweep.verdict_on(node) for node in others]), 0.0, 1.0

        def read(figures: Any, _x: Node) -> Sweep:
            kept = zip(others, figures, strict=True)
            return Sweep(x, [self._verdict(one, (x, node, ())) for node, one in kept])

        return self._recall([x], self._sweep_key, read, lambda _new: [self._oracle.associations(x)], write)[0]

    def separators(self, searches: Sequence[Search]) -> Sequence[Separation]:
        """Carry out a batch of searches: what the cache does not know goes to the oracle in one round.

        The number of tests of an outcome from the cache is what the search cost when it was carried out. Nodes are kept
        as places in the search.
        """

        def write(search: Search, found: Separation) -> Kept:
            verdict, candidates = found.verdict, (*search.must_include, *search.pool)
            if verdict is None:  # no test was reliable, which no alpha changes
                return [int(found.tests), None, None], 0.0, 1.0
            given = [candidates.index(node) for node in verdict.given]
            figures = _figures([verdict])
            if verdict.p is None:
                low, high = 0.0, 1.0
            elif found.found:  # what was tried before has p at or below alpha, and this has p above it
                low, high = self._alpha, float(verdict.p)
            else:  # the weakest dependence has the largest p of all
                low, high = float(verdict.p), 1.0
            return figures and [int(found.tests), given, figures[0], found.found], low, high

        def read(outcome: Any, search: Search) -> Separation:
            tests, places, *figures = outcome
            if places is None:
                return Separation(search.x, search.y, None, None, tests)
            candidates = (*search.must_include, *search.pool)
            given = tuple(candidates[place] for place in places)
            verdict = self._verdict(figures[0], (search.x, search.y, given))
            return Separation(search.x, search.y, given if figures[1] else None, verdict, tests)

        return self._recall(searches, self._search_key, read, self._oracle.separators, write)

    def eliminate(self, sweep: Sweep, *, unreliable: Decision, cut: Cut | None, max_size: int | None) -> Elimination:
        """Return the outcome of an elimination, from the cache if it is there; it stands at this alpha only.

        So a run with a cache asks what a run without one asks, test for test. Nodes are kept as their places.
        """
        x, place = sweep.x, self._places

        def key_of(asked: Sweep) -> bytes:
            shape = f"{unreliable} {max_size} ".encode()
            among = None if cut is None else cut(asked)
            chosen = b"" if among is None else np.packbits(among).tobytes()
            return self._key(b"eliminate", shape, self._place_key(x), self._contents, self._order_of_names, chosen)

        def ask(_new: Sequence[Sweep]) -> Sequence[Elimination]:
            return [self._oracle.eliminate(sweep, unreliable=unreliable, cut=cut, max_size=max_size)]

        def write(_asked: Sweep, found: Elimination) -> Kept:
            told = {node: one.verdict for node, one in found.separations.items()} | {**found.weakest}
            verdicts = [verdict for verdict in told.values() if verdict is not None]
            figures = _figures(verdicts)
            if figures is None or len(verdicts) < len(told):
                return None, 0.0, 1.0
            given = [[place[one] for one in verdict.given] for verdict in verdicts]
            members = [place[node] for node in found.members]
            kept = [int(found.tests), members, [place[node] for node in told], given, figures]
            return kept, self._alpha, nextafter(self._alpha, inf)

        def read(outcome: Any, _asked: Sweep) -> Elimination:
            tests, members, *told = outcome
            separations: dict[Node, Separation] = {}
            weakest: dict[Node, Verdict] = {}
            for at, places, figures in zip(*told, strict=True):
                node, given = self.nodes[at], tuple(self.nodes[one] for one in places)
                verdict = self._verdict(figures, (x, node, given))
                if at in members:
                    weakest[node] = verdict
                else:
                    separations[node] = Separation(x, node, given, verdict)
            return Elimination(tuple(self.nodes[one] for one in members), separations, weakest, tests)

        return self._recall([sweep], key_of, read, ask, write)[0]

    def _recall(
        self,
        questions: Sequence[Question],
        key_of: Callable[[Question], bytes],
        read: Callable[[Any, Question], Found],
        ask: Callable[[Sequence[Question]], Sequence[Found]],
        write: Callable[[Question, Found], Kept],
    ) -> list[Found]:
        """Answer questions from the file; new ones go to ``ask`` in one round, and their answers into the file."""
        keys = [key_of(one) for one in questions]
        known = self._cache.find(keys, self._alpha)
        new = [place for place, key in enumerate(keys) if key not in known]
        self.hits += len(questions) - len(new)
        self.misses += len(new)
        computed = dict(zip(new, ask([questions[place] for place in new]), strict=True)) if new else {}
        written = [(keys[place], *write(questions[place], found)) for place, found in computed.items()]
        answers = [Answer(key, json.dumps(kept).encode(), low, high) for key, kept, low, high in written if kept]
        if computed:
            self._cache.keep(answers)
        return [
            computed[place] if place in computed else read(json.loads(known[keys[place]]), question)
            for place, question in enumerate(questions)
        ]

    def _verdict(self, figures: Sequence[Any], query: Query) -> Verdict:
        """Answer a question from its figures: the test is decided again at the current alpha."""
        test, reliable, statistic, p, log_p, dof, n = figures
        decision: Decision = "unreliable" if not reliable else "independent" if p > self._alpha else "dependent"
        return Verdict(*query, decision, test, statistic=statistic, p=p, dof=dof, n=n, log_p=log_p)

    @cached_property
    def _contents(self) -> bytes:
        """Return one hash for all columns in their order."""
        return blake2b(b"".join(map(self._key_of, self.nodes)), digest_size=16).digest()

    @cached_property
    def _places(self) -> dict[Node, int]:
        return {node: place for place, node in enumerate(self.nodes)}

    def _place_key(self, node: Node) -> bytes:
        """Return the place of a column: what is kept of all the others names them by theirs, also of a duplicate."""
        return self._places[node].to_bytes(8, "little")

    def _key(self, kind: bytes, *parts: bytes) -> bytes:
        return blake2b(b"".join((self._signature, *parts)), digest_size=16, person=kind).digest()

    def _query_key(self, query: Query) -> bytes:
        x, y, given = query
        return self._key(
            b"verdict",
            *sorted((self._key_of(x), self._key_of(y))),
            *sorted(map(self._key_of, given)),
        )

    def _sweep_key(self, x: Node) -> bytes:
        return self._key(b"sweep", self._place_key(x), self._contents)

    def _search_key(self, search: Search) -> bytes:
        shape = f"{len(search.must_include)} {search.max_size} "
        return self._key(
            b"search",
            shape.encode(),
            *sorted((self._key_of(search.x), self._key_of(search.y))),
            *map(self._key_of, search.must_include),
            *map(self._key_of, search.pool),
        )

    @cached_property
    def _order_of_names(self) -> bytes:
        """Return one hash for the order of the names, by which ties inside an elimination are broken."""
        ranks = np.array([self._places[node] for node in in_order(self.nodes)], dtype="<i8")
        return blake2b(ranks.tobytes(), digest_size=16).digest()


def _figures(verdicts: Sequence[Verdict]) -> list[Any] | None:
    """Return the figures of tests, or None where one could not be decided again from them."""
    if any(one.p is None and one.decision != "unreliable" for one in verdicts):
        return None
    return [
        [one.test, one.decision != "unreliable", *map(_plain, (one.statistic, one.p, one.log_p, one.dof, one.n))]
        for one in verdicts
    ]


def _plain(figure: Any) -> Any:
    """Return a figure as Python has it, not numpy."""
    return figure.item() if isinstance(figure, np.generic) else figure
