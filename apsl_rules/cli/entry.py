"""The command ``apsl`` from start to end: an interrupt ends it with a sentence, never with a traceback.

Nothing that takes time is imported before interrupts are taken care of. While ``apsl`` starts and while it ends, an
interrupt leaves at once. In between it is raised where the work is, so that what was learned by then can be written.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from contextlib import suppress
from types import FrameType
from typing import Any

#: The exit code of a command that ended early: at a limit or at an interrupt.
ENDED_EARLY = 2
_SAID_AGAIN = 0.05


def main() -> None:
    """Run ``apsl`` and exit."""
    gc.disable()  # until all that a command needs is loaded: nothing of that is garbage
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # nohup, or a job in the background: it is not interrupted
        from apsl_rules.cli.main import run

        sys.exit(run())
    signal.signal(signal.SIGINT, _leave)
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)  # the last thing that is done before Python ends
    sys.unraisablehook = _say_again
    from apsl_rules.cli.main import run

    code = ENDED_EARLY
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        code = run()
    except KeyboardInterrupt:
        _say("apsl: interrupted\n")
    finally:
        signal.signal(signal.SIGINT, lambda _number, _frame: os._exit(code))
    if code == ENDED_EARLY:
        _end_early()
    sys.exit(code)


def _end_early() -> None:
    """Exit without taking Python apart, under which a call of compiled code that was left may still run."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # closed, or nobody reads it
            stream.flush()
    atexit._run_exitfuncs()  # noqa: SLF001 - temporary folders are removed by these
    os._exit(ENDED_EARLY)


def _leave(_number: int, _frame: FrameType | None) -> None:
    """Leave at once: nothing has begun."""
    _say("apsl: interrupted\n")
    os._exit(ENDED_EARLY)


def _say(text: str) -> None:
    try:
        os.write(2, text.encode())
    except OSError:  # standard error is closed
        return


def _say_again(unraisable: Any) -> None:
    """Raise an interrupt once more if it came where Python cannot raise it, and report everything else.

    A run that is learning takes note of interrupts by itself; a second one would disturb the writing of its part.
    """
    if not isinstance(unraisable.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
        return
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return
    import _thread
    from threading import Timer

    again = Timer(_SAID_AGAIN, _thread.interrupt_main)
    again.daemon = True
    again.start()
