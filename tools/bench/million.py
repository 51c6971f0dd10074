"""A part of depth 2 among a million columns of a memory map, against one sweep of a plain C loop in the same run.

    python tools/bench/million.py [--columns 1000000] [--rows 500] [--folder FOLDER] [--quick]

The columns are genotypes (0, 1, 2) in runs of ten that depend on each other, written in blocks, a byte each, one column
after the other. Time is CPU time: of reading, of the first part (which works out once what all parts of the table
share) and of a second one. Memory is the most that this process has of its own, looked up every few milliseconds:
without the pages of the map, which the system may drop at any time. The block is what is read at once.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from time import process_time

import numpy as np
from wide import memory
from yardstick import Yardstick

from apsl_rules import learn
from apsl_rules.data import Table, coded_table, table

#: Columns written at once, columns that depend on each other, and the share of rows copied from one to the next.
WRITTEN, RUN, COPIED = 10_000, 10, 0.5
#: How many bytes ``table`` reads at once.
BLOCK = 1 << 20
#: How many seconds pass from one look at the memory to the next.
LOOK = 0.005


def write(path: Path, columns: int, rows: int) -> None:
    """Write the columns in blocks."""
    random = np.random.default_rng(1)
    codes = np.lib.format.open_memmap(path, "w+", np.uint8, (columns, rows))
    for low in range(0, columns, WRITTEN):
        count = min(WRITTEN, columns - low)
        share = random.uniform(0.1, 0.5, (count, 1))
        one, other = ((random.random((count, rows)) < share).astype(np.uint8) for _ in range(2))
        block = one + other
        for place in range(1, RUN):
            here = block[place::RUN]
            copied = random.random(here.shape) < COPIED
            block[place::RUN] = np.where(copied, block[place - 1 :: RUN][: len(here)], here)
        codes[low : low + count] = block
    codes.flush()


@contextmanager
def watched_memory() -> Iterator[list[int]]:
    """Give a list that has the most bytes held within the block, above those held before, once it has ended."""
    before, found, ended = memory("RssAnon"), [0], Event()

    def look() -> None:
        while not ended.wait(LOOK):
            found[0] = max(found[0], memory("RssAnon") - before)

    thread = Thread(target=look)
    thread.start()
    try:
        yield found
    finally:
        ended.set()
        thread.join()


def measure(path: Path) -> dict[str, float]:
    """Read the map and learn two parts, in this process."""
    random = np.random.default_rng(2)
    learn(
        coded_table(random.integers(0, 3, (200, 20))), "X1", depth=2, hidden="excluded"
    )  # so that nothing is loaded later
    before = memory("RssAnon")
    parts, seconds = [], []
    with watched_memory() as most:
        begun = process_time()
        rows = table(np.load(path, mmap_mode="r").T)
        reading = process_time() - begun
        assert isinstance(rows, Table)  # noqa: S101 - all columns are categories
        for place in (5_006, 7_006):
            begun = process_time()
            parts.append(learn(rows, rows.names[place], depth=2, hidden="excluded"))
            seconds.append(process_time() - begun)
        held = memory("RssAnon") - before
    return {
        "columns": len(rows.names),
        "reading": reading,
        "first": seconds[0],
        "second": seconds[1],
        "sweeps": sum(part.counts.sweeps for part in parts) / 2,
        "edges": sum(len(part.edges) for part in parts) / 2,
        "memory": most[0],
        "held": held,
        "table": rows.codes.nbytes,
        "c_sweep": Yardstick(rows).sweep(5_006),
    }


def main() -> None:
    """Write the map, measure in a process of its own, and print ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, default=1_000_000)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--quick", action="store_true", help="20,000 columns")
    parser.add_argument("--alone", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.alone:
        print(json.dumps(measure(given.alone)))
        return
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        path = Path(name) / "codes.npy"
        write(path, 20_000 if given.quick else given.columns, given.rows)
        command = [sys.executable, __file__, "--alone", str(path)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    one = json.loads(done.stdout.splitlines()[-1])
    sweep = one["c_sweep"]
    print(f"{one['columns']:,} columns, {given.rows} rows; a sweep of a plain C loop takes {sweep:.2f} CPU s\n")
    print("| what | CPU s | in sweeps of the C loop |\n|---|---|---|")
    for what in ("reading", "first", "second"):
        print(f"| {'reading' if what == 'reading' else f'{what} part'} | {one[what]:.1f} | {one[what] / sweep:.1f} |")
    print(f"\nsweeps of a part: {one['sweeps']:.0f}, edges {one['edges']:.0f}")
    for what, name in (("memory", "memory at its highest"), ("held", "memory in the end")):
        print(f"{name}: {one[what] / one['table']:.2f} × the table, {one[what] / BLOCK:.0f} × the block", end="")
        print(f", {one[what] / one['columns']:.0f} bytes for each column")


if __name__ == "__main__":
    main()
