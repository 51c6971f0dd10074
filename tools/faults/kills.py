"""Kill a resumable run with SIGKILL at random moments, take it up again, and compare what it ends with.

    python tools/faults/kills.py [--kills 100] [--seed 1]

A table is drawn from ALARM, a part is learned from it without disturbance, and then once more for each kill: the run is
started, killed at a random moment of its life, and started again with the same words. After each kill the files that
it left are looked at: the answers must be an undamaged file, the part absent or whole. Every part must equal the
undisturbed one byte for byte.
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

from apsl_rules import load_part

APSL = str(Path(sys.executable).with_name("apsl"))
WORDS = ["learn", "rows.parquet", "-t", "HR", "-k", "max", "--learner", "apsl", "--quiet", "--resume"]


def start(folder: Path, out: str) -> subprocess.Popen[bytes]:
    """Start a run whose result goes to a file."""
    return subprocess.Popen([APSL, *WORDS, "--out", out], cwd=folder, stdout=subprocess.DEVNULL)


def whole(folder: Path, out: str) -> bool:
    """Say whether a run left nothing damaged behind."""
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
    options.add_argument("--rows", type=int, default=200_000)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    moments = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        drawn = ["simulate", "alarm", "-n", str(given.rows), "--seed", "1", "-o", "rows.parquet"]
        subprocess.run([APSL, *drawn], cwd=folder, check=True)
        start(folder, "whole.json").wait()
        begin = time.perf_counter()
        start(folder, "again.json").wait()
        life = time.perf_counter() - begin
        expected = (folder / "whole.json").read_bytes()
        late = damaged = different = answered = 0
        for kill in range(given.kills):
            out = f"{kill}.json"
            process = start(folder, out)
            time.sleep(moments.uniform(0.0, life))
            process.kill()
            late += process.wait() == 0
            answered += (folder / f"{out}.answers").exists()
            damaged += not whole(folder, out)
            start(folder, out).wait()
            different += (folder / out).read_bytes() != expected
            print(f"\r{kill + 1} kills, {damaged} damaged, {different} different", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
    print(f"a run of {life:.1f} s, {given.kills} kills at random moments ({late} after the end of the run);")
    print(f"{answered} left answers, {damaged} left a damaged file, {different} parts differ after resuming")
    sys.exit(1 if damaged or different else 0)


if __name__ == "__main__":
    main()
