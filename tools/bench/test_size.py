"""Size and power of the test for tables with numbers, over kinds of columns, curvature, rows and levels.

x and y depend on z alone, so that x ⊥ y | z, and for the power on each other as well. z is a number, whose effects are
linear, exponential, quadratic, tanh, absolute value, sine or a step, or it is a category. The share of tables on which
independence is rejected at .05 is the size and should be near .05; then the power, and the CPU of one test. The peers
are pgmpy's Pillai trace and Tetrad's test of degenerate Gaussians, on the first tables of each cell.

Usage: python tools/bench/test_size.py [--oracle moments] [--rows 200,1000] [--repeats 400] [--levels 2,4] [--first 1]
[--peers pgmpy-pillai,tetrad-degenerate] [--peer-repeats 50] [--python PYTHON] [--quick]. PYTHON has the peers of
``peers.txt``; it is that of .venv-peers unless given.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import NamedTuple

import attrs
import numpy as np
import numpy.typing as npt
import pandas as pd
from peers import ROOT, peers_python

from apsl_rules.learning.settings import Request
from apsl_rules.learning.source import open_data

ALPHA = 0.05
EFFECT = 0.25
PEERS = ("pgmpy-pillai", "tetrad-degenerate")
SHAPES = ("linear", "exp", "quadratic", "tanh", "abs", "sine", "step", "category")
SMOOTH = ("linear", "exp", "quadratic", "tanh", "category")


@attrs.frozen
class Cell:
    """A kind of tables: the levels of x and y, none for a number, the shape of the effects of z, and the rows."""

    x: int
    y: int
    shape: str
    rows: int

    @property
    def title(self) -> str:
        """Return the cell in words."""
        x, y = (f"{levels} levels" if levels else "number" for levels in (self.x, self.y))
        return f"{x}, {y}, {self.shape}, {self.rows:,}"

    def frame(self, seed: int, *, effect: float) -> pd.DataFrame:
        """Draw a table with x, y and z."""
        random = np.random.default_rng([self.x, self.y, SHAPES.index(self.shape), self.rows, int(effect > 0), seed])
        z: npt.NDArray[np.float64] = random.normal(size=self.rows)
        if self.shape == "category":
            codes = random.integers(0, 3, self.rows)
            signals = random.normal(size=(2, 3))[:, codes]
            shown = _column(codes.astype(np.float64), 3)
        else:
            bent = _bent(self.shape, z)
            signals = np.stack([bent, random.choice([-1.0, 1.0]) * bent])
            shown = _column(z, 0)
        x = _drawn(self.x, signals[0], random)
        y = _drawn(self.y, signals[1] + effect * (x - x.mean()) / x.std(), random)
        return pd.DataFrame({"x": _column(x, self.x), "y": _column(y, self.y), "z": shown})


def _bent(shape: str, z: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    shapes = {
        "linear": z,
        "exp": np.exp(0.6 * z),
        "quadratic": 0.5 * z + 0.6 * (z**2 - 1.0),
        "tanh": 1.2 * np.tanh(2.0 * z),
        "abs": 1.3 * np.abs(z),
        "sine": 1.2 * np.sin(2.0 * z),
        "step": 1.5 * (z > 0.3),
    }
    return np.asarray(shapes[shape])


def _drawn(levels: int, signal: npt.NDArray[np.float64], random: np.random.Generator) -> npt.NDArray[np.float64]:
    if not levels:
        return np.asarray(signal + random.normal(size=len(signal)))
    slopes = random.uniform(0.6, 1.3, levels) * np.linspace(-1.0, 1.0, levels)
    utility = np.outer(signal, slopes) + random.gumbel(size=(len(signal), levels))
    return np.asarray(utility.argmax(axis=1), np.float64)


def _column(values: npt.NDArray[np.float64], levels: int) -> pd.Series[float] | pd.Series[str]:
    return pd.Series([f"level {code}" for code in values.astype(int).tolist()]) if levels else pd.Series(values)


class Rate(NamedTuple):
    """The share of tables on which independence was rejected, and the CPU seconds of a test."""

    rejected: float
    seconds: float


def by_us(cell: Cell, oracle: str, seeds: range, *, effect: float) -> Rate:
    """Test each table; what is computed once for a table, such as its moments, is part of the time."""
    rejected, seconds = 0, 0.0
    for seed in seeds:
        frame = cell.frame(seed, effect=effect)
        asked = open_data(frame, Request.of({"oracle": oracle}, "learn")).oracle(ALPHA)
        begun = process_time()
        verdict = asked.verdict("x", "y", ("z",))
        seconds += process_time() - begun
        rejected += verdict.p is not None and verdict.p <= ALPHA
    return Rate(rejected / len(seeds), seconds / len(seeds))


def by_peer(cell: Cell, name: str, seeds: range, python: str, *, effect: float) -> Rate:
    """Have a peer test each table."""
    with tempfile.TemporaryDirectory() as folder:
        for place, seed in enumerate(seeds):
            cell.frame(seed, effect=effect).to_csv(Path(folder) / f"{place:04d}.csv", index=False)
        command = [python, str(ROOT / "tools/bench/folder_peer.py"), name, folder]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    found = [json.loads(line) for line in printed if line.startswith("{")]
    rejected = sum(one["p"] <= ALPHA for one in found)
    return Rate(rejected / len(found), sum(one["seconds"] for one in found) / len(found))


def cells(rows: list[int], levels: list[int], shapes: tuple[str, ...]) -> Iterator[Cell]:
    """Return all cells: two numbers, a number and a category, two categories."""
    few, many = min(levels), max(levels)
    for x, y in ((0, 0), (0, many), (few, many)):
        for shape in shapes:
            for count in rows:
                yield Cell(x, y, shape, count)


def main() -> None:
    """Print a row for each cell, and the range of the sizes."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--oracle", default="moments", help="the test of ours")
    parser.add_argument("--rows", default="200,1000")
    parser.add_argument("--levels", default="2,4")
    parser.add_argument("--repeats", type=int, default=400)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--peer-repeats", type=int, default=50)
    parser.add_argument("--python", help="the interpreter of the peers")
    parser.add_argument("--quick", action="store_true", help="100 tables of 200 rows in each cell; no peers")
    words = parser.parse_args()
    if words.quick:
        words.rows, words.repeats, words.peers = "200", 100, ""
    peers = [name for name in words.peers.split(",") if name]
    python = words.python or (peers_python() if peers else "")
    rows, levels = ([int(one) for one in some.split(",")] for some in (words.rows, words.levels))
    seeds = range(words.first, words.first + words.repeats)
    some = range(words.first, words.first + words.peer_repeats)
    print(
        f"Seeds {seeds.start} to {seeds.stop - 1}, for the peers to {some.stop - 1}. Size / power (CPU ms of a test).\n"
    )
    print(f"| x, y, effects of z, rows | {' | '.join([words.oracle, *peers])} |\n|---|{'---|' * (1 + len(peers))}")
    sizes: list[tuple[str, float]] = []
    for cell in cells(rows, levels, SHAPES):
        pairs = [tuple(by_us(cell, words.oracle, seeds, effect=effect) for effect in (0.0, EFFECT))]
        sizes.append((cell.shape, pairs[0][0].rejected))
        pairs += [tuple(by_peer(cell, name, some, python, effect=effect) for effect in (0.0, EFFECT)) for name in peers]
        told = [f"{size.rejected:.3f} / {power.rejected:.2f} ({1000 * size.seconds:.2f})" for size, power in pairs]
        print(f"| {cell.title} | {' | '.join(told)} |", flush=True)
    for title, shapes in (("smooth effects and categories", SMOOTH), ("all effects", SHAPES)):
        among = [size for shape, size in sizes if shape in shapes]
        print(f"\nsize with {title}: {min(among):.3f} to {max(among):.3f}")


if __name__ == "__main__":
    main()
