"""Whether the default learner is as right under extras as without them.

On a set of rows of a known network every node is a target: without extras, with one true gap far away, with a limit
that is not reached, with counts from DuckDB and from a Dask cluster, and with one missing cell. For each: the mean
structural Hamming distance of the parts (edges missing, extra or marked differently), and how many parts are identical
to those without extras. ``--knowledge`` draws true facts instead and compares the distance with and without them.

Usage: python tools/bench/conditions.py --data DIR [--networks alarm] [--size 1000] [--versions 4,5] [--knowledge 20]
"""

from __future__ import annotations

import argparse
from itertools import combinations
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from smallsamples import drawn

from apsl_rules import Knowledge, Part, learn
from apsl_rules.data.tables import Table
from apsl_rules.graphs.equivalence import Cpdag
from apsl_rules.names import Node

FACTS = 10


def distance(part: Part, truth: Cpdag) -> int:
    """Return the structural Hamming distance of a part to the CPDAG on the asked region."""
    arrows, lines = truth.region(part.target, part.depth)
    wanted = {frozenset(arrow): arrow for arrow in arrows} | dict.fromkeys(lines)
    found: dict[frozenset[Node], Any] = {frozenset(arrow): arrow for arrow in part.arrows}
    found |= dict.fromkeys(part.lines)
    found |= {pair: "conflict" for pair in part.edges if pair not in found}
    return sum(wanted.get(pair, "none") != found.get(pair, "none") for pair in wanted.keys() | found.keys())


def essence(part: Part) -> Any:
    """Return all that a part says of the structure."""
    edges = sorted((str(row["source"]), str(row["target"]), row["mark"], row["rule"]) for row in part.rows())
    return edges, part.visited, sorted(part.store.arrows, key=str)


def with_a_hole(rows: Table) -> Table:
    """Return a table in which one cell is missing."""
    codes, incomplete = rows.codes.copy(), rows.incomplete.copy()
    codes[3, 17], incomplete[3] = rows.cards[3], True
    return Table(rows.names, codes, rows.cards, rows.levels, incomplete)


def far_gap(truth: Cpdag, target: Node) -> Knowledge:
    """Return knowledge of one true gap between nodes that are as far from a target as such a pair can be."""
    joined = {*map(frozenset, truth.arrows), *truth.lines}
    gaps = [pair for pair in combinations(sorted(truth.nodes, key=str), 2) if frozenset(pair) not in joined]
    far = _distances(truth, target)
    return Knowledge(apart=[max(gaps, key=lambda pair: min(far.get(node, len(far)) for node in pair))])


def _distances(truth: Cpdag, target: Node) -> dict[Node, int]:
    found = {target: 0}
    ahead = [target]
    for node in ahead:
        around = {one for pair in (*truth.arrows, *truth.lines) if node in pair for one in pair} - found.keys()
        found |= dict.fromkeys(around, found[node] + 1)
        ahead += around
    return found


def show_conditions(rows: Table, truth: Cpdag, label: str) -> None:
    """Print the distance and the number of identical parts under each extra."""
    targets = sorted(rows.names, key=str)
    plain = {target: learn(rows, target, hidden="excluded") for target in targets}
    print(f"{label}: no extras {mean(distance(part, truth) for part in plain.values()):.3f}")
    extras: dict[str, Any] = {
        "an irrelevant gap": lambda target: learn(rows, target, knowledge=far_gap(truth, target), hidden="excluded"),
        "a limit not reached": lambda target: learn(
            rows, target, max_seconds=3600.0, max_tests=10**9, hidden="excluded"
        ),
        "counts from DuckDB": lambda target: learn(rows, target, counts="duckdb", hidden="excluded"),
        "counts from Dask": lambda target: learn(rows, target, counts="dask", hidden="excluded"),
        "one missing cell": lambda target: learn(with_a_hole(rows), target, hidden="excluded"),
    }
    for name, run in extras.items():
        parts = {target: run(target) for target in targets}
        same = sum(essence(parts[target]) == essence(plain[target]) for target in targets)
        shd = mean(distance(part, truth) for part in parts.values())
        print(f"{label}: {name} {shd:.3f}, {same} of {len(targets)} parts identical", flush=True)


def draw_facts(truth: Cpdag, dag_arrows: list[tuple[Node, Node]], random: np.random.Generator) -> Knowledge:
    """Draw true facts: required arrows, forbidden arrows and gaps, as they come."""
    nodes = sorted(truth.nodes, key=str)
    order = [dag_arrows[at] for at in random.permutation(len(dag_arrows))]
    joined = {frozenset(arrow) for arrow in dag_arrows}
    required, forbidden, apart = [], [], []
    for kind in random.integers(0, 3, FACTS).tolist():
        if kind == 0:
            required.append(order.pop())
        elif kind == 1:
            tail, head = order.pop()
            forbidden.append((head, tail))
        else:
            while True:
                x, y = (nodes[at] for at in random.choice(len(nodes), 2, replace=False))
                if frozenset((x, y)) not in joined:
                    apart.append((x, y))
                    break
    return Knowledge(required=required, forbidden=forbidden, apart=apart)


def oriented(truth: Cpdag, arrows: list[tuple[Node, Node]], known: Knowledge) -> Cpdag:
    """Return what can be known of a graph with knowledge: the lines that it decides become arrows of the graph."""
    from apsl_rules import Dag

    parents: dict[Node, list[Node]] = {node: [] for node in truth.nodes}
    for tail, head in arrows:
        parents[head].append(tail)
    exact = {node: learn(Dag(parents), node, depth="max", knowledge=known) for node in truth.nodes}
    decided = {arrow for part in exact.values() for arrow in part.store.arrows}
    return type(truth)(truth.nodes, frozenset(decided), truth.lines - set(map(frozenset, decided)))


def show_knowledge(rows: Table, truth: Cpdag, arrows: list[tuple[Node, Node]], draws: int, label: str) -> None:
    """Print the mean distance with and without true facts, each against what can be known with them."""
    targets = sorted(rows.names, key=str)
    without = {target: learn(rows, target, hidden="excluded") for target in targets}
    plain, helped, conflicts = [], [], 0
    for seed in range(draws):
        known = draw_facts(truth, arrows, np.random.default_rng(seed))
        aim = oriented(truth, arrows, known)
        plain.append(mean(distance(without[target], aim) for target in targets))
        parts = [learn(rows, target, knowledge=known, hidden="excluded") for target in targets]
        helped.append(mean(distance(part, aim) for part in parts))
        conflicts += sum(len(part.conflicts) for part in parts)
    worse = sum(one > other for one, other in zip(helped, plain, strict=True))
    print(
        f"{label}: without {mean(plain):.3f}, with {FACTS} true facts {mean(helped):.3f} over {draws} draws "
        f"({worse} draws worse, {conflicts} conflicts)",
        flush=True,
    )


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--networks", default="alarm")
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--versions", default="4,5")
    parser.add_argument("--knowledge", type=int, default=0, metavar="DRAWS")
    asked = parser.parse_args()
    for name in asked.networks.split(","):
        for version in map(int, asked.versions.split(",")):
            rows, truth = drawn(asked.data, name, asked.size, version)
            label = f"{name}, {asked.size} rows, v{version}"
            if not asked.knowledge:
                show_conditions(rows, truth, label)
                continue
            with np.load(asked.data / f"{name}.npz") as data:
                names = [str(one) for one in data["names"]]
                arrows: list[tuple[Node, Node]] = [(names[x], names[y]) for x, y in np.argwhere(data["graph"]).tolist()]
            show_knowledge(rows, truth, arrows, asked.knowledge, label)


if __name__ == "__main__":
    main()
