"""Whether a kernel should end early."""

from __future__ import annotations

from typing import Any

from apsl_backends.kernels.arrays import Long
from apsl_backends.kernels.compiled import inlined
from apsl_rules.stopping import MOST_TESTS, REASON, TESTS_ARE_MADE


@inlined
def is_stopped(stop: Any, tests: Long) -> Any:
    """Return whether a run should end after ``tests`` tests of one call, and set the reason if they are too many."""
    if stop[REASON] == 0 and stop[MOST_TESTS] > 0 and tests > stop[MOST_TESTS]:
        stop[REASON] = TESTS_ARE_MADE
    return stop[REASON] != 0
