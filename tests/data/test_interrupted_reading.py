"""Interrupts while text is parsed: they are interrupts, not errors of the parser, and nothing crashes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.usefixtures("interrupts_are_heard"), pytest.mark.slow]

# Reads again and again while a thread interrupts every few milliseconds, and counts the interrupts.
INTERRUPTED = """
import os, random, signal, sys, threading, time
from pathlib import Path
from apsl_backends.engines.duckdb import _as_read_from_text
from apsl_rules.data.readers.dialect import Dialect
from apsl_rules.data.readers.text import read_frame

HOW = {
    "fields": lambda: _as_read_from_text([str(one) for one in range(300)]),
    "file": lambda: read_frame(Path("rows.csv"), Dialect(","), ["a", "b"]),
}
read = HOW[sys.argv[1]]
read()
draw = random.Random(1)
ended = time.monotonic() + 2
met = 0

def interrupt():
    while True:
        time.sleep(draw.uniform(0.001, 0.006))
        os.kill(os.getpid(), signal.SIGINT)

def again():
    global met
    try:
        while time.monotonic() < ended:
            read()
    except KeyboardInterrupt:
        met += 1

while time.monotonic() < ended:
    try:
        if threading.active_count() < 2 or not met:
            threading.Thread(target=interrupt, daemon=True).start()
        while time.monotonic() < ended:
            again()
    except KeyboardInterrupt:
        met += 1
signal.signal(signal.SIGINT, signal.SIG_IGN)
os.write(1, str(met).encode())
os._exit(0)
"""


@pytest.mark.parametrize("how", ["fields", "file"])
def test_an_interrupt_within_the_parser_is_no_error_of_it(tmp_path: Path, how: str) -> None:
    """The parser of pandas ends in an error, or in a segmentation fault, where an interrupt is raised within it."""
    (tmp_path / "rows.csv").write_text("a,b\n" + "".join(f"{one},{one % 7}\n" for one in range(2000)), "utf-8")
    environment = os.environ | {"PYTHONFAULTHANDLER": "1"}

    command = [sys.executable, "-c", INTERRUPTED, how]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 20, done.stderr
