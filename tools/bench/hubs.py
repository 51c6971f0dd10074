"""Near-copies, hubs and columns of very many levels: what a part at such a node takes, against an ordinary one.

    python tools/bench/hubs.py [--depth 1] [--quick]

Each table has 1,000 rows (those of many levels more). The part around its first column is learned in a process of its
own. CPU time is a multiple of that of a part of Alarm in the same process, memory the peak above what was held before.
What the part tells of the trouble is printed with it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
from wide import memory

from apsl_rules import learn, network
from apsl_rules.graphs.networks import sample

ROWS = 1_000
#: Words of the notes that tell of such trouble.
TOLD = ("hidden cause; they were not made", "moves compared", "too few rows", "so many levels", "nearly copies")


def copies(count: int, kind: str) -> pd.DataFrame:
    """Return a column and near-copies of it, of categories or of numbers."""
    random = np.random.default_rng(3)
    if kind == "number":
        first = random.normal(size=ROWS)
        others = [first + 0.05 * random.normal(size=ROWS) for _ in range(count)]
        return pd.DataFrame({"t": first, **{f"c{place:03}": other for place, other in enumerate(others)}})
    codes = random.integers(0, 3, ROWS)
    noisy = [np.where(random.random(ROWS) < 0.02, random.integers(0, 3, ROWS), codes) for _ in range(count)]
    return pd.DataFrame({"t": codes, **{f"c{place:03}": other for place, other in enumerate(noisy)}}).astype("category")


def hub(children: int, kind: str) -> pd.DataFrame:
    """Return a node and its children."""
    random = np.random.default_rng(4)
    if kind == "number":
        first = random.normal(size=ROWS)
        others = [0.6 * first + random.normal(size=ROWS) for _ in range(children)]
        return pd.DataFrame({"t": first, **{f"c{place:03}": other for place, other in enumerate(others)}})
    codes = random.integers(0, 2, ROWS)
    noisy = [np.where(random.random(ROWS) < 0.3, random.integers(0, 2, ROWS), codes) for _ in range(children)]
    return pd.DataFrame({"t": codes, **{f"c{place:03}": other for place, other in enumerate(noisy)}}).astype("category")


def many_levels(columns: int, levels: int, rows: int) -> pd.DataFrame:
    """Return columns of many levels that depend on each other, and after them one of two levels."""
    random = np.random.default_rng(5)
    codes = random.integers(0, levels, rows)
    noisy = [np.where(random.random(rows) < 0.3, random.integers(0, levels, rows), codes) for _ in range(columns)]
    frame = pd.DataFrame({f"c{place:02}": other for place, other in enumerate(noisy)})
    return frame.assign(t=codes % 2).astype("category")


TABLES: dict[str, Callable[[], pd.DataFrame]] = {
    "200 near-copies, categories": lambda: copies(200, "category"),
    "200 near-copies, numbers": lambda: copies(200, "number"),
    "hub of 300 children, categories": lambda: hub(300, "category"),
    "hub of 300 children, numbers": lambda: hub(300, "number"),
    "20 columns of 1,000 levels, 5,000 rows": lambda: many_levels(20, 1_000, 5_000),
    "a column of 60,000 levels, 200,000 rows": lambda: many_levels(1, 60_000, 200_000),
}
QUICK: dict[str, Callable[[], pd.DataFrame]] = {
    "40 near-copies, categories": lambda: copies(40, "category"),
    "40 near-copies, numbers": lambda: copies(40, "number"),
    "5 columns of 1,000 levels, 5,000 rows": lambda: many_levels(5, 1_000, 5_000),
}


def measure(name: str, depth: int) -> dict[str, object]:
    """Learn the part of one table, and one of Alarm, in this process."""
    ordinary = sample(network("alarm"), ROWS, seed=1)
    learn(ordinary, "CO", depth=depth, hidden="excluded")
    begun = process_time()
    learn(ordinary, "HR", depth=depth, hidden="excluded")
    usual = process_time() - begun
    frame = (TABLES | QUICK)[name]()
    Path("/proc/self/clear_refs").write_text("5", "utf-8")  # forget the highest so far
    before = memory("VmRSS")
    begun = process_time()
    part = learn(frame, frame.columns[0], depth=depth, hidden="excluded")
    return {
        "seconds": process_time() - begun,
        "usual": usual,
        "memory": (memory("VmHWM") - before) / 2**20,
        "tests": part.counts.asked,
        "edges": len(part.edges),
        "told": [note for note in part.notes if any(words in note for words in TOLD)],
    }


def main() -> None:
    """Print a row for each table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--depth", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="small tables")
    parser.add_argument("--alone", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.alone:
        print(json.dumps(measure(given.alone, given.depth)))
        return
    print("| table | CPU s | of a part of Alarm | MiB | tests | edges | told |\n|---|---|---|---|---|---|---|")
    for name in QUICK if given.quick else TABLES:
        command = [sys.executable, __file__, "--depth", str(given.depth), "--alone", name]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        one = json.loads(done.stdout.splitlines()[-1])
        ratio = f"{one['seconds'] / one['usual']:.0f} ×"
        told = one["told"][0][:60] + "…" if one["told"] else "nothing"
        figures = f"{one['seconds']:.1f} | {ratio} | {one['memory']:.0f} | {one['tests']:,} | {one['edges']} | {told}"
        print(f"| {name} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
