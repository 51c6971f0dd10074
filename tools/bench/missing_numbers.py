"""What missing values cost: SHD of whole graphs with holes, against complete tables and against complete rows alone.

Tables with numbers are those of ``mixed_networks``, tables of categories come from published networks. A share of the
values is missing, completely at random or at random given a column that is complete. For each: the mean structural
Hamming distance to the CPDAG of the default on the complete table, on the table with holes, and on its complete rows,
where at least thirty rows and two values of each column are left.

Usage: python tools/bench/missing_numbers.py [--first 1] [--graphs 6] [--rows 500,2000] [--shares .05,.1,.2] [--quick]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from statistics import mean
from typing import get_args

import attrs
import pandas as pd
from mixed_networks import Drawn, Family, Holes, drawn, with_holes

from apsl_rules import learn_graph, network
from apsl_rules.graphs.equivalence import cpdag
from apsl_rules.graphs.networks.sampling import sample
from learners import scored

NODES = 20
FEWEST_ROWS = 30
NETWORKS = ("child", "insurance")
FAMILIES: tuple[Family, ...] = ("linear", "curved", "skewed")


@attrs.frozen
class Tables:
    """Some complete tables of one kind."""

    title: str
    drawn: tuple[Drawn, ...]


def tables(rows: int, seeds: range) -> Iterator[Tables]:
    """Draw the tables: mixed ones, numbers alone, categories alone."""
    for mixed in (True, False):
        for family in FAMILIES:
            some = [drawn(family, nodes=NODES, rows=rows, seed=seed, mixed=mixed) for seed in seeds]
            yield Tables(f"{'mixed' if mixed else 'numbers'}, {family}, {rows:,}", tuple(some))
    for name in NETWORKS:
        yield Tables(f"categories, {name}, {rows:,}", tuple(_categories(name, rows, seed) for seed in seeds))


def _categories(name: str, rows: int, seed: int) -> Drawn:
    known = network(name)
    table = sample(known, rows, seed=seed)
    columns = {
        node: pd.Series([str(known.levels[node][code]) for code in codes])
        for node, codes in zip(table.names, table.codes.tolist(), strict=True)
    }
    return Drawn(pd.DataFrame(columns), known.dag)


def distance_of(frame: pd.DataFrame, one: Drawn) -> int:
    """Return the distance of the default's graph of a table to the truth."""
    return scored(learn_graph(frame, hidden="excluded"), cpdag(one.dag))[3]


def complete_rows(frame: pd.DataFrame) -> pd.DataFrame | None:
    """Return the complete rows of a table, or None if nothing can be learned from them."""
    left = frame.dropna()
    return left if len(left) >= FEWEST_ROWS and left.nunique().min() > 1 else None


def shown(some: Tables, shares: list[float], seeds: range) -> Iterator[str]:
    """Return the rows of the printed table for tables of one kind."""
    complete = mean(distance_of(one.frame, one) for one in some.drawn)
    for holes in get_args(Holes):
        cells = []
        for share in shares:
            pairs = [
                (with_holes(one.frame, share, holes, seed), one) for one, seed in zip(some.drawn, seeds, strict=True)
            ]
            answered = mean(distance_of(frame, one) for frame, one in pairs)
            left = [(complete_rows(frame), one) for frame, one in pairs]
            dropped = [distance_of(frame, one) for frame, one in left if frame is not None]
            cells.append(f"{answered:.1f} / {f'{mean(dropped):.1f}' if len(dropped) == len(pairs) else 'too few rows'}")
        yield f"| {some.title} | {holes} | {complete:.1f} | {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--graphs", type=int, default=6, help="tables of each kind")
    parser.add_argument("--rows", default="500,2000")
    parser.add_argument("--shares", default=".05,.1,.2")
    parser.add_argument("--quick", action="store_true", help="two tables of 500 rows of each kind, a tenth missing")
    words = parser.parse_args()
    if words.quick:
        words.graphs, words.rows, words.shares = 2, "500", ".1"
    shares = [float(one) for one in words.shares.split(",")]
    seeds = range(words.first, words.first + words.graphs)
    print(f"Seeds {seeds.start} to {seeds.stop - 1}. SHD with holes / of the complete rows, by the share missing.\n")
    titles = ["tables", "missing", "complete", *(f"{share:.0%}" for share in shares)]
    print(f"| {' | '.join(titles)} |\n|{'---|' * len(titles)}")
    for rows in map(int, words.rows.split(",")):
        for some in tables(rows, seeds):
            for line in shown(some, shares, seeds):
                print(line, flush=True)


if __name__ == "__main__":
    main()
