"""The asker in front of every oracle: it checks and caches each answer, and counts the questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, TypeVar, get_args

import attrs

from apsl_rules.errors import ApslError, InvalidArgumentError, LimitReachedError, PluginError
from apsl_rules.evidence import Decision, Verdict
from apsl_rules.names import Node, count_of, require_known
from apsl_rules.oracles.protocol import (
    BaseOracle,
    Cut,
    Eliminating,
    Elimination,
    Oracle,
    Query,
    RankedNodes,
    Search,
    Separation,
    Sweep,
)
from apsl_rules.stopping import Stop, name_interrupt

Answer = TypeVar("Answer")

_DECISIONS = get_args(Decision)


@attrs.frozen
class Counts:
    """What a run asked: tests in all, tests that had to be computed, rounds of questions, and sweeps over all nodes.

    A search for a separator counts every subset it tried. A test inside one search is counted as computed even when
    another search met the same test, since searches run inside the oracle.

    Attributes
    ----------
    asked
        Tests in all.
    distinct
        Tests that had to be computed.
    rounds
        Rounds of questions.
    sweeps
        Sweeps over all nodes.
    """

    asked: int
    distinct: int
    rounds: int
    sweeps: int


class Asker:
    """An oracle in front of another one, which asks each question once."""

    def __init__(
        self, oracle: Oracle, *, origin: str, max_tests: int | None = None, max_seconds: float | None = None
    ) -> None:
        # our own class first: a check of a protocol looks at each of its methods
        self._oracle = oracle if isinstance(oracle, BaseOracle | Oracle) else complete_oracle(oracle)
        self._eliminating = self._oracle if isinstance(self._oracle, Eliminating) else None
        self._origin = origin
        # an oracle that several runs ask may have its nodes ranked
        ranked: RankedNodes = getattr(self._oracle, "ranked_nodes", None) or RankedNodes.of(self._oracle.nodes)
        self.nodes = ranked.nodes
        self.name = self._oracle.name
        self.perfect = self._oracle.perfect
        self._known = ranked.rank.keys()
        #: The place of each node in the order of names.
        self.rank = ranked.rank
        self._verdicts: dict[Query, Verdict] = {}
        self._sweeps: dict[Node, Sweep] = {}
        self._searches: dict[Search, Separation] = {}
        self._asked = self._distinct = self._rounds = 0
        self.stop = Stop.after(seconds=max_seconds, tests=max_tests)
        self._lock = Lock()

    @property
    def data(self) -> object:
        """Return the table or the counts behind the oracle, if it has any."""
        return getattr(self._oracle, "data", None)

    def foresee(self, searches: Sequence[Search] = (), sweeps: Sequence[Node] = ()) -> None:
        """Announce what may be asked next, so that the oracle can prepare it in one round."""
        foresee = getattr(self._oracle, "foresee", None)
        if foresee is not None:
            self.within_limits()
            new = [search for search in searches if search not in self._searches]
            foresee(new, [node for node in sweeps if node not in self._sweeps])

    def flush(self) -> None:
        """Write what the oracle keeps on disk, if it keeps anything."""
        flush = getattr(self._oracle, "flush", None)
        if flush is not None:
            flush()

    @property
    def counts(self) -> Counts:
        """Return the counts so far."""
        return Counts(self._asked, self._distinct, self._rounds, len(self._sweeps))

    def verdict(self, x: Node, y: Node, given: Sequence[Node] = ()) -> Verdict:
        """Answer one question, from memory if it was asked before in either order."""
        return self.verdicts([(x, y, tuple(given))])[0]

    def verdicts(self, queries: Sequence[Query]) -> Sequence[Verdict]:
        """Answer a batch: what is not remembered goes to the oracle in one round."""
        asked = [self._normalise(query) for query in queries]
        new = [query for query in dict.fromkeys(asked) if query not in self._verdicts]
        if new:
            answers = self._ask("verdicts", new, lambda: self._oracle.verdicts(new))
            self._check_number(answers, new, "verdicts")
            for query, answer in zip(new, answers, strict=True):
                self._check(answer, query, "verdicts")
                self._verdicts[query] = answer
        self._count(len(queries), len(new), rounds=bool(new))
        return [self._verdicts[query] for query in asked]

    def associations(self, x: Node) -> Sweep:
        """Test x against every other node, once."""
        require_known(x, self._known, "node")
        size = len(self.nodes) - 1
        if x in self._sweeps:
            self._count(size, 0)
            return self._sweeps[x]
        sweep = self._ask("associations", x, lambda: self._oracle.associations(x))
        self._check_sweep(sweep, x, size)
        self._sweeps[x] = sweep
        self._count(size, size, rounds=True)
        return sweep

    def untested(self, x: Node) -> tuple[Verdict, ...]:
        """Return the verdicts that say that x could not be tested against another node; nothing new is asked."""
        return self._sweeps[x].untested() if x in self._sweeps else ()

    def separator(
        self,
        x: Node,
        y: Node,
        pool: Sequence[Node],
        *,
        must_include: Sequence[Node] = (),
        max_size: int | None = None,
    ) -> Separation:
        """Search for a separator, once for each distinct search."""
        return self.separators([Search(x, y, tuple(pool), tuple(must_include), max_size)])[0]

    def separators(self, searches: Sequence[Search]) -> Sequence[Separation]:
        """Carry out a batch of searches: those not remembered go to the oracle in one round."""
        for search in searches:
            self._check_query((search.x, search.y, (*search.pool, *search.must_include)))
        new = [search for search in dict.fromkeys(searches) if search not in self._searches]
        if new:
            answers = self._ask("separators", new, lambda: self._oracle.separators(new))
            self._check_number(answers, new, "separators")
            for search, answer in zip(new, answers, strict=True):
                self._check_separation(answer, search)
                self._searches[search] = answer
        asked = sum(self._searches[search].tests for search in searches)
        self._count(asked, sum(self._searches[search].tests for search in new), rounds=bool(new))
        return [self._searches[search] for search in searches]

    @property
    def eliminating(self) -> Eliminating | None:
        """Return this asker if the oracle has HITON's elimination built in, else None."""
        return None if self._eliminating is None else self

    def eliminate(self, sweep: Sweep, *, unreliable: Decision, cut: Cut | None, max_size: int | None) -> Elimination:
        """Ask the oracle for HITON's elimination for the node of a sweep, in one round."""
        oracle = self._eliminating
        if oracle is None:
            message = f"{self._origin} does not eliminate by itself; ask it for separators"
            raise InvalidArgumentError(message)
        found = self._ask(
            "eliminate",
            sweep.x,
            lambda: oracle.eliminate(sweep, unreliable=unreliable, cut=cut, max_size=max_size),
        )
        self._check_elimination(found, sweep.x)
        self._count(found.tests, found.tests, rounds=True)
        return found

    # --- checks ----------------------------------------------------------------------------------------------------

    def _normalise(self, query: Query) -> Query:
        """Return a question with x before y and Z by name, so that no order changes the answer."""
        self._check_query(query)
        x, y, given = query
        if self.rank[y] < self.rank[x]:
            x, y = y, x
        return x, y, tuple(sorted(given, key=self.rank.__getitem__))

    def _check_query(self, query: Query) -> None:
        x, y, given = query
        for node in (x, y, *given):
            if node not in self._known:
                require_known(node, self._known, "node")
        if x == y or x in given or y in given:
            message = f"cannot test {x!r} against {y!r} given {given!r}: the two and the given nodes must all differ"
            raise InvalidArgumentError(message)

    def _ask(self, method: str, query: object, call: Callable[[], Answer]) -> Answer:
        self.within_limits()
        self.stop.allow(self._distinct)
        try:
            return call()
        except (ApslError, LimitReachedError):
            raise
        except Exception as error:
            name_interrupt(error)
            message = f"{self._origin} raised {type(error).__name__} in {method}({query!r}): {error}"
            raise PluginError(message) from error

    def _refuse(self, method: str, query: object, fault: str) -> None:
        message = f"{self._origin} broke its contract in {method}({query!r}): it {fault}"
        raise PluginError(message)

    def _check_number(self, answers: Any, asked: Sequence[object], method: str) -> None:
        if not isinstance(answers, Sequence):
            self._refuse(method, asked, f"gave {type(answers).__name__}, not a sequence of answers")
        elif len(answers) != len(asked):
            self._refuse(
                method, asked, f"gave {count_of(len(answers), 'answer')} to {count_of(len(asked), 'question')}"
            )

    def _check(self, answer: Any, query: Query, method: str) -> None:
        if not isinstance(answer, Verdict):
            self._refuse(method, query, f"gave {answer!r}, which is no Verdict")
        elif {answer.x, answer.y} != {query[0], query[1]}:
            self._refuse(method, query, f"answered about {answer.x!r} and {answer.y!r}")
        elif answer.decision not in _DECISIONS:
            self._refuse(method, query, f"decided {answer.decision!r}; allowed are {', '.join(_DECISIONS)}")
        elif {*answer.given} != {*query[2]}:
            self._refuse(method, query, f"answered for the given nodes {answer.given!r}")

    def _check_sweep(self, answer: Any, x: Node, size: int) -> None:
        if not isinstance(answer, Sweep):
            self._refuse("associations", x, f"gave {type(answer).__name__}, not a Sweep")
        elif len(answer) != size:
            self._refuse("associations", x, f"gave {len(answer)} verdicts on {size} other nodes")
        elif type(answer) is Sweep:  # a sweep of its own kind makes its verdicts itself
            for verdict in answer:
                self._check(verdict, (x, getattr(verdict, "y", None), ()), "associations")
            if {verdict.y for verdict in answer} != self._known - {x}:
                self._refuse("associations", x, "did not answer about each other node once")

    def _check_elimination(self, answer: Any, x: Node) -> None:
        if not isinstance(answer, Elimination):
            self._refuse("eliminate", x, f"gave {answer!r}, which is no Elimination")

    def _check_separation(self, answer: Any, search: Search) -> None:
        if not isinstance(answer, Separation):
            self._refuse("separators", search, f"gave {answer!r}, which is no Separation")
        elif (answer.x, answer.y) != (search.x, search.y):
            self._refuse("separators", search, f"answered about {answer.x!r} and {answer.y!r}")
        elif answer.given is not None:
            strange = [node for node in answer.given if node not in search.pool and node not in search.must_include]
            if strange:
                self._refuse("separators", search, f"separated by {strange[0]!r}, which is not in the pool")

    # --- counts and limits -----------------------------------------------------------------------------------------

    def within_limits(self) -> None:
        """Raise when a limit of the run is reached; learners that ask no tests for long call this themselves."""
        self.stop.check(self._distinct)

    def _count(self, asked: int, distinct: int, *, rounds: bool = False) -> None:
        with self._lock:
            self._asked += asked
            self._distinct += distinct
            self._rounds += rounds


def complete_oracle(partial: Any) -> Oracle:
    """Return an oracle from an object that has only ``nodes`` and ``verdict``."""
    if not callable(getattr(partial, "verdict", None)) or not hasattr(partial, "nodes"):
        message = f"{type(partial).__name__} is no oracle: it needs nodes and a method verdict(x, y, given)"
        raise InvalidArgumentError(message)

    class Completed(BaseOracle):
        nodes = tuple(partial.nodes)
        name = getattr(partial, "name", type(partial).__name__)
        perfect = getattr(partial, "perfect", False)

        def verdict(self, x: Node, y: Node, given: Sequence[Node] = ()) -> Verdict:
            answer: Verdict = partial.verdict(x, y, given)
            return answer

    return Completed()
