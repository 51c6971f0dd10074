"""Whole graphs and parts against the peers that people use: CPU time, warm, median of repeats, one run for all.

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
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from apsl_rules import learn, network
from apsl_rules.data import Table, table
from apsl_rules.graphs.networks.bif import read_bif
from apsl_rules.graphs.networks.sampling import sample

ROOT = Path(__file__).parents[2]
FOLDER = ROOT.parent / "shared"
PEERS = ROOT / ".venv-peers"
REPEATS = 7
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


def peer(name: str, path: Path, repeats: int) -> float:
    """Return the median CPU seconds of a peer."""
    command = [peers_python(), str(ROOT / "tools/bench/peer.py"), name, str(path), str(repeats)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(median(json.loads(done.stdout.splitlines()[-1])))


def ours(run: Callable[[], Any]) -> float:
    """Return the median CPU seconds of a run of ours, warm."""
    run()
    seconds = []
    for _ in range(REPEATS):
        begun = process_time()
        run()
        seconds.append(process_time() - begun)
    return median(seconds)


def alarm(folder: Path) -> Table:
    """Return 1,000 rows of Alarm: the first benchmark set if it is there, else rows that we draw."""
    file = folder / "data" / "alarm.npz"
    if not file.exists():
        print(f"({file.name} is not in {folder.name}/data: 1,000 rows drawn from the network instead)\n")
        return sample(network("alarm"), ROWS, seed=7)
    with np.load(file) as data:
        return table(data["s1000_v1"], names=[str(name) for name in data["names"]])


def write_csv(rows: Table, path: Path) -> None:
    """Write a table for the peers."""
    text = [",".join(map(str, rows.names))]
    text += [",".join(map(str, row)) for row in rows.codes.T.tolist()]
    path.write_text("\n".join(text) + "\n", "utf-8")


def on_alarm(sets: Path, folder: Path, *, quick: bool) -> None:
    """Print the table for Alarm."""
    rows = alarm(sets)
    most = 1 if quick else REPEATS
    path = folder / "alarm.csv"
    write_csv(rows, path)
    reference = peer("pyagrum-pc", path, most)
    first = rows.names[0]
    whole = ours(lambda: learn(rows, first, depth="max", learner="apsl"))
    parts = ours(lambda: [learn(rows, target, learner="apsl") for target in rows.names])
    print(f"Alarm, {rows.rows} rows. Ratio to pyAgrum's PC ({reference * 1e3:.0f} ms):\n")
    print("| run | CPU ms | ratio |\n|---|---|---|")
    print(f"| apsl, whole graph with proofs | {whole * 1e3:.0f} | {whole / reference:.2f} |")
    print(f"| apsl, all 37 targets one by one, depth 1 | {parts * 1e3:.0f} | {parts / reference:.2f} |")
    for name, repeats in (
        ("pyagrum-greedy", most),
        ("pybnesian-mmpc", most),
        ("causal-learn-pc", 1 if quick else 3),
        *(() if quick else (("pgmpy-pc", 1),)),
    ):
        seconds = peer(name, path, repeats)
        print(f"| {name} | {seconds * 1e3:.0f} | {seconds / reference:.2f} ({seconds / whole:.1f} × our whole graph) |")


def on_pigs(sets: Path, folder: Path) -> None:
    """Print the table for pigs."""
    file = sets / "networks" / "pigs.bif.gz"
    if not file.exists():
        print(f"\npigs: not measured, {file.name} is not in {sets.name}/networks")
        return
    rows = sample(read_bif(file), ROWS, seed=7)
    path = folder / "pigs.csv"
    write_csv(rows, path)
    reference = peer("pybnesian-mmpc", path, 3)
    targets = rows.names[::45]
    whole = ours(lambda: learn(rows, targets[0], depth="max", learner="apsl"))
    part = median(ours(partial(learn, rows, target, depth=2, learner="apsl")) for target in targets)
    print(f"\npigs, 441 nodes, {rows.rows} rows. Ratio to pybnesian's MMPC ({reference * 1e3:.0f} ms):\n")
    print("| run | CPU ms | ratio |\n|---|---|---|")
    print(f"| apsl, whole graph with proofs | {whole * 1e3:.0f} | {whole / reference:.2f} |")
    print(f"| apsl, a part of depth 2 (median of ten targets) | {part * 1e3:.1f} | 1/{whole / part:.0f} of our whole |")


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
