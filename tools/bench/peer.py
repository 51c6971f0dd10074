"""One peer on one table, run in the peers' own environment: prints the CPU seconds of each repeat as JSON.

Usage: python peer.py NAME TABLE.csv REPEATS
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from time import process_time
from typing import Any

import pandas as pd

ALPHA = 0.01
LARGEST_SET = 3


def pyagrum_pc(path: str, _frame: pd.DataFrame) -> Callable[[], Any]:
    """PyAgrum's PC, whole graph."""
    import pyagrum

    def run() -> Any:
        learner = pyagrum.BNLearner(path)
        learner.usePC()
        return learner.learnPDAG()

    return run


def pyagrum_greedy(path: str, _frame: pd.DataFrame) -> Callable[[], Any]:
    """PyAgrum's greedy hill climbing, whole graph."""
    import pyagrum

    def run() -> Any:
        learner = pyagrum.BNLearner(path)
        learner.useGreedyHillClimbing()
        return learner.learnDAG()

    return run


def pyagrum_greedy_arcs(path: str, frame: pd.DataFrame) -> Callable[[], Any]:
    """PyAgrum's greedy hill climbing with BDeu among the pairs of PATH.json, if there is one; prints its arcs."""
    import pyagrum

    pairs = Path(path).with_suffix(".json")
    names = list(frame.columns)
    allowed = {frozenset(pair) for pair in json.loads(pairs.read_text("utf-8"))} if pairs.exists() else None

    def run() -> Any:
        learner = pyagrum.BNLearner(path)
        learner.useGreedyHillClimbing()
        learner.useScoreBDeu()
        learner.useBDeuPrior(10)
        if allowed is not None:
            for tail, head in permutations(names, 2):
                if frozenset((tail, head)) not in allowed:
                    learner.addForbiddenArc(tail, head)
        graph = learner.learnDAG()
        print(json.dumps([[learner.names()[tail], learner.names()[head]] for tail, head in graph.arcs()]))

    return run


def pyagrum_arcs(method: str) -> Callable[[str, pd.DataFrame], Callable[[], Any]]:
    """PyAgrum's whole graph at its defaults: greedy with BIC or BDeu, or MIIC; prints its arcs."""

    def made(path: str, _frame: pd.DataFrame) -> Callable[[], Any]:
        import pyagrum

        def run() -> Any:
            learner = pyagrum.BNLearner(path)
            if method == "MIIC":
                learner.useMIIC()
            else:
                learner.useGreedyHillClimbing()
                getattr(learner, f"useScore{method}")()
            graph = learner.learnDAG()
            print(json.dumps([[learner.names()[tail], learner.names()[head]] for tail, head in graph.arcs()]))

        return run

    return made


def pybnesian_mmpc(_path: str, frame: pd.DataFrame) -> Callable[[], Any]:
    """Pybnesian's MMPC with its χ² test: a skeleton without arrows."""
    import pybnesian

    test = pybnesian.ChiSquare(frame.astype(str).astype("category"))
    return lambda: pybnesian.MMPC().estimate(test, alpha=ALPHA)


def causal_learn_pc(_path: str, frame: pd.DataFrame) -> Callable[[], Any]:
    """Causal-learn's PC with the G² test."""
    from causallearn.search.ConstraintBased.PC import pc

    matrix = frame.to_numpy()
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


def causal_learn_ges(_path: str, frame: pd.DataFrame) -> Callable[[], Any]:
    """Causal-learn's GES with its BDeu score at its fixed priors; prints the arcs of a member of the class it found."""
    from causallearn.search.ScoreBased.GES import ges

    matrix, names = frame.to_numpy(), list(frame.columns)

    def run() -> Any:
        ends = ges(matrix, score_func="local_score_BDeu")["G"].graph
        tails = (ends == -1).nonzero()
        print(json.dumps(directed({(names[one], names[other]) for one, other in zip(*tails, strict=True)})))

    return run


def pgmpy_hc(_path: str, frame: pd.DataFrame) -> Callable[[], Any]:
    """Pgmpy's hill climbing with BDeu and an equivalent sample size of ten; prints its arcs."""
    from pgmpy.causal_discovery import HillClimbSearch
    from pgmpy.structure_score import BDeu

    rows = frame.astype("category")

    def run() -> Any:
        score = BDeu(rows, equivalent_sample_size=10)
        learner = HillClimbSearch(scoring_method=score, return_type="dag", show_progress=False)
        print(json.dumps(list(learner.fit(rows).causal_graph_.edges())))

    return run


def pgmpy_pc(_path: str, frame: pd.DataFrame) -> Callable[[], Any]:
    """Pgmpy's PC with the G² test and sets of at most three."""
    from pgmpy.estimators import PC

    options = {"significance_level": ALPHA, "max_cond_vars": LARGEST_SET, "n_jobs": 1, "show_progress": False}
    learner = PC(frame.astype("category"))
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
    run = PEERS[words.name](words.table, pd.read_csv(words.table))
    seconds = []
    for _ in range(words.repeats):
        begun = process_time()
        run()
        seconds.append(process_time() - begun)
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
