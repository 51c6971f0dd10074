"""How often the interval of an effect holds the truth, with the graph known and with the edges at the cause learned.

Tables are drawn from small networks of categories, of numbers, and of both, whose true effect is known. With the graph
known, 95 % intervals should hold it in 93 to 97 % of the runs. Where the edges at the cause are learned from the same
rows, three figures are given: how often the interval of one of the possible effects holds the truth, how often the
bounds do, and how often no more than one effect is left. A part that misses a parent of the cause adjusts for too
little, and no interval can show it.

Usage: python tools/bench/coverage.py [--runs 1000] [--rows 500,1000,10000] [--seed 2] [--quick]
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from itertools import product

import attrs
import numpy as np
import numpy.typing as npt
import pandas as pd

from apsl_rules import Dag, effect
from apsl_rules.effects import Effect

Random = np.random.Generator
Flags = npt.NDArray[np.bool_]

#: The rows of the runs with the graph known.
KNOWN_ROWS = 1000


def words(flags: Flags) -> npt.NDArray[np.str_]:
    """Return truth values as levels of a category."""
    return np.where(flags, "yes", "no")


def categories(rows: int, random: Random, confounded: float) -> pd.DataFrame:
    """Draw a table of categories: the risk difference is 0.25."""
    a, b = random.random(rows) < 0.4, random.integers(0, 3, rows)
    x = random.random(rows) < 0.2 + 0.25 * a + 0.15 * b
    t = random.random(rows) < 0.1 + 0.25 * x + confounded * (0.2 * a + 0.1 * b)
    m = random.random(rows) < 0.2 + 0.5 * t
    return pd.DataFrame({"a": words(a), "b": b.astype(str), "x": words(x), "t": words(t), "m": words(m)})


def numbers(rows: int, random: Random, confounded: float) -> pd.DataFrame:
    """Draw a table of numbers: the slope is 0.5."""
    a, b = random.normal(size=rows), random.normal(size=rows)
    x = 0.6 * a - 0.5 * b + random.normal(size=rows)
    t = 0.5 * x + confounded * (0.7 * a + 0.4 * b) + random.normal(size=rows)
    m = 0.8 * t + random.normal(size=rows)
    return pd.DataFrame({"a": a, "b": b, "x": x, "t": t, "m": m})


def mixed(rows: int, random: Random, confounded: float) -> pd.DataFrame:
    """Draw a table of both: a category raises the mean of a number by 1."""
    a, b = random.normal(size=rows), random.random(rows) < 0.5
    x = random.random(rows) < 1 / (1 + np.exp(-(0.8 * a + 1.0 * b - 0.5)))
    t = 1.0 * x + confounded * (0.6 * a + 0.5 * b) + random.normal(size=rows)
    m = 0.7 * t + random.normal(size=rows)
    return pd.DataFrame({"a": a, "b": words(b), "x": words(x), "t": t, "m": m})


@attrs.frozen
class Kind:
    """A kind of table: how it is drawn, and its true effect of x on t.

    In all of them a and b cause x, x causes t, and t causes m. Confounded ones have arrows from a and b to t as well,
    so that all of these four are joined and the data leave the arrow from x to t open.
    """

    name: str
    draw: Callable[[int, Random, float], pd.DataFrame]
    truth: float


KINDS = (Kind("categories", categories, 0.25), Kind("numbers", numbers, 0.5), Kind("mixed", mixed, 1.0))
SHAPES = {"chain": 0.0, "confounded": 1.0}
GRAPH = Dag({"a": [], "b": [], "x": ["a", "b"], "t": ["x", "a", "b"], "m": ["t"]})


def holds(found: Effect, truth: float) -> bool:
    """Return whether the bounds of an effect hold the truth."""
    bounds = found.bounds
    return bounds is not None and bounds[0] <= truth <= bounds[1]


def one_holds(found: Effect, truth: float) -> bool:
    """Return whether the interval of one of the possible effects holds the truth."""
    intervals = (one.interval(found.main) for one in found.possible)
    return any(one is not None and one.low <= truth <= one.high for one in intervals)


def known_graph(kind: Kind, runs: int) -> str:
    """Return the share of runs whose interval holds the truth, the graph known."""
    right = sum(
        holds(effect(GRAPH, "x", "t", data=kind.draw(KNOWN_ROWS, np.random.default_rng([1, seed]), 1.0)), kind.truth)
        for seed in range(runs)
    )
    return f"{100 * right / runs:.1f} %"


def learned_graph(kind: Kind, shape: str, rows: int, runs: int, first: int) -> dict[str, str]:
    """Return the shares of runs with the edges at the cause learned from the same rows."""
    met: Counter[str] = Counter()
    for seed in range(runs):
        table = kind.draw(rows, np.random.default_rng([first, rows, seed]), SHAPES[shape])
        found = effect(table, "x", "t", empty="leave-out", hidden="excluded")
        met["one possible interval holds it"] += one_holds(found, kind.truth)
        met["the bounds hold it"] += holds(found, kind.truth)
        met["one effect is left"] += not found.is_open
        met["the parents are right"] += any(one.adjustment == ("a", "b") for one in found.possible)
    return {name: f"{100 * count / runs:.1f} %" for name, count in met.items()}


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--rows", default="500,1000,10000")
    parser.add_argument("--seed", type=int, default=2, help="another one draws other tables to learn from")
    parser.add_argument("--quick", action="store_true", help="20 runs, two sizes")
    given = parser.parse_args()
    runs = 20 if given.quick else given.runs
    sizes = [500, 1000] if given.quick else [int(size) for size in given.rows.split(",")]
    print(f"The graph known, {KNOWN_ROWS:,} rows, {runs:,} runs: 95 % intervals that hold the true effect\n")
    print("| table | intervals that hold it |\n|---|---|")
    for kind in KINDS:
        print(f"| {kind.name} | {known_graph(kind, runs)} |", flush=True)
    heads = ("one possible interval holds it", "the bounds hold it", "one effect is left", "the parents are right")
    print(f"\nThe edges at the cause learned from the same rows, {runs:,} runs\n")
    print(f"| table and rows | {' | '.join(heads)} |\n|{'---|' * 5}")
    for shape, kind, rows in product(SHAPES, KINDS, sizes):
        found = learned_graph(kind, shape, rows, runs, given.seed)
        shares = " | ".join(found.get(head, "0 %") for head in heads)
        print(f"| {shape}, {kind.name}, {rows:,} | {shares} |", flush=True)


if __name__ == "__main__":
    main()
