"""Why a number moved: how often what changed is named in two tables, and nothing else.

Usage: python tools/bench/moved.py [--quick] [--rows N] [--pairs N] [--first-seed N].

Each pair of tables is drawn from one random graph of ten columns and twelve arrows; one or two columns are made
differently in the second: a shift of level, a spread twice as large, or slopes turned and halved. Noise is normal,
exponential, lognormal, with heavy tails or mixed; relations are lines or a mix of curves; some tables have categories
and missing values. Seeds below 9000 chose the least change and when changes cancel.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from time import process_time
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
import pandas as pd

from apsl_rules import moved

Floats = npt.NDArray[np.float64]
COLUMNS, ARROWS = 10, 12
CHANGES = ("nothing", "shift", "spread", "slopes")
#: The kinds of tables: noise, curves, the share of categories and that of missing values.
KINDS = (
    ("normal", "line", 0.0, 0.0),
    ("exponential", "line", 0.0, 0.0),
    ("exponential", "mixed", 0.0, 0.0),
    ("lognormal", "mixed", 0.0, 0.0),
    ("heavy", "mixed", 0.0, 0.0),
    ("mixed", "mixed", 0.4, 0.03),
    ("mixed", "line", 1.0, 0.0),
)


@attrs.frozen
class Pair:
    """Two tables, the columns that are made differently in the second, and the true arrows."""

    before: pd.DataFrame
    after: pd.DataFrame
    changed: frozenset[str]
    arrows: tuple[tuple[str, str], ...]


def drawn(seed: int, rows: int, change: str, kind: tuple[str, str, float, float]) -> Pair:
    """Draw two tables of so many rows each."""
    noise, curve, categories, missing = kind
    random = np.random.default_rng([seed, 36])
    pairs = [(i, j) for i in range(COLUMNS) for j in range(i + 1, COLUMNS)]
    arrows = sorted(pairs[place] for place in random.choice(len(pairs), ARROWS, replace=False))
    parents = {j: [i for i, k in arrows if k == j] for j in range(COLUMNS)}
    may_change = [j for j in range(COLUMNS) if parents[j] or change != "slopes"]
    count = 0 if change == "nothing" else 1 + seed % 2
    changed = frozenset(random.choice(may_change, min(count, len(may_change)), replace=False).tolist())
    is_category = random.random(COLUMNS) < categories
    second = np.repeat([False, True], rows)
    made, seen = np.zeros((2 * rows, COLUMNS)), np.zeros((2 * rows, COLUMNS))
    columns: dict[str, Any] = {}
    for j in range(COLUMNS):
        means = np.zeros(2 * rows)
        for i in parents[j]:
            bent = _bent(seen[:, i], curve, random) * random.uniform(0.5, 1.1) * random.choice([-1, 1])
            means += np.where(second, -0.5 * bent, bent) if change == "slopes" and j in changed else bent
        own = random.logistic(size=2 * rows) * 0.55 if is_category[j] else _noise(noise, 2 * rows, random)
        if j in changed and change == "spread" and not is_category[j]:
            own = np.where(second, 2 * own, own)
        if j in changed and (change == "shift" or (change == "spread" and is_category[j])):
            means += 0.7 * second
        made[:, j] = means + own
        if is_category[j]:
            cuts = np.quantile(made[:rows, j], np.linspace(0, 1, int(random.integers(2, 5)) + 1)[1:-1])
            codes = np.searchsorted(cuts, made[:, j])
            columns[f"c{j}"] = np.array(list("pqrst"), dtype=object)[codes]
            seen[:, j] = (codes - codes[:rows].mean()) / (codes[:rows].std() + 1e-9)
        else:
            columns[f"c{j}"] = made[:, j] * random.uniform(0.5, 20) + 5 * random.normal()
            seen[:, j] = (made[:, j] - made[:rows, j].mean()) / made[:rows, j].std()
    frame = pd.DataFrame(columns)
    for name in frame:
        frame.loc[random.random(2 * rows) < missing, name] = None
    frame = frame[[frame.columns[place] for place in random.permutation(COLUMNS)]]
    told = tuple((f"c{i}", f"c{j}") for i, j in arrows)
    halves = (frame.iloc[:rows].reset_index(drop=True), frame.iloc[rows:].reset_index(drop=True))
    return Pair(*halves, frozenset(f"c{j}" for j in changed), told)


def _noise(kind: str, rows: int, random: np.random.Generator) -> Floats:
    if kind == "mixed":
        return _noise(("normal", "exponential", "heavy", "lognormal")[random.integers(4)], rows, random)
    if kind == "exponential":
        skewed: Floats = random.exponential(size=rows) - 1
        return skewed
    if kind == "lognormal":
        skewed = np.exp(0.7 * random.normal(size=rows))
        skewed -= skewed.mean()
        return skewed
    tails: Floats = random.standard_t(4, size=rows) / 1.41 if kind == "heavy" else random.normal(size=rows)
    return tails


def _bent(z: Floats, kind: str, random: np.random.Generator) -> Floats:
    curve = ("line", "bounded", "square", "wave")[random.integers(4)] if kind == "mixed" else kind
    if curve == "bounded":
        bounded: Floats = 1.3 * np.tanh(1.5 * z + random.uniform(-0.5, 0.5))
        return bounded
    if curve == "square":
        return z + 0.5 * (z**2 - 1)
    return 1.3 * np.sin(1.2 * z + random.uniform(-0.5, 0.5)) if curve == "wave" else z


@attrs.define
class Tally:
    """What was named, and what was to be named."""

    right: int = 0
    named: int = 0
    true: int = 0
    columns: int = 0
    little: int = 0
    seconds: float = 0.0

    def add(self, named: set[str], pair: Pair, seconds: float, little: int = 0) -> None:
        """Count one pair of tables."""
        self.right += len(named & pair.changed)
        self.named += len(named)
        self.true += len(pair.changed)
        self.columns += COLUMNS
        self.little += little
        self.seconds += seconds

    def joined(self, other: Tally) -> Tally:
        """Return both counts together."""
        return Tally(*(mine + its for mine, its in zip(attrs.astuple(self), attrs.astuple(other), strict=True)))

    def __str__(self) -> str:
        precision = f"{self.right / self.named:.3f}" if self.named else "-"
        recall = f"{self.right / self.true:.3f}" if self.true else "-"
        false = self.named - self.right
        figures = f"precision {precision}, recall {recall} of {self.true}, false {false} of {self.columns} columns"
        return f"{figures}, little {self.little}, CPU {self.seconds:.1f} s"


def tables(first: int, pairs: int, rows: int, change: str, kind: tuple[str, str, float, float]) -> Iterator[Pair]:
    """Draw pairs of tables of one kind."""
    return (drawn(first + at, rows, change, kind) for at in range(pairs))


def main() -> None:
    """Print how often what changed is named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=9000)
    words = parser.parse_args()
    pairs, rows = (2, 500) if words.quick else (words.pairs, words.rows)
    totals = dict.fromkeys(CHANGES, Tally())
    for kind in KINDS[:2] if words.quick else KINDS:
        for change in CHANGES:
            tally = Tally()
            for pair in tables(words.first_seed, pairs, rows, change, kind):
                begun = process_time()
                found = moved(pair.before, pair.after, "c9")
                little = sum(one.explanation.state == "changed by little" for one in found.moves)
                tally.add({str(one) for one in found.changed}, pair, process_time() - begun, little)
            totals[change] = totals[change].joined(tally)
            noise, curve, categories, missing = kind
            what = f"{noise:11} {curve:5} categories {categories:.1f} missing {missing:.2f} {change:7}"
            print(f"{what}: {tally}", flush=True)
    for change, tally in totals.items():
        print(f"all {change}: {tally}")
    changed = totals["shift"].joined(totals["spread"]).joined(totals["slopes"])
    print(f"all changes: {changed}")


if __name__ == "__main__":
    main()
