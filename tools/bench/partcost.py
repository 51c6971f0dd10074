"""What a part refined by scores costs on a wide table: CPU per target against ``apsl``, and against a whole graph.

The table is the tiled Alarm of 1,000 rows (set v4, columns permuted), with 20 of its nodes as targets; the whole graph
is that of pyAgrum's greedy search, in the same run. Needs the folder of the sets and the interpreter of an environment
with the peers of ``peers.txt``. Usage: python tools/bench/partcost.py --data DIR --python PYTHON
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from time import process_time

import attrs
from peers import ROOT, write_csv
from smallsamples import drawn, targets_of

from apsl_rules import learn
from apsl_rules.data import Table
from apsl_rules.names import Node

LEARNERS = ("apsl", "apsl-score")


def seconds(rows: Table, targets: list[Node], learner: str, depth: int) -> float:
    """Return the CPU seconds of a part, on average, each on a table that was asked nothing before."""
    begun = process_time()
    for target in targets:
        learn(attrs.evolve(rows), target, depth=depth, learner=learner)
    return (process_time() - begun) / len(targets)


def whole_graph(python: str, rows: Table) -> float:
    """Return the CPU seconds of pyAgrum's greedy search."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        write_csv(rows, path)
        command = [python, str(ROOT / "tools/bench/peer.py"), "pyagrum-greedy", str(path), "1"]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(json.loads(printed.splitlines()[-1])["learning"][0])


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--python", required=True)
    words = parser.parse_args()
    rows, _ = drawn(words.data, "alarm10", 1000, 4)
    targets = targets_of("alarm10", rows.names)[::3]
    for learner in LEARNERS:
        learn(rows, targets[0], depth=2, learner=learner)  # so that nothing is loaded while the clock runs
    whole = whole_graph(words.python, rows)
    for depth in (1, 2):
        by_tests, by_scores = (seconds(rows, targets, learner, depth) for learner in LEARNERS)
        print(
            f"depth {depth}: {1000 * by_scores:.0f} ms, {by_scores / by_tests:.1f} × apsl, "
            f"1/{whole / by_scores:.0f} of the whole graph ({whole:.1f} s)"
        )


if __name__ == "__main__":
    main()
