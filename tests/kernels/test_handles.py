"""Handles while calls run that nobody waits for any more: at the end of Python, and during the next call."""

from __future__ import annotations

import subprocess
import sys
from threading import Thread

import numpy as np

from apsl_backends.kernels.bindings.scores import ScoreHandle
from apsl_backends.kernels.library import Integers

#: A search of minutes in a thread that does not keep Python from ending.
PROGRAM = """
import threading, time
import numpy as np
from apsl_backends.kernels.bindings.tables import TableHandle, TesterHandle, open_measure
from apsl_backends.kernels.library import Measure
from apsl_rules.stopping import no_flag

rng = np.random.default_rng(0)
base = rng.integers(0, 3, 500_000, dtype=np.uint8)
codes = np.array([np.where(rng.random(base.size) < 0.3, base, rng.permutation(base)) for _ in range(16)])
table = TableHandle(codes, np.full(16, 3), np.zeros(16, np.bool_))
tester = TesterHandle(table, open_measure(Measure(0, base.size, 3, 0.5)))
thread = threading.Thread(target=tester.search, args=(range(16), 0, 9, no_flag()), daemon=True)
thread.start()
time.sleep(0.2)
assert thread.is_alive()
"""


def test_python_ends_while_a_call_runs() -> None:
    """What a call reads is not freed under it when Python ends."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_calls_of_one_score_follow_one_another() -> None:
    """A call that was given up and still runs does not disturb the next one."""
    nodes, rows = 40, 60_000
    codes = np.random.default_rng(0).integers(0, 3, (nodes, rows), dtype=np.uint8)
    score = ScoreHandle(nodes, ess=10.0, scale=2.0**30, penalty=0, empirical=False)
    score.set_rows(codes)
    for node in range(nodes):
        score.add_node(node, node, 3)
    others, parents = np.arange(4, nodes), np.array([1, 2, 3])
    alone = score.gains(0, parents, others), score.local(5, parents)
    found: list[Integers] = []
    thread = Thread(target=lambda: found.append(score.gains(0, parents, others)))
    thread.start()
    beside = []
    while thread.is_alive():
        beside.append(score.local(5, parents))
    thread.join()

    assert set(beside) <= {alone[1]}
    assert found[0].tolist() == alone[0].tolist()
