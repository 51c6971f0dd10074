"""One method on all tables of a folder, in the environment of its program: python contestant.py METHOD FOLDER SECONDS.

``tables.json`` of the folder says of each table what "kind" its columns are, whether values are "missing" and which
are the "targets". Of each table a line of JSON is printed: "marks", [tail, head] for each arrow and both ways for
each line; "parts", the same around each target where a method can learn them alone; the CPU "seconds" of both, and
the "peak" of memory in MB; or "failed", why there is nothing. Each table is taken in a process of its own, on one
thread. Where the first run takes less than a tenth of the limit the second one counts, so that nothing is loaded
while the clock runs.
"""

from __future__ import annotations

import contextlib
import io
import json
import multiprocessing
import os
import resource
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from time import process_time
from typing import Any, Literal, TypeAlias

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[_name] = "1"  # before anything that starts threads is imported

import pandas as pd  # noqa: E402 - see above

Kind: TypeAlias = Literal["categories", "numbers", "mixed"]
Marks: TypeAlias = list[tuple[str, str]]
Whole: TypeAlias = Callable[[pd.DataFrame, Kind], Marks]
Around: TypeAlias = Callable[[pd.DataFrame, str], Marks]
ALPHA = 0.01


def ours(hidden: Literal["excluded", "possible"]) -> Whole:
    """Return our whole graph, with a setting for hidden causes."""

    def learned(frame: pd.DataFrame, kind: Kind) -> Marks:
        from apsl_rules import learn_graph

        del kind
        return marks_of(learn_graph(frame, hidden=hidden))

    return learned


def our_part(hidden: Literal["excluded", "possible"]) -> Around:
    """Return our part of depth 1."""

    def learned(frame: pd.DataFrame, target: str) -> Marks:
        from apsl_rules import learn

        return marks_of(learn(frame, target, hidden=hidden))

    return learned


def marks_of(found: Any) -> Marks:
    """Return the arrows, and both ways for every other edge."""
    graph = found.graph()
    lines = [tuple(pair) for pair in graph.lines | graph.conflicts]
    return [*graph.arrows, *lines, *(pair[::-1] for pair in lines)]


def coded(frame: pd.DataFrame) -> pd.DataFrame:
    """Return categories as whole numbers; missing values stay missing."""
    columns = {
        name: one if one.dtype.kind in "fi" else one.astype("category").cat.codes.astype(float).where(one.notna())
        for name, one in frame.items()
    }
    return pd.DataFrame(columns)


def causal_learn_pc(frame: pd.DataFrame, kind: Kind) -> Marks:
    """Return what PC finds, with G² or Fisher's z; with missing values its variant for these."""
    from causallearn.search.ConstraintBased.PC import pc

    holes = bool(frame.isna().any(axis=None))
    test = {"categories": "gsq", "numbers": "mv_fisherz" if holes else "fisherz"}[kind]
    names = list(frame.columns)
    ends = pc(coded(frame).to_numpy(), ALPHA, test, mvpc=holes, show_progress=False, verbose=False).G.graph
    places = range(len(names))
    return [(names[i], names[j]) for i in places for j in places if i != j and ends[i, j] == -1]


def pgmpy_hill_climbing(frame: pd.DataFrame, kind: Kind) -> Marks:
    """Return what hill climbing finds, with BIC for the kind of table."""
    from pgmpy.estimators import HillClimbSearch

    score = {"categories": "bic-d", "numbers": "bic-g", "mixed": "bic-cg"}[kind]
    typed = frame.apply(lambda one: one if one.dtype.kind == "f" else one.astype("category"))
    return list(HillClimbSearch(typed).estimate(scoring_method=score, show_progress=False).edges())


def pyagrum(method: str) -> Whole:
    """Return what MIIC or greedy search with BDeu finds."""

    def learned(frame: pd.DataFrame, kind: Kind) -> Marks:
        import pyagrum as gum

        del kind
        learner = gum.BNLearner(frame.astype(str))
        learner.setNumberOfThreads(1)
        names = learner.names()
        if method == "MIIC":
            learner.useMIIC()
            found = learner.learnPDAG()
            lines = [(names[one], names[other]) for one, other in found.edges()]
            return [(names[x], names[y]) for x, y in found.arcs()] + lines + [(y, x) for x, y in lines]
        learner.useGreedyHillClimbing()
        learner.useScoreBDeu()
        return [(names[x], names[y]) for x, y in learner.learnDAG().arcs()]

    return learned


def pybnesian_hill_climbing(frame: pd.DataFrame, kind: Kind) -> Marks:
    """Return what hill climbing finds with BIC: of categories, of numbers, or of mixed tables."""
    import pybnesian

    models = {
        "categories": pybnesian.DiscreteBNType(),
        "numbers": pybnesian.GaussianNetworkType(),
        "mixed": pybnesian.CLGNetworkType(),
    }
    typed = frame.apply(lambda one: one if one.dtype.kind == "f" else one.astype(str).astype("category"))
    return list(pybnesian.hc(typed, bn_type=models[kind], score="bic", operators=["arcs"]).arcs())


def tetrad_boss(frame: pd.DataFrame, kind: Kind) -> Marks:
    """Return what BOSS finds, with BDeu or the score of degenerate Gaussians."""
    sys.path.append(str(Path(__file__).parents[1] / "bench"))
    from folder_peer import data_set
    from tetrad import boss, marks, started

    package = started()
    rows = data_set(package, frame.astype(str) if kind == "categories" else frame)
    if kind == "categories":
        score = package.search.score.BdeuScore(rows)
        score.setSamplePrior(1.0)
        score.setStructurePrior(1.0)
    else:
        score = package.search.score.DegenerateGaussianScore(rows, True)  # noqa: FBT003 - Java's
        score.setPenaltyDiscount(2.0)
    return marks(boss(package, score))


def flop(frame: pd.DataFrame, kind: Kind) -> Marks:
    """Return what FLOP finds on scaled numbers, with 20 restarts and a penalty of 2."""
    import flopsearch
    import numpy as np

    del kind
    matrix = frame.to_numpy(np.float64)
    found = flopsearch.flop((matrix - matrix.mean(axis=0)) / matrix.std(axis=0), 2.0, restarts=20)
    names = list(frame.columns)
    arrows = [(names[x], names[y]) for x, y in np.argwhere(found == 1).tolist()]
    return arrows + [(names[x], names[y]) for x, y in np.argwhere(found == 2).tolist()]


def tbf_pc(frame: pd.DataFrame, target: str) -> Marks:
    """Return what pymc-marketing's PC finds around a target, all other columns taken to come first."""
    from pymc_marketing.mmm.causal import TBFPC

    drivers = [name for name in frame.columns if name != target]
    model = TBFPC(target=target)
    model.fit(frame, drivers=drivers)
    lines = model.get_undirected_edges()
    return [*model.get_directed_edges(), *lines, *((y, x) for x, y in lines)]


ALL: frozenset[Kind] = frozenset(("categories", "numbers", "mixed"))
CATEGORIES: frozenset[Kind] = frozenset(("categories",))
NUMBERS: frozenset[Kind] = frozenset(("numbers",))
NONE: frozenset[Kind] = frozenset()
#: Each method: its environment, the kinds of tables it takes, whether values may be missing, and how it learns.
METHODS: Mapping[str, tuple[str, frozenset[Kind], frozenset[Kind], Whole | None, Around | None]] = {
    "apsl_rules": ("apsl_rules", ALL, ALL, ours("excluded"), our_part("excluded")),
    "apsl_rules, as it is": ("apsl_rules", ALL, ALL, ours("possible"), our_part("possible")),
    "causal-learn PC": ("causal-learn", CATEGORIES | NUMBERS, NUMBERS, causal_learn_pc, None),
    "pgmpy hill climbing": ("pgmpy", ALL, NONE, pgmpy_hill_climbing, None),
    "pyAgrum MIIC": ("pyAgrum", CATEGORIES, NONE, pyagrum("MIIC"), None),
    "pyAgrum greedy": ("pyAgrum", CATEGORIES, NONE, pyagrum("greedy"), None),
    "pybnesian hill climbing": ("pybnesian", ALL, NONE, pybnesian_hill_climbing, None),
    "Tetrad BOSS": ("Tetrad", ALL, NONE, tetrad_boss, None),
    "FLOP": ("FLOP", NUMBERS, NONE, flop, None),
    "TBF-PC": ("pymc-marketing", NUMBERS, NONE, None, tbf_pc),
}


def taken(method: str, path: str, about: dict[str, Any], seconds: int, answer: Any) -> None:
    """Learn from one table, within some CPU seconds, and send what was found."""
    _, _, _, whole, around = METHODS[method]
    typed: dict[str, type] = {"categories": str, "numbers": float}
    frame = pd.read_csv(path, dtype=typed.get(about["kind"]))
    begun = process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (int(begun) + seconds, int(begun) + seconds))
    found: dict[str, Any] = {}
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            for _ in range(2):
                begun = process_time()
                if whole is not None:
                    found |= {"marks": whole(frame.copy(), about["kind"]), "seconds": process_time() - begun}
                learnt = process_time()
                if around is not None and about["targets"]:
                    found["parts"] = {target: around(frame.copy(), target) for target in about["targets"]}
                    found["seconds of a part"] = (process_time() - learnt) / len(about["targets"])
                if process_time() - begun > seconds / 10:
                    break
    except Exception as error:  # noqa: BLE001 - whatever a program raises, it has found nothing
        found = {"failed": f"{type(error).__name__}: {error}"[:200]}
    found["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    answer.send(found)


def main() -> None:
    """Take each table that the method can take."""
    warnings.simplefilter("ignore")
    method, folder, seconds = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    forking = multiprocessing.get_context("fork")
    for name, about in json.loads((folder / "tables.json").read_text("utf-8")).items():
        _, kinds, with_missing, _, _ = METHODS[method]
        if about["kind"] not in (with_missing if about["missing"] else kinds):
            continue
        here, there = forking.Pipe(duplex=False)
        process = forking.Process(target=taken, args=(method, str(folder / f"{name}.csv"), about, seconds, there))
        process.start()
        there.close()
        try:
            found = here.recv()
        except EOFError:
            found = {"failed": f"more than {seconds} CPU seconds"}
        process.join()
        print(json.dumps({"table": name, **found}), flush=True)


if __name__ == "__main__":
    main()
