"""Whole graphs on small samples against learners of whole graphs: skeleton F1 and SHD to the CPDAG, means over sets.

Ours learn one connected piece after another; a peer's graph is taken for the CPDAG of its class. Needs the folder of
the sets and the interpreter of an environment with the peers of ``peers.txt``.
Usage: python tools/bench/wholegraphs.py --data DIR --python PYTHON [--versions 4,5]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from statistics import mean

from learners import scored
from peers import ROOT, write_csv
from smallsamples import SIZES, drawn

from apsl_rules.cpdag import Cpdag, cpdag
from apsl_rules.dag import known_dag
from apsl_rules.data import Table
from apsl_rules.graph_learning import learn_graph

OURS = ("apsl", "apsl-score")
PEERS = ("pyagrum-bic", "pyagrum-bdeu", "pyagrum-miic")


def by_peer(python: str, name: str, rows: Table, truth: Cpdag) -> tuple[float, float]:
    """Give skeleton F1 and SHD of a peer's graph."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        write_csv(rows, path)
        command = [python, str(ROOT / "tools/bench/peer.py"), name, str(path), "1"]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    arcs = json.loads(printed[-2])
    found = cpdag(known_dag({node: [tail for tail, head in arcs if head == node] for node in map(str, rows.names)}))
    right = len(found.skeleton & truth.skeleton)
    same = len(found.arrows & truth.arrows) + len(found.lines & truth.lines)
    f1 = 2 * right / (len(found.skeleton) + len(truth.skeleton))
    return f1, float(len(found.skeleton | truth.skeleton) - same)


def by_us(learner: str, rows: Table, truth: Cpdag) -> tuple[float, float]:
    """Give skeleton F1 and SHD of a graph of ours."""
    f1, _, _, distance = scored(learn_graph(rows, learner=learner), truth)
    return f1, float(distance)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--versions", default="4,5")
    words = parser.parse_args()
    versions = [int(one) for one in words.versions.split(",")]
    print(f"| skeleton F1 / SHD | {' | '.join((*OURS, *PEERS))} |\n|---|{'---|' * (len(OURS) + len(PEERS))}")
    for name in ("alarm", "child", "insurance"):
        for size in SIZES:
            sets = [drawn(words.data, name, size, version) for version in versions]
            cells = [[by_us(learner, *one) for one in sets] for learner in OURS]
            cells += [[by_peer(words.python, peer, *one) for one in sets] for peer in PEERS]
            shown = [f"{mean(one[0] for one in cell):.2f} / {mean(one[1] for one in cell):.1f}" for cell in cells]
            print(f"| {name} {size} | {' | '.join(shown)} |", flush=True)


if __name__ == "__main__":
    main()
