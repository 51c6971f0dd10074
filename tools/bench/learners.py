"""Every learner on the benchmark sets: whole graphs of Alarm and Child, 500 and 1,000 rows, sets v1 to v5.

Skeleton F1, arrow precision, recall of compelled arrows and structural Hamming distance to the CPDAG (edges missing,
extra or marked differently), means over the sets, and CPU seconds. Then MMHC against pyAgrum's greedy hill climbing on
Alarm's first 1,000 rows: time, and the BDeu score of both graphs by our score at one equivalent sample size. Last, the
growth of the exact search. Columns are in file order.

Usage: python tools/bench/learners.py [FOLDER] [--quick], where FOLDER is ../shared/data unless given. The quick form
learns from one set of Child and leaves out pyAgrum.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from statistics import mean
from time import process_time

import numpy as np
from accuracy import FOLDER, sets
from peers import ROOT, ours, peer, peers_python, write_csv

from apsl_backends.finders.by_tests import Mmpc
from apsl_backends.independence.count_tests import GSquare
from apsl_backends.scores.bde import BDeu
from apsl_backends.search.exact import optimal
from apsl_rules import Dag
from apsl_rules.data.tables import Table
from apsl_rules.graphs.equivalence import Cpdag
from apsl_rules.learning.api import learn_graph
from apsl_rules.neighbours.symmetric import Neighbours
from apsl_rules.oracles.asker import Asker
from apsl_rules.parts.graph import LearnedGraph
from apsl_rules.plugins.manager import installed
from apsl_rules.plugins.offers import FinderSettings

ESS = 10.0


def scored(graph: LearnedGraph, truth: Cpdag) -> tuple[float, float, float, int]:
    """Return skeleton F1, arrow precision, compelled-arrow recall and the structural Hamming distance."""
    torn = {pair for part in graph.parts for pair in part.store.conflicts if frozenset(pair) in part.edges}
    edges = {*map(frozenset, graph.arrows), *graph.lines, *torn}
    right = len(edges & truth.skeleton)
    f1 = 2 * right / (len(edges) + len(truth.skeleton))
    hits = len(graph.arrows & truth.arrows)
    same = hits + len(graph.lines & truth.lines)
    distance = len(edges | truth.skeleton) - same
    return f1, hits / max(len(graph.arrows), 1), hits / len(truth.arrows), distance


def all_learners(folder: Path, *, quick: bool) -> None:
    """Print a row for each set and learner."""
    print("| set | learner | skeleton F1 | arrow precision | compelled recall | SHD | CPU s |")
    print("|---|---|---|---|---|---|---|")
    for network in ("child",) if quick else ("child", "alarm"):
        for size in (500,) if quick else (500, 1000):
            for learner in installed().learners:
                truth, samples = sets(folder, network, size, (1,) if quick else (1, 2, 3, 4, 5))
                begun = process_time()
                graphs = [
                    learn_graph(sample, learner=learner, max_seconds=240.0, hidden="excluded") for sample in samples
                ]
                seconds = (process_time() - begun) / len(samples)
                rows = [scored(graph, truth) for graph in graphs]
                stopped = sum(graph.incomplete is not None for graph in graphs)
                f1, precision, recall, distance = (mean(column) for column in zip(*rows, strict=True))
                figures = f"{f1:.3f} | {precision:.3f} | {recall:.3f} | {distance:.1f} | {seconds:.2f}"
                figures += f" ({stopped} stopped)" if stopped else ""
                print(f"| {network} {size} | {learner} | {figures} |", flush=True)


def greedy(path: Path) -> Dag:
    """Return the graph that pyAgrum's greedy search with BDeu finds in a table."""
    command = [peers_python(), str(ROOT / "tools/bench/peer.py"), "pyagrum-greedy-arcs", str(path), "1"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    arcs = json.loads(printed[-2])
    names = path.read_text("utf-8").splitlines()[0].split(",")
    return Dag({name: [tail for tail, head in arcs if head == name] for name in names})


def against_greedy(rows: Table) -> None:
    """Print MMHC's time and score beside those of pyAgrum's greedy search, free and among MMHC's candidates."""
    score = BDeu(rows, ess=ESS)
    oracle = Asker(GSquare(rows), origin="gsquare")
    neighbours = Neighbours(Mmpc(oracle, FinderSettings(3)), symmetric=True)
    pairs = sorted({tuple(sorted((str(node), str(other)))) for node in rows.names for other in neighbours.of(node)})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "alarm.csv"
        write_csv(rows, path)
        reference = peer("pyagrum-greedy", path, 5).learning
        free = score.graph(greedy(path))
        path.with_suffix(".json").write_text(json.dumps(pairs), "utf-8")
        within = score.graph(greedy(path))
    mmhc = ours(lambda: learn_graph(rows, learner="mmhc"))
    found = score.graph(learn_graph(rows, learner="mmhc").dag())
    print(f"MMHC on Alarm, {rows.rows} rows: {mmhc / reference:.2f} × the CPU of pyAgrum's greedy search")
    times = f"{mmhc * 1e3:.0f} and {reference * 1e3:.0f} ms"
    print(f"({times}). BDeu at ESS {ESS:g}: MMHC {found:.1f};")
    print(f"pyAgrum's greedy search among the same candidates {within:.1f}, among all pairs {free:.1f}.")


def exact_growth(rows: Table, counts: Iterable[int]) -> None:
    """Print how the exact search over a small set grows."""
    print("\n| variables | exact search: CPU s |\n|---|---|")
    score = BDeu(rows, ess=1.0)
    for count in counts:
        members = tuple(range(count))
        begun = process_time()
        optimal(score, members)
        print(f"| {count} | {process_time() - begun:.2f} |", flush=True)


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    parser.add_argument("--quick", action="store_true", help="one set of Child, and no pyAgrum")
    words = parser.parse_args()
    np.seterr(all="raise")
    alarm = sets(words.folder, "alarm", 1000, (1,))[1][0]
    if not words.quick:
        against_greedy(alarm)
    exact_growth(alarm, (4, 8, 10) if words.quick else (4, 8, 10, 12, 14, 16))
    print()
    all_learners(words.folder, quick=words.quick)


if __name__ == "__main__":
    main()
