"""The asker before every oracle: memory, counts, limits, and oracles that break their contract."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest

from apsl_backends.independence.d_separation import DSeparation
from apsl_rules.errors import GraphError, InvalidArgumentError, LimitReachedError, PluginError, UnknownNodeError
from apsl_rules.evidence.evidence import Verdict
from apsl_rules.names import Node
from apsl_rules.oracles.asker import Asker, Counts
from apsl_rules.oracles.protocol import Oracle, Query, Separation, Sweep
from support.graphs import MICRO

ORIGIN = "oracle 'odd' of plugin 'strange'"


class Listening(Oracle):
    """Answers from N8 and writes down what it was asked."""

    def __init__(self) -> None:
        self.true = DSeparation(MICRO["N8"])
        self.nodes = self.true.nodes
        self.asked: list[Query] = []

    def verdict(self, x: Node, y: Node, given: Sequence[Node] = ()) -> Verdict:
        """Answer and write down the question."""
        self.asked.append((x, y, tuple(given)))
        return self.true.verdict(x, y, given)


class Odd(Oracle):
    """Answers whatever it was told to answer, and properly where it was told nothing."""

    nodes = ("a", "b", "c")

    def __init__(self, **answers: Any) -> None:
        for method, answer in answers.items():
            setattr(self, method, partial(_answer, answer))

    def verdict(self, x: Node, y: Node, given: Sequence[Node] = ()) -> Verdict:
        """Find all dependent."""
        return Verdict(x, y, tuple(given), "dependent", self.name)


def _answer(answer: object, *_question: object) -> object:
    if isinstance(answer, Exception):
        raise answer
    return answer


def ask_verdict(oracle: Asker) -> object:
    """Ask one question."""
    return oracle.verdict("a", "b", ["c"])


def ask_sweep(oracle: Asker) -> object:
    """Ask for a sweep."""
    return oracle.associations("a")


def ask_separator(oracle: Asker) -> object:
    """Ask for a separator."""
    return oracle.separator("a", "b", ["c"])


def good(x: str, y: str, decision: Any = "dependent") -> Verdict:
    """Return a verdict that is proper unless its decision is not."""
    return Verdict(x, y, (), decision, "odd")


def test_a_question_is_asked_once_in_either_order() -> None:
    """The memory knows neither the order of the pair nor that of the set, and asks by name."""
    listening = Listening()
    oracle = Asker(listening, origin=ORIGIN)

    answers = [oracle.verdict("D", "A", ("C", "B")), oracle.verdict("A", "D", ("B", "C"))]

    assert listening.asked == [("A", "D", ("B", "C"))]
    assert answers[0] is answers[1]
    assert oracle.counts == Counts(asked=2, distinct=1, rounds=1, sweeps=0)


def test_a_batch_is_one_round() -> None:
    """What is remembered is not asked again, what is asked twice in a batch is asked once."""
    listening = Listening()
    oracle = Asker(listening, origin=ORIGIN)
    oracle.verdict("A", "B")

    answers = oracle.verdicts([("B", "A", ()), ("A", "C", ()), ("C", "A", ()), ("A", "D", ())])

    assert listening.asked == [("A", "B", ()), ("A", "C", ()), ("A", "D", ())]
    assert [(one.x, one.y) for one in answers] == [("A", "B"), ("A", "C"), ("A", "C"), ("A", "D")]
    assert oracle.counts == Counts(asked=5, distinct=3, rounds=2, sweeps=0)


def test_sweeps_and_searches_are_remembered() -> None:
    """A sweep counts one test for each other node, a search as many as it tried."""
    oracle = Asker(Listening(), origin=ORIGIN)

    sweeps = [oracle.associations("A"), oracle.associations("A")]
    searches = [oracle.separator("B", "C", ("A", "D")), oracle.separator("B", "C", ("A", "D"))]

    assert sweeps[0] is sweeps[1]
    assert searches[0] is searches[1]
    assert searches[0].given == ("A",)
    assert searches[0].tests == 2
    assert oracle.counts == Counts(asked=4 + 4 + 2 + 2, distinct=4 + 2, rounds=2, sweeps=1)


def test_an_oracle_needs_only_nodes_and_verdict() -> None:
    """All else is built from these; something with neither is refused."""

    class Small:
        nodes = ("a", "b", "c")

        def verdict(self, x: Node, y: Node, given: Sequence[Node] = ()) -> Verdict:
            return Verdict(x, y, tuple(given), "independent" if "c" in given else "dependent", "small")

    small: Any = Small()
    oracle = Asker(small, origin=ORIGIN)
    nothing: Any = object()

    assert (oracle.name, oracle.perfect) == ("Small", False)
    assert oracle.separator("a", "b", ["c"]).given == ("c",)
    assert len(oracle.associations("a")) == 2
    with pytest.raises(InvalidArgumentError, match=r"object is no oracle: it needs nodes and a method verdict\("):
        Asker(nothing, origin=ORIGIN)


@pytest.mark.parametrize("given", [("a",), ("c", "b")])
def test_a_node_cannot_be_tested_and_given(given: tuple[str, ...]) -> None:
    """The two nodes and the given ones must all differ, in tests and in searches."""
    oracle = Asker(Odd(), origin=ORIGIN)

    with pytest.raises(InvalidArgumentError, match=r"cannot test 'a' against 'b' given .* must all differ"):
        oracle.verdict("a", "b", given)
    with pytest.raises(InvalidArgumentError, match=r"cannot test 'a' against 'b'"):
        oracle.separator("a", "b", given)
    with pytest.raises(InvalidArgumentError, match=r"cannot test 'a' against 'a'"):
        oracle.verdict("a", "a")


def test_unknown_nodes_are_refused() -> None:
    """Whatever is asked, the nodes must be those of the oracle."""
    oracle = Asker(Odd(), origin=ORIGIN)
    questions: list[Callable[[], object]] = [
        lambda: oracle.verdict("a", "d"),
        lambda: oracle.verdict("a", "b", ["d"]),
        lambda: oracle.associations("d"),
        lambda: oracle.separator("a", "b", ["d"]),
        lambda: oracle.separator("a", "b", [], must_include=["d"]),
    ]

    for question in questions:
        with pytest.raises(UnknownNodeError, match="unknown node 'd'"):
            question()


@pytest.mark.parametrize(
    ("ask", "answers", "fault"),
    [
        (ask_verdict, {"verdict": ZeroDivisionError("no rows")}, "raised ZeroDivisionError in verdicts"),
        (ask_verdict, {"verdict": 0.05}, "gave 0.05, which is no Verdict"),
        (ask_verdict, {"verdict": None}, "gave None, which is no Verdict"),
        (ask_verdict, {"verdict": good("a", "b", "maybe")}, "decided 'maybe'; allowed are"),
        (ask_verdict, {"verdict": good("a", "c")}, "answered about 'a' and 'c'"),
        (ask_verdict, {"verdicts": []}, "gave 0 answers to 1 question"),
        (ask_verdict, {"verdicts": None}, "gave NoneType, not a sequence of answers"),
        (ask_sweep, {"associations": RuntimeError("lost")}, "raised RuntimeError in associations"),
        (ask_sweep, {"associations": [good("a", "b")]}, "gave list, not a Sweep"),
        (ask_sweep, {"associations": Sweep("a", [good("a", "b")])}, "gave 1 verdicts on 2 other nodes"),
        (
            ask_sweep,
            {"associations": Sweep("a", [good("a", "b"), good("a", "b")])},
            "did not answer about each other node once",
        ),
        (ask_sweep, {"verdict": "yes"}, "gave 'yes', which is no Verdict"),
        (ask_separator, {"separators": KeyError("c")}, "raised KeyError in separators"),
        (ask_sweep, {"associations": Sweep("a", [good("b", "a"), good("a", "c")])}, "answered about 'b' and 'a'"),
        (ask_separator, {"separators": []}, "gave 0 answers to 1 question"),
        (ask_separator, {"separators": [("c",)]}, "which is no Separation"),
        (ask_separator, {"separators": [Separation("a", "b", ("d",), None)]}, "separated by 'd', which is not in"),
        (ask_separator, {"separators": [Separation("a", "c", ("c",), None)]}, "answered about 'a' and 'c'"),
    ],
)
def test_an_oracle_that_breaks_its_contract_is_named(
    ask: Callable[[Asker], object], answers: dict[str, Any], fault: str
) -> None:
    """The error names the plugin, the method, the question and the fault."""
    oracle = Asker(Odd(**answers), origin=ORIGIN)

    with pytest.raises(PluginError) as error:
        ask(oracle)

    assert str(error.value).startswith(ORIGIN)
    assert fault in str(error.value)
    assert "'a'" in str(error.value)


def test_a_refusal_by_the_oracle_itself_is_passed_on() -> None:
    """An oracle that refuses in the words of this package is not spoken over."""
    oracle = Asker(Odd(verdict=GraphError("the graph has no nodes")), origin=ORIGIN)

    with pytest.raises(GraphError, match=r"^the graph has no nodes$"):
        oracle.verdict("a", "b")


def test_the_limit_on_tests_is_checked_before_each_round() -> None:
    """Remembered answers stay free when the limit is reached."""
    oracle = Asker(Odd(), origin=ORIGIN, max_tests=2)
    oracle.verdict("a", "b")
    oracle.verdict("a", "c")

    assert oracle.verdict("b", "a").dependent
    with pytest.raises(LimitReachedError, match="2 tests"):
        oracle.verdict("b", "c")


def test_the_limit_on_seconds_is_checked_before_each_round() -> None:
    """No time allows no question."""
    oracle = Asker(Odd(), origin=ORIGIN, max_seconds=0.0)

    with pytest.raises(LimitReachedError, match="the time allowed"):
        oracle.associations("a")
