"""Bars in notebooks: where something takes longer than a second, and nowhere else."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from apsl_rules import learn_many, network
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.learning import progress, show_progress
from support.kernel import Kernel, Shown

#: A plugin that takes some time at each visit, and something to learn.
BEGIN = """
import time
from apsl_rules import check, compare, effect, hookimpl, learn, learn_graph, learn_many, moved, network, stability
from apsl_rules.learning import show_progress
from apsl_rules.graphs.networks import sample
from apsl_rules.learning import progress

class Slow:
    @hookimpl
    def apsl_progress(self, progress):
        time.sleep(0.4)

asia = network("asia")
rows = sample(asia, 500, seed=1)
short = learn(rows, "dysp")
"""

FAILING = """
class Failing:
    @hookimpl
    def apsl_progress(self, progress):
        time.sleep(0.2)
        1 / 0
"""


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    """Start one kernel for all cells."""
    with Kernel() as started:
        started.run(BEGIN)
        yield started


def bars(shown: Shown) -> list[str]:
    """Return what was shown of bars, from first to last."""
    return [one["text/html"] for one in (*shown.data, *shown.updated)]


@pytest.mark.slow
def test_a_long_run_shows_a_bar_and_takes_it_away(kernel: Kernel) -> None:
    """After a second there is a bar with the nodes visited, which moves on; at the end it is empty."""
    seen = bars(kernel.run("part = learn(asia, 'either', depth='max', learner='apsl', plugins=[Slow()])"))

    assert "nodes visited" in seen[0]
    assert "1 second" in seen[0]
    assert len({one.partition(",")[0] for one in seen}) > 2
    assert seen[-1] == ""


@pytest.mark.slow
def test_a_short_run_shows_none(kernel: Kernel) -> None:
    """What takes less than a second leaves no trace in the notebook."""
    assert kernel.run("part = learn(asia, 'either')") == Shown()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("stability(rows, 'dysp', resamples=4)", "resamples learned"),
        ("learn_many(rows, ['dysp', 'lung'])", "parts learned"),
        ("compare(rows, 'dysp', learners=['auto', 'apsl'])", "learners compared"),
        ("learn_graph(asia, plugins=[Slow()])", "nodes visited"),
        ("effect(rows, 'smoke', 'dysp', plugins=[Slow()])", "nodes visited"),
        ("short.effects(rows)", "effects"),
        ("check(asia, rows)", "testing what the graph implies"),
        ("moved(rows, rows, 'dysp', plugins=[Slow()])", "changes"),
    ],
)
def test_every_long_call_has_one_bar_of_its_own(kernel: Kernel, call: str, words: str) -> None:
    """The bar counts what the call counts; runs within it show no further one."""
    kernel.run("progress.AFTER, progress.EVERY = 0.0, 0.001")
    shown = kernel.run(f"found = {call}")
    kernel.run("progress.AFTER, progress.EVERY = 1.0, 0.25")

    assert len(shown.data) == 1
    assert any(words in one for one in bars(shown))
    assert bars(shown)[-1] == ""


@pytest.mark.slow
def test_bars_can_be_turned_off(kernel: Kernel) -> None:
    """With False there is none, with True there are again."""
    kernel.run("progress.AFTER = 0.0")
    slow = "part = learn(asia, 'either', plugins=[Slow()])"

    assert kernel.run(f"show_progress(False)\n{slow}") == Shown()
    assert bars(kernel.run(f"show_progress(True)\n{slow}"))
    kernel.run("progress.AFTER = 1.0")


@pytest.mark.slow
def test_a_bar_ends_with_an_error(kernel: Kernel) -> None:
    """A call that fails takes its bar away, and the next call has one again."""
    kernel.run("progress.AFTER = 0.0")
    kernel.run(FAILING)
    failing = "try:\n    learn(asia, 'either', plugins=[Failing()])\nexcept Exception as error:\n    print(type(error))"
    shown = kernel.run(failing)
    assert shown.text == "<class 'apsl_rules.errors.PluginError'>\n"
    assert bars(shown)[-1] == ""
    assert bars(kernel.run("part = learn(asia, 'either', plugins=[Slow()])"))
    kernel.run("progress.AFTER = 1.0")


def test_a_script_shows_and_loads_nothing() -> None:
    """Outside a notebook no thread is started and IPython is not imported."""
    program = (
        "import sys, threading\nfrom apsl_rules import learn, network\nbefore = threading.active_count()\n"
        "learn(network('asia'), 'dysp')\nassert threading.active_count() == before\n"
        "assert 'IPython' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_what_is_no_switch_is_refused() -> None:
    """A wrong value gets a sentence."""
    wrong: Any = "no"
    with pytest.raises(InvalidArgumentError, match="on is 'no'; give True or False"):
        show_progress(wrong)


@pytest.mark.parametrize("threads", [1, 2])
def test_many_parts_tell_how_many_are_learned(threads: int) -> None:
    """A function of one's own is told at first and after each part; a wrong one is refused."""
    told: list[tuple[int, int]] = []
    learn_many(network("asia"), ["dysp", "lung", "tub"], threads=threads, progress=lambda *one: told.append(one))
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]

    wrong: Any = 7
    with pytest.raises(InvalidArgumentError, match="progress is 7"):
        learn_many(network("asia"), ["dysp"], progress=wrong)


def test_a_bar_says_how_far_it_is() -> None:
    """Without figures it moves to and fro; with some it has them, and what they count is text."""
    bar = progress.NotebookBar("<b>nodes</b>")
    assert bar.html() == "<progress></progress> &lt;b&gt;nodes&lt;/b&gt;: 0 seconds"

    bar(2, 1200)
    assert bar.html() == '<progress value="2" max="1200"></progress> &lt;b&gt;nodes&lt;/b&gt;: 2 of 1,200, 0 seconds'
