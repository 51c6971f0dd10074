"""Parts around every node of a network: all at once with shared answers, against one by one.

    python tools/bench/many.py [NETWORK.bif.gz] [--rows 1000] [--depth 1]

Prints the tests asked one by one and computed together, their ratio, and the ratio of CPU times in this run.
"""

from __future__ import annotations

import argparse
import time

import attrs

from apsl_rules import learn, learn_many, network
from apsl_rules.graphs.networks.sampling import sample


def main() -> None:
    """Learn both ways and compare."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("network", nargs="?", default="alarm")
    options.add_argument("--rows", type=int, default=1000)
    options.add_argument("--depth", type=int, default=1)
    given = options.parse_args()
    rows = sample(network(given.network), given.rows, seed=1)
    learn(rows, rows.names[0], learner="apsl")  # so that nothing is loaded while the clock runs
    begin = time.process_time()
    together = learn_many(attrs.evolve(rows), "all", depth=given.depth, learner="apsl")
    shared = time.process_time() - begin
    begin = time.process_time()
    union = together.union
    joined = time.process_time() - begin
    begin = time.process_time()
    alone = [learn(attrs.evolve(rows), node, depth=given.depth, learner="apsl") for node in together]
    apart = time.process_time() - begin
    same = all(part.arrows == together[part.target].arrows for part in alone)
    asked = sum(part.counts.distinct for part in alone)
    print(f"{given.network}, {len(rows.names)} targets, {given.rows} rows, depth {given.depth}")
    print(f"tests: {together.computed} together, {asked} one by one, {together.computed / asked:.3f}")
    print(f"CPU: {shared / apart:.3f} of one by one; the union {joined / apart:.3f}; parts the same: {same}")
    print(f"union: {len(union.arrows)} arrows, {len(union.lines)} lines, {len(union.conflicts)} conflicts")


if __name__ == "__main__":
    main()
