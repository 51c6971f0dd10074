"""One peer on one table, on one thread, run in the peers' own environment.

Usage: python peer.py NAME TABLE.csv REPEATS [--limit SECONDS]

The last line is JSON: the CPU seconds of "reading" (from the file to what the peer learns from) and of "learning", for
each repeat. A peer is made anew for each repeat, so that it cannot keep counts. The line before it, from a peer of
whole graphs, is its graph: [tail, head] for each arrow, and both ways for each line. A repeat that learns for more CPU
seconds than the limit ends the process with SIGXCPU. Tetrad needs Java 17 or newer; where it cannot be started the
exit code is 3, and the last line of the errors says why.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import resource
import warnings
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from time import process_time
from typing import Any, TypeAlias, cast

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # before anything that starts threads is imported

import pandas as pd  # noqa: E402 - see above
from tetrad import tetrad_graph  # noqa: E402 - see above

Marks: TypeAlias = list[tuple[str, str]]

ALPHA = 0.01
LARGEST_SET = 3
SEED = 1


def learner_on(path: str) -> Any:
    """Return pyAgrum's learner on a table, on one thread."""
    import pyagrum

    learner = pyagrum.BNLearner(path)
    learner.setNumberOfThreads(1)
    return learner


def pyagrum_pc(path: str) -> Callable[[], Any]:
    """PyAgrum's PC, whole graph."""
    learner = learner_on(path)
    learner.usePC()
    return cast("Callable[[], Any]", learner.learnPDAG)


def pyagrum_greedy(path: str) -> Callable[[], Any]:
    """PyAgrum's greedy hill climbing with BDeu, whole graph."""
    learner = learner_on(path)
    learner.useGreedyHillClimbing()
    learner.useScoreBDeu()
    return cast("Callable[[], Any]", learner.learnDAG)


def pyagrum_greedy_arcs(path: str) -> Callable[[], Any]:
    """PyAgrum's greedy hill climbing with BDeu among the pairs of PATH.json, if there is one."""
    learner = learner_on(path)
    learner.useGreedyHillClimbing()
    learner.useScoreBDeu()
    learner.useBDeuPrior(10)
    pairs = Path(path).with_suffix(".json")
    if pairs.exists():
        allowed = {frozenset(pair) for pair in json.loads(pairs.read_text("utf-8"))}
        for tail, head in permutations(learner.names(), 2):
            if frozenset((tail, head)) not in allowed:
                learner.addForbiddenArc(tail, head)
    return lambda: arcs_of(learner)


def pyagrum_arcs(method: str) -> Callable[[str], Callable[[], Any]]:
    """PyAgrum's whole graph at its defaults: greedy with BIC or BDeu, or MIIC."""

    def made(path: str) -> Callable[[], Any]:
        learner = learner_on(path)
        if method == "MIIC":
            learner.useMIIC()
        else:
            learner.useGreedyHillClimbing()
            getattr(learner, f"useScore{method}")()
        return lambda: arcs_of(learner)

    return made


def arcs_of(learner: Any) -> Marks:
    """Learn with pyAgrum and return the arcs."""
    names = learner.names()
    return [(names[tail], names[head]) for tail, head in learner.learnDAG().arcs()]


def pybnesian_mmpc(path: str) -> Callable[[], Any]:
    """Pybnesian's MMPC with its χ² test: a skeleton without arrows."""
    import pybnesian

    test = pybnesian.ChiSquare(pd.read_csv(path).astype(str).astype("category"))
    return lambda: pybnesian.MMPC().estimate(test, alpha=ALPHA)


def causal_learn_pc(path: str) -> Callable[[], Any]:
    """Causal-learn's PC with the G² test."""
    from causallearn.search.ConstraintBased.PC import pc

    matrix = pd.read_csv(path).to_numpy()
    return lambda: pc(matrix, ALPHA, "gsq", show_progress=False)


def causal_learn_graph(method: str) -> Callable[[str], Callable[[], Any]]:
    """Causal-learn's GES, GRaSP or BOSS with its BDeu score at its fixed priors; random orders have a seed."""

    def made(path: str) -> Callable[[], Any]:
        from causallearn.search.PermutationBased.BOSS import boss
        from causallearn.search.PermutationBased.GRaSP import grasp
        from causallearn.search.ScoreBased.GES import ges

        frame = pd.read_csv(path)
        matrix, names = frame.to_numpy(), list(frame.columns)
        random.seed(SEED)
        learners: dict[str, Callable[[], Any]] = {
            "GES": lambda: ges(matrix, score_func="local_score_BDeu")["G"],
            "GRaSP": lambda: grasp(matrix, score_func="local_score_BDeu", verbose=False),
            "BOSS": lambda: boss(matrix, score_func="local_score_BDeu", verbose=False),
        }

        def run() -> Marks:
            tails = (learners[method]().graph == -1).nonzero()
            return [(names[one], names[other]) for one, other in zip(*tails, strict=True)]

        return run

    return made


def pgmpy_hc(path: str) -> Callable[[], Any]:
    """Pgmpy's hill climbing with BDeu and an equivalent sample size of ten."""
    from pgmpy.causal_discovery import HillClimbSearch
    from pgmpy.structure_score import BDeu

    rows = pd.read_csv(path).astype("category")

    def run() -> Marks:
        score = BDeu(rows, equivalent_sample_size=10)
        learner = HillClimbSearch(scoring_method=score, return_type="dag", show_progress=False)
        return list(learner.fit(rows).causal_graph_.edges())

    return run


def pgmpy_pc(path: str) -> Callable[[], Any]:
    """Pgmpy's PC with the G² test and sets of at most three."""
    from pgmpy.estimators import PC

    options = {"significance_level": ALPHA, "max_cond_vars": LARGEST_SET, "n_jobs": 1, "show_progress": False}
    learner = PC(pd.read_csv(path).astype("category"))
    return lambda: learner.estimate(ci_test="g_sq", **options)


PEERS = {
    "pyagrum-pc": pyagrum_pc,
    "pyagrum-greedy": pyagrum_greedy,
    "pyagrum-greedy-arcs": pyagrum_greedy_arcs,
    "pyagrum-bic": pyagrum_arcs("BIC"),
    "pyagrum-bdeu": pyagrum_arcs("BDeu"),
    "pyagrum-miic": pyagrum_arcs("MIIC"),
    "pybnesian-mmpc": pybnesian_mmpc,
    "causal-learn-pc": causal_learn_pc,
    "causal-learn-ges": causal_learn_graph("GES"),
    "causal-learn-grasp": causal_learn_graph("GRaSP"),
    "causal-learn-boss": causal_learn_graph("BOSS"),
    "tetrad-boss": tetrad_graph("BOSS"),
    "tetrad-fges": tetrad_graph("FGES"),
    "pgmpy-pc": pgmpy_pc,
    "pgmpy-hc": pgmpy_hc,
}


def main() -> None:
    """Run a peer some times."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name", choices=PEERS)
    parser.add_argument("table")
    parser.add_argument("repeats", type=int)
    parser.add_argument("--limit", type=int, help="CPU seconds of learning, for each repeat")
    words = parser.parse_args()
    seconds: dict[str, list[float]] = {"reading": [], "learning": []}
    found: Any = None
    for _ in range(words.repeats):
        begun = process_time()
        run = PEERS[words.name](words.table)
        read = process_time()
        if words.limit:
            _, hard = resource.getrlimit(resource.RLIMIT_CPU)
            resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(read) + words.limit, hard))
        found = run()
        seconds["reading"].append(read - begun)
        seconds["learning"].append(process_time() - read)
    if isinstance(found, list):
        print(json.dumps(found))
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
