"""What other names of the columns change in a part, and what another order does: nothing should, but for exact ties.

Tables are drawn from shipped networks of at most 40 nodes, from random networks, and as small tables of binary columns.
Each is learned from as it is, with its columns in another order, and with its names dealt out anew, so that they sort
in another order. Parts are compared by their marks, under the old names. Which of two columns with the same content an
edge is at, only names can decide, so tables with such columns are counted apart.

Usage: python tools/bench/renaming.py [--learners apsl-score,apsl] [--deals 2] [--list] [--quick]. With ``--list`` every
part that changed is named, with how many pairs have another mark.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import TypeAlias

import attrs
import numpy as np

from apsl_rules import learn, network
from apsl_rules.data import describe
from apsl_rules.data.tables import Table
from apsl_rules.graphs.networks.sampling import random_network, sample
from apsl_rules.names import Depth, Node, Pair, in_order
from apsl_rules.parts.part import Part

NETWORKS = ("alarm", "asia", "child", "insurance", "sachs")
SIZES = (200, 500, 1000, 2000)
DEPTHS: tuple[Depth, ...] = (1, "max")
TARGETS = 3
Marks: TypeAlias = dict[Pair, object]


def tables() -> Iterator[tuple[str, str, Table]]:
    """Draw about a hundred tables with fixed seeds: their kind, their name and their rows."""
    for name in NETWORKS:
        for rows in SIZES:
            for seed in (1, 2):
                yield "shipped", f"{name} {rows} seed {seed}", sample(network(name), rows, seed=seed)
    for seed in range(30):
        rows, nodes = SIZES[seed % 4], 5 + seed
        drawn = random_network(nodes, mean_parents=1.5, seed=seed)
        yield "random", f"{nodes} nodes {rows} seed {seed}", sample(drawn, rows, seed=seed)
    for seed in range(30):
        yield "small", f"seed {seed}", small(seed)


def small(seed: int) -> Table:
    """Draw a small table of few levels, each column a noisy function of one or two earlier ones or none."""
    random = np.random.default_rng([7, seed])
    columns, rows = int(random.integers(3, 9)), int(random.integers(200, 400))
    codes = np.empty((columns, rows), np.uint8)
    for place in range(columns):
        above = random.permutation(place)[: int(random.integers(0, 3))]
        made = codes[above].sum(axis=0) if len(above) else random.integers(0, 2, rows)
        noisy = random.random(rows) < 0.3
        codes[place] = np.where(noisy, random.integers(0, 2, rows), made % 2)
    names = tuple(f"c{place}" for place in range(columns))
    return Table(names, codes, np.full(columns, 2, np.int64), ((0, 1),) * columns, np.zeros(columns, np.bool_))


def ordered(table: Table, order: list[int]) -> Table:
    """Return a table with its columns in another order."""
    return Table(
        tuple(table.names[at] for at in order),
        table.codes[order],
        table.cards[order],
        tuple(table.levels[at] for at in order),
        table.incomplete[order],
    )


def dealt(table: Table, order: list[int]) -> tuple[Table, dict[Node, Node]]:
    """Return a table with its names dealt out anew, and the new name of each old one."""
    names = tuple(table.names[at] for at in order)
    return attrs.evolve(table, names=names), dict(zip(table.names, names, strict=True))


def marks(part: Part, new: Mapping[Node, Node]) -> Marks:
    """Return the marks of a part under the old names."""
    old = {name: node for node, name in new.items()}
    found: Marks = {frozenset(old[node] for node in pair): "line" for pair in part.lines}
    found |= {frozenset(old[node] for node in one.pair): "conflict" for one in part.conflicts}
    return found | {frozenset((old[tail], old[head])): old[head] for tail, head in part.arrows}


def apart(one: Marks, other: Marks) -> int:
    """Count the pairs on which two parts differ."""
    return sum(one.get(pair) != other.get(pair) for pair in one.keys() | other.keys())


@attrs.frozen
class Change:
    """How many pairs changed in the part around a target: by another order of the columns, and by other names."""

    depth: Depth
    target: Node
    permuted: int
    renamed: int


def changes(table: Table, learner: str, deals: int, seed: int) -> list[Change]:
    """Learn the parts around a few targets as the table is, permuted, and renamed as often as asked."""
    random = np.random.default_rng([seed, len(table.names), table.rows])
    same = {node: node for node in table.names}
    shuffled = ordered(table, random.permutation(len(table.names)).tolist())
    renamings = [dealt(table, random.permutation(len(table.names)).tolist()) for _ in range(deals)]
    targets = [in_order(table.names)[at] for at in sorted(random.permutation(len(table.names))[:TARGETS].tolist())]
    found = []
    for depth in DEPTHS:
        for target in targets:
            before = marks(learn(table, target, learner=learner, depth=depth, hidden="excluded"), same)
            moved = apart(before, marks(learn(shuffled, target, learner=learner, depth=depth, hidden="excluded"), same))
            named = [
                marks(learn(one, new[target], learner=learner, depth=depth, hidden="excluded"), new)
                for one, new in renamings
            ]
            found.append(Change(depth, target, moved, max(apart(before, one) for one in named)))
    return found


def row(learner: str, kind: str, chosen: Mapping[str, Table], found: Mapping[str, list[Change]]) -> str:
    """Return a row of the table: how many tables and parts changed."""
    parts = [one for changed in found.values() for one in changed]
    renamed = [name for name, changed in found.items() if any(one.renamed for one in changed)]
    cells: tuple[object, ...] = (
        learner,
        f"{len(found)} {kind}",
        sum(any(one.permuted for one in changed) for changed in found.values()),
        len(renamed),
        sum(bool(describe(chosen[name]).duplicates) for name in renamed),
        f"{sum(one.renamed > 0 for one in parts)} of {len(parts)}",
        max(one.renamed for one in parts),
    )
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    """Print one row for each learner and kind of table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--learners", default="apsl-score,apsl")
    parser.add_argument("--deals", type=int, default=2, help="how often names are dealt out anew")
    parser.add_argument("--list", action="store_true", help="name every part that changed")
    parser.add_argument("--quick", action="store_true", help="every tenth table only")
    words = parser.parse_args()
    drawn = list(tables())[:: 10 if words.quick else 1]
    print(f"{len(drawn)} tables, {TARGETS} targets each, at depths 1 and max; names dealt out {words.deals} times.\n")
    print("| learner | tables | changed by another order | by other names | of these with duplicates | parts | pairs |")
    print("|---|---|---|---|---|---|---|")
    listed: list[str] = []
    for learner in words.learners.split(","):
        for kind in dict.fromkeys(kind for kind, _, _ in drawn):
            chosen = {name: table for one, name, table in drawn if one == kind}
            found = {
                name: changes(table, learner, words.deals, seed) for seed, (name, table) in enumerate(chosen.items())
            }
            print(row(learner, kind, chosen, found), flush=True)
            listed += [
                f"{learner}, {kind}, {name}: around {one.target} at depth {one.depth}, other names change "
                f"{one.renamed} pairs, another order {one.permuted}"
                for name, changed in found.items()
                for one in changed
                if one.renamed or one.permuted
            ]
    if words.list:
        print("", *listed, sep="\n")


if __name__ == "__main__":
    main()
