"""Whoever watches a run is told what it is at."""

from __future__ import annotations

from apsl_rules import learn, network
from apsl_rules.oracles import WATCHING


def test_a_run_tells_what_it_is_at() -> None:
    """Sweeps and searches are told apart, with the tests so far."""
    told: list[tuple[str, int]] = []

    def watch(phase: str, done: int, of: int) -> None:
        assert of == 0  # nobody knows of how many
        told.append((phase, done))

    before = WATCHING.set(watch)
    try:
        part = learn(network("asia"), "either", depth=2)
    finally:
        WATCHING.reset(before)

    assert {phase for phase, _ in told} == {"sweeping", "searching"}
    assert [tests for _, tests in told] == sorted(tests for _, tests in told)
    assert told[-1][1] == part.counts.distinct
