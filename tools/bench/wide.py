"""Wide tables: parts of depth 2 among 1,000 to 100,000 columns, and neighbours that stay put among noise.

Growth: tables of many independent Alarm tiles, 1,000 rows each; the time of a part is set against the number of
sweeps it made times one sweep of the plain C loop, in the same run; peak memory, the table included, against the
table's bytes.
Noise: Alarm with 10,000 and 100,000 independent columns added; do ten targets keep the neighbours that they have
without them? With and without the bound on false discoveries.
Usage: python tools/bench/wide.py [--quick]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from time import process_time

import numpy as np
import numpy.typing as npt
from yardstick import Yardstick

from apsl_rules import learn, network
from apsl_rules.data import Table, coded_table
from apsl_rules.graphs.networks.sampling import sample

ROWS = 1000
COLUMNS = (1_000, 10_000, 100_000)
NOISE = (10_000, 100_000)
TARGETS = 10


def tiles(columns: int) -> Table:
    """Draw a table of independent Alarm tiles."""
    alarm = network("alarm")
    each = len(alarm.dag.nodes)
    count = columns // each
    codes = np.empty((count * each, ROWS), np.uint8)
    for number in range(count):
        codes[number * each : (number + 1) * each] = sample(alarm, ROWS, seed=number).codes
    names = [f"{node}.{number}" for number in range(count) for node in alarm.dag.nodes]
    return coded_table(codes.T, names=names)


def memory(field: str) -> int:
    """Return a figure of this process's memory in bytes: VmRSS now, VmHWM at the highest."""
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))


def measure(columns: int) -> dict[str, float]:
    """Learn one part among so many columns, in a process of its own."""
    warm = tiles(1_000)
    learn(warm, "HR.0", depth=2, fdr=0.01, learner="apsl")
    rows = tiles(columns)
    Path("/proc/self/clear_refs").write_text("5", "utf-8")  # forget the highest so far
    before = memory("VmRSS")
    begun = process_time()
    part = learn(rows, "HR.0", depth=2, learner="apsl")
    seconds = process_time() - begun
    extra = memory("VmHWM") - before
    sweep = Yardstick(rows).sweep(rows.place["HR.0"])
    return {
        "columns": len(rows.names),
        "seconds": seconds,
        "sweeps": part.counts.sweeps,
        "c_sweep": sweep,
        "memory": 1 + extra / rows.codes.nbytes,
        "edges": len(part.edges),
    }


def growth(sizes: Sequence[int]) -> None:
    """Print how time and memory grow with the number of columns."""
    print("| columns | part: CPU ms | sweeps | C sweep ms | part / (sweeps × C sweep) | peak memory / table | edges |")
    print("|---|---|---|---|---|---|---|")
    for columns in sizes:
        command = [sys.executable, str(Path(__file__)), "--alone", str(columns)]
        one = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
        ratio = one["seconds"] / (one["sweeps"] * one["c_sweep"])
        times = f"{one['seconds'] * 1e3:.0f} | {one['sweeps']} | {one['c_sweep'] * 1e3:.1f} | {ratio:.2f}"
        print(f"| {one['columns']} | {times} | {one['memory']:.2f} | {one['edges']} |", flush=True)


def with_noise(rows: Table, columns: int) -> Table:
    """Add independent columns of two to four levels."""
    random = np.random.default_rng(columns)
    levels = random.integers(2, 5, columns)
    noise: npt.NDArray[np.uint8] = (random.integers(0, 12, (ROWS, columns), dtype=np.uint8) % levels).astype(np.uint8)
    names = [*rows.names, *(f"noise {number}" for number in range(columns))]
    return coded_table(np.hstack([rows.codes.T, noise]), names=names)


def drowning(sizes: Sequence[int]) -> None:
    """Print how many neighbours change among noise, with and without the bound."""
    alarm = sample(network("alarm"), ROWS, seed=7)
    targets = alarm.names[::4][:TARGETS]
    known = {target: set(learn(alarm, target, learner="apsl").neighbours_of(target)) for target in targets}
    total = sum(map(len, known.values()))
    print(f"\nAlarm, {ROWS} rows, {TARGETS} targets with {total} neighbours in all; independent columns added:\n")
    print("| columns added | bound on false discoveries | lost | gained | nodes searched | tests in searches | CPU s |")
    print("|---|---|---|---|---|---|---|")
    for columns in sizes:
        wide = with_noise(alarm, columns)
        for fdr in ("auto", "none"):
            lost = gained = sweeps = tests = 0
            begun = process_time()
            stopped = 0
            for target in targets:
                part = learn(wide, target, fdr=fdr, max_seconds=20.0, hidden="excluded")
                stopped += part.incomplete is not None
                found = set(part.neighbours_of(target))
                lost += len(known[target] - found)
                gained += len(found - known[target])
                sweeps += part.counts.sweeps
                tests += part.counts.asked - part.counts.sweeps * (len(wide.names) - 1)
            seconds = process_time() - begun
            open_runs = f" ({stopped} of {TARGETS} stopped at 20 s)" if stopped else ""
            bound = "0.01 (default)" if fdr == "auto" else "none"
            row = f"{lost} | {gained} | {sweeps} | {tests} | {seconds:.1f}{open_runs}"
            print(f"| {columns} | {bound} | {row} |", flush=True)


def main() -> None:
    """Print both tables, or measure one size for the first."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="1,000 columns only")
    parser.add_argument("--alone", type=int, metavar="COLUMNS", help="measure one size, and print it as JSON")
    words = parser.parse_args()
    if words.alone:
        print(json.dumps(measure(words.alone)))
        return
    growth(COLUMNS[:1] if words.quick else COLUMNS)
    drowning((1_000,) if words.quick else NOISE)


if __name__ == "__main__":
    main()
