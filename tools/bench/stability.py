"""What a resample costs: the CPU time of one, in units of learning from the whole table, within one run.

Subsamples of nearly all rows show the cost of drawing and counting alone; the bootstrap also finds more edges.

    python tools/bench/stability.py [--quick]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from time import process_time

from apsl_rules import learn, network, stability
from apsl_rules.graphs.networks.sampling import sample

RESAMPLES = 30


def seconds(work: Callable[[], object]) -> float:
    """Return the CPU seconds of a piece of work."""
    begun = process_time()
    work()
    return process_time() - begun


def main() -> None:
    """Print one line for each table size."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="1,000 rows only")
    words = parser.parse_args()
    for rows in (1_000,) if words.quick else (1_000, 10_000, 50_000):
        table = sample(network("alarm"), rows, seed=3)
        learn(table, "VENTLUNG", depth=2, learner="apsl")
        once = sum(seconds(partial(learn, table, "VENTLUNG", depth=2, learner="apsl")) for _ in range(5)) / 5
        ratios = []
        for subsample in (None, 0.99):
            spent = seconds(partial(stability, table, "VENTLUNG", depth=2, resamples=RESAMPLES, subsample=subsample))
            ratios.append((spent - once) / RESAMPLES / once)
        print(f"alarm, {rows:,} rows: a bootstrap resample {ratios[0]:.1f}, a subsample of 0.99 {ratios[1]:.2f}")


if __name__ == "__main__":
    main()
