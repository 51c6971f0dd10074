"""How many nodes the two expansions visit on a sparse random graph of 1,000 nodes, and whether the parts are exact.

Perfect oracle, depth 3, several graphs: ``apsl`` (along lines) against ``apsl-paper`` (Algorithm 1's layers) and
``apsl-paper-exact``, the same with exact blankets, which shows what the layers cost and what the blankets err.
Usage: python tools/bench/visits.py [--quick] [--nodes 1000] [--targets 12] [--seeds 7 8 9]
"""

from __future__ import annotations

import argparse
from random import Random
from statistics import mean
from time import process_time

from apsl_rules import Dag, learn
from apsl_rules.graphs.equivalence import cpdag

DEPTH, EDGES_EACH = 3, 1.5
LEARNERS = ("apsl", "apsl-paper", "apsl-paper-exact")


def sparse_graph(seed: int, nodes: int) -> Dag:
    """Draw a random graph with a hidden order."""
    random = Random(seed)
    names = [f"v{number:04d}" for number in range(nodes)]
    random.shuffle(names)
    parents: dict[str, list[str]] = {name: [] for name in sorted(names)}
    drawn = 0
    while drawn < EDGES_EACH * nodes:
        early, late = sorted(random.sample(range(nodes), 2))
        if names[early] not in parents[names[late]]:
            parents[names[late]].append(names[early])
            drawn += 1
    return Dag(parents)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one target of one graph, without apsl-paper-exact")
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--targets", type=int, default=12)
    parser.add_argument("--seeds", type=int, nargs="+", default=[7, 8, 9], help="of the graphs")
    words = parser.parse_args()
    count, seeds = (1, words.seeds[:1]) if words.quick else (words.targets, words.seeds)
    print(f"{words.nodes} nodes, depth {DEPTH}, {count} targets of each graph\n")
    print("| seed | learner | mean visits | most visits | exact parts | CPU s |")
    print("|---|---|---|---|---|---|")
    for seed in seeds:
        graph = sparse_graph(seed, words.nodes)
        truth = cpdag(graph)
        targets = Random(11).sample(graph.nodes, count)
        for learner in LEARNERS[: 2 if words.quick else None]:
            begun = process_time()
            parts = [learn(graph, target, depth=DEPTH, learner=learner) for target in targets]
            seconds = process_time() - begun
            visited = [len(part.visited) for part in parts]
            exact = sum((part.arrows, part.lines) == truth.region(part.target, DEPTH) for part in parts)
            cells = f"{mean(visited):.1f} | {max(visited)} | {exact} of {count} | {seconds:.1f}"
            print(f"| {seed} | {learner} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
