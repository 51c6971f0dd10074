"""How many nodes the two expansions visit on a sparse random graph of 1,000 nodes, and whether the parts are exact.

Perfect oracle, depth 3, twelve targets: ``apsl`` (along lines) against ``apsl-paper`` (Algorithm 1's layers).
Usage: python tools/bench/visits.py [--quick]
"""

from __future__ import annotations

import argparse
from random import Random
from statistics import mean
from time import process_time

from apsl_rules import Dag, learn
from apsl_rules.graphs.equivalence import cpdag

NODES, EDGES, DEPTH, TARGETS = 1000, 1500, 3, 12
LEARNERS = ("apsl", "apsl-paper", "apsl-paper-exact")


def sparse_graph(seed: int) -> Dag:
    """Draw a random graph with a hidden order."""
    random = Random(seed)
    names = [f"v{number:04d}" for number in range(NODES)]
    random.shuffle(names)
    parents: dict[str, list[str]] = {name: [] for name in sorted(names)}
    drawn = 0
    while drawn < EDGES:
        early, late = sorted(random.sample(range(NODES), 2))
        if names[early] not in parents[names[late]]:
            parents[names[late]].append(names[early])
            drawn += 1
    return Dag(parents)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one target, without apsl-paper-exact")
    words = parser.parse_args()
    count = 1 if words.quick else TARGETS
    graph = sparse_graph(7)
    truth = cpdag(graph)
    targets = Random(11).sample(graph.nodes, count)
    print(f"{NODES} nodes, {EDGES} edges, depth {DEPTH}, {count} targets\n")
    print("| learner | mean visits | most visits | exact parts | CPU s |")
    print("|---|---|---|---|---|")
    for learner in LEARNERS[: 2 if words.quick else None]:
        begun = process_time()
        parts = [learn(graph, target, depth=DEPTH, learner=learner) for target in targets]
        seconds = process_time() - begun
        visited = [len(part.visited) for part in parts]
        exact = sum((part.arrows, part.lines) == truth.region(part.target, DEPTH) for part in parts)
        print(f"| {learner} | {mean(visited):.1f} | {max(visited)} | {exact} of {count} | {seconds:.1f} |")


if __name__ == "__main__":
    main()
