"""How right the parts are on small samples: the benchmark sets, each node as target, depth 1.

Skeleton F1, arrow precision and the recall of compelled arrows, pooled over all targets and sets, against the CPDAG of
the true graph. Needs the folder of the sets (*.npz with graph, names and samples), ``../shared/data`` unless given.
Usage: python tools/bench/accuracy.py [FOLDER] [--quick]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from apsl_rules import Dag, learn
from apsl_rules.data import Table, coded_table
from apsl_rules.graphs.equivalence import Cpdag, cpdag
from apsl_rules.names import Node
from apsl_rules.parts.part import Part

FOLDER = Path(__file__).parents[2].parent / "shared" / "data"
SETS = (("alarm", 1000), ("alarm", 500), ("child", 500), ("child", 1000), ("insurance", 1000))


class Tally:
    """Counts of edges and arrows, pooled over parts."""

    def __init__(self) -> None:
        self.found = self.true = self.right = 0
        self.arrows = self.right_arrows = self.compelled = 0

    def add(self, part: Part, truth: Cpdag) -> None:
        """Count the edges at the target."""
        arrows, lines = truth.region(part.target, 1)
        edges = {*map(frozenset, arrows), *lines}
        self.found += len(part.edges)
        self.true += len(edges)
        self.right += len(edges & part.edges)
        self.arrows += len(part.arrows)
        self.right_arrows += len(part.arrows & arrows)
        self.compelled += len(arrows)

    def row(self) -> str:
        """Return skeleton precision, recall and F1, arrow precision and compelled-arrow recall."""
        precision, recall = self.right / self.found, self.right / self.true
        f1 = 2 * precision * recall / (precision + recall)
        arrows = f"{self.right_arrows / max(self.arrows, 1):.3f} | {self.right_arrows / self.compelled:.3f}"
        return f"{precision:.3f} | {recall:.3f} | {f1:.3f} | {arrows}"


def sets(folder: Path, network: str, size: int, versions: Iterable[int]) -> tuple[Cpdag, list[Table]]:
    """Read the true graph and some samples of a network."""
    with np.load(folder / f"{network}.npz") as data:
        names: list[Node] = [str(name) for name in data["names"]]
        graph = data["graph"]
        parents = {name: [names[at] for at in np.flatnonzero(graph[:, place])] for place, name in enumerate(names)}
        samples = [coded_table(data[f"s{size}_v{version}"], names=names) for version in versions]
    return cpdag(Dag(parents)), samples


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    parser.add_argument("--quick", action="store_true", help="the first sample of the first set only")
    words = parser.parse_args()
    print("| set | learner | skeleton precision | recall | F1 | arrow precision | compelled recall |")
    print("|---|---|---|---|---|---|---|")
    for network, size in SETS[: 1 if words.quick else None]:
        truth, samples = sets(words.folder, network, size, (1,) if words.quick else (1, 2, 3))
        for learner in ("apsl", "apsl-authors", "apsl-fs", "apsl-fs-paper"):
            tally = Tally()
            for sample in samples:
                for target in sample.names:
                    tally.add(learn(sample, target, learner=learner, hidden="excluded"), truth)
            print(f"| {network} {size} | {learner} | {tally.row()} |", flush=True)


if __name__ == "__main__":
    main()
