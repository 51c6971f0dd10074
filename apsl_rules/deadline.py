"""Whether the current run is to end, for loops that may take long; this module loads nothing that is heavy."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from apsl_rules.stopping import Stop

#: When the current run is to end.
CURRENT: ContextVar[Stop | None] = ContextVar("apsl_stop", default=None)


def check() -> None:
    """Raise when the current run is to end; loops that may take long call this."""
    stop = CURRENT.get()
    if stop is not None:
        stop.check()
