"""Settings of hypothesis for all tests: the same examples on every run, and no judging by the clock; interrupts."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "steady",
    derandomize=True,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],  # a busy machine is no fault of a test
)
settings.register_profile("long", settings.get_profile("steady"), derandomize=False, database=None, max_examples=2000)
settings.load_profile("steady")


@pytest.fixture
def interrupts_are_heard() -> Iterator[None]:
    """Have interrupts raised here and in processes that are started, also where tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
