"""The memory of answers: bounded, shared by threads; and what a table keeps of the tests made on it."""

from __future__ import annotations

import gc
import pickle
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from operator import mul
from threading import Barrier, Event, Thread
from weakref import ref

import attrs
import pytest

from apsl_backends.independence.count_tests import GSquare
from apsl_rules import learn, network
from apsl_rules.data import Table
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.memory import Memory, rarely_collecting


@pytest.fixture
def rows() -> Table:
    """Return rows that no run has seen."""
    return sample(network("asia"), 500, seed=3)


def test_the_oldest_answer_gives_way() -> None:
    """No more answers are kept than allowed."""
    kept: Memory[int, int] = Memory(2)
    for number in range(3):
        kept.once(number, partial(mul, 10, number))

    assert [kept.get(number) for number in range(3)] == [None, 10, 20]


def test_threads_that_ask_at_once_get_one_answer() -> None:
    """Of two answers made at the same time one is kept, and both threads have it."""
    kept: Memory[str, object] = Memory(9)
    both, found = Barrier(2), []

    def make() -> object:
        both.wait(5)
        return object()

    threads = [Thread(target=lambda: found.append(kept.once("question", make))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found[0] is found[1]


def test_new_questions_are_asked_in_one_round() -> None:
    """What is known is not asked again, and what is asked twice is asked once."""
    memory: Memory[int, int] = Memory()
    rounds: list[list[int]] = []

    def ask(new: Sequence[int]) -> Sequence[int]:
        rounds.append(list(new))
        return [10 * one for one in new]

    assert memory.recall([1, 2, 1], ask) == [10, 20, 10]
    assert memory.recall([2, 3], ask) == [20, 30]
    assert rounds == [[1, 2], [3]]
    assert (len(memory), 3 in memory, 4 in memory) == (3, True, False)


def test_what_failed_can_be_asked_again() -> None:
    """An error or an interrupt leaves no question behind for which others would wait."""
    memory: Memory[str, int] = Memory()

    def fail(_new: Sequence[str]) -> Sequence[int]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.recall(["question"], fail)

    assert memory.recall(["question"], lambda new: [7 for _ in new]) == [7]


def test_a_thread_waits_for_an_answer_that_another_one_is_asking_for() -> None:
    """Each question is asked once, whatever the threads do; an answer in use longest ago gives way."""
    memory: Memory[str, object] = Memory(1)
    is_asked, may_answer = Event(), Event()
    asked: list[str] = []

    def ask(new: Sequence[str]) -> Sequence[object]:
        asked.extend(new)
        is_asked.set()
        assert may_answer.wait(5)
        return [object() for _ in new]

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(memory.recall, ["question"], ask)
        assert is_asked.wait(5)
        second = pool.submit(memory.recall, ["question", "other"], ask)
        may_answer.set()

    assert first.result()[0] is second.result()[0]
    assert sorted(asked) == ["other", "question"]
    assert len(memory) == 1


@pytest.fixture
def hasty_threads() -> Iterator[None]:
    """Let threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hasty_threads")
def test_threads_displace_each_others_answers() -> None:
    """Each thread gets what it asks for, although others displace it at the same time."""
    kept: Memory[int, int] = Memory(2)
    wrong: list[object] = []

    def ask(first: int) -> None:
        for turn in range(first, first + 10_000):
            question = turn % 5
            try:
                found = kept.once(question, lambda: question)  # noqa: B023 - called at once
            except Exception as error:  # noqa: BLE001 - the test tells it
                wrong.append(error)
            else:
                if found != question:
                    wrong.append((question, found))

    threads = [Thread(target=ask, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert not wrong


def test_a_later_oracle_asks_the_table(rows: Table) -> None:
    """Oracles with the same settings share sweeps and eliminations; another alpha has its own."""
    first, again, other = GSquare(rows), GSquare(rows), GSquare(rows, alpha=0.2)
    sweep = first.associations("lung")

    assert again.associations("lung") is sweep
    assert other.associations("lung") is not sweep
    done = first.eliminate(sweep, unreliable="independent", cut=None, max_size=3)
    assert again.eliminate(sweep, unreliable="independent", cut=None, max_size=3) is done
    assert again.eliminate(sweep, unreliable="independent", cut=None, max_size=1) is not done


@pytest.mark.parametrize("learner", ["auto", "apsl"])
def test_parts_are_those_of_a_fresh_table(rows: Table, learner: str) -> None:
    """What a table keeps changes no part, and no count of tests."""
    for target in ("lung", "either", "lung"):
        assert learn(rows, target, depth=2, learner=learner) == learn(
            attrs.evolve(rows), target, depth=2, learner=learner
        )


def test_a_table_is_freed_with_all_that_it_keeps(rows: Table) -> None:
    """Nothing that a table keeps refers to it: it goes with its last use, without a search for cycles."""
    used = attrs.evolve(rows)
    learn(used, "lung", depth=2, learner="apsl")
    gone = ref(used)
    gc.disable()
    try:
        del used
        assert gone() is None
    finally:
        gc.enable()


def test_a_pickled_table_carries_no_answers(rows: Table) -> None:
    """Only the fields of a table travel."""
    before = len(pickle.dumps(rows))
    learn(rows, "lung", learner="apsl")
    copy = pickle.loads(pickle.dumps(rows))  # noqa: S301 - our own

    assert len(pickle.dumps(rows)) == before
    assert not len(copy.memory)
    assert learn(copy, "lung", learner="apsl") == learn(rows, "lung", learner="apsl")


def test_what_is_collected_rarely_in_a_run_is_collected_as_before_after_it() -> None:
    """Runs may overlap in threads and fail; where nothing is ever collected, that stays."""
    before = gc.get_threshold()
    try:
        for first in (500, 0):
            gc.set_threshold(first, 7, 9)
            one, other = rarely_collecting(), rarely_collecting()
            one.__enter__()
            other.__enter__()
            one.__exit__(None, None, None)
            assert gc.get_threshold() == (first and 100_000, 7, 9)
            with suppress(KeyError), rarely_collecting():
                raise KeyError
            other.__exit__(None, None, None)
            assert gc.get_threshold() == (first, 7, 9)
    finally:
        gc.set_threshold(*before)
