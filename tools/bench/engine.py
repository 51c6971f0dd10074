"""The cost of the rules: fixpoints over whole graphs, fed visit by visit, and its growth with the size.

Each graph is told completely (all edges, all unshielded triples, from every node), so the figures are those of the
largest part there can be. CPU time, median of repeats; the last column is the cost of one finding.
Usage: python tools/bench/engine.py [--quick | --alarm]

``--alarm`` measures a real run instead: whole ALARM from 1,000 rows by tests, the same with the proofs of all arrows,
and the rules alone, fed with the findings of that run. CPU time in ms, the best of many runs. To compare two versions,
run it in the tree of each in turn.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import combinations
from math import inf
from random import Random
from statistics import median
from time import process_time

from apsl_rules.evidence.evidence import Evidence
from apsl_rules.parts import Part
from apsl_rules.rules.engine import compile_rulebook, extend
from apsl_rules.rules.rulebooks import SOUND
from apsl_rules.rules.vocabulary import Finding, Relation, adjacent, chain, collider, spouse

SIZES = ((185, 297), (370, 594), (1000, 2000), (2000, 4037), (4000, 8074))
REPEATS = 5
ALARM_REPEATS = 15


def visits(nodes: int, edges: int) -> list[list[Finding]]:
    """Return what perfect visits to all nodes of a random sparse graph tell, visit by visit."""
    random = Random(nodes)
    names = [f"v{number:05d}" for number in random.sample(range(nodes), nodes)]
    parents: list[set[int]] = [set() for _ in range(nodes)]
    around: list[set[int]] = [set() for _ in range(nodes)]
    drawn = 0
    while drawn < edges:
        tail = random.randrange(nodes - 1)
        head = random.randrange(tail + 1, min(nodes, tail + 60))
        if tail not in parents[head]:
            parents[head].add(tail)
            around[tail].add(head)
            around[head].add(tail)
            drawn += 1

    evidence = Evidence("dsep")

    def told(relation: Relation, *numbers: int) -> Finding:
        return Finding(relation.fact(*(names[number] for number in numbers)), evidence)

    def triple(x: int, middle: int, y: int, seen_as: Relation) -> Finding:
        return told(seen_as if {x, y} <= parents[middle] else chain, x, middle, y)

    told_by = []
    for node in range(nodes):
        findings = [told(adjacent, node, other) for other in sorted(around[node])]
        pairs = combinations(sorted(around[node]), 2)
        findings += [triple(x, node, y, collider) for x, y in pairs if y not in around[x]]
        for middle in sorted(around[node]):
            far = sorted(around[middle] - around[node] - {node})
            findings += [triple(node, middle, other, spouse) for other in far]
        told_by.append(findings)
    return told_by


def feed(told_by: list[list[Finding]]) -> tuple[float, int]:
    """Feed visits one by one; return the CPU seconds and the number of firings."""
    program = compile_rulebook(SOUND)
    store = program.start()
    firings = 0
    begun = process_time()
    for findings in told_by:
        outcome = extend(program, store, findings)
        store = outcome.store
        firings += len(outcome.firings)
    return process_time() - begun, firings


def alarm() -> None:
    """Print the figures of whole ALARM."""
    from apsl_rules import learn, network
    from apsl_rules.graphs.networks.sampling import sample

    table = sample(network("alarm"), 1000, seed=1)

    def whole() -> Part:
        return learn(table, "HR", depth="max", learner="apsl")

    def proved() -> None:
        part = whole()
        for pair in part.all_arrows:
            part.why(*pair)

    told_by = [list(findings) for findings in whole().ledger.told]
    jobs: dict[str, Callable[[], object]] = {
        "whole": whole,
        "whole with proofs": proved,
        "rules alone": lambda: feed(told_by),
    }
    best = dict.fromkeys(jobs, inf)
    for _ in range(ALARM_REPEATS):
        for name, job in jobs.items():
            begun = process_time()
            job()
            best[name] = min(best[name], process_time() - begun)
    print(", ".join(f"{name} {seconds * 1e3:.1f}" for name, seconds in best.items()))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--alarm", action="store_true", help="whole ALARM, learned from rows")
    parser.add_argument("--quick", action="store_true", help="the two smallest graphs only")
    words = parser.parse_args()
    if words.alarm:
        alarm()
        return
    print("| nodes | edges | findings | firings | CPU ms, visit by visit | µs a finding |")
    print("|---|---|---|---|---|---|")
    for nodes, edges in SIZES[: 2 if words.quick else None]:
        told_by = visits(nodes, edges)
        findings = sum(map(len, told_by))
        runs = [feed(told_by) for _ in range(REPEATS)]
        seconds = median(seconds for seconds, _ in runs)
        cost = f"{seconds * 1e3:.0f} | {seconds * 1e6 / findings:.1f}"
        print(f"| {nodes} | {edges} | {findings} | {runs[0][1]} | {cost} |")


if __name__ == "__main__":
    main()
