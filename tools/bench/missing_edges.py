"""Missing values: the edges they invent, the edges they hide, and the pairs that they leave unknown.

Noise: independent columns, every column a target. Signal: y and x are independent causes of z, y is the target, beside
four columns of noise. Each value is missing at random with the same share. For each kind of columns, number of rows and
share missing: false edges a target with the mean probability that is stated of them, the share of the target's pairs
that are unknown, and the share of tables in which the true edge y - z is missed.

Usage: python tools/bench/missing_edges.py [--first 1] [--tables 15] [--rows 300,1000] [--shares 0,.5] [--quick]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from statistics import mean
from typing import Literal, get_args

import attrs
import numpy as np
import numpy.typing as npt
import pandas as pd

from apsl_rules import Part, learn
from apsl_rules.rules import untested

Kind = Literal["numbers", "categories", "mixed"]
NOISE_COLUMNS = 6


@attrs.frozen
class Found:
    """What a part says of its target: the false edges with their probabilities, unknown pairs, and a missed edge."""

    false: tuple[float, ...]
    unknown: float
    missed: bool | None


def noise(kind: Kind, rows: int, seed: int) -> pd.DataFrame:
    """Draw independent columns."""
    rng = np.random.default_rng(seed)
    return _as(kind, {f"c{at}": rng.normal(size=rows) for at in range(NOISE_COLUMNS)})


def signal(kind: Kind, rows: int, seed: int) -> pd.DataFrame:
    """Draw two independent causes, their effect, and columns of noise."""
    rng = np.random.default_rng(seed)
    x, y, *others = rng.normal(size=(6, rows))
    columns = {"y": y, "z": x + y + rng.normal(size=rows), "x": x}
    return _as(kind, columns | {f"c{at}": one for at, one in enumerate(others)})


def _as(kind: Kind, columns: dict[str, npt.NDArray[np.float64]]) -> pd.DataFrame:
    """Return columns as numbers, as categories of three levels, or every second one as either."""
    levels = {
        name: np.array(["low", "middle", "high"])[np.digitize(values, np.quantile(values, [1 / 3, 2 / 3]))]
        for at, (name, values) in enumerate(columns.items())
        if kind == "categories" or (kind == "mixed" and at % 2 == 1)
    }
    return pd.DataFrame(columns | levels)


def with_gaps(frame: pd.DataFrame, share: float, seed: int) -> pd.DataFrame:
    """Take out values at random."""
    gone = np.random.default_rng([seed, 1]).random(frame.shape) < share
    return frame.astype(object).mask(gone).infer_objects() if share else frame


def read(part: Part, true: frozenset[str]) -> Found:
    """Return what a part says of its target."""
    near = {next(iter(edge - {part.target})) for edge in part.edges if part.target in edge}
    unknown = [fact for fact in part.store.facts(untested) if part.target in fact.nodes]
    stated = tuple(part.edge_probability(part.target, one) or 0.0 for one in sorted(near - true, key=str))
    return Found(stated, len(unknown) / (len(part.nodes) - 1), bool(true - near) if true else None)


def found_in(kind: Kind, rows: int, share: float, seeds: range) -> Iterator[Found]:
    """Learn from the tables of some seeds."""
    for seed in seeds:
        frame = with_gaps(noise(kind, rows, seed), share, seed)
        yield from (read(learn(frame, name, hidden="excluded"), frozenset()) for name in frame)
        frame = with_gaps(signal(kind, rows, seed), share, seed)
        yield read(learn(frame, "y", hidden="excluded"), frozenset({"z"}))


def main() -> None:
    """Print one row for each kind, number of rows and share."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=1, help="the seed of the first table")
    parser.add_argument("--tables", type=int, default=15)
    parser.add_argument("--rows", default="300,1000,3000")
    parser.add_argument("--shares", default="0,.2,.5,.7")
    parser.add_argument("--quick", action="store_true", help="four tables of 300 rows")
    given = parser.parse_args()
    tables, sizes = (4, [300]) if given.quick else (given.tables, [int(rows) for rows in given.rows.split(",")])
    seeds = range(given.first, given.first + tables)
    print("| columns | rows | missing | false edges a target | stated | pairs unknown | true edge missed |")
    print("|---|---|---|---|---|---|---|")
    for kind in get_args(Kind):
        for rows in sizes:
            for share in map(float, given.shares.split(",")):
                found = list(found_in(kind, rows, share, seeds))
                stated = [one for part in found for one in part.false]
                missed = mean(part.missed for part in found if part.missed is not None)
                said = f"{mean(stated):.2f}" if stated else "–"
                false, unknown = len(stated) / len(found), mean(part.unknown for part in found)
                cells = f"{kind} | {rows:,} | {share:.0%} | {false:.3f} | {said} | {unknown:.0%} | {missed:.0%}"
                print(f"| {cells} |", flush=True)


if __name__ == "__main__":
    main()
