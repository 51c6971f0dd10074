"""Whether parts tend to the truth as rows grow: SHD per target at depth 1, against the CPDAG of the network.

Rows are drawn from shipped networks, or from files (*.bif, *.bif.gz); with perfect answers the distance is 0. Usage:
python tools/bench/convergence.py [--networks alarm,child,pigs.bif.gz] [--rows 1000,10000,100000] [--targets 20]
[--learners apsl,apsl-score] [--seeds 4]. The learner "nothing" answers that there is no edge.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import mean, stdev

import numpy as np

from apsl_rules import learn, network
from apsl_rules.graphs.equivalence import cpdag
from apsl_rules.graphs.networks.bif import read_bif
from apsl_rules.graphs.networks.sampling import sample


def distance(name: str, rows: int, learner: str, targets: int, seed: int) -> float:
    """Return the mean distance over some targets of a network."""
    made = read_bif(Path(name)) if ".bif" in name else network(name)
    truth, drawn = cpdag(made.dag), sample(made, rows, seed=rows + seed)
    listed = sorted(drawn.names, key=str)
    chosen = sorted(np.random.default_rng(len(listed)).permutation(len(listed))[:targets].tolist())
    wrong = 0
    for at in chosen:
        arrows, lines = truth.region(listed[at], 1)
        edges = {*map(frozenset, arrows), *lines}
        if learner == "nothing":
            wrong += len(edges)
            continue
        part = learn(drawn, listed[at], learner=learner, hidden="excluded")
        wrong += len(edges | part.edges) - len(part.arrows & arrows) - len(part.lines & lines)
    return wrong / len(chosen)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--networks", default="alarm,child,insurance,hailfinder")
    parser.add_argument("--rows", default="1000,10000,100000")
    parser.add_argument("--targets", type=int, default=1000)
    parser.add_argument("--learners", default="apsl,apsl-score")
    parser.add_argument("--seeds", type=int, default=1, help="how many samples of each size")
    words = parser.parse_args()
    sizes = [int(one) for one in words.rows.split(",")]
    learners = words.learners.split(",")
    print(f"| network | learner | {' | '.join(f'{size:,} rows' for size in sizes)} |\n|---|---|{'---|' * len(sizes)}")
    for name in words.networks.split(","):
        for learner in learners:
            figures = [
                [distance(name, size, learner, words.targets, seed) for seed in range(words.seeds)] for size in sizes
            ]
            cells = [f"{mean(ones):.2f}" + (f" ± {stdev(ones):.2f}" if len(ones) > 1 else "") for ones in figures]
            print(f"| {Path(name).name.partition('.')[0]} | {learner} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
