"""An oracle whose tests and searches are looked up in a verdict cache before they are carried out.

The key of a question is the test with its options and the contents of the columns, never their names. Figures are
kept, not decisions: a test is decided again at the current alpha, independent when p is above it. Searches run
inside the oracle, so their outcome is kept whole, for the range of alpha in which all their tests come out alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b

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
from apsl_rules.data import Table, fingerprint
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.evidence import Decision, Verdict
from apsl_rules.names import Node, in_order
from apsl_rules.oracles import BatchedOracle, Cut, Eliminating, Elimination, Oracle, Query, Search, Separation, Sweep


class CachedOracle(BatchedOracle):
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
        self.nodes = oracle.nodes
        self.name = oracle.name
        self.perfect = oracle.perfect
        self.hits = self.misses = 0
        self.data: object = getattr(oracle, "data", None)
        self._oracle = oracle
        self._cache = cache
        self._alpha = alpha
        self._key_of = key_of
        self._signature = repr((oracle.name, sorted((options or {}).items()))).encode()

    @classmethod
    def over_table(
        cls,
        oracle: Oracle,
        cache: VerdictCache,
        table: Table,
        *,
        alpha: float,
        options: Mapping[str, object] | None = None,
    ) -> CachedOracle:
        """Return a cache for an oracle that answers from an encoded table; it eliminates if the oracle does."""
        kind = EliminatingCachedOracle if isinstance(oracle, Eliminating) and cls is CachedOracle else cls
        return kind(oracle, cache, alpha=alpha, key_of=lambda node: fingerprint(table, (node,))[0], options=options)

    def flush(self) -> None:
        """Write the answers that are still in memory."""
        self._cache.flush()

    def verdicts(self, queries: Sequence[Query]) -> Sequence[Verdict]:
        """Answer a batch: what the cache does not know goes to the oracle in one round."""
        keys = [self._query_key(query) for query in queries]
        found = self._cache.find(keys, self._alpha)
        answers = {
            place: decide(found[key], query, self._alpha)
            for place, (key, query) in enumerate(zip(keys, queries, strict=True))
            if key in found
        }
        new = [place for place in range(len(queries)) if place not in answers]
        self._count(len(answers), len(new))
        if new:
            computed = self._oracle.verdicts([queries[place] for place in new])
            answers.update(zip(new, computed, strict=True))
            packed = ((keys[place], pack_verdict(answers[place])) for place in new)
            self._cache.keep(Answer(key, figures) for key, figures in packed if figures is not None)
        return [answers[place] for place in range(len(queries))]

    def associations(self, x: Node) -> Sweep:
        """Test x against every other node, or take the whole sweep from the cache."""
        key = self._key(b"sweep", self._place_key(x), self._contents)
        others = [node for node in self.nodes if node != x]
        found = self._cache.find([key], self._alpha)
        self._count(len(found), 1 - len(found))
        if found:
            return unpack_sweep(found[key], x, others, self._alpha)
        sweep = self._oracle.associations(x)
        figures = pack_sweep(sweep, others)
        if figures is not None:
            self._cache.keep([Answer(key, figures)])
        return sweep

    def separators(self, searches: Sequence[Search]) -> Sequence[Separation]:
        """Carry out a batch of searches: what the cache does not know goes to the oracle in one round.

        The number of tests of an outcome from the cache is what the search cost when it was carried out.
        """
        keys = [self._search_key(search) for search in searches]
        found = self._cache.find(keys, self._alpha)
        answers = {
            place: unpack_search(found[key], search, self._alpha)
            for place, (key, search) in enumerate(zip(keys, searches, strict=True))
            if key in found
        }
        new = [place for place in range(len(searches)) if place not in answers]
        self._count(len(answers), len(new))
        if new:
            computed = self._oracle.separators([searches[place] for place in new])
            answers.update(zip(new, computed, strict=True))
            packed = (pack_search(keys[place], searches[place], answers[place], self._alpha) for place in new)
            self._cache.keep(answer for answer in packed if answer is not None)
        return [answers[place] for place in range(len(searches))]

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

    def _search_key(self, search: Search) -> bytes:
        shape = f"{len(search.must_include)} {search.max_size} "
        return self._key(
            b"search",
            shape.encode(),
            *sorted((self._key_of(search.x), self._key_of(search.y))),
            *map(self._key_of, search.must_include),
            *map(self._key_of, search.pool),
        )

    def _count(self, hits: int, misses: int) -> None:
        self.hits += hits
        self.misses += misses


class EliminatingCachedOracle(CachedOracle):
    """A cache for an oracle with HITON's elimination built in; its outcomes are cached too.

    So a run with a cache asks what a run without one asks, test for test.
    """

    def eliminate(self, sweep: Sweep, *, unreliable: Decision, cut: Cut | None, max_size: int | None) -> Elimination:
        """Return the outcome of an elimination, from the cache if it is there."""
        if not isinstance(self._oracle, Eliminating):
            message = f"the oracle {self._oracle.name!r} does not eliminate by itself; put a CachedOracle before it"
            raise InvalidArgumentError(message)
        shape = f"{unreliable} {max_size} ".encode()
        among = None if cut is None else cut(sweep)
        chosen = b"" if among is None else np.packbits(among).tobytes()
        key = self._key(b"eliminate", shape, self._place_key(sweep.x), self._contents, self._order_of_names, chosen)
        found = self._cache.find([key], self._alpha)
        self._count(len(found), 1 - len(found))
        if found:
            return unpack_elimination(found[key], sweep.x, self.nodes, self._alpha)
        elimination = self._oracle.eliminate(sweep, unreliable=unreliable, cut=cut, max_size=max_size)
        answer = pack_elimination(key, elimination, self._places, self._alpha)
        if answer is not None:
            self._cache.keep([answer])
        return elimination

    @cached_property
    def _order_of_names(self) -> bytes:
        """Return one hash for the order of the names, by which ties inside an elimination are broken."""
        ranks = np.array([self._places[node] for node in in_order(self.nodes)], dtype="<i8")
        return blake2b(ranks.tobytes(), digest_size=16).digest()
