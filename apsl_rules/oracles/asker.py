"""The asker in front of every oracle: it keeps and checks each answer, and counts the questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from threading import Lock
from typing import Any, TypeVar, get_args

import attrs

from apsl_rules.errors import ApslError, InvalidArgumentError, LimitReachedError, PluginError
from apsl_rules.evidence import Decision, Verdict, log_p_of
from apsl_rules.memory import Memory
from apsl_rules.names import Node, count_of, order_key, require_known
from apsl_rules.oracles.protocol import (
    Cut,
    Elimination,
    FrontOracle,
    Oracle,
    Query,
    Search,
    Separation,
    Sweep,
)
from apsl_rules.stopping import Stop, name_interrupt

Answer = TypeVar("Answer")
Step = TypeVar("Step")

_DECISIONS = get_args(Decision)
#: What an oracle may have besides ``nodes`` and ``verdict``.
_OPTIONAL = (
    "name",
    "perfect",
    "data",
    "verdicts",
    "associations",
    "separator",
    "separators",
    "foresee",
    "flush",
    "eliminate",
)


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


#: Who is told what goes on, how much of it is done, and of how much: a bar. Of 0 where nobody knows; tests are counted
#: then.
WATCHING: ContextVar[Callable[[str, int, int], None] | None] = ContextVar("watching", default=None)


def counted(what: str, steps: Sequence[Step]) -> Iterator[Step]:
    """Give steps one after another, and tell who watches how many are done.

    >>> list(counted("edges", ["a", "b"]))
    ['a', 'b']
    """
    watch = WATCHING.get()
    for done, step in enumerate(steps):
        if watch is not None:
            watch(what, done, len(steps))
        yield step


class Asker(FrontOracle):
    """The oracle of one run, in front of another one: it asks each question once, and checks each answer."""

    def __init__(
        self, oracle: Oracle, *, origin: str, max_tests: int | None = None, max_seconds: float | None = None
    ) -> None:
        super().__init__(complete_oracle(oracle))
        self._origin = origin
        #: The place of each node in the order of names.
        self.rank = self.ranked_nodes.rank
        self._known = self.rank.keys()
        self._verdicts: Memory[Query, Verdict] = Memory()
        self._sweeps: Memory[Node, Sweep] = Memory()
        self._searches: Memory[Search, Separation] = Memory()
        self._asked = self._distinct = self._rounds = 0
        self.stop = Stop.after(seconds=max_seconds, tests=max_tests)
        self._lock = Lock()

    def foresee(self, searches: Sequence[Search] = (), sweeps: Sequence[Node] = ()) -> None:
        """Announce what may be asked next, so that the oracle can prepare it in one round."""
        self.within_limits()
        new = [search for search in searches if search not in self._searches]
        self._oracle.foresee(new, [node for node in sweeps if node not in self._sweeps])

    @property
    def counts(self) -> Counts:
        """Return the counts so far."""
        return Counts(self._asked, self._distinct, self._rounds, len(self._sweeps))

    def verdicts(self, queries: Sequence[Query]) -> Sequence[Verdict]:
        """Answer a batch: what is not remembered, in either order, goes to the oracle in one round."""
        for query in queries:
            self._check_query(query)

        def ask(new: Sequence[Query]) -> Sequence[Verdict]:
            answers = self._ask("verdicts", new, lambda: self._oracle.verdicts(new))
            self._check_number(answers, new, "verdicts")
            for query, answer in zip(new, answers, strict=True):
                self._check(answer, query, "verdicts")
            self._count(0, len(new), rounds=True)
            return answers

        answers = self._verdicts.recall([self.normalise(query) for query in queries], ask)
        self._count(len(queries), 0)
        return answers

    def associations(self, x: Node) -> Sweep:
        """Test x against every other node, once."""
        size = len(self._known) - 1

        def ask(_new: Sequence[Node]) -> Sequence[Sweep]:
            sweep = self._ask("associations", x, lambda: self._oracle.associations(x))
            self._check_sweep(sweep, x, size)
            self._count(0, size, rounds=True, sweeps=True)
            return [sweep]

        sweep = self._sweeps.get(x)
        if sweep is None:
            require_known(x, self._known, "node")
            (sweep,) = self._sweeps.recall([x], ask)
        self._count(size, 0)
        return sweep

    def nearest(self, x: Node, number: int) -> tuple[Verdict, ...]:
        """Return the verdicts on the nodes with the least p at x, as far as they were swept; nothing new is asked."""
        sweep = self._sweeps.get(x)
        known = [one for one in sweep or () if one.p is not None and one.decision != "unreliable"]
        return tuple(sorted(known, key=lambda one: (log_p_of(one), order_key(one.y)))[:number])

    def untested(self, x: Node) -> tuple[Verdict, ...]:
        """Return the verdicts that say that x could not be tested against another node; nothing new is asked."""
        sweep = self._sweeps.get(x)
        return () if sweep is None else sweep.untested()

    def separators(self, searches: Sequence[Search]) -> Sequence[Separation]:
        """Carry out a batch of searches: those not remembered go to the oracle in one round."""
        for search in searches:
            self._check_query((search.x, search.y, (*search.pool, *search.must_include)))

        def ask(new: Sequence[Search]) -> Sequence[Separation]:
            answers = self._ask("separators", new, lambda: self._oracle.separators(new))
            self._check_number(answers, new, "separators")
            for search, answer in zip(new, answers, strict=True):
                self._check_separation(answer, search)
            self._count(0, sum(answer.tests for answer in answers), rounds=True)
            return answers

        answers = self._searches.recall(searches, ask)
        self._count(sum(answer.tests for answer in answers), 0)
        return answers

    def eliminate(self, sweep: Sweep, *, unreliable: Decision, cut: Cut | None, max_size: int | None) -> Elimination:
        """Ask the oracle for HITON's elimination for the node of a sweep, in one round."""
        found = self._ask(
            "eliminate",
            sweep.x,
            lambda: self._oracle.eliminate(sweep, unreliable=unreliable, cut=cut, max_size=max_size),
        )
        self._check_elimination(found, sweep.x)
        self._count(found.tests, found.tests, rounds=True)
        return found

    # --- checks ----------------------------------------------------------------------------------------------------

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
                self._check(verdict, (x, verdict.y if isinstance(verdict, Verdict) else None, ()), "associations")
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

    def _count(self, asked: int, distinct: int, *, rounds: bool = False, sweeps: bool = False) -> None:
        with self._lock:
            self._asked += asked
            self._distinct += distinct
            self._rounds += rounds
        watch = WATCHING.get()
        if watch is not None and distinct:
            watch("sweeping" if sweeps else "searching", self._distinct, 0)


def is_oracle(given: Any) -> bool:
    """Return whether an object answers independence questions by a method of its own."""
    return hasattr(given, "verdict") and callable(given.verdict)


def complete_oracle(given: Any) -> Oracle:
    """Return an oracle from an object that has at least ``nodes`` and ``verdict``; what else it has is used."""
    if isinstance(given, Oracle):
        return given
    if not hasattr(given, "nodes") or not is_oracle(given):
        message = f"{type(given).__name__} is no oracle: it needs nodes and a method verdict(x, y, given)"
        raise InvalidArgumentError(message)

    class Completed(Oracle):
        nodes = tuple(given.nodes)
        name = type(given).__name__
        eliminates = hasattr(given, "eliminate")

        def verdict(self, x: Node, y: Node, given_nodes: Sequence[Node] = ()) -> Verdict:
            answer: Verdict = given.verdict(x, y, given_nodes)
            return answer

    completed = Completed()
    for name in _OPTIONAL:
        if hasattr(given, name):
            setattr(completed, name, getattr(given, name))
    return completed
