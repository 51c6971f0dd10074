"""How right parts are on small samples: the twelve rows of the paper's sets, with permuted columns.

Every node is a target on the base networks, 60 fixed random ones on the tiled networks. For each row and learner: the
structural Hamming distance to the CPDAG on the asked region (edges missing, extra or marked differently, per target),
arrow precision, the recall of compelled arrows, and CPU per target as a ratio to ``apsl``. Sets v1 to v3 are there to
choose settings by, v4 and v5 to report.

Usage: python tools/bench/smallsamples.py --data DIR [--versions 4,5] [--depth 1] [--learners apsl,apsl-score]
[--base] [--networks alarm,child] [--min-direction S|precise] [--cache FILE]. What was measured with the same sources
and settings is read from the cache.
"""

from __future__ import annotations

import argparse
import json
from hashlib import sha256
from pathlib import Path
from statistics import mean
from time import process_time
from typing import Any, TypeAlias

import numpy as np

from apsl_rules import Dag, learn
from apsl_rules.data import Table, coded_table
from apsl_rules.graphs.equivalence import Cpdag, cpdag
from apsl_rules.names import Node
from apsl_rules.parts import DEFAULT_DIRECTION, least_direction
from apsl_rules.parts.part import Part
from apsl_rules.plugins.manager import installed

ROOT = Path(__file__).parents[2]
NETWORKS = ("alarm", "alarm10", "child", "child10", "insurance", "insurance10")
SIZES = (500, 1000)
TARGETS = 60
Figures: TypeAlias = dict[str, float]


def drawn(folder: Path, name: str, size: int, version: int) -> tuple[Table, Cpdag]:
    """Read a set, its columns permuted by a fixed seed, and the CPDAG of the true graph."""
    with np.load(folder / f"{name}.npz") as data:
        names: list[Node] = [str(one) for one in data["names"]]
        graph, rows = data["graph"], data[f"s{size}_v{version}"]
    parents = {node: [names[at] for at in np.flatnonzero(graph[:, place])] for place, node in enumerate(names)}
    order = np.random.default_rng(1000 * size + version).permutation(len(names))
    return coded_table(rows[:, order], names=[names[at] for at in order]), cpdag(Dag(parents))


def targets_of(name: str, nodes: tuple[Node, ...]) -> list[Node]:
    """Return all nodes of a base network, and some of a tiled one, the same for every set."""
    listed = sorted(nodes, key=str)
    if not name.endswith("10"):
        return listed
    chosen = np.random.default_rng(len(listed)).permutation(len(listed))[:TARGETS]
    return [listed[at] for at in sorted(chosen.tolist())]


def counted(part: Part, truth: Cpdag) -> dict[str, int]:
    """Count what is right and wrong in a part."""
    arrows, lines = truth.region(part.target, part.depth)
    edges = {*map(frozenset, arrows), *lines}
    right = len(part.arrows & arrows)
    return {
        "distance": len(edges | part.edges) - right - len(part.lines & lines),
        "missing": len(edges - part.edges),
        "extra": len(part.edges - edges),
        "arrows": len(part.arrows),
        "right": right,
        "compelled": len(arrows),
        "targets": 1,
    }


def measured(folder: Path, name: str, size: int, version: int, *, learner: str, depth: int, least: float) -> Figures:
    """Learn the part around each target of one set."""
    rows, truth = drawn(folder, name, size, version)
    sums: dict[str, float] = {}
    targets = targets_of(name, rows.names)
    learn(rows, targets[0], learner=learner, depth=depth, hidden="excluded")
    begun = process_time()
    parts = [
        learn(rows, target, learner=learner, depth=depth, min_direction=least, hidden="excluded") for target in targets
    ]
    sums["seconds"] = process_time() - begun
    for part in parts:
        for key, count in counted(part, truth).items():
            sums[key] = sums.get(key, 0) + count
    return sums


class Cache:
    """Figures in a file, by the sources and settings that they came from."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._known: dict[str, Figures] = json.loads(path.read_text("utf-8")) if path and path.exists() else {}
        sources = [*(ROOT / "apsl_rules").rglob("*.py"), *(ROOT / "backends").rglob("*.py")]
        self._stamp = sha256(b"\0".join(source.read_bytes() for source in sorted(sources))).hexdigest()[:16]

    def get(self, folder: Path, *key: Any, learner: str, depth: int, least: float) -> Figures:
        """Return the figures of a set, measured now unless they are known."""
        spec = sha256(repr(installed().learners[learner].spec).encode()).hexdigest()[:16]
        name = " ".join(map(str, (*key, learner, depth, least, self._stamp, spec)))
        if name not in self._known:
            network, size, version = key
            self._known[name] = measured(folder, network, size, version, learner=learner, depth=depth, least=least)
            if self._path:
                self._path.write_text(json.dumps(self._known, indent=0), "utf-8")
        return self._known[name]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--versions", default="4,5")
    parser.add_argument("--depth", type=int, default=1)
    parser.add_argument("--learners", default="apsl,apsl-authors,apsl-score")
    parser.add_argument("--base", action="store_true", help="the six rows of the base networks only")
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--min-direction", default=str(DEFAULT_DIRECTION), help="the setting of learn")
    parser.add_argument("--cache", type=Path)
    words = parser.parse_args()
    word: str = words.min_direction
    least = least_direction(word if word.isalpha() else float(word), "--min-direction")
    cache = Cache(words.cache)
    learners = words.learners.split(",")
    versions = [int(one) for one in words.versions.split(",")]
    names = [name for name in words.networks.split(",") if not (words.base and name.endswith("10"))]
    print(f"Depth {words.depth}, sets v{words.versions}, columns permuted: SHD / arrow precision / compelled recall;")
    print("CPU per target as a ratio to the first learner.\n")
    print(f"| row | {' | '.join(learners)} |\n|---|{'---|' * len(learners)}")
    means: dict[str, list[tuple[float, ...]]] = {learner: [] for learner in learners}
    for name in names:
        for size in SIZES:
            cells = []
            for learner in learners:
                asked = {"learner": learner, "depth": words.depth, "least": least}
                sets = [cache.get(words.data, name, size, one, **asked) for one in versions]
                figures = {key: sum(one[key] for one in sets) for key in sets[0]}
                means[learner].append(
                    (
                        figures["distance"] / figures["targets"],
                        figures["right"] / max(figures["arrows"], 1),
                        figures["right"] / max(figures["compelled"], 1),
                        figures["seconds"] / figures["targets"],
                    )
                )
                distance, precision, recall, seconds = means[learner][-1]
                ratio = seconds / means[learners[0]][-1][3]
                cells.append(f"{distance:.2f} / {precision:.2f} / {recall:.2f} ({ratio:.1f} ×)")
            print(f"| {name} {size} | {' | '.join(cells)} |", flush=True)
    cells = []
    for learner in learners:
        distance, precision, recall, seconds = (mean(column) for column in zip(*means[learner], strict=True))
        ratio = seconds / mean(one[3] for one in means[learners[0]])
        cells.append(f"**{distance:.3f}** / {precision:.3f} / {recall:.3f} ({ratio:.1f} ×)")
    print(f"| mean | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
