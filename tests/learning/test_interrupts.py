"""Interrupts in the library: every call raises, and what was learned by then comes with the exception."""

from __future__ import annotations

import gc
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

import pytest

from apsl_rules import Dag, Interrupted, compare, learn, learn_graph, learn_many, network
from apsl_rules.errors import UnknownNodeError
from apsl_rules.evidence.evidence import Verdict
from apsl_rules.names import Node
from apsl_rules.oracles.asker import Asker
from apsl_rules.oracles.protocol import Oracle
from apsl_rules.plugins.hookspecs import hookimpl
from apsl_rules.plugins.manager import Progress

pytestmark = pytest.mark.usefixtures("interrupts_are_heard")
unraised = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

ALARM = network("alarm")
TWO_PIECES = Dag({"a": [], "b": ["a"], "c": ["b"], "d": [], "e": ["d"]})


class InterruptedAfter:
    """A plugin that interrupts after some visits, or does something else then."""

    def __init__(self, visits: int, act: Callable[[], object] | None = None) -> None:
        self._left = visits
        self._act = act or interrupt

    @hookimpl
    def apsl_progress(self, progress: Progress) -> None:
        """Count the visit."""
        del progress
        self._left -= 1
        if not self._left:
            self._act()


def collect_interrupted() -> None:
    """Have the garbage collector call something that is interrupted, where Python cannot raise it."""

    def callback(phase: str, _info: dict[str, int]) -> None:
        if phase == "start":
            signal.raise_signal(signal.SIGINT)

    gc.callbacks.append(callback)
    try:
        gc.collect()
    finally:
        gc.callbacks.remove(callback)


def interrupt() -> str:
    """Interrupt instead of giving a name."""
    raise KeyboardInterrupt


class NoAnswers(Oracle):
    """An oracle at which somebody loses patience at once."""

    nodes = ("a", "b", "c")

    def verdict(self, x: Node, y: Node, given: Sequence[Node] = ()) -> Verdict:
        """Interrupt."""
        del x, y, given
        raise KeyboardInterrupt


def interrupted(call: Callable[[], Any]) -> Interrupted:
    """Return the interrupt that a call raises."""
    with pytest.raises(KeyboardInterrupt) as stop:
        call()
    assert isinstance(stop.value, Interrupted)
    return stop.value


def test_learn_raises_and_brings_the_part_so_far() -> None:
    """An interrupt after two visits is raised; the part with the visits before it is marked incomplete and proves."""
    stop = interrupted(lambda: learn(ALARM, "HR", depth=3, learner="apsl", plugins=[InterruptedAfter(3)]))

    part = stop.part
    assert part is not None
    assert part.incomplete is not None
    assert part.incomplete.startswith("stopped at an interrupt after 2 visits; ")
    assert len(part.visited) == 2
    assert all(part.why(*pair).findings for pair in part.edges)


def test_a_part_before_the_first_visit_is_empty_and_says_so() -> None:
    """An interrupt in the very first test brings a part of the target alone."""
    part = interrupted(lambda: learn(NoAnswers(), "a", learner="apsl")).part

    assert part is not None
    assert (part.members, part.visited) == (("a",), ())
    assert part.incomplete is not None
    assert part.incomplete.startswith("stopped at an interrupt after 0 visits; 'a' still to visit")


def test_an_interrupt_before_the_source_is_open_brings_nothing() -> None:
    """Where not even the nodes are known there is no part."""

    class Opening(NoAnswers):
        name = property(lambda _self: interrupt())  # nobody gets to see it

    stop = interrupted(lambda: learn(Opening(), "a"))

    assert (stop.part, stop.result) == (None, None)


def test_a_loop_over_targets_can_be_stopped() -> None:
    """The interrupt leaves the loop, so no further target is begun."""
    begun = []

    def loop() -> None:
        for target in ("HR", "CO", "BP"):
            begun.append(target)
            learn(ALARM, target, learner="apsl", plugins=[InterruptedAfter(1)])

    interrupted(loop)

    assert begun == ["HR"]


@unraised
def test_an_interrupt_that_cannot_be_raised_ends_the_run() -> None:
    """It comes in a callback of the garbage collector, which swallows it; the run ends at its next question."""
    stop = interrupted(
        lambda: learn(ALARM, "HR", depth=3, learner="apsl", plugins=[InterruptedAfter(2, collect_interrupted)])
    )

    part = stop.part
    assert part is not None
    assert part.incomplete is not None
    assert part.incomplete.startswith("stopped at an interrupt after 2 visits; ")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@unraised
def test_an_interrupt_that_cannot_be_raised_is_known_to_the_runs_that_follow() -> None:
    """It comes before the first run asks anything, so that run learns nothing."""

    def opening(_oracle: NoAnswers) -> str:
        collect_interrupted()
        return "opening"

    class Opening(NoAnswers):
        name = property(opening)  # read while the source is opened

    stop = interrupted(lambda: learn(Opening(), "a", learner="apsl"))

    assert stop.part is not None
    assert stop.part.visited == ()


@unraised
def test_an_interrupt_that_cannot_be_raised_ends_the_call_after_its_last_run() -> None:
    """Nothing looks at the flag any more; what the call would have returned comes with the exception."""
    visits = len(learn(ALARM, "HR", learner="apsl").visits)
    stop = interrupted(
        lambda: learn(ALARM, "HR", learner="apsl", plugins=[InterruptedAfter(visits, collect_interrupted)])
    )

    assert stop.part is not None
    assert stop.part.visited


def test_what_foreign_code_makes_of_an_interrupt_is_an_interrupt() -> None:
    """Code that swallows the interrupt and fails for it ends the run as an interrupt does."""

    class Failing(NoAnswers):
        def verdict(self, *_query: object) -> Verdict:
            with suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
            message = "no compiled object yet"
            raise RuntimeError(message)

    part = interrupted(lambda: learn(Failing(), "a", learner="apsl")).part

    assert part is not None
    assert part.incomplete is not None
    assert part.incomplete.startswith("stopped at an interrupt after 0 visits; ")


def test_a_failure_without_an_interrupt_stays_one() -> None:
    """What a call raises by itself is raised as it is, and the next interrupt is Python's own again."""
    with pytest.raises(UnknownNodeError):
        learn(ALARM, "HRT")

    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("place", ["notes_on_untested", "flush"])
@pytest.mark.parametrize(
    "raised", [pytest.param(True, id="raised"), pytest.param(False, id="swallowed", marks=unraised)]
)
def test_an_interrupt_after_the_last_visit_brings_the_whole_part(
    place: str, raised: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is done after the run, such as keeping answers and taking notes, loses nothing when it is interrupted."""
    whole = learn(ALARM, "HR", learner="apsl")
    module = import_module("apsl_rules.learning.run")
    home: Any = module if place == "notes_on_untested" else Asker
    plain = getattr(home, place)

    def disturbed(*words: Any) -> Any:
        if raised:
            signal.raise_signal(signal.SIGINT)
        collect_interrupted()
        return plain(*words)

    monkeypatch.setattr(home, place, disturbed)
    stop = interrupted(lambda: learn(ALARM, "HR", learner="apsl"))

    assert stop.part == whole


def test_a_second_interrupt_at_once_does_not_disturb_the_first() -> None:
    """Whoever presses the keys twice still gets the part so far."""

    class Twice(InterruptedAfter):
        @hookimpl
        def apsl_progress(self, progress: Progress) -> None:
            try:
                super().apsl_progress(progress)
            except KeyboardInterrupt:
                with pytest.raises(KeyboardInterrupt):
                    signal.raise_signal(signal.SIGINT)
                signal.raise_signal(signal.SIGINT)  # raises nothing
                raise

    part = interrupted(lambda: learn(ALARM, "HR", depth=3, learner="apsl", plugins=[Twice(3)])).part

    assert part is not None
    assert len(part.visited) == 2
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_that_a_plugin_sets_stays() -> None:
    """Only the handler of the call itself is taken away again."""

    class Setting:
        @hookimpl
        def apsl_progress(self, progress: Progress) -> None:
            del progress
            signal.signal(signal.SIGINT, signal.SIG_IGN)

    learn(ALARM, "HR", learner="apsl", plugins=[Setting()])

    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_many_targets_bring_the_parts_that_are_done() -> None:
    """The parts before the interrupt are there, their union too, and it says how many targets are missing."""
    alone = {target: learn(ALARM, target, learner="apsl") for target in ("BP", "CO", "CVP")}
    plugins = [InterruptedAfter(len(alone["BP"].visits) + len(alone["CO"].visits) + 1)]
    stop = interrupted(lambda: learn_many(ALARM, list(alone), learner="apsl", plugins=plugins))

    assert {**stop.result} == {target: alone[target] for target in ("BP", "CO")}
    assert stop.result.incomplete == "stopped at an interrupt before 1 of 3 targets were learned"
    assert stop.result.union.incomplete == stop.result.incomplete
    assert stop.part is not None


def test_many_targets_in_threads_end_together() -> None:
    """An interrupt in one thread reaches the caller, and the others end."""
    stop = interrupted(
        lambda: learn_many(ALARM, "all", learner="apsl", plugins=[InterruptedAfter(20)], threads=3, depth="max")
    )

    assert stop.result is None or stop.result.incomplete.startswith("stopped at an interrupt before ")


def test_a_graph_brings_the_pieces_that_are_done() -> None:
    """The first piece is whole, the second one as far as it was visited."""
    whole = learn_graph(TWO_PIECES, learner="apsl")
    visits = len(whole.parts[0].visits)
    stop = interrupted(lambda: learn_graph(TWO_PIECES, learner="apsl", plugins=[InterruptedAfter(visits + 1)]))

    graph = stop.result
    assert graph.parts[0] == whole.parts[0]
    assert graph.parts[1].incomplete is not None
    assert graph.incomplete == "stopped at an interrupt before 2 of 5 nodes were visited"


def test_a_comparison_brings_the_learners_that_are_done() -> None:
    """The first learner's part is there, the second one's is not."""
    visits = len(learn(ALARM, "HR", learner="apsl").visits)
    plugins = [InterruptedAfter(2 * visits + 1)]  # each learner runs once before it is timed
    stop = interrupted(lambda: compare(ALARM, "HR", learners=["apsl", "cmb"], plugins=plugins))

    assert list(stop.result.parts) == ["apsl"]
    assert [row["complete"] for row in stop.result.rows()] == [True]
