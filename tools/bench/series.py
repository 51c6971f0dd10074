"""Series: what is found of earlier steps and within a step, against PCMCI+ of tigramite, in one run.

Usage: python tools/bench/series.py [--quick] [--series N] [--first-seed N] [--columns N] [--rows N] [--peer PYTHON]

Each series is a stable vector autoregression: every column has its own lag, as many lags join two columns, and half as
many arrows lie within a step. The noise is normal, or exponential as --noise says. ``--peer`` is an interpreter
that has tigramite; without it that of .venv-peers is taken, which is made on first use.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from time import process_time
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
import pandas as pd
from peers import peers_python

from apsl_rules import learn_graph

Floats = npt.NDArray[np.float64]
Link = tuple[int, int, int]
_BURNT, _STABLE = 200, 0.9


@attrs.frozen
class Series:
    """A series and its true links, each (cause, effect, lag)."""

    table: Floats
    links: frozenset[Link]


def drawn(seed: int, columns: int, rows: int, noise: str) -> Series:
    """Draw a series."""
    random = np.random.default_rng([seed, 63])
    while True:
        lagged, within = np.diag(random.uniform(0.3, 0.7, columns)), np.zeros((columns, columns))
        order = random.permutation(columns)
        for _ in range(columns):
            cause, effect = random.choice(columns, 2, replace=False)
            lagged[effect, cause] = random.choice([-1, 1]) * random.uniform(0.25, 0.45)
        while np.count_nonzero(within) < columns // 2:
            early, late = sorted(random.choice(columns, 2, replace=False))
            within[order[late], order[early]] = random.choice([-1, 1]) * random.uniform(0.3, 0.6)
        mixing = np.linalg.inv(np.eye(columns) - within)
        if np.abs(np.linalg.eigvals(mixing @ lagged)).max() < _STABLE:
            break
    state, values = np.zeros(columns), []
    for _ in range(rows + _BURNT):
        own = random.normal(size=columns) if noise == "normal" else random.exponential(size=columns) - 1
        state = mixing @ (lagged @ state + own)
        values.append(state)
    links = {(int(cause), int(effect), 1) for effect, cause in np.argwhere(lagged)}
    links |= {(int(cause), int(effect), 0) for effect, cause in np.argwhere(within)}
    return Series(np.array(values[_BURNT:]), frozenset(links))


def ours(values: Floats, hidden: Any) -> dict[str, Any]:
    """Return the graph that the default learner draws, and its CPU seconds."""
    names = [f"x{place}" for place in range(values.shape[1])]
    frame = pd.DataFrame(values, columns=names).assign(at=np.arange(len(values)))
    place: dict[Any, tuple[int, int]] = {name: (number, 0) for number, name in enumerate(names)}
    place |= {f"{name}[t-1]": (number, 1) for number, name in enumerate(names)}
    begun = process_time()
    graph = learn_graph(frame, time="at", hidden=hidden)
    spent = process_time() - begun
    arrows = [[place[tail][0], place[head][0], place[tail][1]] for tail, head in graph.arrows]
    lines = [[place[one][0], place[other][0], 0] for one, other in (sorted(map(str, pair)) for pair in graph.lines)]
    return {"arrows": arrows, "lines": lines, "cpu": spent}


def rows_of(name: str, truths: Iterable[Series], found: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield the row of a learner: precision and recall of lags and within a step, directions, CPU seconds."""
    lagged, within, directed, spent = np.zeros(3, int), np.zeros(3, int), np.zeros(2, int), 0.0
    for series, one in zip(truths, found, strict=True):
        arrows = {(cause, effect, lag) for cause, effect, lag in one["arrows"]}
        true_lags = {link for link in series.links if link[2]}
        mine = {link for link in arrows if link[2]}
        lagged += len(mine & true_lags), len(mine), len(true_lags)
        true_now = {link for link in series.links if not link[2]}
        pairs = {frozenset(link[:2]) for link in true_now}
        now = {frozenset(link[:2]) for link in (*arrows, *map(tuple, one["lines"])) if not link[2]}
        within += len(now & pairs), len(now), len(pairs)
        heads = {link for link in arrows if not link[2]}
        directed += len(heads & true_now), len(heads)
        spent += one["cpu"]

    def share(part: int, of: int) -> str:
        return f"{part / of:.3f}" if of else "–"

    shares = [share(lagged[0], lagged[1]), share(lagged[0], lagged[2]), share(within[0], within[1])]
    shares += [share(within[0], within[2]), f"{directed[0]} of {directed[1]} ({within[2]} true)", f"{spent:.2f}"]
    yield f"| {name} | {' | '.join(shares)} |"


def by_peer(python: str, truths: Iterable[Series]) -> list[dict[str, Any]]:
    """Return what PCMCI+ draws of some series."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "series.npz"
        arrays: dict[str, Any] = {f"s{place}": one.table for place, one in enumerate(truths)}
        np.savez(path, **arrays)
        command = [python, str(Path(__file__).with_name("series_peer.py")), str(path)]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True)
    return [*json.loads(done.stdout.splitlines()[-1]).values()]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--series", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=5000)
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--noise", choices=("normal", "exponential"), default="normal")
    parser.add_argument("--peer")
    asked = parser.parse_args()
    count = 2 if asked.quick else asked.series
    truths = [drawn(asked.first_seed + one, asked.columns, asked.rows, asked.noise) for one in range(count)]
    print(f"{count} series of {asked.columns} columns and {asked.rows} rows, {asked.noise} noise")
    print("| learner | lags: precision | recall | within a step: precision | recall | directions right | CPU s |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    ours(truths[0].table, "excluded")
    for hidden in ("possible", "excluded"):
        print(*rows_of(f"time=, hidden={hidden}", truths, [ours(one.table, hidden) for one in truths]), flush=True)
    if not asked.quick:
        print(*rows_of("PCMCI+", truths, by_peer(asked.peer or peers_python(), truths)), flush=True)


if __name__ == "__main__":
    main()
