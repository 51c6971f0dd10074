"""Tables with numbers against peers: how far whole graphs and parts are from the truth, and CPU, with fresh networks.

For each cell of ``mixed_networks`` (a family, mixed or all numbers, rows) the mean structural Hamming distance to the
CPDAG over some networks: by our default, by the default after cutting numbers at their terciles, and by the peers
FLOP (numbers alone) and Tetrad's BOSS with the degenerate Gaussian score. After it the mean per target of parts of
depth 1, every node being a target on the first tables. The last rows are linear Gaussian graphs of degree 4 and 8, and
five sets of each published Gaussian network. Ratios are to Tetrad and to the cut numbers; CPU is that of one graph.

Usage: python tools/bench/mixed.py [--networks FOLDER] [--python PYTHON] [--first 1] [--graphs 6] [--sizes 20,40]
[--rows 500,1000,5000] [--families linear,curved] [--learners apsl,tetrad-boss] [--quick]. The published networks are
FOLDER/gaussian/*.json, ../shared/networks unless given. PYTHON has the peers of ``peers.txt``, which need Java 17; it
is that of .venv-peers unless given, made on first use.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import mean
from time import process_time
from typing import Any

import attrs
from conditions import distance
from mixed_networks import Drawn, Family, drawn, published
from peers import ROOT, peers_python

from apsl_rules import learn, learn_graph
from apsl_rules.errors import ApslError
from apsl_rules.graphs.equivalence import Cpdag, cpdag
from learners import scored

OURS: dict[str, dict[str, Any]] = {"apsl": {}, "apsl-terciles": {"discretize": "quantile:3"}}
PEERS = ("tetrad-boss", "flop", "flop-normal-scores")
CHOSEN: tuple[Family, ...] = ("linear", "curved", "skewed")
FRESH: tuple[Family, ...] = ("nets", "uneven", "registry")


@attrs.frozen
class Cell:
    """Some tables of one kind, whether all of their columns are numbers, and on how many every node is a target."""

    title: str
    tables: tuple[Drawn, ...]
    numbers: bool
    with_parts: int


@attrs.frozen
class Figures:
    """What one learner did on a cell: mean distances of graphs and of parts, and CPU seconds for each graph."""

    graphs: float
    parts: float
    seconds: float


def by_us(cell: Cell, learner: str) -> Figures:
    """Learn all graphs of a cell, and the parts around all nodes of the first tables."""
    settings = OURS[learner]
    graphs, parts, seconds = [], [], 0.0
    for place, one in enumerate(cell.tables):
        truth = cpdag(one.dag)
        begun = process_time()
        graph = learn_graph(one.frame, **settings, hidden="excluded")
        seconds += process_time() - begun
        graphs.append(scored(graph, truth)[3])
        if place < cell.with_parts:
            parts += [
                distance(learn(one.frame, node, **settings, hidden="excluded"), truth) for node in one.frame.columns
            ]
    return Figures(mean(graphs), mean(parts), seconds / len(cell.tables))


def by_peer(cell: Cell, learner: str, python: str) -> Figures:
    """Have a peer learn all graphs of a cell; its parts are those of its graphs."""
    with tempfile.TemporaryDirectory() as folder:
        for place, one in enumerate(cell.tables):
            one.frame.to_csv(Path(folder) / f"{place:03d}.csv", index=False)
        command = [python, str(ROOT / "tools/bench/folder_peer.py"), learner, folder]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    found = [json.loads(line) for line in printed if line.startswith("{")]
    graphs, parts = [], []
    for place, (one, marks) in enumerate(zip(cell.tables, found, strict=True)):
        truth = cpdag(one.dag)
        arrows = frozenset((str(tail), str(head)) for tail, head in marks["arrows"])
        learned = Cpdag(truth.nodes, arrows, frozenset(map(frozenset, marks["lines"])))
        graphs.append(_distance(learned, truth))
        if place < cell.with_parts:
            parts += [_distance_around(learned, truth, str(node)) for node in one.frame.columns]
    return Figures(mean(graphs), mean(parts), mean(marks["seconds"] for marks in found))


def _distance(learned: Cpdag, truth: Cpdag) -> int:
    same = len(learned.arrows & truth.arrows) + len(learned.lines & truth.lines)
    return len(learned.skeleton | truth.skeleton) - same


def _distance_around(learned: Cpdag, truth: Cpdag, target: str) -> int:
    (arrows, lines), (true_arrows, true_lines) = learned.region(target, 1), truth.region(target, 1)
    edges = {*map(frozenset, arrows), *lines, *map(frozenset, true_arrows), *true_lines}
    return len(edges) - len(arrows & true_arrows) - len(lines & true_lines)


def random_cells(
    families: Sequence[Family], sizes: Sequence[int], rows: Sequence[int], seeds: range, with_parts: int
) -> Iterator[Callable[[], Cell]]:
    """Return the cells of random networks, drawn when they are called."""
    for family in families:
        for mixed in (True, False):
            for count in rows:

                def made(family: Family = family, count: int = count, *, mixed: bool = mixed) -> Cell:
                    tables = [
                        drawn(family, nodes=size, rows=count, seed=seed, mixed=mixed)
                        for size in sizes
                        for seed in seeds
                    ]
                    title = f"{'mixed' if mixed else 'numbers'}, {family}, {count:,}"
                    return Cell(title, tuple(tables), numbers=not mixed, with_parts=with_parts)

                yield made


def gaussian_cells(networks: Path, seeds: range, with_parts: int) -> Iterator[Callable[[], Cell]]:
    """Return the cells of linear Gaussian graphs, random and published."""
    for degree in (4, 8):
        for count in (500, 1000):

            def made(degree: int = degree, count: int = count) -> Cell:
                tables = [
                    drawn("gaussian", nodes=50, rows=count, seed=seed, mixed=False, degree=degree) for seed in seeds
                ]
                title = f"gaussian, degree {degree}, {count:,}"
                return Cell(title, tuple(tables), numbers=True, with_parts=with_parts)

            yield made
    for path in sorted(networks.glob("gaussian/*.json")):
        for count in (500, 1000):

            def read(path: Path = path, count: int = count) -> Cell:
                tables = [published(path, count, seed) for seed in range(seeds.start, seeds.start + 5)]
                return Cell(f"{path.stem}, {count:,}", tuple(tables), numbers=True, with_parts=len(tables))

            yield read


def figures_of(cell: Cell, learner: str, python: str) -> Figures | None:
    """Return the figures of a learner, or None if it cannot learn from such tables."""
    if learner.startswith("flop") and not cell.numbers:
        return None
    if learner not in OURS:
        return by_peer(cell, learner, python)
    try:
        return by_us(cell, learner)
    except ApslError as error:
        print(f"{cell.title}: {learner} cannot learn: {error}")
        return None


def show(cells: Iterator[Callable[[], Cell]], learners: Sequence[str], python: str) -> None:
    """Print a row for each cell: whole graph / per target (CPU ms), and the ratios of our graphs to those of others."""
    ratios = [one for one in ("tetrad-boss", "apsl-terciles") if one in learners and "apsl" in learners]
    titles = [*learners, *(f"ratio to {one}" for one in ratios)]
    print(f"| SHD of graphs / parts (CPU ms) | {' | '.join(titles)} |\n|---|{'---|' * len(titles)}")
    sums: dict[str, list[Figures]] = {learner: [] for learner in learners}
    for made in cells:
        cell = made()
        found = {learner: figures_of(cell, learner, python) for learner in learners}
        for learner, one in found.items():
            sums[learner] += [] if one is None else [one]
        print(f"| {cell.title} | {' | '.join([*map(_told, found.values()), *_ratios(found, ratios)])} |", flush=True)
    means = {learner: _mean(some) for learner, some in sums.items()}
    print(f"| mean | {' | '.join([*map(_told, means.values()), *_ratios(means, ratios)])} |\n", flush=True)


def _told(one: Figures | None) -> str:
    return "–" if one is None else f"{one.graphs:.1f} / {one.parts:.2f} ({1000 * one.seconds:.0f})"


def _ratios(found: dict[str, Figures | None], others: Sequence[str]) -> list[str]:
    ours = found.get("apsl")
    pairs = [(ours, found[other]) for other in others]
    return [f"{one.graphs / other.graphs:.2f}" if one and other and other.graphs else "–" for one, other in pairs]


def _mean(some: list[Figures]) -> Figures | None:
    if not some:
        return None
    return Figures(mean(one.graphs for one in some), mean(one.parts for one in some), mean(one.seconds for one in some))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--networks", type=Path, default=ROOT.parent / "shared" / "networks")
    parser.add_argument("--python", help="the interpreter of the peers")
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--graphs", type=int, default=6, help="networks in each cell, for each size")
    parser.add_argument("--sizes", default="20,40")
    parser.add_argument("--rows", default="500,1000,5000")
    parser.add_argument("--families", default=",".join((*CHOSEN, *FRESH, "gaussian")))
    parser.add_argument("--learners", default=",".join((*OURS, *PEERS)))
    parser.add_argument("--with-parts", type=int, default=2, help="random tables of a cell on which parts are learned")
    parser.add_argument("--quick", action="store_true", help="two networks of 20 nodes and 500 rows; no peers")
    words = parser.parse_args()
    learners = words.learners.split(",")
    if unknown := set(learners) - {*OURS, *PEERS}:
        parser.error(f"no such learner: {', '.join(sorted(unknown))}")
    if words.quick:
        words.graphs, words.sizes, words.rows, learners = 2, "20", "500", list(OURS)
    python = words.python or (peers_python() if not set(learners) <= set(OURS) else "")
    sizes, rows = ([int(one) for one in some.split(",")] for some in (words.sizes, words.rows))
    seeds = range(words.first, words.first + words.graphs)
    asked = words.families.split(",")
    print(f"Networks of {words.sizes} nodes, seeds {seeds.start} to {seeds.stop - 1}.\n")
    for title, families in (("Families that settings were chosen on", CHOSEN), ("Families that chose nothing", FRESH)):
        if some := [one for one in families if one in asked]:
            print(f"{title}:\n")
            show(random_cells(some, sizes, rows, seeds, words.with_parts), learners, python)
    if "gaussian" in asked:
        print("Linear Gaussian graphs of 50 nodes, and five sets of each published network:\n")
        show(gaussian_cells(words.networks, seeds, words.with_parts), learners, python)


if __name__ == "__main__":
    main()
