"""Kill a resumable run with SIGKILL at random moments while it learns, take it up again, and compare what it ends with.

    python tools/faults/kills.py [--kills 100] [--seed 1]

A table is drawn from ALARM and a part is learned from it without disturbance. Then, for each kill, the run is started
anew and killed at a random moment between its first visit and its last (a plugin makes visits slow, so that there is
something to meet), and started again with the same words. After each kill the files that it left are looked at: the
answers must be an undamaged file, the part absent or whole. Every part must equal the undisturbed one byte for byte.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from apsl_rules.parts import load_part

APSL = str(Path(sys.executable).with_name("apsl"))
SLOW = """
import time
from apsl_rules import hookimpl

@hookimpl
def apsl_progress(progress):
    print(progress.visited, flush=True)
    time.sleep(0.15)
"""
WORDS = [
    "--plugin",
    "slow",
    "learn",
    "rows.parquet",
    "-t",
    "HR",
    "-k",
    "max",
    "--quiet",
    "--resume",
]


def start(folder: Path, out: str) -> subprocess.Popen[bytes]:
    """Start a run whose result goes to a file."""
    return subprocess.Popen([APSL, *WORDS, "--out", out], cwd=folder, stdout=subprocess.PIPE)


def until_it_learns(process: subprocess.Popen[bytes]) -> None:
    """Wait for the first visit of a run."""
    if process.stdout is not None:
        process.stdout.readline()


def time_of_visits(process: subprocess.Popen[bytes]) -> float:
    """Return the seconds between the first visit of a run and the last."""
    until_it_learns(process)
    begin = end = time.perf_counter()
    while process.stdout is not None and process.stdout.readline().strip().isdigit():
        end = time.perf_counter()
    return end - begin


def ended(process: subprocess.Popen[bytes]) -> int:
    """Wait for the end of a run."""
    process.communicate()
    return process.returncode


def whole(folder: Path, out: str) -> bool:
    """Return whether a run left nothing damaged behind."""
    answers, part = folder / f"{out}.answers", folder / out
    if answers.exists():
        with sqlite3.connect(answers) as connection:
            if connection.execute("PRAGMA integrity_check").fetchone() != ("ok",):
                return False
    return not part.exists() or load_part(part).incomplete is None


def main() -> None:
    """Kill, resume, compare, and print the count of each."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--kills", type=int, default=100)
    options.add_argument("--rows", type=int, default=5_000)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    moments = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        drawn = ["simulate", "alarm", "-n", str(given.rows), "--seed", "1", "-o", "rows.parquet"]
        subprocess.run([APSL, *drawn], cwd=folder, check=True)
        (folder / "slow.py").write_text(SLOW, "utf-8")
        ended(start(folder, "whole.json"))
        expected = (folder / "whole.json").read_bytes()
        process = start(folder, "again.json")
        life = time_of_visits(process)
        ended(process)
        late = damaged = different = answered = 0
        for kill in range(given.kills):
            out = f"{kill}.json"
            process = start(folder, out)
            until_it_learns(process)
            time.sleep(moments.uniform(0.0, life))
            process.kill()
            late += ended(process) == 0
            answered += (folder / f"{out}.answers").exists()
            damaged += not whole(folder, out)
            ended(start(folder, out))
            different += (folder / out).read_bytes() != expected
            print(f"\r{kill + 1} kills, {damaged} damaged, {different} different", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
    print(f"{given.kills} kills at random moments of the {life:.1f} s that a run learns ({late} came after its end);")
    print(f"{answered} left answers, {damaged} left a damaged file, {different} parts differ after resuming")
    sys.exit(1 if damaged or different else 0)


if __name__ == "__main__":
    main()
