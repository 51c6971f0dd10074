"""How a run ends early: at a deadline or an interrupt, even during a long call of compiled code.

Compiled code receives no signals and has no clock. It checks a flag now and then, and returns once that is set.
The thread that asked for a long call waits beside it, so that it can look at the time and take an interrupt. Threads
that work for the same run share its flag.

An interrupt sets that flag too, besides being raised where Python is. Python may be where it cannot raise anything, in
a callback of the garbage collector for example; the run then ends at its next look at the flag.
"""

from __future__ import annotations

import os
from _thread import interrupt_main
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from functools import partial, wraps
from math import inf
from queue import Empty, SimpleQueue
from signal import SIGINT, default_int_handler, getsignal, signal
from threading import Thread, Timer, current_thread, main_thread
from time import monotonic
from types import FrameType, TracebackType
from typing import Any, ParamSpec, TypeAlias, TypeVar
from weakref import finalize, ref

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.errors import Interrupted, LimitReachedError
from apsl_rules.memory import CURRENT

Flag: TypeAlias = npt.NDArray[np.int64]
Given = ParamSpec("Given")
Result = TypeVar("Result")

#: What a flag holds: why the run is to end, or 0; and how many tests one call may make, or 0 for any number.
REASON, MOST_TESTS = 0, 1
TIME_IS_UP, INTERRUPTED, TESTS_ARE_MADE = 1, 2, 3
#: The rows that a call may look at, once for each test or score, before it counts as long: about a tenth of a second.
LONG = 1 << 27
#: Seconds after which a waiting thread checks again; on some systems a longer wait would miss an interrupt.
_LOOK_UP = 0.2
#: Seconds for which a call that is to end is waited for; a query elsewhere may take longer.
_LAST_WORD = 1.0
#: Seconds in which a second interrupt counts as part of the first.
_AT_ONCE = 1.0
#: How many tests a call may make in any case, so that a small limit does not keep a run from learning anything.
_AT_LEAST = 100_000


def no_flag() -> Flag:
    """Return a flag that is not set."""
    return np.zeros(2, np.int64)


@attrs.frozen(eq=False)
class Stop:
    """When a run is to end: at a moment of the monotonic clock, after some tests, or as soon as its flag is set.

    ``inner`` are the runs within this one. They end with it, and their own limits do not end it.
    """

    deadline: float | None = None
    max_tests: int | None = None
    flag: Flag = attrs.field(factory=no_flag)
    inner: list[ref[Stop]] = attrs.field(factory=list)

    @classmethod
    def after(cls, *, seconds: float | None, tests: int | None) -> Stop:
        """Return the end of a run that has begun now, within the current run."""
        return current().within(None if seconds is None else monotonic() + seconds, tests)

    def within(self, deadline: float | None, max_tests: int | None) -> Stop:
        """Return the end of a run within this one, which has no more time than this one."""
        deadlines = [one for one in (self.deadline, deadline) if one is not None]
        stop = Stop(min(deadlines, default=None), max_tests)
        self.inner.append(ref(stop))  # before the look at the flag, which another thread may set
        if self.flag[REASON]:
            stop.set(int(self.flag[REASON]))
        return stop

    @property
    def is_limited(self) -> bool:
        """Whether tests or time may end the run."""
        return self.max_tests is not None or self.deadline is not None

    @property
    def is_interrupted(self) -> bool:
        """Whether the run was interrupted."""
        return bool(self.flag[REASON] == INTERRUPTED)

    def set(self, reason: int) -> None:
        """Set the flag, unless it is set, and those of the runs within this one."""
        if not self.flag[REASON]:
            self.flag[REASON] = reason
        for one in tuple(self.inner):
            stop = one()
            if stop is not None:
                stop.set(reason)

    def check(self, tests: int = 0) -> None:
        """Raise when the run is to end now, after so many tests."""
        reason = int(self.flag[REASON])
        if reason == TESTS_ARE_MADE or (self.max_tests is not None and tests >= self.max_tests):
            message = (
                "the tests allowed" if self.max_tests is None else f"{self.max_tests} test{'s' * (self.max_tests != 1)}"
            )
            raise LimitReachedError(message)
        if reason == TIME_IS_UP or (self.deadline is not None and monotonic() >= self.deadline):
            message = "the time allowed"
            raise LimitReachedError(message)
        if reason:
            message = "an interrupt"
            raise LimitReachedError(message)

    def allow(self, tests: int) -> None:
        """Say how many tests were made, so that a long call makes not many more than are left."""
        if self.max_tests is not None:
            self.flag[MOST_TESTS] = max(self.max_tests - tests, _AT_LEAST)

    def run(self, work: Callable[[], Result]) -> Result:
        """Return what work gives, which ends when this says so.

        An interrupt is raised after a call, so nothing is called between what is to be undone and its undoing.
        """
        before = CURRENT.get()
        try:
            CURRENT.set(self)
            return work()
        finally:
            CURRENT.set(before)


def current() -> Stop:
    """Return when the current run is to end; without a run there is no end."""
    return CURRENT.get() or Stop()


def repeat_call(tests: int) -> None:
    """Raise when a call with so many tests would not be carried out, although its outcome is known by now."""
    stop = current()
    if 0 < stop.flag[MOST_TESTS] < tests:
        stop.set(TESTS_ARE_MADE)
    stop.check()


def heeding(work: Callable[[Flag], Result], *, is_long: bool = True) -> Result:
    """Return what a call of compiled code gives, unless the run is to end; the call gets the flag to look at.

    A long call runs in another thread. Other threads than the main one receive no interrupts, so without a deadline
    there is nothing to wait for.
    """
    stop = current()
    if not is_long or (stop.deadline is None and current_thread() is not main_thread()):
        result = work(stop.flag)
    else:
        result = _waiting_for(work, stop)
    if stop.flag[REASON]:
        stop.check()
    return result


def heeding_if_long(work: Callable[[Flag], Result], tests: int) -> Result:
    """Return what a call gives that may turn out to be long: it is made here unless it takes more than some tests.

    Such a call is made once more, in another thread.
    """
    stop = current()
    flag = no_flag()
    flag[MOST_TESTS] = min(tests, int(stop.flag[MOST_TESTS]) or tests)
    result = work(flag)
    if flag[REASON]:
        return heeding(work)
    if stop.flag[REASON]:
        stop.check()
    return result


def _waiting_for(work: Callable[[Flag], Result], stop: Stop) -> Result:
    """Return what a call in another thread gives; raise when the run ends before it does."""
    caller = _idle_caller()
    caller.begin(partial(work, stop.flag))
    try:
        while not caller.is_done:
            left = _LOOK_UP if stop.deadline is None else stop.deadline - monotonic()
            if left <= 0:
                stop.set(TIME_IS_UP)
                caller.wait(_LAST_WORD)
                break
            caller.wait(min(left, _LOOK_UP))
    except BaseException:
        stop.set(INTERRUPTED)
        caller.wait(_LAST_WORD)
        raise
    if not caller.is_done:
        stop.check()
        message = "a call was left although its run goes on"
        raise AssertionError(message)
    result: Result = caller.outcome()
    _IDLE.append(caller)
    return result


class Caller:
    """A thread that makes one call after another; one whose call goes on after its run has ended is not used again.

    The thread ends with the object, after a call that still runs.
    """

    def __init__(self) -> None:
        self._calls: SimpleQueue[Callable[[], Any] | None] = SimpleQueue()
        self._outcomes: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
        self._outcome: tuple[Any, BaseException | None] | None = None
        Thread(target=_make_calls, args=(self._calls, self._outcomes), daemon=True).start()
        finalize(self, self._calls.put, None)

    def begin(self, call: Callable[[], Any]) -> None:
        """Begin a call."""
        self._outcome = None
        self._calls.put(call)

    @property
    def is_done(self) -> bool:
        """Return whether the call was seen to have ended."""
        return self._outcome is not None

    def wait(self, seconds: float) -> None:
        """Wait for the end of the call."""
        with suppress(Empty):
            self._outcome = self._outcomes.get(timeout=seconds)

    def outcome(self) -> Any:
        """Return what the call gave, or raise what it raised."""
        assert self._outcome is not None  # noqa: S101 - the call has ended
        (result, error), self._outcome = self._outcome, None
        if error is not None:
            raise error
        return result


def _make_calls(
    calls: SimpleQueue[Callable[[], Any] | None], outcomes: SimpleQueue[tuple[Any, BaseException | None]]
) -> None:
    while (call := calls.get()) is not None:
        try:
            outcomes.put((call(), None))
        except BaseException as error:  # noqa: BLE001 - the waiting thread raises it
            outcomes.put((None, error))
        del call  # nothing is kept alive while the thread waits for the next one


def _idle_caller() -> Caller:
    """Return a thread that waits for a call; another one may take the last of them at any moment."""
    try:
        return _IDLE.pop()
    except IndexError:
        return Caller()


#: Threads that wait for a call; a forked process has none of them.
_IDLE: list[Caller] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_IDLE.clear)


class Workers(ThreadPoolExecutor):
    """Threads that work for the current run; an exception that leaves their block ends their work."""

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        run = current()
        self._stop = run.within(None, run.max_tests)

    def submit(self, fn: Callable[Given, Result], /, *args: Given.args, **kwargs: Given.kwargs) -> Future[Result]:
        """Call a function in one of the threads; the call ends when the current run does."""
        context = self._stop.run(copy_context)
        return super().submit(partial(context.run, fn, *args, **kwargs))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        if kind is not None:
            self._stop.set(INTERRUPTED)
        self.shutdown(wait=True, cancel_futures=kind is not None)
        return None


def name_interrupt(error: Exception) -> None:
    """Raise ``KeyboardInterrupt`` if an exception of foreign code is what it made of an interrupt that it met."""
    if current().is_interrupted:
        raise KeyboardInterrupt from error


def interruptible(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Return a function whose interrupts are all ``Interrupted``, also where nothing was learned yet."""

    @wraps(function)
    def called(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        stop = current().within(None, None)
        try:
            result = _hearing(stop, partial(stop.run, partial(function, *args, **kwargs)))
        except Interrupted:
            raise
        except KeyboardInterrupt:
            raise Interrupted from None
        except Exception as error:
            if stop.is_interrupted:
                raise Interrupted from error
            raise
        if stop.is_interrupted:
            raise Interrupted(result=result)
        return result

    return called


def _is_importing(frame: FrameType | None) -> bool:
    """Return whether a module is being loaded in a frame or in one that called it."""
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


def _hearing(stop: Stop, work: Callable[[], Result]) -> Result:
    """Return what work gives; an interrupt meanwhile ends all runs within, besides being raised as usual.

    A second one that follows at once is not raised: it would only disturb the putting together of what was learned. One
    within an import is raised after it: compiled modules that are interrupted while they load may crash when they are
    used.
    """
    if current_thread() is not main_thread() or getsignal(SIGINT) is not default_int_handler:
        return work()
    raised, is_over = -inf, False

    def hear(number: int, frame: FrameType | None) -> None:
        nonlocal raised
        stop.set(INTERRUPTED)
        if is_over or monotonic() - raised <= _AT_ONCE:
            return
        if _is_importing(frame):
            again = Timer(_LOOK_UP, interrupt_main)
            again.daemon = True
            again.start()
        else:
            raised = monotonic()
            default_int_handler(number, frame)

    try:
        signal(SIGINT, hear)
        return work()
    finally:
        is_over = True  # before any call, after which an interrupt would be raised
        if getsignal(SIGINT) is hear:
            signal(SIGINT, default_int_handler)
