"""Interrupted commands write and print what was learned by then."""

from __future__ import annotations

import signal
from typing import TypeVar

from apsl_rules.errors import Interrupted

Result = TypeVar("Result")


def take_partial_result(stop: Interrupted, result: Result | None) -> Result:
    """Return the result of an interrupted run, and ignore further interrupts while it is written."""
    if result is None:
        raise stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return result
