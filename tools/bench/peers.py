"""Whole graphs and parts against the peers that people use: CPU time on one thread, best of five, in one run.

Every learner starts from loaded data; reading the CSV is printed apart. All are warm: a first run is not counted.

Alarm (1,000 of the benchmark rows if the folder is there, else rows that we draw) and pigs (1,000 rows drawn).
Usage: python tools/bench/peers.py [FOLDER] [--quick], where FOLDER has data/alarm.npz and networks/pigs.bif.gz; it is
../shared unless given. With --quick each peer is run once, and pgmpy and pigs are left out. The peers live in
.venv-peers, which is made on first use.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any, NamedTuple, TypeVar

import attrs
import numpy as np

from apsl_rules import learn, learn_graph, network
from apsl_rules.data import Table, coded_table
from apsl_rules.graphs.networks.bif import read_bif
from apsl_rules.graphs.networks.sampling import sample

ROOT = Path(__file__).parents[2]
FOLDER = ROOT.parent / "shared"
PEERS = ROOT / ".venv-peers"
REPEATS = 5

Loaded = TypeVar("Loaded")
ROWS = 1000


def peers_python() -> str:
    """Return the interpreter of the peers' environment, made on first use."""
    python = PEERS / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(PEERS)], check=True)
        for requirement in ("torch==2.13.0", "-r"):  # torch by itself first, so that the lighter build is taken
            words = [requirement] if requirement != "-r" else ["-r", str(ROOT / "tools/bench/peers.txt")]
            subprocess.run([str(python), "-m", "pip", "install", "--quiet", *words], check=True)
    return str(python)


class Seconds(NamedTuple):
    """The best CPU seconds of reading a table and of learning from it."""

    reading: float
    learning: float


def peer(name: str, path: Path, repeats: int) -> Seconds:
    """Return the seconds of a peer; one more run warms it up."""
    command = [peers_python(), str(ROOT / "tools/bench/peer.py"), name, str(path), str(repeats + 1)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds = json.loads(done.stdout.splitlines()[-1])
    return Seconds(min(seconds["reading"][1:]), min(seconds["learning"][1:]))


def ours(run: Callable[[], Any]) -> float:
    """Return the best CPU seconds of a run of ours, warm."""
    return learning(lambda _: run(), lambda: None)


def learning(run: Callable[[Loaded], Any], load: Callable[[], Loaded]) -> float:
    """Return the best CPU seconds of a run of ours on data loaded anew each time: a table keeps what it was asked."""
    run(load())
    seconds = []
    for _ in range(REPEATS):
        loaded = load()
        begun = process_time()
        run(loaded)
        seconds.append(process_time() - begun)
    return min(seconds)


def alarm(folder: Path) -> Table:
    """Return 1,000 rows of Alarm: the first benchmark set if it is there, else rows that we draw."""
    file = folder / "data" / "alarm.npz"
    if not file.exists():
        print(f"({file.name} is not in {folder.name}/data: 1,000 rows drawn from the network instead)\n")
        return sample(network("alarm"), ROWS, seed=7)
    with np.load(file) as data:
        return coded_table(data["s1000_v1"], names=[str(name) for name in data["names"]])


def write_csv(rows: Table, path: Path) -> None:
    """Write a table for the peers."""
    text = [",".join(map(str, rows.names))]
    text += [",".join(map(str, row)) for row in rows.codes.T.tolist()]
    path.write_text("\n".join(text) + "\n", "utf-8")


def print_table(title: str, reference: float, runs: Iterable[tuple[str, float, float]]) -> None:
    """Print runs with their seconds of reading and learning, and the ratio of the latter to the reference."""
    print(f"{title}\n\n| run | CPU ms | ratio | reading, CPU ms |\n|---|---|---|---|")
    for name, reading, learning in runs:
        print(f"| {name} | {learning * 1e3:.1f} | {learning / reference:.2f} | {reading * 1e3:.0f} |", flush=True)
    print()


def on_alarm(sets: Path, folder: Path, *, quick: bool) -> None:
    """Print the tables for Alarm: by tests against pyAgrum's PC, by scores against its greedy search with BDeu."""
    rows = alarm(sets)
    most = 1 if quick else REPEATS
    path = folder / "alarm.csv"
    write_csv(rows, path)
    first, load = rows.names[0], partial(attrs.evolve, rows)
    reading = ours(lambda: coded_table(path))
    tests = peer("pyagrum-pc", path, most)
    others = [
        (name, *peer(name, path, repeats))
        for name, repeats in (
            ("pybnesian-mmpc", most),
            ("causal-learn-pc", 1 if quick else 3),
            *(() if quick else (("pgmpy-pc", 1),)),
        )
    ]
    by_tests = [
        ("pyagrum-pc", *tests),
        ("apsl, whole graph with proofs", reading, learning(lambda one: learn_graph(one, learner="apsl"), load)),
        (
            "apsl, all 37 targets one by one, depth 1",
            reading,
            learning(lambda one: [learn(one, target, learner="apsl") for target in one.names], load),
        ),
        *others,
    ]
    print_table(f"Alarm, {rows.rows} rows, by tests. Ratio to pyAgrum's PC:", tests.learning, by_tests)
    scores = peer("pyagrum-greedy", path, most)
    by_scores = [
        ("pyagrum-greedy (BDeu)", *scores),
        ("default, whole graph with proofs", reading, learning(learn_graph, load)),
        ("default, one part of depth 1", reading, learning(lambda one: learn(one, first, hidden="excluded"), load)),
    ]
    print_table("Alarm by scores. Ratio to pyAgrum's greedy search with BDeu:", scores.learning, by_scores)


def on_pigs(sets: Path, folder: Path) -> None:
    """Print the table for pigs."""
    file = sets / "networks" / "pigs.bif.gz"
    if not file.exists():
        print(f"\npigs: not measured, {file.name} is not in {sets.name}/networks")
        return
    rows = sample(read_bif(file), ROWS, seed=7)
    path = folder / "pigs.csv"
    write_csv(rows, path)
    reading = ours(lambda: coded_table(path))
    skeleton = peer("pybnesian-mmpc", path, 3)
    targets = rows.names[::45]
    load = partial(attrs.evolve, rows)
    part = median(learning(partial(learn, target=target, depth=2, learner="apsl"), load) for target in targets)
    runs = [
        ("pybnesian-mmpc (a skeleton)", *skeleton),
        ("apsl, whole graph with proofs", reading, learning(lambda one: learn_graph(one, learner="apsl"), load)),
        ("apsl, a part of depth 2 (median of ten targets)", reading, part),
    ]
    print_table(f"pigs, 441 nodes, {rows.rows} rows. Ratio to pybnesian's MMPC:", skeleton.learning, runs)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    parser.add_argument("--quick", action="store_true", help="each peer once; no pgmpy, no pigs")
    words = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        on_alarm(words.folder, Path(name), quick=words.quick)
        if not words.quick:
            on_pigs(words.folder, Path(name))


if __name__ == "__main__":
    main()
