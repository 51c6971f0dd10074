"""Whole graphs on small samples against learners of whole graphs: skeleton F1 and SHD to the CPDAG, means over sets.

Ours learn one connected piece after another; a peer's graph is taken for the CPDAG of its class. Needs the folder of
the sets and the interpreter of an environment with the peers of ``peers.txt``. A peer has ``--limit`` seconds of the
clock for each set; where one set is not finished, its cell says so and the sets after it are not run.
Usage: python tools/bench/wholegraphs.py --data DIR --python PYTHON [--versions 4,5] [--limit 300]
[--learners apsl,pgmpy-hc]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path
from statistics import mean

from peers import ROOT, write_csv
from smallsamples import SIZES, drawn

from apsl_rules.data import Table
from apsl_rules.graphs.cpdag import Cpdag, cpdag
from apsl_rules.graphs.dag import known_dag
from apsl_rules.learning.whole_graph import learn_graph
from learners import scored

OURS = ("apsl", "apsl-score")
PEERS = ("pyagrum-bic", "pyagrum-bdeu", "pyagrum-miic", "causal-learn-ges", "pgmpy-hc")


def by_peer(python: str, name: str, rows: Table, truth: Cpdag, *, limit: int) -> tuple[float, float]:
    """Return skeleton F1 and SHD of a peer's graph; raise TimeoutExpired if it takes longer than the limit."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        write_csv(rows, path)
        command = [python, str(ROOT / "tools/bench/peer.py"), name, str(path), "1"]
        fixed = os.environ | {"PYTHONHASHSEED": "0"}  # pgmpy breaks ties by the order of a set
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=fixed, timeout=limit)
    printed = done.stdout.splitlines()
    arcs = json.loads(printed[-2])
    found = cpdag(known_dag({node: [tail for tail, head in arcs if head == node] for node in map(str, rows.names)}))
    right = len(found.skeleton & truth.skeleton)
    same = len(found.arrows & truth.arrows) + len(found.lines & truth.lines)
    f1 = 2 * right / (len(found.skeleton) + len(truth.skeleton))
    return f1, float(len(found.skeleton | truth.skeleton) - same)


def by_us(learner: str, rows: Table, truth: Cpdag) -> tuple[float, float]:
    """Return skeleton F1 and SHD of a graph of ours."""
    f1, _, _, distance = scored(learn_graph(rows, learner=learner), truth)
    return f1, float(distance)


def cell(learner: str, sets: list[tuple[Table, Cpdag]], python: str, limit: int) -> str:
    """Return the means of a learner over some sets, or that a peer did not finish one of them."""
    try:
        if learner in OURS:
            figures = [by_us(learner, *one) for one in sets]
        else:
            figures = [by_peer(python, learner, *one, limit=limit) for one in sets]
    except subprocess.TimeoutExpired:
        return f"not finished in {limit} s"
    return f"{mean(f1 for f1, _ in figures):.2f} / {mean(distance for _, distance in figures):.1f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--versions", default="4,5")
    parser.add_argument("--limit", type=int, default=300, help="seconds for each run of a peer")
    parser.add_argument("--learners", default=",".join((*OURS, *PEERS)))
    words = parser.parse_args()
    versions = [int(one) for one in words.versions.split(",")]
    learners = words.learners.split(",")
    if unknown := set(learners) - {*OURS, *PEERS}:
        parser.error(f"no such learner: {', '.join(sorted(unknown))}")
    print(f"| skeleton F1 / SHD | {' | '.join(learners)} |\n|---|{'---|' * len(learners)}")
    for name in ("alarm", "child", "insurance"):
        for size in SIZES:
            sets = [drawn(words.data, name, size, version) for version in versions]
            cells = [cell(learner, sets, words.python, words.limit) for learner in learners]
            print(f"| {name} {size} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
