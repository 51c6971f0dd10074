"""One peer on one table, on one thread, run in the peers' own environment.

Usage: python peer.py NAME TABLE.csv REPEATS

The last line is JSON: the CPU seconds of "reading" (from the file to what the peer learns from) and of "learning", for
each repeat. A peer is made anew for each repeat, so that it cannot keep counts.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from time import process_time
from typing import Any, cast

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # before anything that starts threads is imported

import pandas as pd  # noqa: E402 - see above

ALPHA = 0.01
LARGEST_SET = 3


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
    """PyAgrum's greedy hill climbing with BDeu among the pairs of PATH.json, if there is one; prints its arcs."""
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
    return lambda: print_arcs(learner)


def pyagrum_arcs(method: str) -> Callable[[str], Callable[[], Any]]:
    """PyAgrum's whole graph at its defaults: greedy with BIC or BDeu, or MIIC; prints its arcs."""

    def made(path: str) -> Callable[[], Any]:
        learner = learner_on(path)
        if method == "MIIC":
            learner.useMIIC()
        else:
            learner.useGreedyHillClimbing()
            getattr(learner, f"useScore{method}")()
        return lambda: print_arcs(learner)

    return made


def print_arcs(learner: Any) -> None:
    """Learn with pyAgrum and print the arcs."""
    names = learner.names()
    print(json.dumps([[names[tail], names[head]] for tail, head in learner.learnDAG().arcs()]))


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


def directed(marks: set[tuple[str, str]]) -> list[tuple[str, str]]:
    """Direct the lines of a CPDAG, which are there both ways, without a new V-structure or cycle (Dor, Tarsi 1992)."""
    arcs: list[tuple[str, str]] = []
    left = set(marks)

    def beside(node: str) -> set[str]:
        return {other for pair in left if node in pair for other in pair if other != node}

    def is_sink(node: str) -> bool:
        heads = {head for tail, head in left if tail == node}
        return all((head, node) in left and beside(node) <= beside(head) | {head} for head in heads)

    while left:
        sink = next(node for node in sorted({tail for pair in left for tail in pair}) if is_sink(node))
        arcs += [(tail, sink) for tail in sorted(beside(sink))]
        left = {pair for pair in left if sink not in pair}
    return arcs


def causal_learn_ges(path: str) -> Callable[[], Any]:
    """Causal-learn's GES with its BDeu score at its fixed priors; prints the arcs of a member of the class it found."""
    from causallearn.search.ScoreBased.GES import ges

    frame = pd.read_csv(path)
    matrix, names = frame.to_numpy(), list(frame.columns)

    def run() -> Any:
        ends = ges(matrix, score_func="local_score_BDeu")["G"].graph
        tails = (ends == -1).nonzero()
        print(json.dumps(directed({(names[one], names[other]) for one, other in zip(*tails, strict=True)})))

    return run


def pgmpy_hc(path: str) -> Callable[[], Any]:
    """Pgmpy's hill climbing with BDeu and an equivalent sample size of ten; prints its arcs."""
    from pgmpy.causal_discovery import HillClimbSearch
    from pgmpy.structure_score import BDeu

    rows = pd.read_csv(path).astype("category")

    def run() -> Any:
        score = BDeu(rows, equivalent_sample_size=10)
        learner = HillClimbSearch(scoring_method=score, return_type="dag", show_progress=False)
        print(json.dumps(list(learner.fit(rows).causal_graph_.edges())))

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
    "causal-learn-ges": causal_learn_ges,
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
    words = parser.parse_args()
    seconds: dict[str, list[float]] = {"reading": [], "learning": []}
    for _ in range(words.repeats):
        begun = process_time()
        run = PEERS[words.name](words.table)
        read = process_time()
        run()
        seconds["reading"].append(read - begun)
        seconds["learning"].append(process_time() - read)
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
