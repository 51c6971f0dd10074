"""Limits and flags: which run they end, and which threads."""

from __future__ import annotations

from gc import collect
from importlib import import_module
from pathlib import Path
from threading import Semaphore, active_count, get_ident
from time import monotonic, sleep
from typing import Any

import attrs
import pytest

from apsl_rules import compare, learn, network, stopping
from apsl_rules.errors import Interrupted, LimitReachedError
from apsl_rules.learning.findings import FindingsFromTests
from apsl_rules.memory import check
from apsl_rules.plugins.manager import Context, Findings, installed
from apsl_rules.stopping import INTERRUPTED, REASON, TIME_IS_UP, Flag, Stop, Workers, heeding, interruptible

ALARM = network("alarm")


def test_the_limit_of_an_inner_run_is_its_own() -> None:
    """A learner that looks ahead with a limit goes on without one."""

    def looking_ahead(context: Context) -> Findings:
        for limit in ({"max_tests": 1}, {"max_seconds": 0.0}):
            assert learn(ALARM, "HR", depth="max", learner="apsl", **limit).incomplete
        return FindingsFromTests(context)

    offer = attrs.evolve(installed().learners["apsl"], findings=looking_ahead)

    assert learn(ALARM, "HR", learner=offer).incomplete is None


def test_a_run_within_another_ends_with_it() -> None:
    """An end that is set reaches the runs within, also those that begin later; what is set there stays there."""
    outer = Stop()
    first = outer.run(lambda: Stop.after(seconds=None, tests=None))
    inner = first.within(None, None)
    inner.set(TIME_IS_UP)
    assert not outer.flag[REASON]
    assert not first.flag[REASON]

    outer.set(INTERRUPTED)

    assert Stop(deadline=5.0).within(9.0, None).deadline == 5.0
    assert first.is_interrupted
    assert not inner.is_interrupted
    assert outer.within(None, None).is_interrupted


def test_a_limit_met_in_one_of_several_threads_is_no_interrupt() -> None:
    """The threads end, and the run itself is not called interrupted."""
    run = Stop.after(seconds=0.0, tests=None)

    def begin() -> None:
        with Workers(2) as pool:
            list(pool.map(lambda _number: check(), range(2)))

    with pytest.raises(LimitReachedError, match="the time allowed"):
        run.run(begin)
    assert not run.is_interrupted


def test_a_run_at_its_limit_leaves_later_runs_alone() -> None:
    """The flag of a run that met its limit is its own."""
    learners = ["cmb", "apsl"]
    alone = {learner: learn(ALARM, "HR", depth=3, learner=learner, max_tests=2000) for learner in learners}

    assert all(part.incomplete for part in alone.values())
    assert alone["apsl"].visited
    assert compare(ALARM, "HR", depth=3, learners=learners, max_tests=2000).parts == alone


def test_a_long_call_ends_at_the_time_allowed() -> None:
    """Code that only looks at its flag is ended by the deadline, in a thread beside the one that waits."""
    threads = []

    def spin(flag: Any) -> int:
        threads.append(get_ident())
        while not flag[0]:
            pass
        return 1

    with pytest.raises(LimitReachedError, match="the time allowed"):
        Stop.after(seconds=0.05, tests=None).run(lambda: heeding(spin))

    assert len(threads) == 1
    assert threads != [get_ident()]


def test_an_exception_ends_the_work_of_all_threads() -> None:
    """Whoever works for a block that an exception leaves meets the end at its next look."""
    ends: list[str] = []
    begun = Semaphore(0)

    def work() -> None:
        begun.release()
        try:
            while True:
                check()
        except LimitReachedError as limit:
            ends.append(str(limit))

    def begin() -> None:
        with Workers(2) as pool:
            pool.submit(work)
            pool.submit(work)
            begun.acquire()
            begun.acquire()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        begin()

    assert ends == ["an interrupt", "an interrupt"]
    check()


def test_threads_of_failed_calls_end() -> None:
    """A call that raises leaves no thread behind."""

    def fail(_flag: Flag) -> None:
        raise ZeroDivisionError

    before = active_count()
    for _ in range(20):
        with pytest.raises(ZeroDivisionError):
            heeding(fail)
    collect()
    until = monotonic() + 10
    while active_count() > before + 1 and monotonic() < until:
        sleep(0.01)
    assert active_count() <= before + 1


def test_a_waiting_thread_that_another_call_takes_is_no_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call begins in a new thread when the last waiting one is taken between a look and the taking."""

    class Taken(list[Any]):
        def __len__(self) -> int:
            return 1

    monkeypatch.setattr(stopping, "_IDLE", Taken())
    assert heeding(lambda _flag: "made") == "made"


@pytest.mark.usefixtures("interrupts_are_heard")
def test_an_interrupt_within_an_import_is_raised_after_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiled module that is interrupted while it loads may crash when it is used."""
    lines = ["import os, signal", "os.kill(os.getpid(), signal.SIGINT)", "sum(range(1000))", "is_whole = True"]
    (tmp_path / "interrupted_module.py").write_text("\n".join(lines), "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = []

    def work() -> None:
        found.append(import_module("interrupted_module").is_whole)
        sleep(5)

    with pytest.raises(Interrupted):
        interruptible(work)()

    assert found == [True]
