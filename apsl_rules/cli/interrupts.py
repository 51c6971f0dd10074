"""What an interrupted command still does: write and print what was learned by then."""

from __future__ import annotations

import signal
from typing import TypeVar

from apsl_rules.errors import Interrupted

Result = TypeVar("Result")


def take_partial_result(stop: Interrupted, result: Result | None) -> Result:
    """Return what an interrupted run brings, and let no further interrupt disturb the writing of it."""
    if result is None:
        raise stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return result
