"""Neighbours one can rely on: left-out columns, false absence, noise, the cost of a part, and many levels.

Each row is a benchmark of its own:

- ``stable``: real tables (those of ``directions``). Each of up to eight non-neighbours of the target is left out, and
  all columns are renamed and reordered; the latter with roots="ignore", since a name such as "age" is knowledge.
  Counted: drawn and absent exchanged; the drawn neighbours changed; changed by a column that touches no neighbour; and
  columns that are told as absent although ranks depend clearly (p < 1e-6), alone and given the neighbours that are
  numbers.
- ``noise``: linear tables with five kinds of noise, mean distance to the CPDAG; FLOP beside it with --python.
- ``parts``: CPU of a part by that of the whole graph of the same table, and of all parts by it; and their distances.
- ``levels``: tests on tables of categories with many levels by those with four, and false edges.

Usage: python tools/bench/neighbours.py ROW [--first SEED] [--draws N] [--python PYTHON] [--half even|odd] [--quick].
``--half`` takes every second table, so that some can choose and others judge; --first does that for drawn tables.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from statistics import mean
from time import process_time
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from mixed_networks import Family, drawn
from peers import ROOT
from scipy import stats

from apsl_rules import learn, learn_graph, learn_many
from apsl_rules.graphs.equivalence import cpdag
from apsl_rules.parts import Part
from apsl_rules.rules import Mark
from directions import TABLES
from learners import scored

NOISES: tuple[Family, ...] = ("strong", "exponential", "heavy", "laplace", "uniform")
MOST_LEFT_OUT, MOST_ROWS, MOST_COLUMNS = 8, 6_000, 40
CLEAR = 1e-6


def main() -> None:
    """Print one row of the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("row", nargs="?", default="noise", choices=("stable", "noise", "parts", "levels"))
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--python", help="the interpreter of the peers, for FLOP")
    parser.add_argument("--half", choices=("even", "odd", "all"), default="all")
    parser.add_argument("--quick", action="store_true", help="one draw, few tables")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    seeds = range(given.first, given.first + (1 if given.quick else given.draws))
    if given.row == "stable":
        tables = {"even": TABLES[::2], "odd": TABLES[1::2], "all": TABLES}[given.half]
        show_stability([(one.name, one.frame(), one.target) for one in tables[: 3 if given.quick else None]])
    elif given.row == "noise":
        show_noise(seeds, given.python, (200,) if given.quick else (200, 1000))
    elif given.row == "parts":
        show_parts(seeds, 20 if given.quick else 100)
    else:
        show_levels(seeds)


# --- real tables ------------------------------------------------------------------------------------------------------


def show_stability(tables: list[tuple[str, pd.DataFrame, str]]) -> None:
    """Print what left-out columns and other names change."""
    sums: Counter[str] = Counter()
    for name, frame, target in tables:
        table = frame.drop(columns=[one for one in ("rownames",) if one in frame]).iloc[:MOST_ROWS]
        if table.shape[1] <= MOST_COLUMNS:
            found = stability_of(table, target)
            sums.update(found)
            print(f"{name}: {dict(found)}", flush=True)
    tried, untouched = max(sums["left out"], 1), max(sums["left out that touch none"], 1)
    print(
        f"\nexchanged {sums['exchanged']} of {tried} ({sums['exchanged'] / tried:.1%}); "
        f"changed {sums['changed']} ({sums['changed'] / tried:.1%}); by one that touches none "
        f"{sums['changed by one that touches none']} of {untouched}; renamed {sums['renamed']} of {sums['tables']}; "
        f"clear but absent {sums['clear but absent']}; drawn {sums['drawn']}, open {sums['open']} of {sums['pairs']}"
    )


def stability_of(table: pd.DataFrame, target: str) -> Counter[str]:
    """Count changes on one table."""
    part = learn(table, target)
    near, marks = set(map(str, part.neighbours_of(target))), marks_at(part)
    found: Counter[str] = Counter(tables=1, drawn=len(near), pairs=len(marks))
    found["open"] = sum(mark is Mark.OPEN for mark in marks.values())
    far = [one for one in table.columns if one in marks and one not in near]
    found["clear but absent"] = sum(
        marks[one] is Mark.GAP and is_clear(table, target, one, sorted(near)) for one in far
    )
    whole = learn_graph(table)
    touching = {one for one in far if any(whole.mark(one, other).is_edge for other in near)}
    for one in far[:MOST_LEFT_OUT]:
        again = marks_at(learn(table.drop(columns=[one]), target))
        pairs = [(mark, again[other]) for other, mark in marks.items() if other in again]
        has_changed = any(mark.is_edge != other.is_edge for mark, other in pairs)
        found["left out"] += 1
        found["changed"] += has_changed
        found["exchanged"] += any(
            (mark.is_edge and other is Mark.GAP) or (other.is_edge and mark is Mark.GAP) for mark, other in pairs
        )
        if one not in touching:
            found["left out that touch none"] += 1
            found["changed by one that touches none"] += has_changed
    order = np.random.default_rng(0).permutation(table.shape[1])
    names = {name: f"v{place:02d}" for name, place in zip(table.columns, order, strict=True)}
    renamed = table.rename(columns=names)[[names[table.columns[place]] for place in order]]
    before, after = learn(table, target, roots="ignore"), learn(renamed, names[target], roots="ignore")
    found["renamed"] += {names[str(one)] for one in before.neighbours_of(target)} != set(
        map(str, after.neighbours_of(names[target]))
    )
    return found


def marks_at(part: Part) -> dict[str, Mark]:
    """Return the mark of the target with each other node."""
    return {str(one): part.mark(part.target, one) for one in part.nodes if one != part.target}


def is_clear(table: pd.DataFrame, target: str, other: str, near: list[str]) -> bool:
    """Return whether two numbers depend on each other by ranks, alone and given the neighbours that are numbers."""
    numbers = table.select_dtypes("number")
    if target not in numbers or other not in numbers:
        return False
    given = [one for one in near if one in numbers]
    ranks = numbers[[target, other, *given]].rank().dropna()
    return max(partial_p(ranks, 0), partial_p(ranks, len(given))) < CLEAR


def partial_p(ranks: pd.DataFrame, given: int) -> float:
    """Return p of the partial correlation of the first two columns given the next ones."""
    rows = len(ranks) - given - 2
    if rows < MOST_LEFT_OUT:
        return 1.0
    others = np.column_stack([np.ones(len(ranks)), ranks.to_numpy()[:, 2 : 2 + given]])
    left = [one - others @ np.linalg.lstsq(others, one, rcond=None)[0] for one in ranks.to_numpy()[:, :2].T]
    correlation = float(np.clip(np.corrcoef(*left)[0, 1], -1 + 1e-12, 1 - 1e-12))
    return float(2 * stats.t.sf(abs(correlation) * np.sqrt(rows / (1 - correlation**2)), rows))


# --- drawn tables -----------------------------------------------------------------------------------------------------


def show_noise(seeds: range, python: str | None, sizes: tuple[int, ...]) -> None:
    """Print the mean distance of whole graphs on linear tables, and that of FLOP on the values."""
    for nodes, degree in ((30, 4.0), (50, 4.0), (50, 8.0)):
        for family in NOISES:
            for rows in sizes:
                tables = [
                    drawn(family, nodes=nodes, rows=rows, seed=seed, mixed=False, degree=degree) for seed in seeds
                ]
                begun = process_time()
                ours = [scored(learn_graph(one.frame, hidden="excluded"), cpdag(one.dag))[3] for one in tables]
                took = (process_time() - begun) / len(tables)
                theirs = by_flop(python, tables) if python else ""
                title = f"{family}, {nodes} nodes, degree {degree:.0f}, {rows:,} rows"
                print(f"{title}: {mean(ours):.1f} {ours} ({took:.1f} s) {theirs}", flush=True)


def by_flop(python: str, tables: list[Any]) -> str:
    """Have FLOP learn the same tables."""
    with tempfile.TemporaryDirectory() as folder:
        for place, one in enumerate(tables):
            one.frame.to_csv(Path(folder) / f"{place:03d}.csv", index=False)
        command = [python, str(ROOT / "tools/bench/folder_peer.py"), "flop", folder]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    found = []
    for one, line in zip(tables, (line for line in printed if line.startswith("{")), strict=True):
        marks, truth = json.loads(line), cpdag(one.dag)
        same = len({*map(tuple, marks["arrows"])} & truth.arrows)
        same += len({*map(frozenset, marks["lines"])} & truth.lines)
        found.append(len({*map(frozenset, marks["arrows"]), *map(frozenset, marks["lines"])} | truth.skeleton) - same)
    return f"FLOP {mean(found):.1f} {found}"


def show_parts(seeds: range, nodes: int) -> None:
    """Print the CPU of one part and of all parts by that of the whole graph."""
    for size in sorted({50, nodes}):
        for seed in seeds:
            table = drawn("strong", nodes=size, rows=1000, seed=seed, mixed=False, degree=8.0).frame
            costs = {}
            for name, work in (
                ("whole", lambda table=table: learn_graph(table, hidden="excluded")),
                ("part", lambda table=table: learn(table, "x07", hidden="excluded")),
                ("all parts", lambda table=table: learn_many(table, "all", hidden="excluded")),
            ):
                begun = process_time()
                work()
                costs[name] = process_time() - begun
            shares = ", ".join(f"{name} {cost / costs['whole']:.2f}" for name, cost in costs.items())
            print(
                f"{size} numbers, seed {seed}: whole graph {costs['whole']:.2f} s; as shares of it: {shares}",
                flush=True,
            )


def show_levels(seeds: range) -> None:
    """Print tests and edges of parts where three columns depend on the target, by the levels of all columns."""
    for columns in (60, 200):
        tests: dict[int, list[int]] = {}
        for levels in (4, 6, 8, 12):
            edges = []
            for seed in seeds:
                part = learn(of_levels(columns, 2_000, levels, seed), "x000", hidden="excluded", depth="max")
                tests.setdefault(levels, []).append(part.counts.asked)
                edges.append(len(part.edges))
            ratio = mean(tests[levels]) / mean(tests[4])
            print(f"{columns} columns, {levels} levels: {mean(tests[levels]):,.0f} tests, {ratio:.1f} x; edges {edges}")


def of_levels(columns: int, rows: int, levels: int, seed: int) -> pd.DataFrame:
    """Draw independent categories, of which the second to the fourth follow the first."""
    random = np.random.default_rng([seed, levels])
    codes: npt.NDArray[np.int64] = random.integers(0, levels, (columns, rows))
    for place in (1, 2, 3):
        codes[place] = np.where(random.random(rows) < 0.5, codes[0], codes[place])
    return pd.DataFrame({f"x{place:03d}": [f"l{code:02d}" for code in one] for place, one in enumerate(codes)})


if __name__ == "__main__":
    main()
