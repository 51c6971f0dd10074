"""Repeated rows: the time of a part with hidden causes from a table, and from the table with every row twice.

Twice as many rows make weak dependences clear, so tests contradict each other, and more edges are found and followed.
Usage: python tools/bench/repeated_rows.py [--quick]
"""

from __future__ import annotations

import argparse
from time import process_time

import numpy as np
import pandas as pd

from apsl_rules import Part, learn, network
from apsl_rules.graphs.networks import sample
from apsl_rules.names import in_order

NETWORKS = (("child", 500), ("child", 1000), ("insurance", 500), ("insurance", 1000), ("alarm", 1000))
NUMBERS = ((20, 300), (40, 500))
TARGETS = 3


def categories(name: str, rows: int) -> pd.DataFrame:
    """Draw rows from a network."""
    drawn = sample(network(name), rows, seed=1)
    return pd.DataFrame(drawn.codes.T, columns=[*drawn.names]).astype("category")


def numbers(columns: int, rows: int) -> pd.DataFrame:
    """Draw numbers, each a weighted sum of a few before it and of noise."""
    random = np.random.default_rng(columns)
    drawn = random.normal(size=(rows, columns))
    for column in range(1, columns):
        causes = random.random(column) < 2 / columns
        drawn[:, column] += drawn[:, :column][:, causes].sum(axis=1) * 0.6
    return pd.DataFrame(drawn, columns=[f"v{column:02d}" for column in range(columns)])


def timed(frame: pd.DataFrame, target: str) -> tuple[Part, float]:
    """Learn a part and return its CPU seconds."""
    begun = process_time()
    part = learn(frame, target, depth=2, hidden="allowed")
    return part, process_time() - begun


def report(name: str, frame: pd.DataFrame, targets: int) -> None:
    """Print a line for a table: seconds, visits and findings left out, once and twice, of some targets together."""
    chosen = [str(node) for node in in_order(frame.columns)][:: len(frame.columns) // targets][:targets]
    timed(frame, chosen[0])
    cells, seconds, each = [], [], []
    for table in (frame, pd.concat([frame, frame], ignore_index=True)):
        runs = [timed(table, target) for target in chosen]
        seconds.append(sum(spent for _, spent in runs))
        visits = sum(len(part.visited) for part, _ in runs)
        each.append(seconds[-1] / visits)
        conflicts = sum(len(part.ledger.settled.conflicts) for part, _ in runs)
        cells.append(f"{seconds[-1]:.2f} | {visits} | {conflicts}")
    print(
        f"| {name} | {len(frame):,} | {' | '.join(cells)} | {seconds[1] / seconds[0]:.1f} | {each[1] / each[0]:.1f} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer tables and targets")
    quick = parser.parse_args().quick
    once, twice = (f"{times}: CPU s | visits | conflicts" for times in ("once", "twice"))
    print(f"| table | rows | {once} | {twice} | ratio | for each visit |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, rows in NETWORKS[::2] if quick else NETWORKS:
        report(name, categories(name, rows), 1 if quick else TARGETS)
    for columns, rows in NUMBERS[:1] if quick else NUMBERS:
        report(f"{columns} numbers", numbers(columns, rows), 1 if quick else TARGETS)


if __name__ == "__main__":
    main()
