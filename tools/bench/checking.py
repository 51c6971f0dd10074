"""Graphs that people bring against rows: how often a true graph stands, and a changed edge is named.

Usage: python tools/bench/checking.py [--quick] [--rows N,...] [--draws N] [--first-seed N] [--ratio].

Rows are drawn from asia, sachs, child, insurance and alarm, random linear tables of numbers and random mixed ones, and
from win95pts and hailfinder, on which no setting was chosen. From each true graph one edge is removed, added or turned
(so that the class of equivalent graphs changes). "visible" counts changes that cost more than 3 nats by the score of
the same rows. Seeds from 5000 on judged; those below chose the settings.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping
from time import process_time
from typing import Any, TypeAlias

import attrs
from mixed_networks import drawn

from apsl_rules import Dag, check, learn_graph, network, table
from apsl_rules.checking import Check, Standing
from apsl_rules.errors import GraphError
from apsl_rules.graphs import cpdag
from apsl_rules.graphs.networks import sample
from apsl_rules.names import Node
from apsl_rules.plugins import installed

NETWORKS = ("asia", "sachs", "child", "insurance", "alarm", "linear", "mixed")
ASIDE = ("win95pts", "hailfinder")
_VISIBLE = 3.0
Arrow: TypeAlias = tuple[Node, Node]


def source_of(name: str, rows: int, seed: int) -> tuple[Any, Dag]:
    """Return a table drawn from a network, and its graph."""
    if name in ("linear", "mixed"):
        one = drawn("linear", nodes=20, rows=rows, seed=seed, mixed=name == "mixed")
        return table(one.frame), one.dag
    known = network(name)
    return sample(known, rows, seed=seed), known.dag


def changed(dag: Dag, kind: str, seed: int) -> tuple[Dag, Arrow] | None:
    """Return a graph with one edge removed, added or turned, and the arrow in question; None if there is no such."""
    drawing = random.Random(f"{kind} {seed}")
    arrows = sorted(dag.edges, key=repr)
    if kind == "added":
        arrows = [(x, y) for x in dag.nodes for y in dag.nodes if x != y and y not in dag.neighbours_of(x)]
    drawing.shuffle(arrows)
    for tail, head in arrows:
        parents = {node: list(dag.parents_of(node)) for node in dag.nodes}
        if kind == "added":
            parents[head].append(tail)
        else:
            parents[head].remove(tail)
        if kind == "turned":
            parents[tail].append(head)
        try:
            made = Dag(parents)
        except GraphError:
            continue
        if kind != "turned" or cpdag(made) != cpdag(dag):
            return made, (tail, head)
    return None


def cost(data: Any, one: Dag, other: Dag) -> float:
    """Return by how many nats one graph is ahead of another."""
    offer = next(score for score in installed().scores.values() if score.needs and score.needs <= data.can)
    family = offer.make(data)
    return sum(
        family(node, one.parents_of(node)) - family(node, other.parents_of(node))
        for node in one.nodes
        if set(one.parents_of(node)) != set(other.parents_of(node))
    )


def named(found: Check, kind: str, arrow: Arrow) -> tuple[bool, bool]:
    """Return whether a change is named, and whether it is named or among those that are as good."""
    if kind == "added":
        edge = next(one for one in found.edges if (one.source, one.target) == arrow)
        return (edge.existence is Standing.NOT_SHOWN,) * 2
    back = arrow if kind == "removed" else arrow[::-1]
    wanted = {("add", arrow), ("add", back[::-1])} if kind == "removed" else {("turn", arrow)}
    first = {(one.kind, (one.source, one.target)) for one in found.changes}
    others = {(one.kind, (one.source, one.target)) for step in found.changes for one in step.rivals}
    return bool(wanted & first), bool(wanted & (first | others))


@attrs.define
class Tally:
    """What came of the graphs of one network."""

    counts: dict[str, list[bool]] = attrs.field(factory=lambda: defaultdict(list))
    false_changes: list[int] = attrs.field(factory=list)
    seconds: float = 0.0

    def add(self, other: Tally) -> None:
        """Count the graphs of another tally too."""
        for key, found in other.counts.items():
            self.counts[key] += found
        self.false_changes += other.false_changes
        self.seconds += other.seconds


def measured(name: str, rows: int, seeds: range) -> Tally:
    """Check true graphs and changed ones against rows drawn from a network."""
    tally = Tally()
    for seed in seeds:
        data, dag = source_of(name, rows, seed)
        begun = process_time()
        found = check(dag, data, compare=False, shuffles=0)
        tally.counts["true"].append(not found.is_contradicted)
        tally.counts["Holm alone"].append(not found.failing)
        tally.false_changes.append(len(found.changes))
        tally.seconds += process_time() - begun
        for kind in ("removed", "added", "turned"):
            made = changed(dag, kind, seed)
            if made is None:
                continue
            begun = process_time()
            found = check(made[0], data, compare=False, shuffles=0)
            tally.seconds += process_time() - begun
            one, tied = named(found, kind, made[1])
            tally.counts[kind].append(one)
            if kind == "turned":
                tally.counts["or tied"].append(tied)
            if kind != "added" and cost(data, dag, made[0]) > _VISIBLE:
                tally.counts[f"visible {kind}"].append(tied)
    return tally


def row(title: str, tally: Tally) -> str:
    """Return a row of the table."""
    columns = ("true", "Holm alone", "removed", "visible removed", "added", "turned", "or tied", "visible turned")
    cells = []
    for name in columns:
        found = tally.counts[name]
        cells.append(f"{100 * sum(found) / len(found):.1f} of {len(found)}" if found else "none")
    checks = sum(len(tally.counts[one]) for one in ("true", "removed", "added", "turned"))
    false = sum(tally.false_changes) / max(1, len(tally.false_changes))
    return f"| {title} | {' | '.join(cells)} | {false:.2f} | {1000 * tally.seconds / max(1, checks):.1f} |"


HEAD = (
    "| rows | true: not contradicted % | Holm alone | removed named | visible | added named | turned named | or tied "
    "| visible or tied | false changes | CPU ms |\n|---|---|---|---|---|---|---|---|---|---|---|"
)


def accuracy(sizes: list[int], seeds: range, aside: range) -> Iterator[str]:
    """Give the tables of accuracy."""
    yield HEAD
    for rows in sizes:
        whole = Tally()
        for name in NETWORKS:
            tally = measured(name, rows, seeds)
            yield row(f"{name} {rows:,}", tally)
            whole.add(tally)
        yield row(f"all {rows:,}", whole)
        for name in ASIDE if len(aside) else ():
            yield row(f"{name} {rows:,} (aside)", measured(name, rows, aside))


def ratios(rows: int, seed: int) -> Iterator[str]:
    """Give the cost of one check on an opened table beside that of learning its whole graph, least of three runs."""
    yield "\n| network | check, CPU ms | with 200 shuffles | learning, CPU ms | ratio | with shuffles |"
    yield f"|{6 * '---|'}"
    for name in (*NETWORKS, *ASIDE):
        data, dag = source_of(name, rows, seed)
        check(dag, data, compare=False, shuffles=0)  # kernels are loaded
        costs = []
        for kind in ("check", "shuffles", "learning"):
            tried = []
            for _ in range(3):
                fresh, _ = source_of(name, rows, seed)
                begun = process_time()
                if kind == "learning":
                    learn_graph(fresh)
                else:
                    check(dag, fresh, compare=False, shuffles=0 if kind == "check" else 200)
                tried.append(1000 * (process_time() - begun))
            costs.append(min(tried))
        bare, shuffled, learning = costs
        yield (
            f"| {name} | {bare:.1f} | {shuffled:.1f} | {learning:.1f} | {bare / learning:.2f} "
            f"| {shuffled / learning:.2f} |"
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a few draws of 1,000 rows")
    parser.add_argument("--rows", default="500,2000,10000", help="numbers of rows, with commas between them")
    parser.add_argument("--draws", type=int, default=15, help="how many tables of each network")
    parser.add_argument("--aside", type=int, default=6, help="how many tables of the networks set aside")
    parser.add_argument("--first-seed", type=int, default=5000)
    parser.add_argument("--ratio", action="store_true", help="the cost beside learning alone")
    given = parser.parse_args()
    draws, aside = (2, 0) if given.quick else (given.draws, given.aside)
    sizes = [1000] if given.quick else [int(one) for one in given.rows.split(",")]
    seeds: Mapping[str, range] = {
        "all": range(given.first_seed, given.first_seed + draws),
        "aside": range(given.first_seed, given.first_seed + aside),
    }
    for line in () if given.ratio else accuracy(sizes, seeds["all"], seeds["aside"]):
        print(line, flush=True)
    for line in ratios(sizes[0] if given.quick else 2000, given.first_seed):
        print(line, flush=True)


if __name__ == "__main__":
    main()
