"""Settings of all tests: hypothesis draws the same examples on every run and never judges by the clock."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile(
    "steady",
    derandomize=True,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],  # a busy machine is no fault of a test
)
settings.load_profile("steady")
