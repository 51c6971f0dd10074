"""An oracle whose tests and searches are looked up in a verdict cache before they are carried out.

The key of a question is the test with its options and the contents of the columns, never their names. Figures are
kept, not decisions: a test is decided again at the current alpha, independent when p is above it. Searches run
inside the oracle, so their outcome is kept whole, for the range of alpha in which all their tests come out alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import TypeVar

import numpy as np

from apsl_backends.answers.verdict_file import (
    Answer,
    VerdictCache,
    decide,
    pack_elimination,
    pack_search,
    pack_sweep,
    pack_verdict,
    unpack_elimination,
    unpack_search,
    unpack_sweep,
)
from apsl_rules.evidence import Decision, Verdict
from apsl_rules.names import Node, in_order
from apsl_rules.oracles import Cut, Elimination, FrontOracle, Oracle, Query, Search, Separation, Sweep

Question = TypeVar("Question")
Found = TypeVar("Found")


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

        def write(key: bytes, _query: Query, verdict: Verdict) -> Answer | None:
            figures = pack_verdict(verdict)
            return None if figures is None else Answer(key, figures)

        return self._recall(queries, self._query_key, decide, self._oracle.verdicts, write)

    def associations(self, x: Node) -> Sweep:
        """Test x against every other node, or take the whole sweep from the cache."""
        others = [node for node in self.nodes if node != x]

        def read(figures: bytes, _x: Node, alpha: float) -> Sweep:
            return unpack_sweep(figures, x, others, alpha)

        def write(key: bytes, _x: Node, sweep: Sweep) -> Answer | None:
            figures = pack_sweep(sweep, others)
            return None if figures is None else Answer(key, figures)

        return self._recall([x], self._sweep_key, read, lambda _new: [self._oracle.associations(x)], write)[0]

    def separators(self, searches: Sequence[Search]) -> Sequence[Separation]:
        """Carry out a batch of searches: what the cache does not know goes to the oracle in one round.

        The number of tests of an outcome from the cache is what the search cost when it was carried out.
        """

        def write(key: bytes, search: Search, found: Separation) -> Answer | None:
            return pack_search(key, search, found, self._alpha)

        return self._recall(searches, self._search_key, unpack_search, self._oracle.separators, write)

    def eliminate(self, sweep: Sweep, *, unreliable: Decision, cut: Cut | None, max_size: int | None) -> Elimination:
        """Return the outcome of an elimination, from the cache if it is there.

        So a run with a cache asks what a run without one asks, test for test.
        """

        def key_of(asked: Sweep) -> bytes:
            shape = f"{unreliable} {max_size} ".encode()
            among = None if cut is None else cut(asked)
            chosen = b"" if among is None else np.packbits(among).tobytes()
            return self._key(
                b"eliminate", shape, self._place_key(asked.x), self._contents, self._order_of_names, chosen
            )

        def read(outcome: bytes, asked: Sweep, alpha: float) -> Elimination:
            return unpack_elimination(outcome, asked.x, self.nodes, alpha)

        def ask(_new: Sequence[Sweep]) -> Sequence[Elimination]:
            return [self._oracle.eliminate(sweep, unreliable=unreliable, cut=cut, max_size=max_size)]

        def write(key: bytes, _asked: Sweep, found: Elimination) -> Answer | None:
            return pack_elimination(key, found, self._places, self._alpha)

        return self._recall([sweep], key_of, read, ask, write)[0]

    def _recall(
        self,
        questions: Sequence[Question],
        key_of: Callable[[Question], bytes],
        read: Callable[[bytes, Question, float], Found],
        ask: Callable[[Sequence[Question]], Sequence[Found]],
        write: Callable[[bytes, Question, Found], Answer | None],
    ) -> list[Found]:
        """Answer questions from the file; new ones go to ``ask`` in one round, and their answers into the file."""
        keys = [key_of(one) for one in questions]
        known = self._cache.find(keys, self._alpha)
        new = [place for place, key in enumerate(keys) if key not in known]
        self.hits += len(questions) - len(new)
        self.misses += len(new)
        computed = dict(zip(new, ask([questions[place] for place in new]), strict=True)) if new else {}
        written = (write(keys[place], questions[place], found) for place, found in computed.items())
        if computed:
            self._cache.keep(answer for answer in written if answer is not None)
        return [
            computed[place] if place in computed else read(known[keys[place]], question, self._alpha)
            for place, question in enumerate(questions)
        ]

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
