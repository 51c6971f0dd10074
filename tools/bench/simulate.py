"""Time drawing rows from networks, in memory and into files, against numpy and pandas; print a Markdown table.

The reference draws each node with numpy's ``choice`` once for each setting of its parents, and writes a frame of
categories with pandas. Both do the whole job, from the network to the rows or the file; CPU time, median of rounds.
Usage: python tools/bench/simulate.py [--quick]
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time

import numpy as np
import numpy.typing as npt
import pandas as pd

from apsl_rules import network
from apsl_rules.graphs.networks.bayesian_network import Network
from apsl_rules.graphs.networks.sampling import sample, simulate

ROUNDS = 3
SIZES = {"alarm": 200_000, "alarm10": 20_000}


def reference(known: Network, rows: int) -> pd.DataFrame:
    """Draw rows in the plain way: a choice among the levels for all rows that agree on the parents."""
    random = np.random.default_rng(1)
    drawn: dict[object, npt.NDArray[np.int64]] = {}
    for node in known.dag.topological_order:
        parents = known.dag.parents_of(node)
        sizes = tuple(len(known.levels[parent]) for parent in parents)
        table = known.tables[node].reshape(-1, len(known.levels[node]))
        setting = np.ravel_multi_index([drawn[parent] for parent in parents], sizes) if parents else np.zeros(rows, int)
        codes = np.empty(rows, int)
        for one in np.unique(setting):
            among = setting == one
            codes[among] = random.choice(table.shape[1], among.sum(), p=table[one])
        drawn[node] = codes
    columns = {node: pd.Categorical.from_codes(drawn[node], pd.Index(known.levels[node])) for node in known.dag.nodes}
    return pd.DataFrame(columns)


def seconds(work: Callable[[], object]) -> float:
    """Return the CPU seconds of one call."""
    begun = process_time()
    work()
    return process_time() - begun


def ways(known: Network, rows: int, folder: Path) -> dict[str, tuple[Callable[[], object], Callable[[], object]]]:
    """Return the ways to keep rows, ours and the reference's."""
    return {
        "in memory": (lambda: sample(known, rows, seed=1), lambda: reference(known, rows)),
        ".csv": (
            lambda: simulate(known, rows, folder / "ours.csv", seed=1),
            lambda: reference(known, rows).to_csv(folder / "theirs.csv", index=False),
        ),
        ".parquet": (
            lambda: simulate(known, rows, folder / "ours.parquet", seed=1),
            lambda: reference(known, rows).to_parquet(folder / "theirs.parquet"),
        ),
    }


def main() -> None:
    """Print one row for each network and each way to keep the rows."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    words = parser.parse_args()
    print("| network | rows | kept | cells a second | numpy and pandas | ratio of times | bytes for 100 cells |")
    print("|" + "---|" * 7)
    for title, most in SIZES.items():
        rows = most // 10 if words.quick else most
        known = network(title)
        cells = rows * len(known.dag.nodes)
        with tempfile.TemporaryDirectory() as name:
            for kept, (ours, theirs) in ways(known, rows, Path(name)).items():
                ours()  # imports what it needs
                times = [(seconds(ours), seconds(theirs)) for _ in range(ROUNDS)]
                mine, other = (median(column) for column in zip(*times, strict=True))
                file = Path(name) / f"ours{kept}"
                size = f"{100 * file.stat().st_size / cells:.0f}" if file.exists() else "100"
                speeds = f"{cells / mine / 1e6:.0f} M | {cells / other / 1e6:.1f} M | {mine / other:.3f}"
                print(f"| {title} | {rows:,} | {kept} | {speeds} | {size} |", flush=True)


if __name__ == "__main__":
    main()
