"""Limits and interrupts amid long searches, and the bound that keeps a search by score from taking hours."""

from __future__ import annotations

import os
import signal
from threading import Timer
from time import monotonic

import attrs
import numpy as np
import pandas as pd
import pytest

from apsl_backends.independence import table_tester as tester
from apsl_backends.scores.bde import BDeu
from apsl_backends.search import rounds
from apsl_backends.search.exact import optimal
from apsl_rules import Interrupted, learn, network, stopping
from apsl_rules.data import table
from apsl_rules.errors import InvalidArgumentError, LimitReachedError
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.plugins.manager import installed
from apsl_rules.rules.engine import Mark
from apsl_rules.stopping import Stop

pytestmark = pytest.mark.usefixtures("interrupts_are_heard")


def hub(children: int) -> pd.DataFrame:
    """Draw a table in which one column has many children: HITON tries sets of three among all of them."""
    random = np.random.default_rng(1)
    centre = random.integers(0, 2, 1000)
    noisy = {f"k{at:03d}": np.where(random.random(1000) < 0.8, centre, 1 - centre) for at in range(children)}
    return pd.DataFrame({"hub": centre, **noisy})


def copies(width: int) -> pd.DataFrame:
    """Draw a table in which all columns are near-copies of one that is not there."""
    random = np.random.default_rng(1)
    hidden = random.integers(0, 2, 1000)
    noisy = (np.where(random.random(1000) < 0.97, hidden, 1 - hidden) for _ in range(width))
    return pd.DataFrame({f"c{at:03d}": column for at, column in enumerate(noisy)})


HUB = hub(300)
NUMBERS = HUB + np.random.default_rng(2).normal(size=HUB.shape) / 9


@pytest.mark.parametrize("learner", sorted(installed().learners))
def test_the_time_allowed_ends_every_learner(learner: str) -> None:
    """A hub of 300 children takes minutes to hours; the part says that the time was over before."""
    part = learn(NUMBERS if learner == "apsl-mixed" else HUB, "hub", learner=learner, max_seconds=0.3)

    assert part.incomplete is not None
    assert part.incomplete.startswith("stopped at the time allowed ")


def test_the_time_allowed_ends_a_run_on_rows_that_occur_twice() -> None:
    """With hidden causes and contradicting tests the limit holds within two seconds."""
    drawn = sample(network("insurance"), 1000, seed=1)
    rows = pd.DataFrame(drawn.codes.T, columns=[*drawn.names]).astype("category")
    begun = monotonic()
    part = learn(pd.concat([rows, rows], ignore_index=True), "Age", depth="max", hidden="allowed", max_seconds=0.05)

    assert monotonic() - begun < 0.05 + 2
    assert "the time allowed" in (part.incomplete or "")


def test_the_limit_on_tests_ends_a_search_that_makes_millions() -> None:
    """One elimination alone would make far more tests than are allowed."""
    part = learn(HUB, "hub", learner="apsl", max_tests=1000)

    assert part.incomplete is not None
    assert part.incomplete.startswith("stopped at 1000 tests after 0 visits; ")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # wherever the signal meets Python
@pytest.mark.parametrize("learner", ["apsl", "apsl-score"])
def test_an_interrupt_is_heard_amid_a_long_search(learner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal that comes while compiled code runs is raised, with the part so far."""
    learn(hub(3), "hub", learner=learner)
    alarms: list[Timer] = []

    wait = stopping.Caller.wait

    def wait_for(caller: stopping.Caller, seconds: float) -> None:
        if not alarms:
            alarms.append(Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)))
            alarms[0].start()
        wait(caller, seconds)

    monkeypatch.setattr(stopping.Caller, "wait", wait_for)
    with pytest.raises(Interrupted) as stop:
        learn(HUB, "hub", learner=learner, max_seconds=60)
    alarms[0].join()

    assert stop.value.part is not None
    assert stop.value.part.incomplete is not None
    assert stop.value.part.incomplete.startswith("stopped at an interrupt ")


def test_the_time_allowed_ends_an_exact_search() -> None:
    """The best graph over 20 nodes takes a while; the time allowed ends the search amid it."""
    table = sample(network("alarm"), 5000, seed=1)

    with pytest.raises(LimitReachedError, match="the time allowed"):
        Stop.after(seconds=0.2, tests=None).run(lambda: optimal(BDeu(table), range(20)))


def test_a_bound_on_moves_ends_a_search_and_the_part_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the bound what is found so far counts; the part is the same each time and says what is missing."""
    whole = learn(copies(12), "c000", learner="apsl-score")
    monkeypatch.setattr(rounds, "MOST_TRIES", 300)
    cut, again = (learn(copies(12), "c000", learner="apsl-score") for _ in range(2))

    assert cut == again
    assert not any("moves" in note for note in whole.notes)
    assert any(note.startswith("the search over 12 nodes ended after 300 moves compared") for note in cut.notes)
    assert any("findings were not compared with rivals" in note for note in cut.notes)
    assert cut.incomplete is None


def test_a_search_that_ended_early_calls_no_pair_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a pair that an unfinished search did not join, and that no triple tells of, nothing is known."""
    monkeypatch.setattr(rounds, "MOST_TRIES", 60)
    part = learn(copies(12), "c000", learner="apsl-score")
    left = [one for one in part.nodes if one != "c000" and one not in part.neighbours_of("c000")]

    assert left
    assert {part.mark("c000", one) for one in left} == {Mark.UNKNOWN}
    with pytest.raises(InvalidArgumentError, match="the search around them ended early"):
        part.why("c000", left[0])


def test_a_larger_table_of_families_changes_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not fit is counted again; the part is the same."""
    table = sample(network("alarm"), 500, seed=2)
    parts = []
    for most in (1 << 15, 1 << 6):
        monkeypatch.setattr(rounds, "_MOST_KNOWN", most)
        parts.append(learn(table, "HR", depth=2, learner="apsl-score"))

    assert parts[0] == parts[1]


def test_short_and_long_calls_give_the_same_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where calls run changes nothing."""
    rows = sample(network("alarm"), 500, seed=2)
    alone = learn(rows, "HR", depth=2, learner="apsl")
    monkeypatch.setattr(tester, "LONG", 1)

    assert learn(attrs.evolve(rows), "HR", depth=2, learner="apsl") == alone


def test_a_table_that_knows_an_answer_stops_at_the_same_test() -> None:
    """What a table keeps changes nothing of where a limit ends a run."""
    rows = table(hub(40))
    stopped = learn(rows, "hub", learner="apsl", max_tests=1000)
    whole = learn(rows, "hub", learner="apsl")

    assert whole.incomplete is None
    assert stopped.incomplete is not None
    assert learn(rows, "hub", learner="apsl", max_tests=1000) == stopped
