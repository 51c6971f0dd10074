"""Whole graphs on small samples against learners of whole graphs: skeleton F1, SHD to the CPDAG and CPU seconds.

Base rows are the published sets of alarm, child and insurance, means over versions; further rows are drawn from other
networks, means over two seeds. Columns are permuted; a peer's graph is taken for the CPDAG of its class. CPU is that of
learning from loaded data, on one thread, warm. Needs the folder of the sets and the interpreter of an environment with
the peers of ``peers.txt``; Tetrad also needs Java 17. A peer has ``--limit`` CPU seconds for each set; where it needs
more, its cell says so, and neither the sets after it nor larger ones of that network are run.

Usage: python tools/bench/wholegraphs.py --data DIR --python PYTHON [--networks DIR] [--base alarm,child]
[--sampled hailfinder,andes] [--versions 4,5] [--limit 120] [--learners apsl,pgmpy-hc] [--cache FILE] [--check].
Networks that are not shipped are read from DIR/NAME.bif.gz. The cache keeps the graphs of peers, by version and set;
delete it if a peer's settings change. With --limit 0 no peer is run, and the table has what is kept. With --check the
sets are 50,000 rows of small networks with arrows and lines: a learner that is read right finds one of them without
error, and a greedy one may miss another.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from statistics import mean
from time import process_time

import attrs
from graph_sets import BASE, SAMPLED, GraphSet, SetRow, base_rows, check_rows, named_network, sampled_rows
from peer_figures import Figures, PeerRuns, Unfinished

from apsl_rules import network
from apsl_rules.errors import ApslError
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.learning.api import learn_graph
from learners import scored

OURS = ("apsl", "apsl-score")
PEERS = (
    "pyagrum-bic",
    "pyagrum-bdeu",
    "pyagrum-miic",
    "causal-learn-ges",
    "causal-learn-grasp",
    "causal-learn-boss",
    "tetrad-boss",
    "tetrad-fges",
    "pgmpy-hc",
)


@cache
def warm(learner: str) -> None:
    """Learn once, so that nothing is loaded while the clock runs."""
    learn_graph(sample(network("asia"), 500, seed=1), learner=learner, hidden="excluded")


def by_us(learner: str, one: GraphSet) -> Figures:
    """Return the figures of a graph of ours."""
    warm(learner)
    begun = process_time()
    graph = learn_graph(one.rows, learner=learner, hidden="excluded")
    seconds = process_time() - begun
    f1, _, _, distance = scored(graph, one.truth)
    return Figures(f1, float(distance), seconds)


class Table:
    """The rows so far, the reasons for what is missing in them, and the peers that are too slow for a network."""

    def __init__(self, learners: Sequence[str], runs: PeerRuns) -> None:
        self._learners = learners
        self._runs = runs
        self._rows: list[tuple[SetRow, dict[str, Figures | Unfinished]]] = []
        self._slow: dict[tuple[str, str], Unfinished] = {}
        self.reasons: dict[str, None] = {}

    def add(self, row: SetRow) -> str:
        """Learn the graphs of a row, and return it as text."""
        sets = row.sets()
        found = {learner: self._cell(learner, row, sets) for learner in self._learners}
        self._rows.append((row, found))
        return _text(row.title, found)

    def mean(self, title: str, *, base_only: bool) -> str:
        """Return the means over the rows as text; a learner that lacks a row has none."""
        means: dict[str, Figures | Unfinished] = {}
        for learner in self._learners:
            cells = [found[learner] for row, found in self._rows if row.is_base or not base_only]
            whole = [cell for cell in cells if isinstance(cell, Figures)]
            lacking = Unfinished(f"{len(whole)} of {len(cells)} rows", "")
            means[learner] = _mean(whole) if cells and len(whole) == len(cells) else lacking
        return _text(title, means)

    def _cell(self, learner: str, row: SetRow, sets: Iterable[GraphSet]) -> Figures | Unfinished:
        if learner in OURS:
            return _mean([by_us(learner, one) for one in sets])
        slow = (learner, row.title.partition(" ")[0])
        if slow in self._slow:
            return self._slow[slow]
        figures = []
        for one in sets:
            cell = self._runs.figures(learner, one)
            if isinstance(cell, Unfinished):
                self.reasons[cell.reason] = None
                if cell.is_slow:
                    self._slow[slow] = cell
                return cell
            figures.append(cell)
        return _mean(figures)


def _mean(some: Sequence[Figures]) -> Figures:
    columns = zip(*map(attrs.astuple, some), strict=True)
    return Figures(*map(mean, columns))


def _text(title: str, found: Mapping[str, Figures | Unfinished]) -> str:
    return f"| {title} | {' | '.join(map(_told, found.values()))} |"


def _told(one: Figures | Unfinished) -> str:
    return f"{one.f1:.2f} / {one.distance:.1f} / {one.seconds:.2f}" if isinstance(one, Figures) else one.cell


def _listed(words: str) -> list[str]:
    return [word for word in words.split(",") if word]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder of the published sets")
    parser.add_argument("--python", required=True, help="the interpreter of the peers")
    parser.add_argument("--networks", type=Path, help="the folder of NAME.bif.gz, for networks that are not shipped")
    parser.add_argument("--base", default=",".join(BASE), help="the networks of the published sets")
    parser.add_argument("--sampled", default=",".join(SAMPLED), help="the networks to draw rows from")
    parser.add_argument("--versions", default="4,5")
    parser.add_argument(
        "--limit", type=int, default=120, help="CPU seconds of a peer for each set, 0 for the cache alone"
    )
    parser.add_argument("--learners", default=",".join((*OURS, *PEERS)))
    parser.add_argument("--cache", type=Path, help="the file that keeps the graphs of peers")
    parser.add_argument("--check", action="store_true", help="small networks, to check how graphs are read")
    words = parser.parse_args()
    learners = _listed(words.learners)
    if unknown := set(learners) - {*OURS, *PEERS}:
        parser.error(f"no such learner: {', '.join(sorted(unknown))}")
    if shutil.which(words.python) is None:
        parser.error(f"--python: {words.python} cannot be started; make an environment with the peers of peers.txt")
    files = [words.data / f"{name}.npz" for name in _listed(words.base)]
    if not words.check and (missing := [str(file) for file in files if not file.exists()]):
        parser.error(f"--data: no {', '.join(missing)}; --base names the networks of the sets to read")
    sampled = () if words.check else _listed(words.sampled)
    try:
        behind = {name: named_network(name, words.networks) for name in sampled}
    except ApslError as error:
        parser.error(f"--sampled: {error} (--networks gives the folder of further files)")
    base = base_rows(words.data, _listed(words.base), [int(one) for one in words.versions.split(",")])
    table = Table(learners, PeerRuns(words.python, words.limit, words.cache))
    print(f"| skeleton F1 / SHD / CPU s | {' | '.join(learners)} |\n|---|{'---|' * len(learners)}")
    for row in check_rows() if words.check else chain(base, sampled_rows(behind)):
        print(table.add(row), flush=True)
    if not words.check:
        print(table.mean("mean of base rows", base_only=True))
    print(table.mean("mean of all rows", base_only=False))
    print("".join(f"\n- {reason}" for reason in table.reasons))


if __name__ == "__main__":
    main()
